// SPDX-License-Identifier: Apache-2.0
// Bit tests, powers of two, the exact multiply-add of constants, checked sizes.
#include <lowbit/core/bits.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace lowbit::test {
namespace {

constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();

TEST(bits, classes_of_floats_and_doubles) {
    const std::uint32_t patterns[] = {0x00000000U, 0x80000000U, 0x00000001U, 0x007FFFFFU, 0x00800000U, 0x3F800000U,
                                      0x7F7FFFFFU, 0x7F800000U, 0xFF800000U, 0x7F800001U, 0x7FC00000U, 0xFFFFFFFFU};
    for (const std::uint32_t pattern : patterns) {
        const float x = float_from_bits(pattern);
        EXPECT_EQ(to_bits(x), pattern);
        EXPECT_EQ(abs_bits(x), pattern & 0x7FFFFFFFU);
        EXPECT_EQ(is_nan(x), std::isnan(x));
        EXPECT_EQ(is_inf(x), std::isinf(x));
        EXPECT_EQ(is_finite(x), std::isfinite(x));
        EXPECT_EQ(sign_bit(x), std::signbit(x));
        for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}}) {
            const double d = double_from_bits(std::uint64_t{pattern} << 32U | low);
            EXPECT_EQ(to_bits(d), std::uint64_t{pattern} << 32U | low);
            EXPECT_EQ(is_nan(d), std::isnan(d));
            EXPECT_EQ(is_inf(d), std::isinf(d));
            EXPECT_EQ(is_finite(d), std::isfinite(d));
            EXPECT_EQ(sign_bit(d), std::signbit(d));
        }
    }
    EXPECT_TRUE(is_inf(double_from_bits(0x7FF0000000000000U)) && is_nan(double_from_bits(0x7FF0000000000001U)));
}

TEST(bits, the_quiet_nan_is_0x7FC00000) { EXPECT_EQ(to_bits(quiet_nan), 0x7FC00000U); }

TEST(bits, power_of_two_over_its_range) {
    for (int e = -149; e <= 127; ++e) {
        EXPECT_EQ(to_bits(power_of_two(e)), to_bits(std::ldexp(1.0F, e))) << e;
        EXPECT_EQ(floor_log2(power_of_two(e)), e);
    }
}

TEST(bits, floor_log2_next_to_powers_of_two_and_in_subnormals) {
    for (int e = -148; e <= 127; ++e) {
        EXPECT_EQ(floor_log2(std::nextafter(power_of_two(e), 0.0F)), e - 1);
        EXPECT_EQ(floor_log2(std::nextafter(power_of_two(e), HUGE_VALF)), e) << e;
    }
    EXPECT_EQ(floor_log2(std::numeric_limits<float>::max()), 127);
    EXPECT_EQ(floor_log2(-6.0F), 2);
}

TEST(bits, exactly_is_the_identity) {
    for (const float x : {0.0F, -0.0F, 1.5F, 1e-45F, quiet_nan}) {
        EXPECT_EQ(to_bits(exactly(x)), to_bits(x));
        EXPECT_EQ(to_bits(exactly(static_cast<double>(x))), to_bits(static_cast<double>(x)));
    }
    static_assert(exactly(1.5F) == 1.5F && exactly(2.5) == 2.5);
}

