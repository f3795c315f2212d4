// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/mxint8.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/block_oracle.hpp"
#include "support/block_testing.hpp"
#include "support/golden.hpp"

namespace {

using lowbit::mxint8;
using lowbit::test::block_source;
using lowbit::test::decode;
using lowbit::test::encode;
using lowbit::test::values;
using values_type = lowbit::test::values_of<mxint8>;

constexpr float largest_float = (std::numeric_limits<float>::max)();

// The definition in double, where every step but the rounding to an integer is exact.
mxint8::block defined(const values_type& source) {
    bool finite = true;
    float vmax = 0;
    for (const float x : source) {
        finite = finite && std::isfinite(x);
        if (std::isfinite(x)) vmax = (std::max)(vmax, std::fabs(x));
    }
    const int exponent = vmax == 0 ? -127 : (std::min)(125, (std::max)(-127, std::ilogb(vmax)));
    mxint8::block block{finite ? static_cast<std::uint8_t>(exponent + 127) : std::uint8_t{0xFF}, {}};
    for (std::size_t i = 0; i < source.size(); ++i) {
        const double x = std::isfinite(source[i]) ? static_cast<double>(source[i]) : 0.0;
        const double q = std::rint(std::ldexp(x, 6 - exponent));
        block.codes[i] = static_cast<std::int8_t>((std::min)(127.0, (std::max)(-127.0, q)));
    }
    return block;
}

TEST(mxint8, golden_values) {
    const auto x = lowbit::test::golden<float>("x_f32");
    lowbit::test::expect_same_values(lowbit::test::decode_all<mxint8>(lowbit::test::encode_all<mxint8>(x.values)),
                                     lowbit::test::golden<float>("mxint8_value_f32").values);
}

TEST(mxint8, golden_bytes) {
    const auto x = lowbit::test::golden<float>("x_f32");
    lowbit::test::expect_same_bytes(lowbit::test::encode_all<mxint8>(x.values),
                                    lowbit::test::golden<std::uint8_t>("model_mxint8").values);
}

TEST(mxint8, equals_the_definition) {
    block_source source(1);
    for (int i = 0; i < 40'000; ++i) {
        values_type x{};
        source.fill(x);
        if (i % 9 == 0) x[static_cast<std::size_t>(i) % x.size()] = i % 2 == 0 ? NAN : -INFINITY;
        ASSERT_EQ(encode<mxint8>(x), defined(x)) << i;
    }
}

TEST(mxint8, decodes_every_scale_and_code_exactly) {
    for (int scale = 0; scale < 256; ++scale) {
        for (int first = -128; first < 128; first += 32) {
            mxint8::block block{static_cast<std::uint8_t>(scale), {}};
            for (int i = 0; i < 32; ++i) {
                block.codes[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(first + i);
            }
            const auto got = decode<mxint8>(block);
            for (int i = 0; i < 32; ++i) {
                const double exact = std::ldexp(static_cast<double>(first + i), scale - 127 - 6);
                const float wanted = scale == 255 ? lowbit::quiet_nan : lowbit::test::narrowed(exact);
                ASSERT_EQ(lowbit::to_bits(got[static_cast<std::size_t>(i)]), lowbit::to_bits(wanted)) << scale;
            }
        }
    }
}

TEST(mxint8, codes_on_the_grid_survive) {
    for (int exponent = -127; exponent <= 125; ++exponent) {
        for (int first = -127; first <= 96; first += 31) {
            values_type x{};
            for (std::size_t i = 0; i < 31; ++i) {
                x[i] = std::ldexp(static_cast<float>(first + static_cast<int>(i)), exponent - 6);
            }
            x[31] = std::ldexp(64.0F, exponent - 6);
            lowbit::test::expect_same_bits(lowbit::test::round_trip<mxint8>(x), x, "exponent");
        }
    }
}

TEST(mxint8, ties_go_to_even_and_the_top_saturates_symmetrically) {
    const auto block = encode<mxint8>(values<mxint8>({1.0F, 0.5F / 64, 1.5F / 64, 2.5F / 64, -0.5F / 64, -1.5F / 64,
                                                      1.9921875F, 1.999F, -1.999F, -1.984375F, -0.0F}));
    EXPECT_EQ(block.scale, 127);
    const std::array<int, 11> wanted = {64, 0, 2, 2, 0, -2, 127, 127, -127, -127, 0};
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(block.codes[i], wanted[i]) << i;
    EXPECT_FALSE(lowbit::sign_bit(decode<mxint8>(block)[10]));
}

TEST(mxint8, zeros_take_the_smallest_scale) {
    EXPECT_EQ(encode<mxint8>(values_type{}), (mxint8::block{0, {}}));
    EXPECT_EQ(encode<mxint8>(lowbit::test::filled<mxint8>(-0.0F)), (mxint8::block{0, {}}));
}

TEST(mxint8, ends_of_the_exponent_range) {
    EXPECT_EQ(encode<mxint8>(values<mxint8>({largest_float, -largest_float})),
              encode<mxint8>(values<mxint8>({0x1p127F, -0x1p127F})));
    EXPECT_EQ(encode<mxint8>(values<mxint8>({largest_float})).scale, 252);
    EXPECT_EQ(decode<mxint8>(encode<mxint8>(values<mxint8>({largest_float})))[0], 127.0F * 0x1p119F);
    EXPECT_EQ(encode<mxint8>(values<mxint8>({0x1p-133F})).codes[0], 1);  // a unit of the smallest scale, subnormal
    EXPECT_EQ(encode<mxint8>(values<mxint8>({0x1p-134F})).codes[0], 0);
    EXPECT_EQ(encode<mxint8>(values<mxint8>({0x1.8p-133F})).codes[0], 2);
}

TEST(mxint8, every_lane_poisons_its_block_alike) {
    for (const float poison : {NAN, INFINITY, -INFINITY, lowbit::float_from_bits(0xFF800001U)}) {
        for (std::size_t lane = 0; lane < mxint8::block_size; ++lane) {
            auto x = lowbit::test::filled<mxint8>(0.75F);
            x[lane] = poison;
            auto cleared = x;
            cleared[lane] = 0;
            const auto block = encode<mxint8>(x);
            EXPECT_EQ(block.scale, 0xFF);
            EXPECT_EQ(block.codes, encode<mxint8>(cleared).codes);
            for (const float value : decode<mxint8>(block)) EXPECT_EQ(lowbit::to_bits(value), lowbit::quiet_nan_bits);
        }
    }
}

TEST(mxint8, works_in_constant_evaluation) {
    constexpr auto block = encode<mxint8>(values<mxint8>({1.0F, -0.25F}));
    static_assert(block.scale == 127 && block.codes[0] == 64 && block.codes[1] == -16);
    static_assert(decode<mxint8>(block)[1] == -0.25F);
    static_assert(encode<mxint8>(values<mxint8>({largest_float})).codes[0] == 127);
}

}  // namespace
