// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/activation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace {

using lowbit::activate;
using lowbit::activation;
using lowbit::float_from_bits;
using lowbit::to_bits;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr activation smooth[] = {activation::gelu, activation::gelu_tanh, activation::silu};

// The functions in extended precision from the C library.
long double defined(activation kind, float argument) {
    const auto x = static_cast<long double>(argument);
    switch (kind) {
        case activation::gelu: return x * std::erfc(-x * 0.707106781186547524400844362104849039L) / 2;
        case activation::gelu_tanh: {
            const long double y = 1.59576912160573071175978423973752747L * (x + 0.044715L * x * x * x);
            return x / (1 + std::exp(-y));
        }
        case activation::silu: return x / (1 + std::exp(-x));
        case activation::none:
        case activation::relu: break;
    }
    return x;
}

double error_in_ulp(float got, long double wanted) {
    const int exponent = wanted == 0 ? -149 : (std::max)(std::ilogb(wanted) - 23, -149);
    return static_cast<double>(std::ldexp(std::fabs(static_cast<long double>(got) - wanted), -exponent));
}

// Where long double is no wider than double the reference itself is off by some 1e-9 ulp of a float: no matter here.
constexpr double bound = 0.5001;

TEST(activation, is_the_nearest_float_but_for_near_ties) {
    for (const activation kind : smooth) {
        double worst = 0;
        float at = 0;
        for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 9973) {
            const float x = float_from_bits(static_cast<std::uint32_t>(bits));
            if (!lowbit::is_finite(x)) continue;
            const double error = error_in_ulp(activate(kind, x), defined(kind, x));
            if (!(error <= worst)) {
                worst = error;
                at = x;
            }
        }
        EXPECT_LE(worst, bound) << "kind " << static_cast<int>(kind) << " at " << at;
    }
}

TEST(activation, is_right_in_every_binade_and_in_the_tail) {
    for (const activation kind : smooth) {
        for (float x = 0x1p-149F; x < 300; x *= 1.0078125F, x += 0x1p-149F) {
            for (const float argument : {x, -x}) {
                ASSERT_LE(error_in_ulp(activate(kind, argument), defined(kind, argument)), bound) << argument;
            }
        }
    }
}

TEST(activation, known_values) {
    EXPECT_EQ(activate(activation::gelu, 1.0F), 0.841344746F);
    EXPECT_EQ(activate(activation::gelu, -1.0F), -0.158655254F);
    EXPECT_EQ(activate(activation::gelu, 3.0F), 2.99595031F);
    EXPECT_EQ(activate(activation::gelu_tanh, 1.0F), 0.841191991F);
    EXPECT_EQ(activate(activation::silu, 1.0F), 0.731058579F);
    EXPECT_EQ(activate(activation::silu, -1.0F), -0.268941421F);
    EXPECT_EQ(activate(activation::relu, 2.5F), 2.5F);
    EXPECT_EQ(activate(activation::relu, 0x1p-149F), 0x1p-149F);
    EXPECT_EQ(activate(activation::relu, infinity), infinity);
    EXPECT_EQ(activate(activation::none, -2.5F), -2.5F);
    EXPECT_EQ(to_bits(activate(activation::none, -0.0F)), 0x80000000U);
}

TEST(activation, zeros_infinities_and_large_numbers) {
    const float largest = (std::numeric_limits<float>::max)();
    for (const activation kind : smooth) {
        EXPECT_EQ(to_bits(activate(kind, 0.0F)), 0U);
        EXPECT_EQ(to_bits(activate(kind, -0.0F)), 0x80000000U);
        EXPECT_EQ(activate(kind, infinity), infinity);
        EXPECT_EQ(to_bits(activate(kind, -infinity)), 0x80000000U);
        EXPECT_EQ(activate(kind, largest), largest);
        EXPECT_EQ(to_bits(activate(kind, -largest)), 0x80000000U);
        for (float x = 256; x < infinity; x *= 1.5F) {
            EXPECT_EQ(activate(kind, x), x);
            EXPECT_EQ(to_bits(activate(kind, -x)), 0x80000000U);
        }
    }
    for (const float x : {-0.0F, -1.0F, -infinity, -0x1p-149F}) EXPECT_EQ(to_bits(activate(activation::relu, x)), 0U);
}

TEST(activation, subnormal_results_are_rounded_not_flushed) {
    for (const activation kind : smooth) {
        EXPECT_EQ(activate(kind, 0x1p-148F), 0x1p-149F);
        EXPECT_EQ(to_bits(activate(kind, -0x1p-148F)), 0x80000001U);
        EXPECT_EQ(activate(kind, 0x1.8p-148F), 0x1p-148F);  // 1.5 units: a tie, and the true value lies above it
    }
    EXPECT_LT(activate(activation::silu, -100.0F), 0.0F);
    EXPECT_GT(activate(activation::silu, -100.0F), -0x1p-126F);
}

TEST(activation, every_nan_gives_the_canonical_one) {
    for (const activation kind :
         {activation::none, activation::relu, activation::gelu, activation::gelu_tanh, activation::silu}) {
        for (const std::uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0x7F800001U, 0xFFFFFFFFU}) {
            EXPECT_EQ(to_bits(activate(kind, float_from_bits(bits))), lowbit::quiet_nan_bits);
        }
    }
}

TEST(activation, never_changes_sign_and_never_exceeds_its_argument) {
    for (const activation kind : smooth) {
        for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 65521) {
            const float x = float_from_bits(static_cast<std::uint32_t>(bits));
            if (!lowbit::is_finite(x)) continue;
            const float y = activate(kind, x);
            ASSERT_EQ(lowbit::sign_bit(y), lowbit::sign_bit(x)) << x;
            ASSERT_LE(lowbit::abs_bits(y), lowbit::abs_bits(x)) << x;
        }
    }
}

}  // namespace
