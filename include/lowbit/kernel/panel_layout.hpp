// SPDX-License-Identifier: Apache-2.0
/// Where everything lies in a packed weight matrix: pure arithmetic, no memory.
///
/// The rows of B (the columns of C) are cut into *panels* of 32; the last one is filled up with blocks of zeros. A
/// panel is a sequence of *records*, one for each 64 values of K; the last may be shorter, in whole blocks, and is
/// filled up to a multiple of 64 bytes. One layout serves every instruction set. In a record of b blocks (b = 64 /
/// block but at the end):
///
///     codes       16 b block bytes: one line of 64 bytes for each 4 values of K
///     selectors   b * selector_bytes planes of 32 bytes: byte p of the selector word of column 0..31, block by block
///     scales      b planes of 32 bytes: the raw scale byte of column 0..31
///
///     hif4          |codes 1024|selectors 3 x 32|scale 32|                        1152 bytes, 4.5 bits a value
///     mxfp4         |codes 1024|scales 2 x 32|                                    1088        4.25
///     nvfp4         |codes 1024|scales 4 x 32|                                    1152        4.5
///     m2xfp_*       |codes 1024|selectors 2 x 32|scales 2 x 32|                   1152        4.5
///     hif8          |codes 64 x 32|: row k holds the bytes of column 0..31        2048        8
///     mxint8        |codes 2048|scales 2 x 32|                                    2112        8.25
///     int8_block    |codes 2048|scales 2 x 32 floats|                             2304        9
///
/// A line of codes holds values 4s .. 4s + 3 of all 32 columns, two columns a byte, 16 apart:
///
///     byte 4c + i  =  code of (column c, value 4s + i)  |  code of (column c + 16, value 4s + i) << 4,   c = 0..15, i
///     = 0..3
///
/// so that the low and the high nibbles of a line, expanded to bytes, are two vectors of 16 columns x 4 values: what a
/// dot product of 4 wants, in 64, 32 or 16 byte registers alike. Expanded lanes (in scratch) keep that order:
///
///     lanes[s][c][i], 128 bytes for each s:  column c, value 4s + i;  scales as float [group][32]
///
/// The codes of the 8-bit integer formats lie in that order already: 128 bytes for each 4 values of K.
///
/// Records are multiples of 64 bytes because anything else slows down the streaming of a panel from memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lowbit/core/bits.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::kernel {

/// Identity of a layout. A packed matrix keeps the one it was made with.
struct panel_layout {
    std::uint32_t version = 1;   ///< of the arithmetic in this header
    std::uint32_t columns = 32;  ///< rows of B in a panel
    std::uint32_t record = 64;   ///< values of K in a record

    friend constexpr bool operator==(const panel_layout&, const panel_layout&) = default;
};

/// The layout that the kernels of this version read.
inline constexpr panel_layout native_layout{};

inline constexpr std::size_t panel_columns = native_layout.columns;
inline constexpr std::size_t record_values = native_layout.record;

/// Bytes in front of and behind which everything of one panel lies, for format F.
template <class F>
struct panel_arithmetic {
    static constexpr std::size_t block = F::block_size;
    static constexpr std::size_t blocks_per_record = record_values / block;
    static constexpr std::size_t selector_bytes = [] {
        if constexpr (lane_traits<F>::integer) return lane_traits<F>::selector_bytes;
        return std::size_t{0};
    }();
    /// Bytes of the scale of a block.
    static constexpr std::size_t scale_bytes = [] {
        if constexpr (lane_traits<F>::integer) return sizeof(F::block::scale);
        return std::size_t{0};
    }();
    static_assert(record_values % block == 0);

    /// Bytes of the codes of `blocks` blocks: 4 or 8 bits a value.
    static constexpr std::size_t code_bytes(std::size_t blocks) noexcept {
        return blocks * block * panel_columns / (table_lanes<F> ? 2 : 1);
    }
    static constexpr std::size_t selectors_at(std::size_t blocks) noexcept { return code_bytes(blocks); }
    static constexpr std::size_t scales_at(std::size_t blocks) noexcept {
        return selectors_at(blocks) + blocks * selector_bytes * panel_columns;
    }
    /// Bytes of a record of `blocks` blocks.
    static constexpr std::size_t record_bytes(std::size_t blocks) noexcept {
        return round_up(scales_at(blocks) + blocks * scale_bytes * panel_columns, 64);
    }
    static constexpr std::size_t full_record_bytes = record_bytes(blocks_per_record);

    /// Blocks of the record that starts at value k of a row of `depth` values.
    static constexpr std::size_t blocks_at(std::size_t k, std::size_t depth) noexcept {
        const std::size_t blocks = divide_up(depth - k, block);
        return blocks < blocks_per_record ? blocks : blocks_per_record;
    }
    /// Offset in its panel of the record that starts at value k, a multiple of 64.
    static constexpr std::size_t record_at(std::size_t k) noexcept { return k / record_values * full_record_bytes; }

    /// Bytes of a panel of rows of `depth` values.
    static constexpr std::size_t panel_bytes(std::size_t depth) noexcept {
        const std::size_t whole = depth / record_values * record_values;
        return record_at(whole) + (whole < depth ? record_bytes(blocks_at(whole, depth)) : 0);
    }
    static constexpr std::size_t panels(std::size_t rows) noexcept { return divide_up(rows, panel_columns); }
};

static_assert(panel_arithmetic<hif4>::full_record_bytes == 1152 && panel_arithmetic<mxfp4>::full_record_bytes == 1088);
static_assert(panel_arithmetic<mxint8>::full_record_bytes == 2112 &&
              panel_arithmetic<int8_block>::full_record_bytes == 2304);
static_assert(panel_arithmetic<nvfp4>::full_record_bytes == 1152 && panel_arithmetic<hif8>::full_record_bytes == 2048);

/// Offset of (column c of the panel, value i of a line of 4) in a line of codes; the upper 16 columns use the high
/// nibble.
[[nodiscard]] constexpr std::size_t code_byte(std::size_t column, std::size_t i) noexcept {
    return 4 * (column % 16) + i;
}

}  // namespace lowbit::kernel
