// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/m2xfp.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <lowbit/block/mxfp4.hpp>

#include "support/block_oracle.hpp"
#include "support/block_testing.hpp"

using namespace lowbit;
using namespace lowbit::test;

namespace {

// Worked blocks in constant expressions: 7 is recovered by the metadata of the top element; 7.5 * 1.75 by a multiplier.
constexpr auto worked = encode<m2xfp_activation>(values<m2xfp_activation>({7, 0.25F, -6.9F}));
static_assert(worked.scale == 127 && worked.metadata == 0x57 && worked.codes[0] == 0x07 && worked.codes[1] == 0x0F);
static_assert(decode<m2xfp_activation>(worked)[0] == 7 && decode<m2xfp_activation>(worked)[2] == -6);
constexpr auto weights = encode<m2xfp_weight>(values<m2xfp_weight>({7, 3.5F, -1.75F}));
static_assert(decode<m2xfp_weight>(weights)[0] == 7 && decode<m2xfp_weight>(weights)[1] == 3.5F &&
              decode<m2xfp_weight>(weights)[2] == -1.75F);
static_assert(encode<m2xfp_activation>({}).metadata == 0x55 && encode<m2xfp_weight>({}) == m2xfp_weight::block{});

std::size_t top_of(const std::array<std::uint8_t, 16>& codes, std::size_t subgroup) {
    std::size_t top = 8 * subgroup;
    for (std::size_t i = 0; i < 8; ++i) {
        const auto magnitude = [&](std::size_t at) { return get_nibble(codes, at) & 7; };
        top = magnitude(8 * subgroup + i) > magnitude(top) ? 8 * subgroup + i : top;
    }
    return top;
}

void expect_activation_values(const m2xfp_activation::block& block) {
    const auto got = decode<m2xfp_activation>(block);
    for (std::size_t i = 0; i < 32; ++i) {
        const unsigned code = get_nibble(block.codes, i);
        double element = e2m1_value(code);
        if (top_of(block.codes, i / 8) == i) {
            const int raised = static_cast<int>(4 * (code & 7U) + (block.metadata >> (i / 8 * 2) & 3U)) - 1;
            element = e2m3_value(static_cast<unsigned>((std::max)(raised, 0)));
            element = (code & 8U) != 0 ? -element : element;
        }
        ASSERT_EQ(to_bits(got[i]), to_bits(narrowed(element * e8m0_value(block.scale)))) << +block.scale << ' ' << i;
    }
}

TEST(m2xfp_activation, decodes_every_scale_metadata_top_code_and_place) {
    for (unsigned scale = 0; scale < 256; ++scale) {
        for (unsigned metadata = 0; metadata < 4; ++metadata) {
            for (unsigned code = 0; code < 16; ++code) {
                // The top moves through the subgroups; others are zeros of either sign or equal to it (then the first
                // is top).
                m2xfp_activation::block block{
                    static_cast<std::uint8_t>(scale), static_cast<std::uint8_t>(metadata * 0x55U), {}};
                for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
                    const std::size_t at = (scale + code + 3 * subgroup) % 8;
                    for (std::size_t i = 0; i < 8; ++i) {
                        const unsigned other = i < at ? (i % 2) * 8 : subgroup % 2 == 0 ? code ^ 8U : code & 8U;
                        set_nibble(block.codes, 8 * subgroup + i, static_cast<std::uint8_t>(i == at ? code : other));
                    }
                }
                expect_activation_values(block);
            }
        }
    }
}

TEST(m2xfp_activation, decodes_random_blocks) {
    std::mt19937 engine(1);
    for (int trial = 0; trial < 20000; ++trial) {
        bytes_of<m2xfp_activation> bytes{};
        for (auto& byte : bytes) {
            byte = static_cast<std::uint8_t>(engine());
        }
        expect_activation_values(from_bytes<m2xfp_activation>(bytes));
    }
}

TEST(m2xfp_activation, codes_are_those_of_mxfp4) {
    block_source source(1);
    values_of<mxfp4> x{};
    for (int trial = 0; trial < 5000; ++trial) {
        source.fill(x);
        const auto block = encode<m2xfp_activation>(x);
        const auto plain = encode<mxfp4>(x);
        ASSERT_EQ(block.scale, plain.scale);
        ASSERT_EQ(block.codes, plain.codes);
    }
}

