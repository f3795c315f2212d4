// SPDX-License-Identifier: Apache-2.0
// Order of the nibbles, single elements, whole arrays of odd and even length.
#include <lowbit/element/nibble.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include <lowbit/element/exmy.hpp>

namespace lowbit::test {
namespace {

TEST(nibble, case43_the_even_element_is_in_the_low_nibble) {
    const std::uint8_t byte = pack_nibbles(e2m1::from_float(0.5F).bits(), e2m1::from_float(6.0F).bits());
    EXPECT_EQ(byte, 0x71);
    EXPECT_EQ(low_nibble(byte), 1);
    EXPECT_EQ(high_nibble(byte), 7);
}

TEST(nibble, upper_bits_of_codes_are_ignored) { EXPECT_EQ(pack_nibbles(0xF1, 0xA7), 0x71); }

TEST(nibble, get_and_set_touch_one_element) {
    std::array<std::uint8_t, 3> bytes{0x21, 0x43, 0x65};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(get_nibble(bytes, i), i + 1);
    set_nibble(bytes, 2, 0xF);
    EXPECT_EQ(bytes, (std::array<std::uint8_t, 3>{0x21, 0x4F, 0x65}));
    set_nibble(bytes, 5, 0x0);
    EXPECT_EQ(bytes, (std::array<std::uint8_t, 3>{0x21, 0x4F, 0x05}));
}

TEST(nibble, case45_arrays_of_every_length_round_trip) {
    for (std::size_t n = 0; n < 40; ++n) {
        std::vector<std::uint8_t> codes(n);
        for (std::size_t i = 0; i < n; ++i) codes[i] = static_cast<std::uint8_t>((i * 7 + 3) & 0xF);
        std::vector<std::uint8_t> bytes((n + 1) / 2, 0xFF);
        pack_nibbles(codes, bytes);
        if (n % 2 != 0) {
            EXPECT_EQ(high_nibble(bytes.back()), 0);
        }
        std::vector<std::uint8_t> back(n, 0xEE);
        unpack_nibbles(bytes, back);
        EXPECT_EQ(back, codes);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(get_nibble(bytes, i), codes[i]);
    }
}

constexpr bool works_in_a_constant = [] {
    std::array<std::uint8_t, 2> bytes{};
    pack_nibbles(std::array<std::uint8_t, 3>{1, 2, 3}, bytes);
    return bytes[0] == 0x21 && bytes[1] == 0x03;
}();
static_assert(works_in_a_constant);

}  // namespace
}  // namespace lowbit::test
