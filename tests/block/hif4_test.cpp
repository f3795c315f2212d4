// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/hif4.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/block_oracle.hpp"
#include "support/block_testing.hpp"

using namespace lowbit;
using namespace lowbit::test;

namespace {

using enum hif4_rounding;

bytes_of<hif4> bytes(const std::string& hex) {
    bytes_of<hif4> result{};
    for (std::size_t i = 0; i < hex.size() / 2; ++i) {
        result[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
    }
    return result;
}

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) {
        result += text;
    }
    return result;
}

void expect_block(const values_of<hif4>& source, const std::string& hex) {
    EXPECT_EQ(to_bytes<hif4>(encode<hif4>(source)), bytes(hex)) << hex;
}

// A worked block in a constant expression.
constexpr auto all_twos = encode<hif4>(filled<hif4>(2));
static_assert(all_twos.scale == 0xB9 && all_twos.e1_8 == 0xFF && all_twos.e1_16[1] == 0xFF &&
              all_twos.codes[31] == 0x66);
static_assert(decode<hif4>(all_twos)[63] == 1.875F);
static_assert(encode<hif4>(filled<hif4>(-7), {ascend_a6}).codes[0] == 0xFF);

TEST(hif4, worked_blocks) {
    expect_block(filled<hif4>(2), "b9ffffff" + repeated("66", 32));
    expect_block(filled<hif4>(0), "00000000" + repeated("00", 32));
    expect_block(filled<hif4>(1), "b5ffffff" + repeated("66", 32));
    expect_block(filled<hif4>(7), "c0ffffff" + repeated("77", 32));
    expect_block(values<hif4>({1e6F}), "fe80800007" + repeated("00", 31));
    expect_block(values<hif4>({344064, -0.0F, -1e-3F}), "fe8080000708" + repeated("00", 30));
    auto with_infinity = filled<hif4>(1);
    with_infinity[5] = INFINITY;
    expect_block(with_infinity, "ffffffff666606" + repeated("66", 29));
    values_of<hif4> ramp{};
    for (std::size_t i = 0; i < 64; ++i) {
        ramp[i] = (static_cast<float>(i) - 32) / 8;
    }
    expect_block(ramp, "bdc3fc37eeeededdddccccbceedecdcceecdab9a10224365434455667677445455556666");
    EXPECT_EQ(round_trip<hif4>(ramp)[0], -3.75F);
    EXPECT_EQ(round_trip<hif4>(values<hif4>({1e6F}))[0], 344064.0F);
    const auto small = round_trip<hif4>(values<hif4>({344064, -0.0F, -1e-3F}));
    EXPECT_EQ(to_bits(small[1]), 0U);
    EXPECT_EQ(to_bits(small[2]), 0x80000000U);
}

values_of<hif4> threshold_block() {
    values_of<hif4> source{};
    source[0] = 7;
    source[8] = 4;
    source[16] = 3.984375F;
    source[24] = 0.125F;
    source[25] = 0.1240234375F;
    source[32] = 2;
    source[40] = -7;
    return source;
}

TEST(hif4, case39_thresholds_and_element_clamp) {
    expect_block(threshold_block(), "c0c4a8a007000000040000000700000001000000040000000f0000000000000000000000");
    const auto got = round_trip<hif4>(threshold_block());
    EXPECT_EQ(got[0], 7.0F);
    EXPECT_EQ(got[8], 4.0F);
    EXPECT_EQ(got[16], 3.5F);
    EXPECT_EQ(got[24], 0.25F);
    EXPECT_EQ(got[25], 0.0F);
    EXPECT_EQ(got[32], 2.0F);
    EXPECT_EQ(got[40], -7.0F);
    EXPECT_EQ(round_trip<hif4>(threshold_block(), {ascend_a6})[24], 0.0F);
    EXPECT_EQ(round_trip<hif4>(threshold_block(), {reference})[24], 0.25F);
    // 3.99 itself, and the half rule just below the tie, where adding 0.5 in float32 would round up.
    auto source = values<hif4>({7});
    source[8] = 3.99F;
    source[16] = next_below(0.125F);
    EXPECT_EQ(round_trip<hif4>(source, {reference})[16], 0.0F);
    EXPECT_EQ(round_trip<hif4>(source)[16], 0.25F);  // rounding to bfloat16 first makes it the tie
    EXPECT_EQ(round_trip<hif4>(source, {reference})[8], 3.5F);
    EXPECT_EQ(round_trip<hif4>(source)[8], 3.5F);
}

TEST(hif4, case40_codes_are_quarters) {
    hif4::block block{};
    block.scale = 48 << 2;  // 1
    for (std::size_t i = 0; i < 64; ++i) {
        set_nibble(block.codes, i, static_cast<std::uint8_t>(i % 16));
    }
    const auto got = decode<hif4>(block);
    for (std::size_t i = 0; i < 64; ++i) {
        const float magnitude = static_cast<float>(i % 8) / 4;
        EXPECT_EQ(to_bits(got[i]), to_bits(i % 16 < 8 ? magnitude : -magnitude));
    }
}

