// SPDX-License-Identifier: Apache-2.0
// bfloat16 and float16: every code widened, every midpoint with its float and double neighbours narrowed.
#include <lowbit/core/float16.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace lowbit::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The value of a finite code by its fields.
double value_of(int code, int mantissa_bits, int bias) {
    const int field = code >> mantissa_bits;
    const double fraction = std::ldexp(static_cast<double>(code & ((1 << mantissa_bits) - 1)), -mantissa_bits);
    return field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, field - bias);
}

struct bfloat16_fields {
    using type = bfloat16;
    static constexpr int mantissa_bits = 7, bias = 127, infinity_code = 0x7F80, nan_code = 0x7FC0;
};
struct float16_fields {
    using type = float16;
    static constexpr int mantissa_bits = 10, bias = 15, infinity_code = 0x7C00, nan_code = 0x7E00;
};

template <class Fields>
class float16_types : public testing::Test {};
using both = testing::Types<bfloat16_fields, float16_fields>;
TYPED_TEST_SUITE(float16_types, both);

TYPED_TEST(float16_types, every_code_widens_exactly_and_comes_back) {
    using T = typename TypeParam::type;
    for (int code = 0; code < 65536; ++code) {
        const T x = T::from_bits(static_cast<std::uint16_t>(code));
        ASSERT_EQ(x.bits(), code);
        const int magnitude = code & 0x7FFF;
        const bool negative = code >= 0x8000;
        const float wide = x.to_float();
        ASSERT_EQ(x.is_nan(), magnitude > TypeParam::infinity_code);
        ASSERT_EQ(x.is_inf(), magnitude == TypeParam::infinity_code);
        if (magnitude > TypeParam::infinity_code) {
            ASSERT_EQ(to_bits(wide), 0x7FC00000U);
            ASSERT_EQ(T::from_float(wide).bits(), TypeParam::nan_code);
            ASSERT_FALSE(x == x);
            continue;
        }
        ASSERT_EQ(std::signbit(wide), negative);
        if (magnitude == TypeParam::infinity_code) {
            ASSERT_EQ(std::fabs(wide), infinity);
        } else {
            ASSERT_EQ(static_cast<double>(std::fabs(wide)),
                      value_of(magnitude, TypeParam::mantissa_bits, TypeParam::bias));
        }
        ASSERT_EQ(T::from_float(wide).bits(), code);
        ASSERT_EQ(T::from_double(static_cast<double>(wide)).bits(), code);
        ASSERT_TRUE(x == x);
    }
}

TYPED_TEST(float16_types, every_midpoint_and_its_neighbours_round_once) {
    using T = typename TypeParam::type;
    for (int code = 0; code < TypeParam::infinity_code; ++code) {
        const double low = value_of(code, TypeParam::mantissa_bits, TypeParam::bias);
        const double high = value_of(code + 1, TypeParam::mantissa_bits, TypeParam::bias);  // of Inf: 2^(largest + 1)
        const double middle = (low + high) / 2;
        const int even = code % 2 == 0 ? code : code + 1;
        ASSERT_EQ(T::from_double(middle).bits(), even) << code;
        ASSERT_EQ(T::from_double(-middle).bits(), even | 0x8000) << code;
        ASSERT_EQ(T::from_double(std::nextafter(middle, 0.0)).bits(), code);
        ASSERT_EQ(T::from_double(std::nextafter(middle, HUGE_VAL)).bits(), code + 1);
        ASSERT_EQ(T::from_double(-std::nextafter(middle, HUGE_VAL)).bits(), (code + 1) | 0x8000);
        const auto narrow = static_cast<float>(middle);
        ASSERT_EQ(static_cast<double>(narrow), middle);
        ASSERT_EQ(T::from_float(narrow).bits(), even);
        ASSERT_EQ(T::from_float(-narrow).bits(), even | 0x8000);
        ASSERT_EQ(T::from_float(std::nextafter(narrow, 0.0F)).bits(), code);
        ASSERT_EQ(T::from_float(std::nextafter(narrow, infinity)).bits(), code + 1);
    }
}

