// SPDX-License-Identifier: Apache-2.0
// The element types against ml_dtypes (all bfloat16 patterns, all codes) and the field cases about elements and scales.
#include <lowbit/element/exmy.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/golden.hpp"

namespace lowbit::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

float next(float x) { return std::nextafter(x, infinity); }
float previous(float x) { return std::nextafter(x, -infinity); }

template <class T>
void expect_golden_decode(const std::string& name) {
    const auto values = golden<float>("decode_" + name);
    ASSERT_EQ(values.values.size(), std::size_t{1} << T::bit_width);
    for (std::size_t code = 0; code < values.values.size(); ++code) {
        const auto x = T::from_bits(static_cast<std::uint8_t>(code));
        if (std::isnan(values.values[code])) {
            EXPECT_TRUE(x.is_nan() && to_bits(x.to_float()) == 0x7FC00000U) << name << " code " << code;
        } else {
            EXPECT_EQ(to_bits(x.to_float()), to_bits(values.values[code])) << name << " code " << code;
        }
    }
}

/// Compares the codes of all bfloat16 patterns that `counts` accepts; returns how many those are.
template <class T, class Counts>
int expect_golden_cast(const std::string& name, overflow over, Counts counts) {
    const auto codes = golden<std::uint8_t>("cast_" + name);
    EXPECT_EQ(codes.values.size(), 65536U);
    int compared = 0;
    int mismatches = 0;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        const float x = float_from_bits(pattern << 16U);
        if (!counts(x)) continue;
        ++compared;
        mismatches += T::from_float(x, T::format.default_rounding, over).bits() != codes.values[pattern] ? 1 : 0;
        mismatches +=
            T::from_double(static_cast<double>(x), T::format.default_rounding, over).bits() != codes.values[pattern]
                ? 1
                : 0;
    }
    EXPECT_EQ(mismatches, 0) << name;
    return compared;
}

constexpr auto finite = [](float x) { return is_finite(x); };
constexpr int all_finite = 65536 - 2 * 128;

TEST(exmy, golden_decode_of_every_code) {
    expect_golden_decode<e2m1>("float4_e2m1fn");
    expect_golden_decode<e2m3>("float6_e2m3fn");
    expect_golden_decode<e3m2>("float6_e3m2fn");
    expect_golden_decode<e4m3>("float8_e4m3fn");
    expect_golden_decode<e5m2>("float8_e5m2");
    expect_golden_decode<e8m0>("float8_e8m0fnu");
}

TEST(exmy, golden_cast_of_every_bfloat16) {
    EXPECT_EQ(expect_golden_cast<e2m1>("float4_e2m1fn", overflow::saturate, finite), all_finite);
    EXPECT_EQ(expect_golden_cast<e2m3>("float6_e2m3fn", overflow::saturate, finite), all_finite);
    EXPECT_EQ(expect_golden_cast<e3m2>("float6_e3m2fn", overflow::saturate, finite), all_finite);
    EXPECT_EQ(expect_golden_cast<e4m3>("float8_e4m3fn", overflow::infinity, finite), all_finite);
    EXPECT_EQ(expect_golden_cast<e5m2>("float8_e5m2", overflow::infinity, finite), all_finite);
    // E8M0: positive inputs within range, that is from 2^-127 up to what still rounds to 2^127. The 31 patterns between
    // 2^-127 and 1.5 * 2^-127 stand apart: ml_dtypes reads the mantissa of these float32 subnormals as a normal one and
    // rounds all of them up to 2^-126; the nearest power of two, which is the rule here, is 2^-127.
    const auto beside = [](float x) { return x > power_of_two(-127) && x < 1.5F * power_of_two(-127); };
    const auto in_range = [&](float x) {
        return x >= power_of_two(-127) && x < 1.5F * power_of_two(127) && !beside(x);
    };
    EXPECT_EQ(expect_golden_cast<e8m0>("float8_e8m0fnu", overflow::saturate, in_range), 64 - 31 + 253 * 128 + 64);
    for (std::uint32_t pattern = 0x41; pattern < 0x60; ++pattern) {
        EXPECT_TRUE(beside(float_from_bits(pattern << 16U)));
        EXPECT_EQ(e8m0::from_float(float_from_bits(pattern << 16U)).bits(), 0);
    }
}

TEST(exmy, case01_e2m1_ties_go_to_the_even_code) {
    const float ties[] = {0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5.0F};
    const int codes[] = {0, 2, 2, 4, 4, 6, 6};
    for (int i = 0; i < 7; ++i) {
        EXPECT_EQ(e2m1::from_float(ties[i]).bits(), codes[i]);
        EXPECT_EQ(e2m1::from_float(-ties[i]).bits(), codes[i] | 8);
    }
}