TEST(hif4, decodes_every_scale_code_and_micro_exponent) {
    for (unsigned scale = 0; scale < 256; ++scale) {
        for (unsigned bits = 0; bits < 4; ++bits) {
            hif4::block block{
                static_cast<std::uint8_t>(scale), (bits & 1U) != 0 ? std::uint8_t{0xFF} : std::uint8_t{0}, {}, {}};
            block.e1_16.fill((bits & 2U) != 0 ? 0xFF : 0);
            for (std::size_t i = 0; i < 64; ++i) {
                set_nibble(block.codes, i, static_cast<std::uint8_t>((i + i / 16) % 16));
            }
            const auto got = decode<hif4>(block);
            for (std::size_t i = 0; i < 64; ++i) {
                const unsigned code = get_nibble(block.codes, i);
                const double magnitude = static_cast<double>(code & 7U) / 4;
                const double element = (code & 8U) != 0 ? -magnitude : magnitude;
                const double wanted = element * std::ldexp(e6m2_value(scale), (bits == 0 ? 0 : bits == 3 ? 2 : 1));
                ASSERT_EQ(to_bits(got[i]), to_bits(narrowed(wanted))) << scale << ' ' << bits << ' ' << code;
            }
        }
    }
}

TEST(hif4, micro_exponents_belong_to_their_run) {
    hif4::block block{};
    block.scale = 48 << 2;
    block.codes.fill(0x44);  // 1 everywhere
    for (std::size_t g = 0; g < 8; ++g) {
        auto one = block;
        one.e1_8 = static_cast<std::uint8_t>(0x80U >> g);
        const auto got = decode<hif4>(one);
        for (std::size_t i = 0; i < 64; ++i) {
            ASSERT_EQ(got[i], i / 8 == g ? 2.0F : 1.0F);
        }
    }
    for (std::size_t j = 0; j < 16; ++j) {
        auto one = block;
        one.e1_16[j / 8] = static_cast<std::uint8_t>(0x80U >> j % 8);
        const auto got = decode<hif4>(one);
        for (std::size_t i = 0; i < 64; ++i) {
            ASSERT_EQ(got[i], i / 4 == j ? 2.0F : 1.0F);
        }
    }
}

// Encoding of a single large value in each position: maxima of 4, of 8 and of all see every lane.
TEST(hif4, case31_every_lane_reaches_its_maxima) {
    for (std::size_t lane = 0; lane < 64; ++lane) {
        for (const auto rounding : {amct, reference, ascend_a6}) {
            auto source = filled<hif4>(0.25F);
            source[lane] = -7;
            const auto block = encode<hif4>(source, {rounding});
            EXPECT_EQ(block.scale, 0xC0);
            EXPECT_EQ(block.e1_8, 0x80U >> lane / 8);
            EXPECT_EQ(block.e1_16[lane / 32], 0x80U >> lane / 4 % 8);
            EXPECT_EQ(block.e1_16[1 - lane / 32], 0);
            for (std::size_t i = 0; i < 64; ++i) {
                // The step is 1 in the run of the large value and 1/2 in its neighbour; 0.25 is a tie there or less.
                const unsigned code = get_nibble(block.codes, i);
                const unsigned beside = rounding == ascend_a6 ? 0 : 1;
                const unsigned wanted = i == lane ? 15U : i / 4 == lane / 4 ? 0U : i / 8 == lane / 8 ? beside : 1U;
                ASSERT_EQ(code, wanted) << lane << ' ' << i;
            }
        }
    }
}

TEST(hif4, scale_bytes_stop_at_both_ends) {
    for (const auto rounding : {amct, reference, ascend_a6}) {
        EXPECT_EQ(encode<hif4>(filled<hif4>(FLT_MAX), {rounding}).scale, 0xFE);
        EXPECT_EQ(round_trip<hif4>(filled<hif4>(FLT_MAX), {rounding})[0], 344064.0F);
        EXPECT_EQ(to_bytes<hif4>(encode<hif4>(filled<hif4>(0x1p-149F), {rounding})), bytes_of<hif4>{});
        EXPECT_EQ(encode<hif4>(filled<hif4>(-0x1p-149F), {rounding}).codes[0], 0x88);
    }
    EXPECT_EQ(encode<hif4>(filled<hif4>(7 * 0x1p-48F)).scale, 0);
    EXPECT_EQ(encode<hif4>(filled<hif4>(7 * 0x1.4p-48F)).scale, 1);
}

// |x| * rec is within 2^-9 (rec) and 2^-9 (bfloat16) of |x| / E6M2; then half a step, or the clamp at code 7, which a
// value in [1.75, 2) steps meets.
TEST(hif4, errors_stay_within_the_step) {
    block_source source(3);
    values_of<hif4> x{};
    for (int trial = 0; trial < 6000; ++trial) {
        source.fill(x);
        for (const auto rounding : {amct, reference, ascend_a6}) {
            const auto block = encode<hif4>(x, {rounding});
            const auto got = decode<hif4>(block);
            float largest = 0;
            for (const float value : x) {
                largest = (std::max)(largest, std::fabs(value));
            }
            if (largest > 344064) {
                continue;
            }
            for (std::size_t i = 0; i < 64; ++i) {
                const int shift = (block.e1_8 >> (7 - i / 8) & 1) + (block.e1_16[i / 32] >> (7 - i / 4 % 8) & 1);
                const double step = std::ldexp(e6m2_value(block.scale), shift - 2);
                const double magnitude = std::fabs(static_cast<double>(x[i]));
                const double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(x[i]));
                const bool clamped = (get_nibble(block.codes, i) & 7U) == 7;
                ASSERT_LE(error, (clamped ? 1.0 : 0.5) * step + magnitude / 64) << x[i] << " became " << got[i];
                ASSERT_TRUE(x[i] == 0 || std::signbit(got[i]) == std::signbit(x[i]));
            }
        }
    }
}

TEST(hif4, case45_zeros_at_the_end_change_nothing) {
    const auto block = encode<hif4>(values<hif4>({1, -2, 3}));
    EXPECT_EQ(block.scale, encode<hif4>(values<hif4>({3})).scale);
    for (std::size_t i = 3; i < 64; ++i) {
        EXPECT_EQ(get_nibble(block.codes, i), 0);
    }
}

}  // namespace