TYPED_TEST(float16_types, beyond_the_range) {
    using T = typename TypeParam::type;
    for (const double x : {1e39, 1e300, HUGE_VAL}) {
        EXPECT_EQ(T::from_double(x).bits(), TypeParam::infinity_code);
        EXPECT_EQ(T::from_double(-x).bits(), TypeParam::infinity_code | 0x8000);
    }
    EXPECT_EQ(T::from_float(std::numeric_limits<float>::max()).bits(), TypeParam::infinity_code);
    for (const double x : {5e-324, 1e-310, 1e-50, 0.0}) {
        EXPECT_EQ(T::from_double(x).bits(), 0);
        EXPECT_EQ(T::from_double(-x).bits(), 0x8000);
    }
    EXPECT_EQ(T::from_float(1e-45F).bits(), 0);
    for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFFC00000U, 0xFFFFFFFFU, 0x7FFFFFFFU}) {
        EXPECT_EQ(T::from_float(float_from_bits(nan)).bits(), TypeParam::nan_code);
        EXPECT_EQ(T::from_double(double_from_bits(std::uint64_t{nan | 0x7FF00000U} << 32U | 1U)).bits(),
                  TypeParam::nan_code);
    }
}

TYPED_TEST(float16_types, equality_is_of_values) {
    using T = typename TypeParam::type;
    EXPECT_TRUE(T::from_bits(0x0000) == T::from_bits(0x8000));
    EXPECT_FALSE(T::from_bits(0x0001) == T::from_bits(0x8001));
    EXPECT_FALSE(T::from_bits(TypeParam::nan_code) == T::from_bits(TypeParam::nan_code));
    EXPECT_TRUE(T::from_float(infinity) == T::from_float(infinity));
    EXPECT_EQ(T().bits(), 0);
    static_assert(sizeof(T) == 2 && std::is_trivially_copyable_v<T> && !std::is_convertible_v<T, float>);
}

TEST(float16_types, case04_double_rounding) {
    // Through float these would be ties.
    EXPECT_EQ(bfloat16::from_double(1.0 + 0x1p-8 + 0x1p-40).bits(), 0x3F81);
    EXPECT_EQ(bfloat16::from_double(1.0 + 0x1p-8 + 0x1p-7 - 0x1p-40).bits(), 0x3F81);
    EXPECT_EQ(float16::from_double(1.0 + 0x1p-11 + 0x1p-40).bits(), 0x3C01);
    EXPECT_EQ(float16::from_double(65520.0 - 0x1p-20).bits(), 0x7BFF);
}

TEST(float16_types, case52_subnormals_and_overflow) {
    EXPECT_EQ(float16::from_float(power_of_two(-20)).bits(), 0x0010);
    EXPECT_EQ(float16::from_float(power_of_two(-24)).bits(), 0x0001);
    EXPECT_EQ(float16::from_float(power_of_two(23)).bits(), 0x7C00);
    EXPECT_EQ(bfloat16::from_float(power_of_two(-128)).bits(), 0x0020);
}

TEST(float16_types, random_floats_agree_with_the_compiler) {
#if defined(__FLT16_MANT_DIG__) && !defined(__clang__) && (defined(__x86_64__) || __GNUC__ >= 13)
    std::mt19937 generator(1);
    for (int i = 0; i < 1000000; ++i) {
        const float x = float_from_bits((generator() & 0x8FFFFFFFU) + 0x30000000U);
        if (!is_finite(x)) continue;
        const auto theirs = static_cast<_Float16>(x);
        ASSERT_EQ(float16::from_float(x).bits(), __builtin_bit_cast(std::uint16_t, theirs)) << std::hexfloat << x;
    }
#else
    GTEST_SKIP() << "no _Float16 here";
#endif
}

static_assert(bfloat16::from_double(1.5).to_float() == 1.5F && float16::from_float(-0.0F).bits() == 0x8000);

}  // namespace
}  // namespace lowbit::test
