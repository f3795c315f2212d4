// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/integer_codes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace {

using lowbit::detail::round_to_integer;
using lowbit::detail::signed_code;

TEST(round_to_integer, equals_rint_of_the_exact_product) {
    std::mt19937 engine(1);
    for (int i = 0; i < 2'000'000; ++i) {
        const std::uint32_t bits = static_cast<std::uint32_t>(engine()) & 0x7FFFFFFFU;
        if (bits >= lowbit::infinity_bits) continue;
        const int aimed = 127 - static_cast<int>(bits >> 23U) + static_cast<int>(engine() % 14) - 4;
        const int exponent = i % 8 == 0 ? static_cast<int>(engine() % 520) - 260 : aimed;
        const double exact = std::ldexp(static_cast<double>(lowbit::float_from_bits(bits)), exponent);
        const double wanted = (std::min)(std::rint(exact), 127.0);
        ASSERT_EQ(round_to_integer(bits, exponent, 127), static_cast<std::uint32_t>(wanted)) << bits << " " << exponent;
    }
}

TEST(round_to_integer, ties_go_to_the_even_integer) {
    for (std::uint32_t n = 0; n < 127; ++n) {
        const float tie = static_cast<float>(n) + 0.5F;
        for (const int exponent : {-140, -100, -3, 0, 7, 100}) {
            const float x = std::ldexp(tie, -exponent);
            if (!std::isfinite(x) || std::ldexp(x, exponent) != tie) continue;
            EXPECT_EQ(round_to_integer(lowbit::to_bits(x), exponent, 127), n + n % 2);
            EXPECT_EQ(round_to_integer(lowbit::to_bits(x) + 1, exponent, 127), n + 1);
            EXPECT_EQ(round_to_integer(lowbit::to_bits(x) - 1, exponent, 127), n);
        }
    }
}

TEST(round_to_integer, saturates_and_takes_extreme_exponents) {
    const std::uint32_t largest = lowbit::to_bits((std::numeric_limits<float>::max)());
    EXPECT_EQ(round_to_integer(largest, 0, 127), 127U);
    EXPECT_EQ(round_to_integer(largest, 200, 127), 127U);
    EXPECT_EQ(round_to_integer(0, 200, 127), 0U);
    EXPECT_EQ(round_to_integer(1, 200, 127), 127U);
    EXPECT_EQ(round_to_integer(lowbit::to_bits(127.0F), 0, 127), 127U);
    EXPECT_EQ(round_to_integer(lowbit::to_bits(3.0F), 21, 0xFFFFFFU), 3U << 21U);
    EXPECT_EQ(round_to_integer(lowbit::to_bits(1.0F), -300, 127), 0U);
}

TEST(signed_code, has_one_zero) {
    EXPECT_EQ(signed_code(127, 0x80000000U), -127);
    EXPECT_EQ(signed_code(127, 0x7FFFFFFFU), 127);
    EXPECT_EQ(signed_code(0, 0x80000000U), 0);
}

}  // namespace
