// SPDX-License-Identifier: Apache-2.0
#include <lowbit/kernel/panel_layout.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace {

template <class F>
class panel_layout : public testing::Test {};
using formats = testing::Types<lowbit::hif4, lowbit::hif8, lowbit::mxfp4, lowbit::nvfp4, lowbit::m2xfp_activation,
                               lowbit::m2xfp_weight, lowbit::mxint8, lowbit::int8_block>;
TYPED_TEST_SUITE(panel_layout, formats, );

TYPED_TEST(panel_layout, parts_follow_each_other_and_records_are_whole_lines) {
    using arithmetic = lowbit::kernel::panel_arithmetic<TypeParam>;
    for (std::size_t depth = 1; depth <= 260; ++depth) {
        std::size_t end = 0;
        for (std::size_t k = 0; k < depth; k += 64) {
            const std::size_t blocks = arithmetic::blocks_at(k, depth);
            ASSERT_EQ(arithmetic::record_at(k), end);
            ASSERT_GE(blocks * arithmetic::block, (depth - k < 64 ? depth - k : 64));
            ASSERT_LT(arithmetic::code_bytes(blocks), arithmetic::record_bytes(blocks) + 1);
            ASSERT_LE(arithmetic::selectors_at(blocks), arithmetic::scales_at(blocks));
            ASSERT_EQ(arithmetic::record_bytes(blocks) % 64, 0U);
            end += arithmetic::record_bytes(blocks);
        }
        ASSERT_EQ(arithmetic::panel_bytes(depth), end);
    }
    EXPECT_EQ(arithmetic::panel_bytes(0), 0U);
}

TYPED_TEST(panel_layout, costs_the_formats_own_bits) {
    using arithmetic = lowbit::kernel::panel_arithmetic<TypeParam>;
    const double bits = 8.0 * static_cast<double>(arithmetic::panel_bytes(4096)) / (4096.0 * 32.0);
    EXPECT_EQ(bits, TypeParam::bits_per_value);
}

TEST(panel_layout_sizes, case51_offsets_are_64_bit) {
    using arithmetic = lowbit::kernel::panel_arithmetic<lowbit::hif4>;
    const std::size_t depth = std::size_t{1} << 33U;
    EXPECT_EQ(arithmetic::panel_bytes(depth), depth / 64 * 1152);
}

}  // namespace
