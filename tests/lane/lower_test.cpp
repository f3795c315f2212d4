// SPDX-License-Identifier: Apache-2.0
#include <lowbit/lane/lower.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace {

template <class F>
class lower : public testing::Test {};
using integer_formats = testing::Types<lowbit::hif4, lowbit::mxfp4, lowbit::nvfp4, lowbit::m2xfp_activation,
                                       lowbit::m2xfp_weight, lowbit::mxint8, lowbit::int8_block>;
TYPED_TEST_SUITE(lower, integer_formats, );

template <class F>
std::vector<typename F::block> random_blocks(std::size_t count) {
    std::vector<typename F::block> blocks(count);
    std::mt19937 engine(7);
    for (auto& block : blocks) {
        std::uint8_t bytes[sizeof(block)];
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
        std::memcpy(static_cast<void*>(&block), bytes, sizeof(block));
    }
    return blocks;
}

TYPED_TEST(lower, rows_of_every_length_end_in_zeros) {
    using format = TypeParam;
    constexpr std::size_t size = format::block_size;
    const auto blocks = random_blocks<format>(5);
    for (std::size_t count = 1; count <= 5 * size; ++count) {
        const std::size_t used = (count + size - 1) / size;
        std::vector<std::int8_t> lanes(5 * size + 1, 99);
        std::vector<float> scales(6, 99.0F);
        lowbit::lower_row<format>(blocks.data(), count, lanes.data(), scales.data());
        for (std::size_t n = 0; n < used; ++n) {
            std::int8_t wanted[size];
            const float scale = lowbit::lower_block<format>(blocks[n], std::span<std::int8_t, size>(wanted));
            ASSERT_EQ(lowbit::to_bits(scales[n]), lowbit::to_bits(scale));
            for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(lanes[n * size + i], n * size + i < count ? wanted[i] : 0);
        }
        ASSERT_EQ(lanes[used * size], 99);
        ASSERT_EQ(scales[used], 99.0F);
    }
}

TEST(lower, the_top_element_is_the_lowest_of_the_largest_codes) {
    lowbit::m2xfp_activation::block block{};
    block.scale = 127;
    block.metadata = 0xFF;  // v = 3 everywhere: the top of each subgroup moves up by two
    block.codes[0] = 0xA2;  // 1 and -1: the first is the top
    block.codes[5] = 0x70;  // 6 at value 11
    std::int8_t lanes[32];
    lowbit::lower_block<lowbit::m2xfp_activation>(block, std::span<std::int8_t, 32>(lanes));
    EXPECT_EQ(lanes[0], 10);
    EXPECT_EQ(lanes[1], -8);
    EXPECT_EQ(lanes[11], 56);
    EXPECT_EQ(lanes[16], 2);  // a subgroup of zeros: its first value is its top
    EXPECT_EQ(lanes[17], 0);
}

}  // namespace
