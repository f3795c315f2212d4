// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/block_math.hpp>

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <random>

#include <lowbit/element/exmy.hpp>

#include "support/block_oracle.hpp"

using namespace lowbit;

namespace {

static_assert(detail::scale_bits(to_bits(1.5F), -127) == 0x00600000U);
static_assert(detail::quotient(1, 3) == 1.0F / 3.0F);

TEST(block_math, scale_bits_is_exact_and_cuts_off_below) {
    std::mt19937 engine(1);
    for (int trial = 0; trial < 200000; ++trial) {
        const std::uint32_t bits = static_cast<std::uint32_t>(engine()) % infinity_bits;
        const int exponent = static_cast<int>(engine() % 600) - 300;
        const double exact = std::ldexp(static_cast<double>(float_from_bits(bits)), exponent);
        const std::uint32_t got = detail::scale_bits(bits, exponent);
        if (exact > static_cast<double>(FLT_MAX)) {
            ASSERT_EQ(got, infinity_bits);
        } else if (exact >= 0x1p-126) {
            ASSERT_EQ(static_cast<double>(float_from_bits(got)), exact);
        } else {
            ASSERT_EQ(static_cast<double>(float_from_bits(got)), std::floor(exact * 0x1p149) * 0x1p-149);
        }
    }
    EXPECT_EQ(detail::scale_bits(0, 300), 0U);
    EXPECT_EQ(detail::scale_bits(1, 149), to_bits(1.0F));
    EXPECT_EQ(detail::scale_bits(to_bits(FLT_MAX), 1), infinity_bits);
}

TEST(block_math, quotient_rounds_once) {
    std::mt19937 engine(2);
    for (int trial = 0; trial < 500000; ++trial) {
        // Every third pair makes a subnormal quotient, every fifth has few bits, so that ties occur there.
        std::uint32_t a = static_cast<std::uint32_t>(engine()) % infinity_bits;
        std::uint32_t b = static_cast<std::uint32_t>(engine()) % (infinity_bits - 1) + 1;
        if (trial % 3 == 0) {
            a %= 0x02000000U;
            b = 0x3F000000U + b % 0x04000000U;
        }
        if (trial % 5 == 0) {
            a &= 0xFFFC0000U;
            b &= 0xFFF00000U;
        }
        const volatile float x = float_from_bits(a);
        const volatile float y = float_from_bits(b == 0 ? 1 : b);
        ASSERT_EQ(to_bits(detail::quotient(x, y)), to_bits(static_cast<float>(x / y))) << x << " / " << y;
    }
    EXPECT_EQ(to_bits(detail::quotient(1.0F, 0.0F)), infinity_bits);
    EXPECT_EQ(detail::at_most_flt_max(float_from_bits(infinity_bits)), FLT_MAX);
    EXPECT_EQ(detail::at_most_flt_max(FLT_MAX), FLT_MAX);
    EXPECT_EQ(detail::at_most_flt_max(2), 2.0F);
}

TEST(block_math, counted_limits_are_the_e2m1_conversion) {
    const auto limits = detail::e2m1_limits(0);
    std::mt19937 engine(3);
    const auto check = [&](std::uint32_t bits) {
        ASSERT_EQ(detail::code_of(bits, limits), e2m1::from_float(float_from_bits(bits)).bits()) << bits;
    };
    for (int trial = 0; trial < 200000; ++trial) {
        check(static_cast<std::uint32_t>(engine()) % (infinity_bits + 1));
        check(to_bits(0.125F) + static_cast<std::uint32_t>(engine()) % 0x03000000U);
    }
    for (const std::uint32_t limit : limits) {
        check(limit - 1);
        check(limit);
        check(limit + 1);
    }
}

TEST(block_math, normalised_mantissa_of_subnormals) {
    EXPECT_EQ(detail::normalised_mantissa(to_bits(1.75F)), 0x600000U);
    EXPECT_EQ(detail::normalised_mantissa(7), 0x600000U);
    EXPECT_EQ(detail::normalised_mantissa(1), 0U);
    EXPECT_EQ(detail::normalised_mantissa(0), 0U);
    EXPECT_EQ(detail::normalised_mantissa(0x007FFFFF), 0x7FFFFEU);
}

TEST(block_math, the_maximum_ignores_what_is_not_finite) {
    std::array<float, 16> x{};
    x[3] = -5;
    x[7] = INFINITY;
    x[9] = -quiet_nan;
    const auto parts = detail::split_block(std::span<const float, 16>(x));
    EXPECT_FALSE(parts.finite);
    EXPECT_EQ(parts.largest, to_bits(5.0F));
    EXPECT_EQ(parts.magnitude[7], 0U);
    EXPECT_EQ(parts.sign[9], 0);
    EXPECT_EQ(parts.sign[3], 8);
}

}  // namespace