// The value of a top element is the nearest of the E2M3 values 4c - 1 .. 4c + 2 that its code allows; ties to even.
TEST(m2xfp_activation, tops_take_the_nearest_value_they_can) {
    block_source source(2);
    values_of<mxfp4> x{};
    for (int trial = 0; trial < 5000; ++trial) {
        source.fill(x);
        const auto block = encode<m2xfp_activation>(x);
        const auto got = decode<m2xfp_activation>(block);
        for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
            const std::size_t top = top_of(block.codes, subgroup);
            const double scaled = std::ldexp(std::fabs(static_cast<double>(x[top])), 127 - block.scale);
            const double value = std::ldexp(std::fabs(static_cast<double>(got[top])), 127 - block.scale);
            const int code = get_nibble(block.codes, top) & 7;
            double least = HUGE_VAL;
            for (int index = (std::max)(4 * code - 1, 0); index <= 4 * code + 2; ++index) {
                least = (std::min)(least, std::fabs(scaled - e2m3_value(static_cast<unsigned>(index))));
            }
            ASSERT_EQ(std::fabs(value - scaled), least) << x[top];
        }
    }
}

TEST(m2xfp_activation, values_between_6_and_8_are_recovered_up_to_7) {
    for (const auto& [x, wanted] :
         {std::pair{6.24F, 6.0F}, {6.25F, 6.0F}, {6.26F, 6.5F}, {6.75F, 7.0F}, {7.9F, 7.0F}}) {
        EXPECT_EQ(round_trip<m2xfp_activation>(values<m2xfp_activation>({x}))[0], wanted) << x;
    }
}

TEST(m2xfp_weight, decodes_every_scale_metadata_and_code) {
    for (unsigned scale = 0; scale < 256; ++scale) {
        for (unsigned shift = 0; shift < 4; ++shift) {
            m2xfp_weight::block block{static_cast<std::uint8_t>(scale), 0, {}};
            for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
                block.metadata = static_cast<std::uint8_t>(block.metadata | ((subgroup + shift) % 4) << 2 * subgroup);
            }
            for (unsigned half = 0; half < 2; ++half) {
                for (std::size_t i = 0; i < 32; ++i) {
                    set_nibble(block.codes, i, static_cast<std::uint8_t>((i + 8 * half + i / 16) % 16));
                }
                const auto got = decode<m2xfp_weight>(block);
                for (std::size_t i = 0; i < 32; ++i) {
                    const double multiplier = 1 + static_cast<double>((i / 8 + shift) % 4) / 4;
                    const double wanted = e2m1_value(get_nibble(block.codes, i)) * multiplier * e8m0_value(scale);
                    ASSERT_EQ(to_bits(got[i]), to_bits(narrowed(wanted))) << scale << ' ' << i;
                }
            }
        }
    }
}

// With all eight magnitudes in each subgroup no other scale and multiplier gives the same values.
TEST(m2xfp_weight, survives_a_round_trip) {
    std::mt19937 engine(2);
    for (int scale = 8; scale <= 247; ++scale) {
        for (int trial = 0; trial < 20; ++trial) {
            m2xfp_weight::block block{static_cast<std::uint8_t>(scale), static_cast<std::uint8_t>(engine()), {}};
            for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
                std::uint8_t magnitudes[] = {0, 1, 2, 3, 4, 5, 6, 7};
                std::shuffle(std::begin(magnitudes), std::end(magnitudes), engine);
                for (std::size_t i = 0; i < 8; ++i) {
                    set_nibble(block.codes, 8 * subgroup + i,
                               static_cast<std::uint8_t>(magnitudes[i] | (engine() & 8U)));
                }
            }
            ASSERT_EQ(encode<m2xfp_weight>(decode<m2xfp_weight>(block)), block) << scale;
        }
    }
}

/// Squared error of a block, all or one subgroup, in units of 2^unit.
double squared_error(const values_of<m2xfp_weight>& x, const values_of<m2xfp_weight>& decoded, int unit) {
    double sum = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        const double d = std::ldexp(static_cast<double>(x[i]) - static_cast<double>(decoded[i]), -unit);
        sum += d * d;
    }
    return sum;
}

/// The search over all biases and multipliers, in double.
double least_error(const values_of<m2xfp_weight>& x, int floor_exponent) {
    double least = HUGE_VAL;
    for (int bias = -1; bias <= 1; ++bias) {
        const int exponent = (std::min)((std::max)(floor_exponent + bias, -127), 125);
        double total = 0;
        for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
            double best = HUGE_VAL;
            for (int k = 0; k < 4; ++k) {
                const double step = std::ldexp(1 + k / 4.0, exponent - floor_exponent);
                double sum = 0;
                for (std::size_t i = 8 * subgroup; i < 8 * subgroup + 8; ++i) {
                    const double relative = std::ldexp(std::fabs(static_cast<double>(x[i])), -floor_exponent);
                    const double distance = distance_to_e2m1(relative / step) * step;
                    sum += distance * distance;
                }
                best = (std::min)(best, sum);
            }
            total += best;
        }
        least = (std::min)(least, total);
    }
    return least;
}

