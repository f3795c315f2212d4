// SPDX-License-Identifier: Apache-2.0
// Two 4-bit codes a byte: the even element lies in the LOW nibble.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <lowbit/core/config.hpp>

namespace lowbit {

/// The byte of an even element's code (low nibble) and its odd neighbour's (high nibble); upper bits are ignored.
[[nodiscard]] constexpr std::uint8_t pack_nibbles(std::uint8_t even, std::uint8_t odd) noexcept {
    return static_cast<std::uint8_t>((even & 0x0FU) | (odd & 0x0FU) << 4U);
}

/// The code of the even element of a byte.
[[nodiscard]] constexpr std::uint8_t low_nibble(std::uint8_t byte) noexcept {
    return static_cast<std::uint8_t>(byte & 0x0FU);
}

/// The code of the odd element of a byte.
[[nodiscard]] constexpr std::uint8_t high_nibble(std::uint8_t byte) noexcept {
    return static_cast<std::uint8_t>(byte >> 4U);
}

/// Code of element i. Shape: bytes holds at least i / 2 + 1 bytes.
[[nodiscard]] constexpr std::uint8_t get_nibble(std::span<const std::uint8_t> bytes, std::size_t i) noexcept {
    const std::uint8_t byte = bytes[i / 2];
    return i % 2 == 0 ? low_nibble(byte) : high_nibble(byte);
}

/// Sets the code of element i in `bytes` and leaves its neighbour.
constexpr void set_nibble(std::span<std::uint8_t> bytes, std::size_t i, std::uint8_t code) noexcept {
    std::uint8_t& byte = bytes[i / 2];
    byte = i % 2 == 0 ? pack_nibbles(code, high_nibble(byte)) : pack_nibbles(low_nibble(byte), code);
}

/// Packs `codes`, one a byte, to `bytes`, two a byte. Shape: bytes holds (codes.size() + 1) / 2; the last high nibble
/// is 0 where the count is odd.
constexpr void pack_nibbles(std::span<const std::uint8_t> codes, std::span<std::uint8_t> bytes) noexcept {
    const std::size_t pairs = codes.size() / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
        bytes[i] = pack_nibbles(codes[2 * i], codes[2 * i + 1]);
    }
    if (codes.size() % 2 != 0) {
        bytes[pairs] = pack_nibbles(codes[2 * pairs], std::uint8_t{0});
    }
}

/// Unpacks codes.size() codes from `bytes`, two a byte, to `codes`, one a byte.
/// Shape: bytes holds at least (codes.size() + 1) / 2.
constexpr void unpack_nibbles(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> codes) noexcept {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        codes[i] = get_nibble(bytes, i);
    }
}

static_assert(pack_nibbles(1, 7) == 0x71);

}  // namespace lowbit