TEST(exmy, case02_one_ulp_past_a_tie_counts) {
    EXPECT_EQ(e2m1::from_float(next(0.25F)).to_float(), 0.5F);
    EXPECT_EQ(e2m1::from_float(previous(0.25F)).to_float(), 0.0F);
    EXPECT_EQ(e2m1::from_float(next(2.5F)).to_float(), 3.0F);
    EXPECT_EQ(e2m1::from_float(next(5.0F)).to_float(), 6.0F);
    EXPECT_EQ(e2m1::from_float(previous(5.0F)).to_float(), 4.0F);
}

TEST(exmy, case03_exponent_field_zero_is_subnormal) {
    const float magnitudes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (std::uint8_t code = 0; code < 8; ++code) {
        EXPECT_EQ(to_bits(e2m1::from_bits(code).to_float()), to_bits(magnitudes[code]));
        EXPECT_EQ(to_bits(e2m1::from_bits(code | 8).to_float()), to_bits(-magnitudes[code]));
    }
}

TEST(exmy, case04_no_double_rounding) {
    EXPECT_EQ(e2m1::from_double(2.5 + std::ldexp(1.0, -40)).to_float(), 3.0F);
    EXPECT_EQ(e2m1::from_float(2.5F + std::ldexp(1.0F, -12)).to_float(), 3.0F);
    EXPECT_EQ(e4m3::from_double(17.0 + std::ldexp(1.0, -40)).to_float(), 18.0F);
    EXPECT_EQ(e4m3::from_double(17.0 - std::ldexp(1.0, -40)).to_float(), 16.0F);
}

TEST(exmy, case05_small_negative_is_minus_zero_and_not_nan) {
    EXPECT_EQ(e2m1::from_float(-0.2F).bits(), 0x8);
    EXPECT_TRUE(std::signbit(e2m1::from_bits(0x8).to_float()));
    EXPECT_EQ(e4m3::from_float(-1e-30F).bits(), 0x80);
    EXPECT_FALSE(e4m3::from_bits(0x80).is_nan());
    EXPECT_EQ(e5m2::from_float(-1e-45F).bits(), 0x80);
}

TEST(exmy, case06_signed_zero_survives) {
    EXPECT_EQ(e2m1::from_float(-0.0F).bits(), 0x8);
    EXPECT_EQ(to_bits(e2m1::from_float(-0.0F).to_float()), 0x80000000U);
    EXPECT_EQ(to_bits(e4m3::from_float(-0.0F).to_float()), 0x80000000U);
    EXPECT_EQ(to_bits(e5m2::from_double(-0.0).to_float()), 0x80000000U);
}

TEST(exmy, case07_e4m3_top_binade_rounds_before_it_tests_overflow) {
    const float in[] = {256, 288, 448, 463, 464};
    const int out[] = {0x78, 0x79, 0x7E, 0x7E, 0x7E};
    for (int i = 0; i < 5; ++i) {
        for (const overflow over : {overflow::saturate, overflow::infinity}) {
            EXPECT_EQ(e4m3::from_float(in[i], rounding::nearest_even, over).bits(), out[i]) << in[i];
            EXPECT_EQ(e4m3::from_float(-in[i], rounding::nearest_even, over).bits(), out[i] | 0x80) << in[i];
        }
    }
    for (const float x : {next(464.0F), 465.0F, 500.0F, 1e38F, infinity}) {
        EXPECT_EQ(e4m3::from_float(x).bits(), 0x7E) << x;
        EXPECT_EQ(e4m3::from_float(x, rounding::nearest_even, overflow::infinity).bits(), 0x7F) << x;
    }
}

TEST(exmy, case08_e4m3_subnormals) {
    EXPECT_EQ(e4m3::from_bits(0x01).to_float(), 0.001953125F);
    EXPECT_EQ(e4m3::from_bits(0x07).to_float(), 7 * 0.001953125F);
    EXPECT_EQ(e4m3::from_bits(0x08).to_float(), 0.015625F);
    EXPECT_EQ(e4m3::from_float(power_of_two(-9)).bits(), 0x01);
    EXPECT_EQ(e4m3::from_float(power_of_two(-10)).bits(), 0x00);
    EXPECT_EQ(e4m3::from_float(1.5F * power_of_two(-10)).bits(), 0x01);
    EXPECT_EQ(e4m3::from_float(3 * power_of_two(-10)).bits(), 0x02);
    EXPECT_EQ(e4m3::from_float(power_of_two(-11)).bits(), 0x00);
}

TEST(exmy, case09_e4m3_has_two_nans_and_no_infinity) {
    int nans = 0;
    for (int code = 0; code < 256; ++code) {
        const auto x = e4m3::from_bits(static_cast<std::uint8_t>(code));
        nans += is_nan(x.to_float()) ? 1 : 0;
        EXPECT_EQ(x.is_nan(), (code & 0x7F) == 0x7F);
        EXPECT_FALSE(x.is_inf() || is_inf(x.to_float()));
    }
    EXPECT_EQ(nans, 2);
    // The mirror error: finite codes of UE5M3 are no Inf, and only 0xFF is NaN.
    for (int code = 0; code < 255; ++code) {
        EXPECT_TRUE(is_finite(ue5m3::from_bits(static_cast<std::uint8_t>(code)).to_float()));
    }
    EXPECT_TRUE(ue5m3::from_bits(0xFF).is_nan());
}