TEST(m2xfp_weight, the_search_finds_the_least_error) {
    block_source source(3);
    values_of<m2xfp_weight> x{};
    for (int trial = 0; trial < 5000; ++trial) {
        source.fill(x);
        const int floor_exponent = encode<mxfp4>(x).scale - 127;
        const auto block = encode<m2xfp_weight>(x);
        ASSERT_LE(std::abs(block.scale - 127 - floor_exponent), 1);
        const auto decoded = decode<m2xfp_weight>(block);
        for (const float value : decoded) {
            ASSERT_TRUE(is_finite(value));
        }
        if (floor_exponent <= 122) {  // above, candidates past FLT_MAX are out
            ASSERT_LE(squared_error(x, decoded, floor_exponent), least_error(x, floor_exponent) * (1 + 1e-5) + 1e-30);
        }
    }
}

TEST(m2xfp_weight, ties_go_to_the_smallest_multiplier_and_exponent) {
    // 1 is 4 * 2^-2 (bias 0), 2 * 2^-1 (bias 1) and more; 8 * 2^-3 would take a code that does not exist.
    const auto block = encode<m2xfp_weight>(filled<m2xfp_weight>(1));
    EXPECT_EQ(block.scale, 127 - 2);
    EXPECT_EQ(block.metadata, 0);
    EXPECT_EQ(decode<m2xfp_weight>(block)[31], 1.0F);
    // 6 = 6 * 1 = 4 * 1.5 in scale 1, = 6 * 1 * 2 / 2: multiplier 0 before 2; 7.5 * 2^-1 cannot hold it.
    EXPECT_EQ(encode<m2xfp_weight>(filled<m2xfp_weight>(6)).metadata, 0);
    EXPECT_EQ(encode<m2xfp_weight>(filled<m2xfp_weight>(6)).scale, 127);
    // 5 = 4 * 1.25 in scale 1 (bias 0), but also 10 / 2: no code; 9 = 6 * 1.5 in scale 1/2 * 2 comes before 4.5.
    EXPECT_EQ(encode<m2xfp_weight>(filled<m2xfp_weight>(4.5F)).scale, 126);
    EXPECT_EQ(encode<m2xfp_weight>(filled<m2xfp_weight>(4.5F)).metadata, 0xAA);
}

TEST(m2xfp_weight, candidates_past_flt_max_lose) {
    for (const float x : {FLT_MAX, 0x1.5p127F, 0x1.8p127F, 0x1.cp127F}) {
        const auto got = round_trip<m2xfp_weight>(filled<m2xfp_weight>(-x));
        EXPECT_TRUE(is_finite(got[0])) << x;
        EXPECT_NEAR(static_cast<double>(got[0]) / static_cast<double>(-x), 1, 0.26) << x;
    }
}

// Quotients of float32 and limits agree: both sides of every limit, every multiplier.
TEST(m2xfp_weight, limits_serve_in_place_of_the_rounded_quotient) {
    constexpr float midpoints[] = {0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5.0F};
    for (int k = 0; k < 4; ++k) {
        const float multiplier = 1.0F + 0.25F * static_cast<float>(k);
        for (const int exponent : {-127, -126, -20, 0, 60, 122}) {
            const auto limits = lowbit::detail::e2m1_limits(exponent, multiplier);
            for (const float midpoint : midpoints) {
                const float at = std::ldexp(midpoint * multiplier, exponent);
                for (int ulps = -3; ulps <= 3; ++ulps) {
                    const float x = float_from_bits(to_bits(at) + static_cast<std::uint32_t>(ulps));
                    const auto quotient = static_cast<float>(std::ldexp(static_cast<double>(x), -exponent) /
                                                             static_cast<double>(multiplier));
                    ASSERT_EQ(lowbit::detail::code_of(to_bits(x), limits), e2m1::from_float(quotient).bits()) << x;
                }
            }
        }
    }
}

TEST(m2xfp, case23_zero_blocks) {
    for (const float zero : {0.0F, -0.0F}) {
        const auto activation = encode<m2xfp_activation>(filled<m2xfp_activation>(zero));
        const auto weight = encode<m2xfp_weight>(filled<m2xfp_weight>(zero));
        EXPECT_EQ(activation.scale, 0);
        EXPECT_EQ(activation.metadata, 0x55);
        EXPECT_EQ(weight.scale, 0);
        EXPECT_EQ(weight.metadata, 0);
        EXPECT_EQ(to_bits(decode<m2xfp_activation>(activation)[0]), to_bits(zero));
        EXPECT_EQ(to_bits(decode<m2xfp_weight>(weight)[31]), to_bits(zero));
    }
}

}  // namespace
