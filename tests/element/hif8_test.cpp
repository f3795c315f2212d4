// SPDX-License-Identifier: Apache-2.0
// HiF8 as a type: all codes, golden data, worked cases of its authors' algorithm, field cases, comparison, limits, and
// its use as a block format of one value.
#include <lowbit/element/hif8.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "support/element_oracle.hpp"
#include "support/golden.hpp"

namespace lowbit::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::uint8_t code(float x, hif8_rounding mode = hif8_rounding::ties_away, overflow over = overflow::infinity) {
    return hif8::from_float(x, mode, over).bits();
}

void expect_same_value(hif8 x, float value) {
    if (std::isnan(value)) {
        EXPECT_TRUE(x.is_nan());
        EXPECT_EQ(to_bits(x.to_float()), 0x7FC00000U);
    } else {
        EXPECT_EQ(x.to_float(), value);
    }
}

TEST(hif8, every_code_decodes_to_its_value) {
    const value_grid grid = make_hif8_grid();
    ASSERT_EQ(grid.values.size(), 127U);
    for (std::size_t i = 0; i < grid.values.size(); ++i) {
        const std::uint8_t positive = grid.codes[i];
        EXPECT_EQ(static_cast<double>(hif8::from_bits(positive).to_float()), grid.values[i]);
        if (positive != 0) {
            EXPECT_EQ(static_cast<double>(hif8::from_bits(positive | 0x80).to_float()), -grid.values[i]);
        }
    }
    EXPECT_EQ(hif8::from_bits(0x6F).to_float(), infinity);
    EXPECT_EQ(hif8::from_bits(0xEF).to_float(), -infinity);
    EXPECT_EQ(to_bits(hif8::from_bits(0x80).to_float()), 0x7FC00000U);
    EXPECT_EQ(to_bits(hif8::from_bits(0x00).to_float()), 0U);
}

TEST(hif8, golden_value_of_every_code) {
    const auto values = golden<float>("model_hif8_codes");
    ASSERT_EQ(values.values.size(), 256U);
    for (std::size_t c = 0; c < 256; ++c)
        expect_same_value(hif8::from_bits(static_cast<std::uint8_t>(c)), values.values[c]);
}

TEST(hif8, every_value_is_exact_in_the_16_bit_types_and_survives_a_round_trip) {
    for (int c = 0; c < 256; ++c) {
        const auto x = hif8::from_bits(static_cast<std::uint8_t>(c));
        const float value = x.to_float();
        for (const auto mode : {hif8_rounding::ties_away, hif8_rounding::nearest_even, hif8_rounding::toward_zero,
                                hif8_rounding::hybrid, hif8_rounding::stochastic}) {
            EXPECT_EQ(hif8::from_float(value, mode).bits(), c);
            EXPECT_EQ(hif8::from_double(static_cast<double>(value), mode).bits(), c);
            EXPECT_EQ(hif8::from_bfloat16(bfloat16::from_float(value), mode).bits(), c);
            EXPECT_EQ(hif8::from_float16(float16::from_float(value), mode).bits(), c);
        }
        if (!x.is_nan()) {
            EXPECT_EQ(bfloat16::from_float(value).to_float(), value);
            EXPECT_EQ(float16::from_float(value).to_float(), value);
        }
    }
}

TEST(hif8, golden_cast_of_every_bfloat16) {
    const auto values = golden<float>("cast_hif8_value");
    ASSERT_EQ(values.values.size(), 65536U);
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        const float x = float_from_bits(pattern << 16U);
        const auto narrow = bfloat16::from_bits(static_cast<std::uint16_t>(pattern));
        expect_same_value(hif8::from_float(x), values.values[pattern]);
        expect_same_value(hif8::from_bfloat16(narrow), values.values[pattern]);
        expect_same_value(hif8::from_double(static_cast<double>(x)), values.values[pattern]);
    }
}

TEST(hif8, golden_values_of_the_generated_data) {
    for (const char* data : {"f32", "bf16"}) {
        const auto x = golden<float>(std::string("x_") + data);
        const auto values = golden<float>(std::string("hif8_value_") + data);
        ASSERT_EQ(x.values.size(), values.values.size());
        for (std::size_t i = 0; i < x.values.size(); ++i)
            expect_same_value(hif8::from_float(x.values[i]), values.values[i]);
    }
    const auto x = golden<float>("x_f32");
    const auto codes = golden<std::uint8_t>("model_hif8");
    const auto hybrid = golden<float>("model_hif8_hybrid_from_float");
    ASSERT_EQ(x.values.size(), codes.values.size());
    ASSERT_EQ(x.values.size(), hybrid.values.size());
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        ASSERT_EQ(code(x.values[i]), codes.values[i]);
        expect_same_value(hif8::from_float(x.values[i], hif8_rounding::hybrid), hybrid.values[i]);
    }
}