TEST(bits, constant_multiply_add_rounds_once) {
    std::mt19937_64 generator(2);
    const auto any = [&](unsigned exponents) {
        const auto r = generator();
        const auto exponent = static_cast<std::uint32_t>(127 - exponents / 2 + r % exponents);
        return float_from_bits((static_cast<std::uint32_t>(r >> 32U) & 0x807FFFFFU) | exponent << 23U);
    };
    for (int i = 0; i < 300000; ++i) {
        const unsigned exponents = i % 3 == 0 ? 253 : i % 3 == 1 ? 4 : 30;
        const float a = any(exponents), b = any(exponents);
        // Half of the addends nearly cancel the product: there the sum shows what the product lost.
        const float c = i % 2 == 0 ? any(exponents) : -(a * b) * (1.0F + static_cast<float>(i % 5) * 0x1p-23F);
        if (!is_finite(a * b) || !is_finite(c)) continue;
        ASSERT_EQ(to_bits(detail::fused_multiply_add_in_double(a, b, c)), to_bits(std::fma(a, b, c)))
            << std::hexfloat << a << " " << b << " " << c;
        ASSERT_EQ(to_bits(fused_multiply_add(a, b, c)), to_bits(std::fma(a, b, c)));
    }
    const float tiny = power_of_two(-149);
    for (const float c : {0.0F, -0.0F, tiny, -tiny, 1.0F, std::numeric_limits<float>::max()}) {
        for (const float a : {0.0F, -0.0F, tiny, 0.5F, 0.75F, -1.0F, std::numeric_limits<float>::max()}) {
            for (const float b : {0.0F, tiny, 3 * tiny, 1.0F, -1.0F, 2.0F}) {
                EXPECT_EQ(to_bits(detail::fused_multiply_add_in_double(a, b, c)), to_bits(std::fma(a, b, c)))
                    << std::hexfloat << a << " " << b << " " << c;
            }
        }
    }
    // Inf and NaN: reached at run time only.
    const float inf = std::numeric_limits<float>::infinity();
    for (const auto& [a, b, c] :
         {std::array{inf, 1.0F, 1.0F}, {-inf, 1.0F, 1.0F}, {1.0F, 2.0F, inf}, {1.0F, 2.0F, -inf}}) {
        EXPECT_EQ(to_bits(detail::fused_multiply_add_in_double(a, b, c)), to_bits(std::fma(a, b, c)));
    }
    for (const auto& [a, b, c] : {std::array{quiet_nan, 1.0F, 1.0F},
                                  {1.0F, -quiet_nan, 1.0F},
                                  {1.0F, 2.0F, quiet_nan},
                                  {inf, 0.0F, 1.0F},
                                  {inf, 1.0F, -inf}}) {
        EXPECT_EQ(to_bits(detail::fused_multiply_add_in_double(a, b, c)), 0x7FC00000U);
    }
    constexpr float once = fused_multiply_add(1.0F + 0x1p-23F, 1.0F - 0x1p-23F, -1.0F);
    static_assert(once == -0x1p-46F);
}

TEST(bits, case50_size_arithmetic_is_checked) {
    EXPECT_EQ(checked_multiply(3, 4), std::size_t{12});
    EXPECT_EQ(checked_multiply(0, largest), std::size_t{0});
    EXPECT_EQ(checked_multiply(largest, 0), std::size_t{0});
    EXPECT_EQ(checked_multiply(largest, 1), largest);
    EXPECT_EQ(checked_multiply(largest / 2, 2), largest - 1);
    EXPECT_FALSE(checked_multiply(largest / 2 + 1, 2));
    EXPECT_FALSE(checked_multiply(largest / 4 + 1, largest / 4 + 1));
    EXPECT_FALSE(checked_multiply(largest / 4 + 2, 6));  // wraps to more than either factor
    EXPECT_EQ(checked_add(largest - 1, 1), largest);
    EXPECT_FALSE(checked_add(largest, 1));
}

TEST(bits, round_up_and_divide_up) {
    EXPECT_EQ(round_up(0, 64), 0U);
    EXPECT_EQ(round_up(1, 64), 64U);
    EXPECT_EQ(round_up(64, 64), 64U);
    EXPECT_EQ(round_up(65, 3), 66U);
    EXPECT_EQ(divide_up(0, 32), 0U);
    EXPECT_EQ(divide_up(33, 32), 2U);
    EXPECT_EQ(divide_up(largest, 2), largest / 2 + 1);
}

}  // namespace
}  // namespace lowbit::test
