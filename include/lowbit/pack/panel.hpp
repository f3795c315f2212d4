// SPDX-License-Identifier: Apache-2.0
// One panel of 32 rows: from blocks to kernel order and back, without loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::detail {

/// Nibble i of the 16 bits to byte i.
[[nodiscard]] constexpr std::uint32_t spread_nibbles(std::uint32_t x) noexcept {
    x = (x | x << 8U) & 0x00FF00FFU;
    return (x | x << 4U) & 0x0F0F0F0FU;
}

/// Low nibble of byte i to nibble i.
[[nodiscard]] constexpr std::uint32_t gather_nibbles(std::uint32_t x) noexcept {
    x &= 0x0F0F0F0FU;
    x = (x | x >> 4U) & 0x00FF00FFU;
    return (x | x >> 8U) & 0xFFFFU;
}

/// Writes the panel of rows 0 .. rows - 1 (at most 32) of blocks that start `stride` blocks apart; missing rows become
/// blocks of zero bytes. Writes panel_bytes(depth) bytes, padding included.
template <class F>
void pack_panel(const typename F::block* blocks, std::size_t stride, std::size_t rows, std::size_t depth,
                std::uint8_t* panel) noexcept {
    using arithmetic = kernel::panel_arithmetic<F>;
    constexpr std::size_t columns = kernel::panel_columns;
    if (depth == 0) return;
    std::memset(panel, 0, arithmetic::panel_bytes(depth));
    for (std::size_t k = 0; k < depth; k += kernel::record_values) {
        const std::size_t count = arithmetic::blocks_at(k, depth);
        std::uint8_t* const record = panel + arithmetic::record_at(k);
        const typename F::block* const first = blocks + k / F::block_size;
        if constexpr (!lane_traits<F>::integer) {
            for (std::size_t c = 0; c < rows; ++c) {
                for (std::size_t i = 0; i < count; ++i) record[i * columns + c] = first[c * stride + i].bits();
            }
        } else {
            using traits = lane_traits<F>;
            std::uint8_t* const selectors = record + arithmetic::selectors_at(count);
            std::uint8_t* const scales = record + arithmetic::scales_at(count);
            for (std::size_t c = 0; c < rows; ++c) {
                for (std::size_t n = 0; n < count; ++n) {
                    const typename F::block& block = first[c * stride + n];
                    scales[n * columns + c] = block.scale;
                    const std::uint32_t word = traits::selector_word(block);
                    for (std::size_t p = 0; p < traits::selector_bytes; ++p) {
                        selectors[(n * traits::selector_bytes + p) * columns + c] =
                            static_cast<std::uint8_t>(word >> (8 * p));
                    }
                    std::uint8_t* line = record + n * F::block_size * columns / 2 + 4 * (c % 16);
                    for (std::size_t i = 0; i < F::block_size / 2; i += 2) {
                        std::uint32_t four = spread_nibbles(block.codes[i] | std::uint32_t{block.codes[i + 1]} << 8U);
                        if (c >= 16) {
                            std::uint32_t low;
                            std::memcpy(&low, line, 4);
                            four = low | four << 4U;
                        }
                        std::memcpy(line, &four, 4);
                        line += 64;
                    }
                }
            }
        }
    }
}

/// The inverse of pack_panel: writes the blocks of `rows` rows.
template <class F>
void unpack_panel(const std::uint8_t* panel, std::size_t rows, std::size_t depth, typename F::block* blocks,
                  std::size_t stride) noexcept {
    using arithmetic = kernel::panel_arithmetic<F>;
    constexpr std::size_t columns = kernel::panel_columns;
    for (std::size_t k = 0; k < depth; k += kernel::record_values) {
        const std::size_t count = arithmetic::blocks_at(k, depth);
        const std::uint8_t* const record = panel + arithmetic::record_at(k);
        typename F::block* const first = blocks + k / F::block_size;
        for (std::size_t c = 0; c < rows; ++c) {
            for (std::size_t n = 0; n < count; ++n) {
                typename F::block& block = first[c * stride + n];
                if constexpr (!lane_traits<F>::integer) {
                    block = F::from_bits(record[n * columns + c]);
                } else {
                    using traits = lane_traits<F>;
                    block.scale = record[arithmetic::scales_at(count) + n * columns + c];
                    std::uint32_t word = 0;
                    for (std::size_t p = 0; p < traits::selector_bytes; ++p) {
                        const std::size_t plane = n * traits::selector_bytes + p;
                        word |= std::uint32_t{record[arithmetic::selectors_at(count) + plane * columns + c]} << (8 * p);
                    }
                    traits::set_selector_word(block, word);
                    const std::uint8_t* line = record + n * F::block_size * columns / 2 + 4 * (c % 16);
                    for (std::size_t i = 0; i < F::block_size / 2; i += 2) {
                        std::uint32_t four;
                        std::memcpy(&four, line, 4);
                        const std::uint32_t codes = gather_nibbles(c < 16 ? four : four >> 4U);
                        block.codes[i] = static_cast<std::uint8_t>(codes);
                        block.codes[i + 1] = static_cast<std::uint8_t>(codes >> 8U);
                        line += 64;
                    }
                }
            }
        }
    }
}

}  // namespace lowbit::detail