TEST(exmy, case10_e4m3_maximum_is_448) { EXPECT_EQ(std::numeric_limits<e4m3>::max().to_float(), 448.0F); }

TEST(exmy, case11_e8m0_byte_zero_is_a_subnormal_float) {
    EXPECT_EQ(to_bits(e8m0::from_bits(0).to_float()), 0x00400000U);
    EXPECT_EQ(e8m0::from_float(float_from_bits(0x00400000U)).bits(), 0);
}

TEST(exmy, case17_float_to_e8m0) {
    EXPECT_EQ(e8m0::from_float(3.0F).bits(), 0x81);
    EXPECT_EQ(e8m0::from_float(0.75F).bits(), 0x7F);
    EXPECT_EQ(e8m0::from_float(6.0F).bits(), 0x82);
    EXPECT_EQ(e8m0::from_float(power_of_two(-128)).bits(), 0x00);
    EXPECT_EQ(e8m0::from_float(0.0F).bits(), 0x00);
    EXPECT_EQ(e8m0::from_float(-0.0F).bits(), 0x00);
    EXPECT_EQ(e8m0::from_float(-1.0F).bits(), 0xFF);
    EXPECT_EQ(e8m0::from_float(-1e-45F).bits(), 0xFF);
    EXPECT_EQ(e8m0::from_float(quiet_nan).bits(), 0xFF);
    EXPECT_EQ(e8m0::from_float(std::numeric_limits<float>::max()).bits(), 0xFE);
    EXPECT_EQ(e8m0::from_float(infinity).bits(), 0xFE);
    EXPECT_EQ(e8m0::from_float(3.0F, rounding::nearest_even).bits(), 0x80);
    EXPECT_EQ(e8m0::from_float(6.0F, rounding::nearest_even).bits(), 0x82);
    EXPECT_EQ(e8m0::from_double(std::ldexp(1.5, 127)).bits(), 0xFE);
    EXPECT_EQ(e8m0::from_double(std::ldexp(1.5, 127), rounding::nearest_away, overflow::infinity).bits(), 0xFF);
}

TEST(exmy, case18_e8m0_bytes_above_127_and_158) {
    const int bytes[] = {127, 128, 158, 159, 200, 254};
    const int exponents[] = {0, 1, 31, 32, 73, 127};
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(e8m0::from_bits(static_cast<std::uint8_t>(bytes[i])).to_float(), std::ldexp(1.0F, exponents[i]));
    }
}

TEST(exmy, nan_goes_to_the_maximum_where_there_is_no_nan) {
    for (const float x : {quiet_nan, -quiet_nan}) {
        EXPECT_EQ(e2m1::from_float(x).bits(), 0x7);
        EXPECT_EQ(s1p2::from_float(x).bits(), 0x7);
        EXPECT_EQ(e2m3::from_float(x).bits(), 0x1F);
        EXPECT_EQ(e3m2::from_float(x).bits(), 0x1F);
    }
    EXPECT_EQ(e2m1::from_float(-infinity).bits(), 0xF);
    EXPECT_EQ(e3m2::from_float(infinity).bits(), 0x1F);
}

TEST(exmy, e6m2_and_ue5m3_at_their_ends) {
    EXPECT_EQ(e6m2::from_float(49152.0F).bits(), 0xFE);
    EXPECT_EQ(e6m2::from_float(1e30F).bits(), 0xFE);
    EXPECT_EQ(e6m2::from_float(0.0F).bits(), 0x00);
    EXPECT_EQ(e6m2::from_float(1e-30F).bits(), 0x00);
    EXPECT_EQ(e6m2::from_float(1.875F).to_float(), 2.0F);  // carry into the exponent
    EXPECT_EQ(e6m2::from_float(-1.0F).bits(), 0xFF);
    EXPECT_EQ(ue5m3::from_float(114688.0F).bits(), 0xFE);
    EXPECT_EQ(ue5m3::from_float(power_of_two(-18)).bits(), 0x00);
    EXPECT_EQ(ue5m3::from_float(next(power_of_two(-18))).bits(), 0x01);
    EXPECT_EQ(ue5m3::from_float(-0.0F).bits(), 0x00);
    EXPECT_EQ(ue5m3::from_float(-1e-30F).bits(), 0xFF);
}

// All conversions in constant evaluation.
static_assert(e4m3::from_double(1.0625).bits() == 0x38 &&
              e4m3::from_float(1.0625F, rounding::nearest_away).bits() == 0x39);
static_assert(e2m1::from_float(2.9F, rounding::toward_zero).to_float() == 2.0F);
static_assert(e2m1::from_bits(0x0) == e2m1::from_bits(0x8) && e4m3::from_bits(0x7F) != e4m3::from_bits(0x7F));
static_assert(std::numeric_limits<const e4m3>::max().to_float() == 448.0F);

}  // namespace
}  // namespace lowbit::test
