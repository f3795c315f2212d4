// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/int8_block.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/block_testing.hpp"
#include "support/fp_environments.hpp"
#include "support/golden.hpp"

namespace {

using lowbit::int8_block;
using lowbit::test::block_source;
using lowbit::test::decode;
using lowbit::test::encode;
using lowbit::test::values;
using values_type = lowbit::test::values_of<int8_block>;

constexpr float largest_float = (std::numeric_limits<float>::max)();

int8_block::block with_scale(float scale, std::array<std::int8_t, 32> codes = {}) {
    return {std::bit_cast<std::array<std::uint8_t, 4>>(scale), codes};
}

// The definition, by plain float arithmetic.
int8_block::block defined(const values_type& source) {
    bool finite = true;
    float amax = 0;
    for (const float x : source) {
        finite = finite && std::isfinite(x);
        if (std::isfinite(x)) amax = (std::max)(amax, std::fabs(x));
    }
    const float bounded = (std::max)((std::min)(amax, std::nextafter(largest_float, 0.0F)), 127 * 0x1p-126F);
    const float scale = amax == 0 ? 0.0F : bounded / 127.0F;
    auto block = with_scale(finite ? scale : lowbit::quiet_nan);
    for (std::size_t i = 0; i < source.size(); ++i) {
        const float x = std::isfinite(source[i]) && amax > 0 ? source[i] / scale : 0.0F;
        block.codes[i] = static_cast<std::int8_t>((std::min)(127.0F, (std::max)(-127.0F, std::rint(x))));
    }
    return block;
}

TEST(int8_block, golden_bytes) {
    const auto x = lowbit::test::golden<float>("x_f32");
    lowbit::test::expect_same_bytes(lowbit::test::encode_all<int8_block>(x.values),
                                    lowbit::test::golden<std::uint8_t>("model_int8_block").values);
}

TEST(int8_block, case53_the_scale_is_four_little_endian_bytes) {
    auto wanted = lowbit::test::bytes_of<int8_block>{0x00, 0x00, 0x40, 0x3F, 0x7F, 0x81, 0x01};  // 0.75
    EXPECT_EQ(
        lowbit::test::to_bytes<int8_block>(encode<int8_block>(values<int8_block>({0.75F * 127, -0.75F * 127, 0.75F}))),
        wanted);
}

TEST(int8_block, equals_the_definition) {
    block_source source(2);
    for (int i = 0; i < 40'000; ++i) {
        values_type x{};
        source.fill(x);
        if (i % 9 == 0) x[static_cast<std::size_t>(i) % x.size()] = i % 2 == 0 ? NAN : -INFINITY;
        ASSERT_EQ(encode<int8_block>(x), defined(x)) << i;
        const auto block = encode<int8_block>(x);
        const auto got = decode<int8_block>(block);
        for (std::size_t j = 0; j < got.size(); ++j) {
            const float scale = int8_block::scale_of(block);
            const float wanted = std::isnan(scale) ? lowbit::quiet_nan : static_cast<float>(block.codes[j]) * scale;
            ASSERT_EQ(lowbit::to_bits(got[j]), lowbit::to_bits(wanted));
            ASSERT_FALSE(lowbit::is_inf(got[j]));
        }
    }
}

TEST(int8_block, the_maximum_takes_code_127_and_never_decodes_to_infinity) {
    for (std::uint32_t bits = lowbit::to_bits(largest_float); bits > 0x7F7F0000U; --bits) {
        const auto block = encode<int8_block>(values<int8_block>({0.0F, lowbit::float_from_bits(bits)}));
        ASSERT_EQ(block.codes[1], 127);
        ASSERT_TRUE(lowbit::is_finite(decode<int8_block>(block)[1])) << bits;
    }
}

TEST(int8_block, the_scale_is_a_normal_float) {
    const auto smallest = encode<int8_block>(values<int8_block>({0x1p-149F, -0x1p-126F, 0x1p-127F, 0x1.8p-126F}));
    EXPECT_EQ(int8_block::scale_of(smallest), 0x1p-126F);
    EXPECT_EQ(smallest.codes[0], 0);
    EXPECT_EQ(smallest.codes[1], -1);
    EXPECT_EQ(smallest.codes[2], 0);  // a tie
    EXPECT_EQ(smallest.codes[3], 2);
}

TEST(int8_block, zeros_take_scale_zero) {
    EXPECT_EQ(encode<int8_block>(values_type{}), with_scale(0.0F));
    EXPECT_EQ(encode<int8_block>(lowbit::test::filled<int8_block>(-0.0F)), with_scale(0.0F));
    EXPECT_EQ(lowbit::to_bits(decode<int8_block>(with_scale(0.0F))[0]), 0U);
}

TEST(int8_block, every_lane_poisons_its_block_alike) {
    for (const float poison : {NAN, INFINITY, -INFINITY, lowbit::float_from_bits(0xFF800001U)}) {
        for (std::size_t lane = 0; lane < int8_block::block_size; ++lane) {
            auto x = lowbit::test::filled<int8_block>(0.75F);
            x[lane] = poison;
            auto cleared = x;
            cleared[lane] = 0;
            const auto block = encode<int8_block>(x);
            EXPECT_EQ(lowbit::to_bits(int8_block::scale_of(block)), lowbit::quiet_nan_bits);
            EXPECT_EQ(block.codes, encode<int8_block>(cleared).codes);
            for (const float value : decode<int8_block>(block)) {
                EXPECT_EQ(lowbit::to_bits(value), lowbit::quiet_nan_bits);
            }
        }
    }
}

TEST(int8_block, decodes_foreign_bytes_as_the_float_product) {
    std::array<std::int8_t, 32> codes{};
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::int8_t>(static_cast<int>(i) * 9 - 128);
    codes[31] = 0;
    for (const float scale : {0.0F, -0.0F, 1.5F, -2.0F, 0x1p-149F, -0x1.23p-140F, 0x1p127F, largest_float,
                              lowbit::float_from_bits(0x7F800000U), lowbit::float_from_bits(0xFF800000U),
                              lowbit::float_from_bits(0xFFC12345U), 0x1.020408p+121F, 0x1.02040ap+121F}) {
        const auto got = decode<int8_block>(with_scale(scale, codes));
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const float product = static_cast<float>(codes[i]) * scale;
            const float wanted = std::isnan(product) ? lowbit::quiet_nan : product;
            ASSERT_EQ(lowbit::to_bits(got[i]), lowbit::to_bits(wanted)) << scale << " * " << +codes[i];
        }
    }
}