// The worked cases of the sources: input, ties away, saturating, hybrid.
TEST(hif8, worked_cases) {
    struct worked {
        float x;
        int ties_away, saturated, hybrid;
    };
    const worked cases[] = {
        {1.0F, 0x08, 0x08, 0x08},
        {-1.0F, 0x88, 0x88, 0x88},
        {1.0625F, 0x09, 0x09, 0x09},
        {1.9375F, 0x10, 0x10, 0x10},
        {15.5F, 0x40, 0x40, 0x40},
        {16.0F, 0x40, 0x40, 0x40},
        {18.0F, 0x41, 0x41, 0x41},
        {17.999998F, 0x40, 0x40, 0x40},
        {240.0F, 0x60, 0x60, 0x60},
        {248.0F, 0x60, 0x60, 0x60},
        {32768.0F, 0x6E, 0x6E, 0x6E},
        {40959.996F, 0x6E, 0x6E, 0x6E},
        {40960.0F, 0x6F, 0x6E, 0x6F},
        {std::ldexp(1.0F, -15), 0x7E, 0x7E, 0x7E},
        {std::ldexp(1.5F, -16), 0x7E, 0x7E, 0x7E},
        {float_from_bits(0x37BFFFFFU), 0x07, 0x07, 0x07},
        {std::ldexp(1.0F, -22), 0x01, 0x01, 0x01},
        {std::ldexp(1.5F, -22), 0x02, 0x02, 0x02},
        {float_from_bits(0x34BFFFFFU), 0x01, 0x01, 0x01},
        {std::ldexp(1.0F, -23), 0x01, 0x01, 0x01},
        {float_from_bits(0x33FFFFFEU), 0x00, 0x00, 0x00},
        {-std::ldexp(1.0F, -24), 0x00, 0x00, 0x00},
        {-0.0F, 0x00, 0x00, 0x00},
        {infinity, 0x6F, 0x6E, 0x6F},
        {-infinity, 0xEF, 0xEE, 0xEF},
        {quiet_nan, 0x80, 0x80, 0x80},
        {1e30F, 0x6F, 0x6E, 0x6F},
        {-40960.0F, 0xEF, 0xEE, 0xEF},
    };
    for (const worked& c : cases) {
        EXPECT_EQ(code(c.x), c.ties_away) << std::hexfloat << c.x;
        EXPECT_EQ(code(c.x, hif8_rounding::ties_away, overflow::saturate), c.saturated) << std::hexfloat << c.x;
        EXPECT_EQ(code(c.x, hif8_rounding::hybrid), c.hybrid) << std::hexfloat << c.x;
        EXPECT_EQ(hif8::from_double(static_cast<double>(c.x), hif8_rounding::hybrid).bits(), c.hybrid)
            << std::hexfloat << c.x;
    }
}

TEST(hif8, case04_no_double_rounding) {
    EXPECT_EQ(hif8::from_double(18.0 - std::ldexp(1.0, -40)).to_float(), 16.0F);
    EXPECT_EQ(hif8::from_double(18.0).to_float(), 20.0F);
    EXPECT_EQ(hif8::from_double(18.0 + std::ldexp(1.0, -40), hif8_rounding::nearest_even).to_float(), 20.0F);
    EXPECT_EQ(hif8::from_double(18.0, hif8_rounding::nearest_even).to_float(), 16.0F);
    EXPECT_EQ(hif8::from_double(std::nextafter(40960.0, 0.0)).bits(), 0x6E);
}

TEST(hif8, case05_small_negative_is_zero_and_never_nan) {
    for (const float x : {-power_of_two(-24), -1e-30F, -1e-45F, -std::numeric_limits<float>::min()}) {
        for (const auto mode : {hif8_rounding::ties_away, hif8_rounding::nearest_even, hif8_rounding::toward_zero,
                                hif8_rounding::hybrid}) {
            EXPECT_EQ(code(x, mode), 0x00);
            EXPECT_EQ(hif8::from_double(static_cast<double>(x), mode).bits(), 0x00);
        }
        for (std::uint64_t index = 0; index < 100; ++index) {
            EXPECT_NE(hif8::from_float(x, hif8_rounding::stochastic, overflow::infinity, {1, index}).bits(), 0x80);
        }
    }
    EXPECT_EQ(to_bits(hif8::from_float(-1e-30F).to_float()), 0U);
}

TEST(hif8, case06_there_is_no_minus_zero) {
    EXPECT_EQ(code(-0.0F), 0x00);
    EXPECT_EQ(hif8::from_double(-0.0).bits(), 0x00);
    EXPECT_EQ(hif8::from_bfloat16(bfloat16::from_bits(0x8000), hif8_rounding::hybrid).bits(), 0x00);
    EXPECT_EQ(hif8::from_float16(float16::from_bits(0x8000), hif8_rounding::hybrid).bits(), 0x00);
}

TEST(hif8, case21_infinity) {
    EXPECT_EQ(code(infinity), 0x6F);
    EXPECT_EQ(code(-infinity), 0xEF);
    EXPECT_EQ(code(infinity, hif8_rounding::toward_zero), 0x6F);
    EXPECT_EQ(code(infinity, hif8_rounding::ties_away, overflow::saturate), 0x6E);
    EXPECT_EQ(code(-infinity, hif8_rounding::hybrid, overflow::saturate), 0xEE);
    EXPECT_TRUE(hif8::from_bits(0x6F).is_inf() && hif8::from_bits(0xEF).is_inf() && !hif8::from_bits(0x80).is_inf());
}

