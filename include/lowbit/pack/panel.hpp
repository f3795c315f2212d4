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

/// Where the codes of column `column` of a block begin in a record; they go on every line of 4 values.
template <class F>
[[nodiscard]] constexpr std::size_t codes_at(std::size_t block, std::size_t column) noexcept {
    constexpr std::size_t columns = kernel::panel_columns;
    if constexpr (table_lanes<F>) return block * F::block_size * columns / 2 + 4 * (column % 16);
    return block * F::block_size * columns + 4 * column;
}

/// Writes block `n` of column `c` into a record of `count` blocks. Columns 16 and up expect column c - 16 in place.
template <class F>
void put_block(const typename F::block& block, std::size_t n, std::size_t c, std::size_t count,
               std::uint8_t* record) noexcept {
    using arithmetic = kernel::panel_arithmetic<F>;
    constexpr std::size_t columns = kernel::panel_columns;
    if constexpr (!integer_lanes<F>) {
        record[n * columns + c] = block.bits();
    } else {
        using traits = lane_traits<F>;
        constexpr std::size_t planes = traits::selector_bytes, scale_bytes = arithmetic::scale_bytes;
        std::memcpy(record + arithmetic::scales_at(count) + (n * columns + c) * scale_bytes, &block.scale, scale_bytes);
        const std::uint32_t word = traits::selector_word(block);
        for (std::size_t p = 0; p < planes; ++p) {
            record[arithmetic::selectors_at(count) + (n * planes + p) * columns + c] =
                static_cast<std::uint8_t>(word >> (8 * p));
        }
        std::uint8_t* line = record + codes_at<F>(n, c);
        if constexpr (!table_lanes<F>) {
            for (std::size_t i = 0; i < F::block_size; i += 4, line += 4 * columns) {
                std::memcpy(line, block.codes.data() + i, 4);
            }
        } else {
            for (std::size_t i = 0; i < F::block_size / 2; i += 2, line += 2 * columns) {
                std::uint32_t four = spread_nibbles(block.codes[i] | std::uint32_t{block.codes[i + 1]} << 8U);
                if (c >= 16) {
                    std::uint32_t low;
                    std::memcpy(&low, line, 4);
                    four = low | four << 4U;
                }
                std::memcpy(line, &four, 4);
            }
        }
    }
}

/// The inverse of put_block.
template <class F>
[[nodiscard]] typename F::block take_block(const std::uint8_t* record, std::size_t n, std::size_t c,
                                           std::size_t count) noexcept {
    using arithmetic = kernel::panel_arithmetic<F>;
    constexpr std::size_t columns = kernel::panel_columns;
    if constexpr (!integer_lanes<F>) {
        return F::from_bits(record[n * columns + c]);
    } else {
        using traits = lane_traits<F>;
        constexpr std::size_t planes = traits::selector_bytes, scale_bytes = arithmetic::scale_bytes;
        typename F::block block{};
        std::memcpy(&block.scale, record + arithmetic::scales_at(count) + (n * columns + c) * scale_bytes, scale_bytes);
        std::uint32_t word = 0;
        for (std::size_t p = 0; p < planes; ++p) {
            word |= std::uint32_t{record[arithmetic::selectors_at(count) + (n * planes + p) * columns + c]} << (8 * p);
        }
        traits::set_selector_word(block, word);
        const std::uint8_t* line = record + codes_at<F>(n, c);
        if constexpr (!table_lanes<F>) {
            for (std::size_t i = 0; i < F::block_size; i += 4, line += 4 * columns) {
                std::memcpy(block.codes.data() + i, line, 4);
            }
        } else {
            for (std::size_t i = 0; i < F::block_size / 2; i += 2, line += 2 * columns) {
                std::uint32_t four;
                std::memcpy(&four, line, 4);
                const std::uint32_t codes = gather_nibbles(c < 16 ? four : four >> 4U);
                block.codes[i] = static_cast<std::uint8_t>(codes);
                block.codes[i + 1] = static_cast<std::uint8_t>(codes >> 8U);
            }
        }
        return block;
    }
}

/// Writes the panel of rows 0 .. rows - 1 (at most 32) of blocks that start `stride` blocks apart; missing rows become
/// blocks of zero bytes. Writes panel_bytes(depth) bytes, padding included.
template <class F>
void pack_panel(const typename F::block* blocks, std::size_t stride, std::size_t rows, std::size_t depth,
                std::uint8_t* panel) noexcept {
    using arithmetic = kernel::panel_arithmetic<F>;
    if (depth == 0) return;
    std::memset(panel, 0, arithmetic::panel_bytes(depth));
    for (std::size_t k = 0; k < depth; k += kernel::record_values) {
        const std::size_t count = arithmetic::blocks_at(k, depth);
        const typename F::block* const first = blocks + k / F::block_size;
        for (std::size_t c = 0; c < rows; ++c) {
            for (std::size_t n = 0; n < count; ++n) {
                put_block<F>(first[c * stride + n], n, c, count, panel + arithmetic::record_at(k));
            }
        }
    }
}

/// The inverse of pack_panel: writes the blocks of `rows` rows.
template <class F>
void unpack_panel(const std::uint8_t* panel, std::size_t rows, std::size_t depth, typename F::block* blocks,
                  std::size_t stride) noexcept {
    using arithmetic = kernel::panel_arithmetic<F>;
    for (std::size_t k = 0; k < depth; k += kernel::record_values) {
        const std::size_t count = arithmetic::blocks_at(k, depth);
        typename F::block* const first = blocks + k / F::block_size;
        for (std::size_t c = 0; c < rows; ++c) {
            for (std::size_t n = 0; n < count; ++n) {
                first[c * stride + n] = take_block<F>(panel + arithmetic::record_at(k), n, c, count);
            }
        }
    }
}

}  // namespace lowbit::detail