// Constant evaluation knows no processor state: what it gives is what every caller has to get.
TEST(int8_block, case19_subnormals_count_where_the_processor_flushes_them) {
    static constexpr auto values = [] {
        std::array<float, 32> v{};
        for (std::uint32_t i = 0; i < 32; ++i)
            v[i] = lowbit::float_from_bits((i % 2 << 31U) | (0x00010001U << (i % 8)) | i);
        return v;
    }();
    static constexpr int8_block::block wanted = int8_block::encode(values);
    static_assert(wanted.codes[6] == 1 && wanted.codes[0] == 0);
    static constexpr int8_block::block foreign = [] {
        int8_block::block b{{0x45, 0x23, 0x51, 0x80}, {}};  // a subnormal scale
        for (int i = 0; i < 32; ++i) b.codes[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(8 * i - 128);
        return b;
    }();
    static constexpr auto decoded = [] {
        std::array<float, 32> v{};
        int8_block::decode(foreign, v);
        return v;
    }();
    for (int which = 0; which < lowbit::test::caller_environments; which += 4) {
        const lowbit::test::caller_environment caller(which);
        EXPECT_EQ(int8_block::encode(values), wanted) << which;
        std::array<float, 32> out{};
        int8_block::decode(foreign, out);
        for (std::size_t i = 0; i < 32; ++i) {
            EXPECT_EQ(lowbit::to_bits(out[i]), lowbit::to_bits(decoded[i])) << which << ", " << i;
            const double product = std::ldexp(static_cast<double>(0x512345) * (static_cast<int>(i) * 8 - 128), -149);
            EXPECT_EQ(lowbit::to_bits(decoded[i]) & 0x7FFFFFFFU,
                      lowbit::abs_bits(static_cast<float>(std::fabs(product))))
                << i;
        }
    }
}

TEST(int8_block, works_in_constant_evaluation) {
    constexpr auto block = encode<int8_block>(values<int8_block>({127.0F, -64.5F, 63.5F}));
    static_assert(int8_block::scale_of(block) == 1.0F);
    static_assert(block.codes[0] == 127 && block.codes[1] == -64 && block.codes[2] == 64);
    static_assert(decode<int8_block>(block)[1] == -64.0F);
    static_assert(encode<int8_block>(values<int8_block>({largest_float})).codes[0] == 127);
}

}  // namespace
