// SPDX-License-Identifier: Apache-2.0
// The row codecs of nvfp4 on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

INSTANTIATE_TYPED_TEST_SUITE_P(nvfp4, row_codecs, rows_of<nvfp4>, isa_names);

}  // namespace lowbit::test

namespace lowbit::test {
namespace {

// Each 16 values have a scale of their own, whatever the width of the vectors that found their maxima.
TEST(nvfp4_rows, case31_each_block_has_its_own_maximum) {
    std::vector<float> values(96);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i / 16 % 2 == 0 ? 0.5F : 100.0F;
    for (const isa which : kernel::available()) {
        std::vector<nvfp4::block> blocks(6);
        std::vector<float> back(96);
        const auto scales = nvfp4::scales_from_amax(100.0F);
        const encode_context context{scales.tensor_scale, scales.encode_scale, 0};
        kernel::codec<nvfp4>(which).encode_row(values.data(), 96, blocks.data(), {}, context);
        kernel::codec<nvfp4>(which).decode_row(blocks.data(), 96, back.data(), context.tensor_scale);
        for (std::size_t pair = 0; pair < 6; pair += 2) {
            EXPECT_NE(blocks[pair].scale, blocks[pair + 1].scale) << to_string(which);
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_NEAR(back[i], values[i], values[i] / 6) << to_string(which);
        }
    }
}

}  // namespace
}  // namespace lowbit::test
