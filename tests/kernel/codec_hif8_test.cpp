// SPDX-License-Identifier: Apache-2.0
// The row codecs of hif8 on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

// Seeds and element indices of all sizes: the counter wraps.
TEST(hif8_stochastic, random_bits_depend_on_seed_and_index_alike_on_every_instruction_set) {
    const auto values = mixed_values<float>(777, 3);
    for (const isa which : kernel::available()) {
        for (const std::uint64_t seed :
             {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
            for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 32) - 5,
                                              std::uint64_t{1} << 63, ~std::uint64_t{0} - 100}) {
                const hif8::options options{.rounding = hif8_rounding::stochastic, .seed = seed};
                std::vector<hif8> got(values.size());
                kernel::codec<hif8>(which).encode_row(values.data(), values.size(), got.data(), options,
                                                      {.index = index});
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const hif8 expected =
                        hif8::from_float(values[i], options.rounding, options.overflow, {seed, index + i});
                    ASSERT_EQ(got[i].bits(), expected.bits()) << to_string(which) << ", value " << i;
                }
            }
        }
    }
}

INSTANTIATE_TYPED_TEST_SUITE_P(hif8, row_codecs, rows_of<hif8>, isa_names);

}  // namespace lowbit::test
