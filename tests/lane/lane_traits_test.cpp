// SPDX-License-Identifier: Apache-2.0
#include <lowbit/lane/lane_traits.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/lane/lower.hpp>

namespace {

using lowbit::lane_traits;
using lowbit::to_bits;

// A block whose runs all have the selector `selector` (top_of_8: whose tops have it) and whose codes are 0..15 in turn.
template <class F>
typename F::block block_of(std::uint8_t scale, std::uint32_t selector, std::size_t shift) {
    typename F::block block{};
    block.scale = scale;
    std::uint32_t word = 0;
    if constexpr (lane_traits<F>::selector == lowbit::lane_selector::nested) {
        word = ((selector & 1U) != 0 ? 0xFFFFU : 0U) | ((selector & 2U) != 0 ? 0xFF0000U : 0U);
    } else {
        word = selector * 0x55U;
    }
    lane_traits<F>::set_selector_word(block, word);
    for (std::size_t i = 0; i < F::block_size; ++i) {
        const auto code = static_cast<std::uint8_t>((i + i / 16 * 5 + shift) % 16);
        block.codes[i / 2] = static_cast<std::uint8_t>(block.codes[i / 2] | (i % 2 == 0 ? code : code << 4U));
    }
    return block;
}

template <class F>
class lanes : public testing::Test {};
using integer_formats =
    testing::Types<lowbit::hif4, lowbit::mxfp4, lowbit::nvfp4, lowbit::m2xfp_activation, lowbit::m2xfp_weight>;
TYPED_TEST_SUITE(lanes, integer_formats, );

// The whole claim of the table: lane * scale is the decoded value, for all codes, selectors and scale bytes.
TYPED_TEST(lanes, times_scale_is_the_decoded_value) {
    using format = TypeParam;
    constexpr std::size_t size = format::block_size;
    const lowbit::arch::fp_guard guard;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        for (std::uint32_t selector = 0; selector < 4; ++selector) {
            for (std::size_t shift = 0; shift < 16; ++shift) {
                const auto block = block_of<format>(static_cast<std::uint8_t>(byte), selector, shift);
                std::int8_t lane[size];
                float decoded[size];
                const float scale = lowbit::lower_block<format>(block, std::span<std::int8_t, size>(lane));
                format::decode(block, std::span<float, size>(decoded), 1.0F);
                for (std::size_t i = 0; i < size; ++i) {
                    if (lowbit::is_nan(decoded[i])) {
                        ASSERT_EQ(to_bits(scale), lowbit::quiet_nan_bits);
                        ASSERT_EQ(lane[i], 0);
                        continue;
                    }
                    const float value = static_cast<float>(lane[i]) * scale;
                    ASSERT_TRUE(to_bits(value) == to_bits(decoded[i]) || (value == 0.0F && decoded[i] == 0.0F))
                        << "scale byte " << byte << ", selector " << selector << ", value " << i << ": " << value
                        << " and " << decoded[i];
                }
            }
        }
    }
}

TYPED_TEST(lanes, selector_words_survive) {
    using format = TypeParam;
    const std::uint32_t bits = 8 * static_cast<std::uint32_t>(lane_traits<format>::selector_bytes);
    for (std::uint32_t bit = 0; bit < bits; ++bit) {
        typename format::block block{};
        lane_traits<format>::set_selector_word(block, 1U << bit);
        EXPECT_EQ(lane_traits<format>::selector_word(block), 1U << bit);
    }
}

TYPED_TEST(lanes, bound_is_reached_and_not_passed) {
    int largest = 0;
    for (const std::int8_t lane : lane_traits<TypeParam>::table) {
        largest = lane > largest ? lane : largest;
        EXPECT_GE(lane, -lane_traits<TypeParam>::largest);
    }
    EXPECT_EQ(largest, lane_traits<TypeParam>::largest);
}

// The 8-bit formats: every code under every scale byte, and under scales of every kind.
template <class F>
void expect_codes_times_scale(typename F::block block) {
    for (int first = -128; first < 128; first += 32) {
        for (int i = 0; i < 32; ++i) block.codes[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(first + i);
        std::int8_t lane[32];
        float decoded[32];
        const float scale = lowbit::lower_block<F>(block, std::span<std::int8_t, 32>(lane));
        F::decode(block, std::span<float, 32>(decoded), 1.0F);
        for (std::size_t i = 0; i < 32; ++i) {
            if (lowbit::is_nan(scale)) {
                ASSERT_EQ(to_bits(scale), lowbit::quiet_nan_bits);
                ASSERT_EQ(lane[i], 0);
                ASSERT_EQ(to_bits(decoded[i]), lowbit::quiet_nan_bits);
                continue;
            }
            ASSERT_EQ(lane[i], block.codes[i]);
            const float value = static_cast<float>(lane[i]) * scale;
            ASSERT_EQ(to_bits(lowbit::is_nan(value) ? lowbit::quiet_nan : value), to_bits(decoded[i]))
                << "code " << first + static_cast<int>(i) << ", scale " << scale;
        }
    }
}

TEST(byte_lanes, times_scale_are_the_decoded_values) {
    const lowbit::arch::fp_guard guard;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        expect_codes_times_scale<lowbit::mxint8>({static_cast<std::uint8_t>(byte), {}});
    }
    for (const std::uint32_t bits :
         {0U, 0x80000000U, 1U, 0x00800000U, 0x3F800000U, 0x3E2AAAABU, 0xBE2AAAABU, 0x7F7FFFFFU, 0x7C010204U,
          0x7F800000U, 0xFF800000U, 0x7FC00000U, 0xFFC12345U, 0x7F800001U}) {
        lowbit::int8_block::block block{};
        std::memcpy(block.scale.data(), &bits, sizeof(bits));
        expect_codes_times_scale<lowbit::int8_block>(block);
    }
}

static_assert(lowbit::byte_scales<lowbit::mxint8> && !lowbit::byte_scales<lowbit::int8_block>);
static_assert(!lowbit::table_lanes<lowbit::mxint8> && !lowbit::table_lanes<lowbit::int8_block>);
static_assert(lowbit::table_lanes<lowbit::hif4> && !lowbit::table_lanes<lowbit::hif8>);
static_assert(lowbit::lane_scales<lowbit::mxint8>[127] == 0x1p-6F &&
              lowbit::lane_scales<lowbit::mxint8>[0] == 0x1p-133F);
static_assert(lowbit::common_group<lowbit::hif4, lowbit::nvfp4> == 16);
static_assert(lowbit::common_group<lowbit::hif4, lowbit::mxint8> == 32);
static_assert(lowbit::common_group<lowbit::hif8, lowbit::nvfp4> == 1);
static_assert(lowbit::lane_scales<lowbit::mxfp4>[127] == 0.5F && lowbit::lane_scales<lowbit::mxfp4>[0] == 0x1p-128F);
static_assert(lowbit::lane_scales<lowbit::nvfp4>[0x7E] == 224.0F &&
              lowbit::lane_scales<lowbit::nvfp4>[0x81] == 0x1p-10F);
static_assert(lowbit::lane_scales<lowbit::hif4>[0xFE] == 12288.0F && lowbit::lane_scales<lowbit::hif4>[0] == 0x1p-50F);
static_assert(lowbit::is_nan(lowbit::lane_scales<lowbit::m2xfp_weight>[0xFF]));
static_assert(!lowbit::integer_lanes<lowbit::hif8>);

}  // namespace
