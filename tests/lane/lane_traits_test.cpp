// SPDX-License-Identifier: Apache-2.0
#include <lowbit/lane/lane_traits.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
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

static_assert(lowbit::common_group<lowbit::hif4, lowbit::nvfp4> == 16);
static_assert(lowbit::common_group<lowbit::hif8, lowbit::nvfp4> == 1);
static_assert(lowbit::lane_scales<lowbit::mxfp4>[127] == 0.5F && lowbit::lane_scales<lowbit::mxfp4>[0] == 0x1p-128F);
static_assert(lowbit::lane_scales<lowbit::nvfp4>[0x7E] == 224.0F &&
              lowbit::lane_scales<lowbit::nvfp4>[0x81] == 0x1p-10F);
static_assert(lowbit::lane_scales<lowbit::hif4>[0xFE] == 12288.0F && lowbit::lane_scales<lowbit::hif4>[0] == 0x1p-50F);
static_assert(lowbit::is_nan(lowbit::lane_scales<lowbit::m2xfp_weight>[0xFF]));
static_assert(!lowbit::integer_lanes<lowbit::hif8>);

}  // namespace
