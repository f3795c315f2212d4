// SPDX-License-Identifier: Apache-2.0
// Splitting, cutting far below the last bit, and the four decisions of rounding.
#include <lowbit/core/narrow.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace lowbit::test {
namespace {

using namespace lowbit::detail;

TEST(narrow, split_normalises) {
    for (const float x : {1.0F, 1.75F, 6.5F, 3e38F, 1e-38F, 1e-40F, 1e-45F}) {
        const auto parts = split(x);
        EXPECT_EQ(parts.significand >> 23U, 1U) << x;
        EXPECT_EQ(std::ldexp(static_cast<double>(parts.significand), parts.exponent - 23), static_cast<double>(x));
        const auto negative = split(-x);
        EXPECT_EQ(negative.significand, parts.significand);
        const auto wide = split(static_cast<double>(x));
        EXPECT_EQ(wide.exponent, parts.exponent);
        EXPECT_EQ(wide.significand, parts.significand << 29U);
    }
    const auto smallest = split(5e-324);
    EXPECT_EQ(smallest.significand, std::uint64_t{1} << 52U);
    EXPECT_EQ(smallest.exponent, -1074);
    EXPECT_EQ(split(0.0F).significand, 0U);
    EXPECT_EQ(split(0.0).significand, 0U);
}

TEST(narrow, a_cut_keeps_value_and_rest) {
    const cut_significand near_end(0b1011'0110, 4);
    EXPECT_EQ(near_end.kept, 0b1011U);
    EXPECT_EQ(near_end.rest, 0b0110U);
    const cut_significand whole(0xFF, 63);
    EXPECT_EQ(whole.kept, 0U);
    EXPECT_EQ(whole.rest, 0xFFU);
    for (const int at : {64, 100, 126, 127, 200, 1100, 2000}) {
        const cut_significand beyond(std::uint64_t{1} << 52U, at);
        EXPECT_EQ(beyond.kept, 0U);
        EXPECT_EQ(beyond.shift, 63);
        EXPECT_GT(beyond.rest, 0U);  // sticky
        EXPECT_LT(beyond.rest, std::uint64_t{1} << 53U);
        EXPECT_EQ(cut_significand(0, at).rest, 0U);
    }
}

TEST(narrow, decisions) {
    const auto at = [](std::uint64_t rest, bool odd) { return cut{rest, 4, odd}; };
    EXPECT_FALSE(round_nearest_even{}(at(7, true)));
    EXPECT_TRUE(round_nearest_even{}(at(8, true)));
    EXPECT_FALSE(round_nearest_even{}(at(8, false)));
    EXPECT_TRUE(round_nearest_even{}(at(9, false)));
    EXPECT_FALSE(round_nearest_away{}(at(7, true)));
    EXPECT_TRUE(round_nearest_away{}(at(8, false)));
    EXPECT_FALSE(round_toward_zero{}(at(15, true)));
    // rest / 2^shift = 3 / 16 of 2^24
    EXPECT_TRUE(round_stochastic{3U * (1U << 20U) - 1U}(at(3, false)));
    EXPECT_FALSE(round_stochastic{3U * (1U << 20U)}(at(3, false)));
    EXPECT_FALSE(round_stochastic{0}(at(0, true)));
    EXPECT_TRUE(round_stochastic{0xFFFFFFU - 1U}(cut{(std::uint64_t{1} << 52U) - 1U, 52, false}));
}

TEST(narrow, codes_grow_across_binades) {
    constexpr float_grid grid{3, -6, true};
    const auto code = [&](float x) { return round_to_grid(split(x), grid, round_nearest_even{}); };
    EXPECT_EQ(code(0.0F), 0U);
    EXPECT_EQ(code(1.0F), 0x38U);
    EXPECT_EQ(code(1.99F), 0x40U);    // carry into the exponent
    EXPECT_EQ(code(0.0155F), 0x08U);  // carry out of the subnormals
    EXPECT_EQ(code(1e38F), (126U + 7U) << 3U | 1U);
    constexpr float_grid normals{0, -127, false};
    EXPECT_EQ(round_to_grid(split(3.0F), normals, round_nearest_even{}), 128U);
    EXPECT_EQ(round_to_grid(split(1e-45F), normals, round_nearest_away{}), 0U);
}

}  // namespace
}  // namespace lowbit::test
