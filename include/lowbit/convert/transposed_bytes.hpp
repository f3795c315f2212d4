// SPDX-License-Identifier: Apache-2.0
// A matrix of bytes turned on its side: how the codes of a format of one value reach the rows of a transposed result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lowbit/arch/target.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// 16 rows of 16 bytes, `stride` apart, to 16 columns, `pitch` apart: four rounds of shuffling two halves of a deck.
inline void turn_16_by_16(const std::uint8_t* source, std::size_t stride, std::uint8_t* out,
                          std::size_t pitch) noexcept {
    using bytes = std::uint8_t __attribute__((vector_size(16)));  // SSE2 or NEON at any baseline
    bytes deck[16];
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(&deck[i], source + i * stride, 16);
    LOWBIT_UNROLL
    for (int round = 0; round < 4; ++round) {
        bytes shuffled[16];
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 8; ++i) {
            shuffled[2 * i] =
                __builtin_shufflevector(deck[i], deck[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            shuffled[2 * i + 1] = __builtin_shufflevector(deck[i], deck[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                                          13, 29, 14, 30, 15, 31);
        }
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 16; ++i) deck[i] = shuffled[i];
    }
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(out + i * pitch, &deck[i], 16);
}

/// out[c * pitch + r] = source[r * stride + c] for r < rows and c < cols; reads and writes nothing else. Columns pass
/// through a buffer: rows of a result often lie a power of two apart, and then share a few lines of the cache.
inline void turn_bytes(const std::uint8_t* source, std::size_t stride, std::size_t rows, std::size_t cols,
                       std::uint8_t* out, std::size_t pitch) noexcept {
    constexpr std::size_t most = 256;  // rows at a time
    for (; rows > most; rows -= most, source += most * stride, out += most) {
        turn_bytes(source, stride, most, cols, out, pitch);
    }
    const std::size_t whole_rows = rows / 16 * 16, whole_cols = cols / 16 * 16;
    for (std::size_t c = 0; c < whole_cols; c += 16) {
        alignas(64) std::uint8_t columns[16][most];
        for (std::size_t i = 0; i < 16; ++i) {
            for (std::size_t r = 0; r < rows; r += 64) __builtin_prefetch(out + (c + i) * pitch + r, 1, 3);
        }
        for (std::size_t r = 0; r < whole_rows; r += 16) {
            turn_16_by_16(source + r * stride + c, stride, &columns[0][r], most);
        }
        for (std::size_t i = 0; i < 16; ++i) std::memcpy(out + (c + i) * pitch, columns[i], whole_rows);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t first = r < whole_rows ? whole_cols : 0;
        for (std::size_t c = first; c < cols; ++c) out[c * pitch + r] = source[r * stride + c];
    }
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
