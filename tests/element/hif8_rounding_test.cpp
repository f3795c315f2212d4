// SPDX-License-Identifier: Apache-2.0
// The five roundings of HiF8 at every value and midpoint, next to them, and on all 16-bit inputs, against a search in
// the list of values; the hybrid rule recomputed from real fractions; stochastic rounding.
#include <lowbit/element/hif8_rounding.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <lowbit/element/hif8.hpp>

#include "support/element_oracle.hpp"

namespace lowbit::test {
namespace {

constexpr hif8_rounding all_modes[] = {hif8_rounding::ties_away, hif8_rounding::nearest_even,
                                       hif8_rounding::toward_zero, hif8_rounding::hybrid, hif8_rounding::stochastic};

const value_grid& grid() {
    static const value_grid g = make_hif8_grid();
    return g;
}

/// The share of the step that x lies above its lower neighbour, as `bits` binary digits.
std::uint32_t top_discarded(double magnitude, int bits) {
    const double digits = std::floor(std::ldexp(locate(grid(), magnitude).share, bits));
    return digits < 0x1p32 ? static_cast<std::uint32_t>(digits) : 0;  // past the largest value: no digits to speak of
}

/// Hybrid rounding where |E| >= 4, by real numbers: F and T given, up iff something is discarded and F >= T.
std::optional<std::uint8_t> simplified_stochastic(double magnitude, std::uint32_t f, std::uint32_t t) {
    if (magnitude < std::ldexp(1.0, -23)) return std::uint8_t{0};
    if (magnitude >= 40960.0) return std::nullopt;
    const location at = locate(grid(), magnitude);
    const std::size_t chosen = at.lower + (at.share > 0 && f >= t ? 1 : 0);
    if (chosen == grid().codes.size()) return std::nullopt;
    return grid().codes[chosen];
}

bool in_the_middle(double magnitude) { return magnitude >= 0.125 && magnitude < 16.0; }  // |E| < 4

/// Result for a finite magnitude that comes from a float or double.
std::optional<std::uint8_t> expected(double magnitude, hif8_rounding mode, random_source random) {
    switch (mode) {
        case hif8_rounding::ties_away: return round_by_search(grid(), magnitude, direction::away);
        case hif8_rounding::nearest_even: return round_by_search(grid(), magnitude, direction::even);
        case hif8_rounding::toward_zero: return round_by_search(grid(), std::fmin(magnitude, 32768.0), direction::zero);
        case hif8_rounding::stochastic:
            if (magnitude >= 32768.0) return round_by_search(grid(), magnitude, direction::away);
            return round_by_chance(grid(), magnitude, random_bits24(random));
        case hif8_rounding::hybrid: break;
    }
    if (in_the_middle(magnitude) || magnitude == 0.0) return round_by_search(grid(), magnitude, direction::away);
    const double scaled =
        std::ldexp(magnitude, 23 - std::ilogb(magnitude));  // in [2^23, 2^24): the mantissa as an integer
    const auto t = static_cast<std::uint32_t>(scaled) & 0x3FFFU;
    return simplified_stochastic(magnitude, top_discarded(magnitude, 14), t);
}

std::uint8_t finish(std::optional<std::uint8_t> code, bool negative, overflow over) {
    const std::uint8_t result = code ? *code : over == overflow::saturate ? 0x6E : 0x6F;
    return static_cast<std::uint8_t>(negative && result != 0 ? result | 0x80 : result);
}

void expect_float(float x, hif8_rounding mode, overflow over, random_source random) {
    const std::uint8_t want = finish(expected(std::fabs(static_cast<double>(x)), mode, random), std::signbit(x), over);
    ASSERT_EQ(hif8::from_float(x, mode, over, random).bits(), want)
        << std::hexfloat << x << " mode " << static_cast<int>(mode);
    ASSERT_EQ(hif8::from_double(static_cast<double>(x), mode, over, random).bits(), want)
        << std::hexfloat << x << " mode " << static_cast<int>(mode);
}

void expect_double(double x, hif8_rounding mode, overflow over, random_source random) {
    const std::uint8_t want = finish(expected(std::fabs(x), mode, random), std::signbit(x), over);
    ASSERT_EQ(hif8::from_double(x, mode, over, random).bits(), want)
        << std::hexfloat << x << " mode " << static_cast<int>(mode);
}

TEST(hif8_rounding, every_midpoint_and_its_neighbours_in_every_mode) {
    const test_points points = make_test_points(grid());
    ASSERT_GT(points.floats.size(), 127U * 15U);
    for (const hif8_rounding mode : all_modes) {
        for (const overflow over : {overflow::infinity, overflow::saturate}) {
            for (std::uint64_t index = 0; index < (mode == hif8_rounding::stochastic ? 16U : 1U); ++index) {
                for (const float x : points.floats) {
                    expect_float(x, mode, over, {3, index});
                    expect_float(-x, mode, over, {3, index});
                }
                for (const double x : points.doubles) {
                    expect_double(x, mode, over, {3, index});
                    expect_double(-x, mode, over, {3, index});
                }
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(hif8_rounding, every_bfloat16_and_float16_and_random_floats_and_doubles) {
    std::mt19937_64 generator(5);
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto pattern = static_cast<std::uint16_t>(i);
        const float wide[] = {bfloat16::from_bits(pattern).to_float(), float16::from_bits(pattern).to_float(),
                              float_from_bits(static_cast<std::uint32_t>(generator())),
                              // near the range of HiF8, with all mantissa bits
                              float_from_bits((100U + static_cast<std::uint32_t>(generator() % 48)) << 23U |
                                              static_cast<std::uint32_t>(generator() & 0x807FFFFFU))};
        for (const hif8_rounding mode : all_modes) {
            for (const float x : wide) {
                if (is_finite(x)) expect_float(x, mode, overflow::infinity, {i, 7});
            }
            const double d = double_from_bits((generator() & 0x800FFFFFFFFFFFFFU) | (generator() % 48 + 996) << 52U);
            expect_double(d, mode, overflow::saturate, {i, 7});
            if (HasFatalFailure()) return;
        }
        for (const hif8_rounding mode : {hif8_rounding::ties_away, hif8_rounding::nearest_even,
                                         hif8_rounding::toward_zero, hif8_rounding::stochastic}) {
            ASSERT_EQ(hif8::from_bfloat16(bfloat16::from_bits(pattern), mode, overflow::infinity, {1, i}).bits(),
                      hif8::from_float(wide[0], mode, overflow::infinity, {1, i}).bits());
            ASSERT_EQ(hif8::from_float16(float16::from_bits(pattern), mode, overflow::infinity, {1, i}).bits(),
                      hif8::from_float(wide[1], mode, overflow::infinity, {1, i}).bits());
        }
    }
}

TEST(hif8_rounding, hybrid_from_16_bit_types_has_its_own_rule) {
    int kept = 0, raised = 0;
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto pattern = static_cast<std::uint16_t>(i);
        const std::uint32_t t = 2 * (i & 1U) + 1;
        const auto want = [&](float x) {
            const double magnitude = std::fabs(static_cast<double>(x));
            return in_the_middle(magnitude) || magnitude == 0.0
                       ? round_by_search(grid(), magnitude, direction::away)
                       : simplified_stochastic(magnitude, top_discarded(magnitude, 2), t);
        };
        for (const overflow over : {overflow::infinity, overflow::saturate}) {
            const auto b = bfloat16::from_bits(pattern);
            const auto h = float16::from_bits(pattern);
            const std::uint8_t from_b = hif8::from_bfloat16(b, hif8_rounding::hybrid, over).bits();
            const std::uint8_t from_h = hif8::from_float16(h, hif8_rounding::hybrid, over).bits();
            if (b.is_nan()) {
                ASSERT_EQ(from_b, 0x80);
            } else if (b.is_inf()) {
                ASSERT_EQ(from_b & 0x7F, over == overflow::infinity ? 0x6F : 0x6E);
            } else {
                ASSERT_EQ(from_b, finish(want(b.to_float()), (i >> 15U) != 0, over)) << i;
            }
            if (h.is_nan()) {
                ASSERT_EQ(from_h, 0x80);
            } else if (h.is_inf()) {
                ASSERT_EQ(from_h & 0x7F, over == overflow::infinity ? 0x6F : 0x6E);
            } else {
                ASSERT_EQ(from_h, finish(want(h.to_float()), (i >> 15U) != 0, over)) << i;
            }
            // In 2^8 .. 2^15 inexact bfloat16 values go both ways; through float all of them would go up.
            const float x = b.to_float();
            if (x > 256.0F && x < 32768.0F && hif8::from_bits(from_b).to_float() != x) {
                (hif8::from_bits(from_b).to_float() > x ? raised : kept) += 1;
                ASSERT_GT(hif8::from_float(x, hif8_rounding::hybrid).to_float(), x);
            }
        }
    }
    EXPECT_GT(kept, 300);
    EXPECT_GT(raised, 300);
}

TEST(hif8_rounding, hybrid_from_16_bit_types_by_hand) {
    const auto bf = [](std::uint16_t bits) {
        return hif8::from_bfloat16(bfloat16::from_bits(bits), hif8_rounding::hybrid).to_float();
    };
    // 2^8 * (1 + m/128), one mantissa bit kept: F = bits 5..4 of m, T = 1 (m even) or 3 (m odd).
    EXPECT_EQ(bf(0x4380), 256.0F);         // exact
    EXPECT_EQ(bf(0x4380 | 0x0E), 256.0F);  // F = 0
    EXPECT_EQ(bf(0x4380 | 0x10), 384.0F);  // F = 1 >= 1
    EXPECT_EQ(bf(0x4380 | 0x11), 256.0F);  // F = 1 < 3
    EXPECT_EQ(bf(0x4380 | 0x2F), 256.0F);  // F = 2 < 3
    EXPECT_EQ(bf(0x4380 | 0x31), 384.0F);  // F = 3 >= 3
    EXPECT_EQ(bf(0x4380 | 0x71), 512.0F);  // carry
    EXPECT_EQ(bf(0x4700), 32768.0F);
    EXPECT_EQ(bf(0x4711), 32768.0F);                                // F = 1 < 3
    EXPECT_EQ(bf(0x4710), std::numeric_limits<float>::infinity());  // an increment past 32768 overflows
    EXPECT_EQ(bf(0x3400), power_of_two(-22));                       // 2^-23: F = 2 >= 1
    EXPECT_EQ(bf(0x3401), 0.0F);                                    // F = 2 < 3
    EXPECT_EQ(bf(0x3441), power_of_two(-22));                       // F = 3 >= 3
    EXPECT_EQ(bf(0x33FF), 0.0F);                                    // below 2^-23
}

TEST(hif8_rounding, overflow_bounds_of_every_mode) {
    const auto of = [](float x, hif8_rounding mode) { return hif8::from_float(x, mode).bits(); };
    const float below = std::nextafter(40960.0F, 0.0F), above = std::nextafter(40960.0F, HUGE_VALF);
    EXPECT_EQ(of(below, hif8_rounding::ties_away), 0x6E);
    EXPECT_EQ(of(40960.0F, hif8_rounding::ties_away), 0x6F);
    EXPECT_EQ(of(40960.0F, hif8_rounding::nearest_even), 0x6E);
    EXPECT_EQ(of(above, hif8_rounding::nearest_even), 0x6F);
    EXPECT_EQ(of(std::numeric_limits<float>::max(), hif8_rounding::toward_zero), 0x6E);
    for (std::uint64_t index = 0; index < 1000; ++index) {
        EXPECT_EQ(hif8::from_float(below, hif8_rounding::stochastic, overflow::infinity, {1, index}).bits(), 0x6E);
        EXPECT_EQ(hif8::from_float(40960.0F, hif8_rounding::stochastic, overflow::infinity, {1, index}).bits(), 0x6F);
    }
    // Hybrid from float: 32768 (1 + m / 2^23), F = m >> 8 at one bit kept, T = m & 0x3FFF.
    EXPECT_EQ(of(float_from_bits(0x47000000U | 0x1FFF00U), hif8_rounding::hybrid), 0x6E);  // F = 0x1FFF < T = 0x3F00
    EXPECT_EQ(of(float_from_bits(0x47000000U | 0x004000U), hif8_rounding::hybrid), 0x6F);  // F = 0x40 >= T = 0
}

TEST(hif8_rounding, even_ties_where_there_is_no_mantissa) {
    const auto even = [](float x) { return hif8::from_float(x, hif8_rounding::nearest_even).bits(); };
    EXPECT_EQ(even(power_of_two(-23)), 0x00);
    EXPECT_EQ(even(std::nextafter(power_of_two(-23), 1.0F)), 0x01);
    EXPECT_EQ(even(1.5F * power_of_two(-22)), 0x02);
    EXPECT_EQ(even(1.5F * power_of_two(-21)), 0x02);
    EXPECT_EQ(even(1.5F * power_of_two(-16)), 0x7E);
    EXPECT_EQ(even(1.5F * power_of_two(-17)), 0x06);
}

// Over n draws the count of roundings up lies within 5 standard deviations of n * share.
TEST(hif8_rounding, case66_stochastic_rounding_is_unbiased) {
    constexpr int draws = 40000;
    for (const float x : {1.03125F, 19.0F, 300.0F, 1.75F * power_of_two(-20), 0.25F * power_of_two(-22), -1000.0F}) {
        const location at = locate(grid(), std::fabs(static_cast<double>(x)));
        int up = 0;
        for (std::uint64_t index = 0; index < draws; ++index) {
            const float r = hif8::from_float(x, hif8_rounding::stochastic, overflow::infinity, {77, index}).to_float();
            const double magnitude = std::fabs(static_cast<double>(r));
            ASSERT_TRUE(magnitude == at.low || magnitude == at.high);
            up += magnitude == at.high ? 1 : 0;
        }
        EXPECT_NEAR(up, draws * at.share, 5 * std::sqrt(draws * at.share * (1 - at.share))) << x;
    }
}

TEST(hif8_rounding, case66_seed_and_index_decide_in_any_order) {
    const auto row = [](std::uint64_t seed, bool backwards) {
        std::string codes(512, '\0');
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const std::size_t at = backwards ? codes.size() - 1 - i : i;
            codes[at] = static_cast<char>(
                hif8::from_float(300.0F, hif8_rounding::stochastic, overflow::infinity, {seed, at}).bits());
        }
        return codes;
    };
    EXPECT_EQ(row(1, false), row(1, true));
    EXPECT_NE(row(1, false), row(2, false));
    EXPECT_NE(row(0, false), row(1, false));
}

}  // namespace
}  // namespace lowbit::test
