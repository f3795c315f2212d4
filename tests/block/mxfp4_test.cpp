// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/mxfp4.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/block_oracle.hpp"
#include "support/block_testing.hpp"
#include "support/fp_environments.hpp"

using namespace lowbit;
using namespace lowbit::test;

namespace {

using enum mxfp4_scale_rule;
constexpr mxfp4_scale_rule all_rules[] = {floor, ceil, rceil, even, oas, uos, search};

/// Largest magnitude first, then zeros.
std::uint8_t scale_of(float largest, mxfp4_scale_rule rule) {
    return encode<mxfp4>(values<mxfp4>({largest}), {rule}).scale;
}

// A worked block in a constant expression.
constexpr auto worked =
    to_bytes<mxfp4>(encode<mxfp4>(values<mxfp4>({6, 0.25F, 0.75F, 1.25F, -1.75F, 2.5F, -3.5F, 5, -0.0F, -0.2F})));
static_assert(worked[0] == 127 && worked[1] == 0x07 && worked[2] == 0x22 && worked[3] == 0x4C && worked[4] == 0x6E &&
              worked[5] == 0x88 && worked[6] == 0);
static_assert(round_trip<mxfp4>(values<mxfp4>({7.9F, -12}), {search})[1] == -12);

TEST(mxfp4, decodes_every_byte_pattern) {
    for (int scale = 0; scale < 256; ++scale) {
        mxfp4::block block{static_cast<std::uint8_t>(scale), {}};
        for (std::size_t shift = 0; shift < 32; ++shift) {  // every code in every position
            std::array<std::uint8_t, 32> codes{};
            for (std::size_t i = 0; i < 32; ++i) {
                codes[i] = static_cast<std::uint8_t>((i + shift) % 16);
                set_nibble(block.codes, i, codes[i]);
            }
            const auto got = decode<mxfp4>(block);
            for (std::size_t i = 0; i < 32; ++i) {
                const double wanted = e2m1_value(codes[i]) * e8m0_value(static_cast<unsigned>(scale));
                ASSERT_EQ(to_bits(got[i]), to_bits(narrowed(wanted))) << scale << ' ' << +codes[i];
            }
        }
    }
}

TEST(mxfp4, a_tensor_scale_is_ignored) {
    const mxfp4::block block{130, {0x21}};
    expect_same_bits(decode<mxfp4>(block, 3.0F), decode<mxfp4>(block), "tensor scale");
}

// A 6 (or a 4) in the block pins the floor rule's exponent, so that codes come back as they were.
TEST(mxfp4, case02_every_code_and_scale_survives_a_round_trip) {
    for (const int top : {7, 6}) {
        for (int scale = 1; scale <= 252; ++scale) {
            mxfp4::block block{static_cast<std::uint8_t>(scale), {}};
            for (std::size_t i = 0; i < 32; ++i) {
                const std::size_t code = i < 2 ? i * 8 + static_cast<std::size_t>(top) : i % 16;
                set_nibble(block.codes, i,
                           static_cast<std::uint8_t>((code & 7U) > static_cast<unsigned>(top) ? 0 : code));
            }
            ASSERT_EQ(encode<mxfp4>(decode<mxfp4>(block)), block) << "scale byte " << scale << ", top code " << top;
        }
    }
}

TEST(mxfp4, case01_e2m1_ties_go_to_the_even_code) {
    const auto source = values<mxfp4>(
        {6, 0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5, -6, -0.25F, -0.75F, -1.25F, -1.75F, -2.5F, -3.5F, -5});
    const auto block = encode<mxfp4>(source);
    EXPECT_EQ(block.scale, 127);
    EXPECT_EQ(get_nibble(block.codes, 9), 8);
    const auto wanted = values<mxfp4>({6, 0, 1, 1, 2, 2, 4, 4, -6, -0.0F, -1, -1, -2, -2, -4, -4});
    expect_same_bits(decode<mxfp4>(block), wanted, "ties");
}

TEST(mxfp4, case02_one_ulp_past_a_tie_counts) {
    const auto got = round_trip<mxfp4>(
        values<mxfp4>({6, next_above(0.25F), next_below(0.25F), next_above(2.5F), next_above(5.0F), next_below(5.0F)}));
    expect_same_bits(got, values<mxfp4>({6, 0.5F, 0, 3, 6, 4}), "next to ties");
}

TEST(mxfp4, ties_and_their_neighbours_at_every_scale) {
    constexpr float midpoints[] = {0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5.0F};
    for (int exponent = -127; exponent <= 125; ++exponent) {
        for (std::size_t c = 0; c < 7; ++c) {
            const float tie = std::ldexp(midpoints[c], exponent);
            const float six = std::ldexp(6.0F, exponent);
            const auto block = encode<mxfp4>(values<mxfp4>({six, tie, next_above(tie), next_below(tie), -tie}));
            ASSERT_EQ(block.scale, exponent + 127);
            const auto low = static_cast<std::uint8_t>(c);
            const auto high = static_cast<std::uint8_t>(c + 1);
            const std::uint8_t at_tie = c % 2 == 0 ? low : high;
            ASSERT_EQ(get_nibble(block.codes, 1), at_tie) << exponent << ' ' << c;
            ASSERT_EQ(get_nibble(block.codes, 2), high) << exponent << ' ' << c;
            ASSERT_EQ(get_nibble(block.codes, 3), low) << exponent << ' ' << c;
            ASSERT_EQ(get_nibble(block.codes, 4), at_tie + 8) << exponent << ' ' << c;
        }
    }
}

TEST(mxfp4, case03_exponent_field_zero_is_subnormal) {
    for (const int scale : {0, 1, 127, 252}) {
        const auto got = decode<mxfp4>({static_cast<std::uint8_t>(scale), {0x10, 0x98}});
        EXPECT_EQ(to_bits(got[0]), 0U);
        EXPECT_EQ(got[1], std::ldexp(0.5F, scale - 127));
        EXPECT_EQ(to_bits(got[2]), 0x80000000U);
        EXPECT_EQ(got[3], -std::ldexp(0.5F, scale - 127));
    }
}

TEST(mxfp4, case04_no_detour_over_a_narrower_type) {
    EXPECT_EQ(round_trip<mxfp4>(values<mxfp4>({6, 2.5F + 0x1p-12F}))[1], 3.0F);
}

TEST(mxfp4, case05_case06_negatives_that_round_to_zero_and_minus_zero_keep_their_sign) {
    const auto block = encode<mxfp4>(values<mxfp4>({6, -0.2F, -0.0F, 0.0F}));
    EXPECT_EQ(block.scale, 127);
    EXPECT_EQ(block.codes[0], 0x87);
    EXPECT_EQ(block.codes[1], 0x08);
    const auto got = decode<mxfp4>(block);
    EXPECT_EQ(to_bits(got[1]), 0x80000000U);
    EXPECT_EQ(to_bits(got[2]), 0x80000000U);
    EXPECT_EQ(to_bits(got[3]), 0U);
}

TEST(mxfp4, case11_scale_byte_zero_is_a_subnormal) {
    const auto got = decode<mxfp4>({0, {0x21, 0x07}});
    EXPECT_EQ(to_bits(got[0]), 0x00200000U);  // 2^-128
    EXPECT_EQ(to_bits(got[1]), 0x00400000U);  // 2^-127
    EXPECT_EQ(got[2], 3.5264831e-38F);        // 6 * 2^-127
}

TEST(mxfp4, case15_exact_powers_of_two_do_not_double_the_scale) {
    for (const auto& [largest, scale] : {std::pair{6.0F, 127}, {12.0F, 128}, {0.75F, 124}}) {
        const auto block = encode<mxfp4>(values<mxfp4>({largest}), {rceil});
        EXPECT_EQ(block.scale, scale);
        EXPECT_EQ(block.codes[0], 0x07);
    }
    EXPECT_EQ(scale_of(4.0F, floor), 127);
    EXPECT_EQ(scale_of(next_below(4.0F), floor), 126);
    EXPECT_EQ(scale_of(next_below(8.0F), floor), 127);
}

TEST(mxfp4, case16_saturates_under_floor_rule) {
    const auto source = values<mxfp4>({7.9F, -7.9F, 1, 1});
    const auto by_floor = encode<mxfp4>(source);
    EXPECT_EQ(by_floor.scale, 127);
    EXPECT_EQ(by_floor.codes[0], 0xF7);
    const auto by_rceil = encode<mxfp4>(source, {rceil});
    EXPECT_EQ(by_rceil.scale, 128);
    EXPECT_EQ(decode<mxfp4>(by_rceil)[0], 8.0F);
    EXPECT_EQ(decode<mxfp4>(by_rceil)[1], -8.0F);
    EXPECT_EQ(encode<mxfp4>(source, {ceil}).scale, 128);
}

TEST(mxfp4, case18_scale_bytes_above_127_and_158) {
    for (const auto& [byte, exponent] : {std::pair{127, 0}, {128, 1}, {158, 31}, {159, 32}, {200, 73}, {254, 127}}) {
        EXPECT_EQ(decode<mxfp4>({static_cast<std::uint8_t>(byte), {0x02}})[0], std::ldexp(1.0F, exponent));
    }
}

TEST(mxfp4, case19_subnormals_count_whatever_ftz_and_daz_say) {
    const auto source = values<mxfp4>({0x1p-127F, 0x1p-128F});
    const auto check = [&] {
        for (const auto rule : all_rules) {
            if (rule == search) {
                continue;  // its error sums are floats; whole-matrix functions set the environment
            }
            const auto block = encode<mxfp4>(source, {rule});
            EXPECT_EQ(block.scale, 0);
            EXPECT_EQ(block.codes[0], 0x12);
            EXPECT_EQ(to_bits(decode<mxfp4>(block)[0]), 0x00400000U);
            EXPECT_EQ(to_bits(decode<mxfp4>(block)[1]), 0x00200000U);
        }
    };
    for (int which = 0; which < caller_environments; ++which) {
        const caller_environment environment(which);
        check();
    }
}

TEST(mxfp4, case43_even_elements_take_the_low_nibble) {
    EXPECT_EQ(encode<mxfp4>(values<mxfp4>({0.5F, 6})).codes[0], 0x71);
}

TEST(mxfp4, case45_zeros_at_the_end_change_nothing) {
    for (std::size_t count : {1U, 3U, 31U}) {
        values_of<mxfp4> source{};
        for (std::size_t i = 0; i < count; ++i) {
            source[i] = 1.0F + static_cast<float>(i);
        }
        const auto block = encode<mxfp4>(source);
        for (std::size_t i = count; i < 32; ++i) {
            EXPECT_EQ(get_nibble(block.codes, i), 0);
        }
        EXPECT_EQ(block.scale, scale_of(static_cast<float>(count), floor));
    }
}

/// What the rules mean, in double: the greatest value relative to the scale lies in (low, high].
TEST(mxfp4, scale_rules_put_the_maximum_into_their_interval) {
    struct interval {
        mxfp4_scale_rule rule;
        double low, high;
        bool low_belongs;
    };
    for (const auto& [rule, low, high, low_belongs] : {interval{floor, 4, 8, true},
                                                       {ceil, 2, 4, false},
                                                       {rceil, 3, 6, false},
                                                       {even, 3.5, 7, true},
                                                       {oas, 3.5, 7, false},
                                                       {uos, 3.625, 7.25, false}}) {
        for (int exponent = -120; exponent <= 124; exponent += 4) {
            for (const float mantissa : {1.0F, 1.5F, 1.75F, 1.8125F}) {
                for (const float m : {mantissa, next_above(mantissa), next_below(mantissa * 2) / 2}) {
                    const double largest = std::ldexp(static_cast<double>(m), exponent);
                    const int scale = scale_of(static_cast<float>(largest), rule);
                    const double relative = std::ldexp(largest, 127 - scale);
                    ASSERT_TRUE(low_belongs ? relative >= low && relative < high : relative > low && relative <= high)
                        << relative << " under rule " << static_cast<int>(rule);
                }
            }
        }
    }
}

TEST(mxfp4, exponents_stop_at_both_ends) {
    for (const auto rule : all_rules) {
        EXPECT_LE(scale_of(FLT_MAX, rule), 252) << static_cast<int>(rule);
        EXPECT_EQ(scale_of(0x1p-149F, rule), 0) << static_cast<int>(rule);
        EXPECT_TRUE(is_finite(round_trip<mxfp4>(values<mxfp4>({FLT_MAX}), {rule})[0]));
    }
    EXPECT_EQ(scale_of(FLT_MAX, ceil), 252);
    EXPECT_EQ(scale_of(0x1p-125F, floor), 0);
    EXPECT_EQ(scale_of(0x1p-124F, floor), 1);
    EXPECT_EQ(scale_of(0x1.8p-127F * 4, rceil), 0);
}

TEST(mxfp4, every_value_takes_the_nearest_code_of_its_scale) {
    block_source source(1);
    values_of<mxfp4> x{};
    for (int trial = 0; trial < 4000; ++trial) {
        source.fill(x);
        for (const auto rule : all_rules) {
            const auto block = encode<mxfp4>(x, {rule});
            const auto decoded = decode<mxfp4>(block);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double scaled = std::ldexp(std::fabs(static_cast<double>(x[i])), 127 - block.scale);
                const double got = std::ldexp(std::fabs(static_cast<double>(decoded[i])), 127 - block.scale);
                ASSERT_EQ(std::fabs(got - scaled), distance_to_e2m1(scaled)) << x[i];
                ASSERT_EQ(std::signbit(decoded[i]), std::signbit(x[i]));
            }
        }
    }
}

TEST(mxfp4, search_is_never_worse_than_its_neighbours) {
    block_source source(2);
    values_of<mxfp4> x{};
    const auto error = [&](int exponent, int unit) {
        double sum = 0;
        for (const float value : x) {
            const double scaled = std::ldexp(std::fabs(static_cast<double>(value)), -exponent);
            const double distance = std::ldexp(distance_to_e2m1(scaled), exponent - unit);
            sum += distance * distance;
        }
        return sum;
    };
    for (int trial = 0; trial < 4000; ++trial) {
        source.fill(x);
        const int base = encode<mxfp4>(x).scale - 127;
        const int chosen = encode<mxfp4>(x, {search}).scale - 127;
        ASSERT_LE(std::abs(chosen - base), 1);
        for (int exponent = (std::max)(base - 1, -127); exponent <= (std::min)(base + 1, 125); ++exponent) {
            ASSERT_LE(error(chosen, base), error(exponent, base) * (1 + 1e-5));
        }
    }
}

}  // namespace
