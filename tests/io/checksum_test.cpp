// SPDX-License-Identifier: Apache-2.0
#include <lowbit/io/checksum.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
    lowbit::checksum64 sum;
    sum.update(bytes);
    return sum.value();
}

std::uint64_t checksum_of(const std::string& text) { return checksum_of(std::as_bytes(std::span(text))); }

std::vector<std::byte> random_bytes(std::size_t count) {
    std::mt19937 engine(7);
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine());
    return bytes;
}

TEST(checksum64, known_values) {
    std::string all(256, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i);
    EXPECT_EQ(checksum_of(""), 0xFB26C96523120CC5U);
    EXPECT_EQ(checksum_of("a"), 0x16FBCFC85DEE5A14U);
    EXPECT_EQ(checksum_of("lowbit"), 0x20FA588BC5AE432DU);
    EXPECT_EQ(checksum_of(all), 0xA61DFC7596A1BD31U);
    EXPECT_EQ(checksum_of(std::string(64, '\0')), 0x3D836C243A79C8E2U);
    EXPECT_EQ(checksum_of(std::string(65, '\0')), 0xF34E6827CA780BBAU);
}

TEST(checksum64, pieces_give_the_same_as_the_whole) {
    const auto bytes = random_bytes(1000);
    const std::span<const std::byte> all(bytes);
    for (std::size_t cut = 0; cut <= 960; cut += 64) {
        lowbit::checksum64 sum;
        sum.update(all.first(cut));
        sum.update(all.subspan(cut));
        EXPECT_EQ(sum.value(), checksum_of(all));
    }
}

TEST(checksum64, every_changed_bit_and_every_length_shows) {
    auto bytes = random_bytes(300);
    std::set<std::uint64_t> seen = {checksum_of(bytes)};
    std::size_t count = 1;
    for (std::byte& byte : bytes) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            byte ^= static_cast<std::byte>(1U << bit);
            seen.insert(checksum_of(bytes));
            byte ^= static_cast<std::byte>(1U << bit);
            ++count;
        }
    }
    for (std::size_t length = 0; length < bytes.size(); ++length, ++count) {
        seen.insert(checksum_of(std::span<const std::byte>(bytes).first(length)));
    }
    EXPECT_EQ(seen.size(), count);
}

}  // namespace