TEST(hif8, case33_ties_go_away_from_zero) {
    EXPECT_EQ(code(1.0625F), 0x09);
    EXPECT_EQ(code(-1.0625F), 0x89);
    EXPECT_EQ(code(1.06F), 0x08);
    EXPECT_EQ(code(1.1875F), 0x0A);
    EXPECT_EQ(code(18.0F), 0x41);
    EXPECT_EQ(code(120.0F), 0x4C);
    EXPECT_EQ(hif8::from_float(120.0F).to_float(), 128.0F);
}

TEST(hif8, case34_carry_across_binades_of_other_width) {
    EXPECT_EQ(code(15.5F), 0x40);
    EXPECT_EQ(code(240.0F), 0x60);
    EXPECT_EQ(code(248.0F), 0x60);
    EXPECT_EQ(code(std::ldexp(1.25F, -15)), 0x7F);
    EXPECT_EQ(code(std::ldexp(1.49F, -16)), 0x07);
    EXPECT_EQ(code(std::ldexp(1.5F, -16)), 0x7E);
}

TEST(hif8, negation_and_absolute_value_leave_zero_and_nan_alone) {
    for (int c = 0; c < 256; ++c) {
        const auto x = hif8::from_bits(static_cast<std::uint8_t>(c));
        const float value = x.to_float();
        expect_same_value(-x, value == 0.0F ? 0.0F : -value);
        expect_same_value(abs(x), std::fabs(value));
        EXPECT_EQ((-(-x)).bits(), c);
        EXPECT_EQ((-x).bits() == 0x80, c == 0x80);
    }
}

TEST(hif8, comparison_is_of_values_not_of_codes) {
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; ++b) {
            const auto x = hif8::from_bits(static_cast<std::uint8_t>(a));
            const auto y = hif8::from_bits(static_cast<std::uint8_t>(b));
            ASSERT_EQ(x <=> y, x.to_float() <=> y.to_float()) << a << " " << b;
            ASSERT_EQ(x == y, x.to_float() == y.to_float()) << a << " " << b;
        }
    }
    EXPECT_LT(hif8::from_bits(0x18), hif8::from_bits(0x10));  // 0.5 and 2
}

TEST(hif8, case76_numeric_limits) {
    using limits = std::numeric_limits<const hif8>;
    static_assert(limits::max().to_float() == 32768.0F && limits::lowest().to_float() == -32768.0F);
    static_assert(limits::denorm_min().to_float() == power_of_two(-22) &&
                  limits::min().to_float() == power_of_two(-15));
    static_assert(limits::infinity().is_inf() && limits::quiet_NaN().is_nan() && limits::infinity() > limits::max());
    static_assert(limits::epsilon().to_float() == 0.125F && limits::round_error().to_float() == 0.5F);
    static_assert(limits::is_specialized && limits::is_signed && limits::has_infinity && limits::has_quiet_NaN);
    static_assert(std::numeric_limits<volatile hif8>::digits == 4 &&
                  std::numeric_limits<const volatile hif8>::max_exponent == 16);
    EXPECT_EQ(limits::min().to_float(), std::ldexp(1.0F, limits::min_exponent - 1));
    EXPECT_EQ(limits::max().to_float(), std::ldexp(1.0F, limits::max_exponent - 1));
    EXPECT_EQ(limits::min_exponent10, static_cast<int>(std::ceil(std::log10(std::ldexp(1.0, -15)))));
    EXPECT_EQ(limits::max_exponent10, static_cast<int>(std::floor(std::log10(32768.0))));
}

TEST(hif8, is_a_block_format_of_one_value) {
    constexpr float source[1] = {1.0625F};
    static_assert(hif8::encode(std::span<const float, 1>(source)).bits() == 0x09);
    static_assert(hif8::encode(std::span<const float, 1>(source), {.rounding = hif8_rounding::nearest_even}).bits() ==
                  0x08);
    static_assert(hif8::name == "hif8" && hif8::block_size == 1 && !hif8::has_tensor_scale);
    static_assert(sizeof(hif8::block) == 1 && alignof(hif8::block) == 1 && std::is_trivially_copyable_v<hif8::block>);
    float out[1] = {};
    hif8::decode(hif8::from_bits(0x09), std::span<float, 1>(out), 7.0F);
    EXPECT_EQ(out[0], 1.125F);
    hif8::options options;
    options.rounding = hif8_rounding::stochastic;
    options.seed = 11;
    for (std::uint64_t index = 0; index < 200; ++index) {
        encode_context context;
        context.index = index;
        EXPECT_EQ(hif8::encode(std::span<const float, 1>(source), options, context).bits(),
                  hif8::from_float(source[0], hif8_rounding::stochastic, overflow::infinity, {11, index}).bits());
    }
    EXPECT_EQ(hif8::options{}, hif8::options{});
    EXPECT_FALSE(options == hif8::options{});
}

}  // namespace
}  // namespace lowbit::test
