// SPDX-License-Identifier: Apache-2.0
// Products of integer lanes: A's blocks and B's slices as the integer kernels want them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/gemm/blocking.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/gemm_table.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The engine of A x B for two formats with integer lanes. The loops (loops.hpp) use an engine like this:
///     tile_rows(), make_block(rows, depth, kc), make_slice(depth), make_rows(depth)      the only ones that allocate
///     pack(block, tile, first_row, rows, k, count, tile_rows)       quantises or lowers one tile of rows of A
///     load(slice, panel, k, count)                       brings a slice of a panel of B into lanes
///     multiply(block, tile, offset, count, slice, acc, columns)    adds the slice's part of one tile to acc; an engine
///                                                                  that takes_many_tiles has (first, last) for `tile`
template <class ASource, class BSource>
class integer_engine {
  public:
    using a_format = typename ASource::format;
    using b_format = typename BSource::format;
    static constexpr bool takes_many_tiles = false;
    static constexpr std::size_t group = common_group<a_format, b_format>;
    static constexpr bool magic = kernel::pair_traits<a_format, b_format>::kind.magic;

    integer_engine(const ASource& a, const BSource& b, const kernel::integer_product& kernels) noexcept
        : a_(&a), b_(&b), kernels_(kernels) {}

    std::size_t tile_rows() const noexcept { return kernels_.kernel->rows; }
    const kernel::output_kernel& output() const noexcept { return *kernels_.output; }
    const ASource& a() const noexcept { return *a_; }
    const BSource& b() const noexcept { return *b_; }

    /// Lanes, scales and start words of up to `rows` rows of A, `depth` values each: slice after slice of `kc` values,
    /// and in a slice tile after tile, so that a slice is read as one stream.
    struct a_block {
        std::size_t rows;   // of all tiles
        std::size_t depth;  // in multiples of 64
        std::size_t kc;
        std::size_t tile_lanes;  // bytes from tile to tile where one slice is all
        std::size_t tile_words;  // words of scales from tile to tile, likewise
        aligned_buffer<std::int32_t> lanes;
        aligned_buffer<std::int32_t> scales;
        aligned_buffer<std::uint8_t> plain;  // of each tile: whether a scale leaves the magic start's range

        std::size_t slice_depth(std::size_t k) const noexcept { return (std::min)(kc, depth - k); }
        /// Words in front of the lanes of tile rows from `row` on in the slice at value k.
        std::size_t lanes_at(std::size_t row, std::size_t k) const noexcept {
            return (k * rows + row * slice_depth(k)) / 4;
        }
        std::size_t scales_at(std::size_t row, std::size_t k) const noexcept {
            return 3 * (k * rows + row * slice_depth(k)) / group;
        }
    };
    a_block make_block(std::size_t rows, std::size_t depth, std::size_t kc = ~std::size_t{0}) const {
        const std::size_t whole_rows = round_up(rows, tile_rows()),
                          whole_depth = round_up(depth, kernel::record_values);
        const std::size_t size = whole_rows * whole_depth;
        return {whole_rows,
                whole_depth,
                kc,
                tile_rows() * whole_depth,
                3 * tile_rows() * whole_depth / group,
                aligned_buffer<std::int32_t>(size / 4),
                aligned_buffer<std::int32_t>(3 * size / group),
                aligned_buffer<std::uint8_t>(whole_rows / tile_rows())};
    }

    /// A tile of rows on its way into a block.
    struct rows_in_order {
        aligned_buffer<std::int32_t> lanes;
        aligned_buffer<float> scales;
    };
    rows_in_order make_rows(std::size_t depth) const {
        return {aligned_buffer<std::int32_t>(tile_rows() * row_words(depth)),
                aligned_buffer<float>(divide_up(depth, a_format::block_size))};
    }

    /// Fills tile `tile` of the block with values k .. k + count - 1 of rows first_row .. first_row + rows - 1 of A;
    /// the tile's other rows become zeros.
    void pack(a_block& block, std::size_t tile, std::size_t first_row, std::size_t rows, std::size_t k,
              std::size_t count, rows_in_order& on_the_way) const noexcept {
        const std::size_t tile_size = tile_rows(), stride = row_words(count);
        float* const scales = on_the_way.scales.data();
        bool plain = false;
        for (std::size_t r = 0; r < tile_size; ++r) {
            auto* const lanes = reinterpret_cast<std::int8_t*>(on_the_way.lanes.data() + r * stride);
            if (r < rows) {
                a_->lower(first_row + r, k, count, lanes, scales);
            } else {
                std::memset(lanes, 0, round_up(count, a_format::block_size));
                std::fill_n(scales, divide_up(count, a_format::block_size), 0.0F);
            }
            for (std::size_t at = 0; at < count; at += block.kc) {
                const std::size_t groups = divide_up((std::min)(block.kc, count - at), group);
                std::int32_t* const words = block.scales.data() + block.scales_at(tile * tile_size, at) + r;
                plain |= write_scales(scales + at / a_format::block_size, lanes + at, groups, words);
                kernels_.kernel->starts(lanes + at, groups, kernels_.expand->bias, words + 2 * tile_size,
                                        3 * tile_size);
            }
        }
        for (std::size_t at = 0; at < count; at += block.kc) {
            const std::size_t words = round_up((std::min)(block.kc, count - at), group) / 4;
            kernels_.kernel->interleave(on_the_way.lanes.data() + at / 4, stride, words,
                                        block.lanes.data() + block.lanes_at(tile * tile_size, at));
        }
        block.plain[tile] = plain ? 1 : 0;
    }

    /// Expanded lanes and scales of a slice of a panel.
    struct b_slice {
        aligned_buffer<std::uint8_t> lanes;
        aligned_buffer<float> scales;
        aligned_buffer<std::uint8_t> packed;
        bool plain = false;  // whether a scale cannot be joined
    };
    b_slice make_slice(std::size_t depth) const {
        const std::size_t whole = round_up(depth, kernel::record_values);
        return {aligned_buffer<std::uint8_t>(whole * kernel::panel_columns),
                aligned_buffer<float>(whole / group * kernel::panel_columns),
                aligned_buffer<std::uint8_t>(BSource::scratch_bytes(depth))};
    }
    void load(b_slice& slice, std::size_t panel, std::size_t k, std::size_t count) const noexcept {
        using arithmetic = kernel::panel_arithmetic<b_format>;
        constexpr std::size_t repeats = b_format::block_size / group;
        const std::uint8_t* const records = b_->slice(panel, k, count, slice.packed.data());
        for (std::size_t i = 0; i < count; i += kernel::record_values) {
            const std::size_t blocks = arithmetic::blocks_at(i, count);
            const std::uint8_t* const record = records + arithmetic::record_at(i);
            kernels_.expand->record(record, record + arithmetic::selectors_at(blocks),
                                    record + arithmetic::scales_at(blocks), blocks, repeats,
                                    slice.lanes.data() + i * kernel::panel_columns,
                                    slice.scales.data() + i / group * kernel::panel_columns);
        }
        if (kernels_.kernel->join == kernel::scale_join::none) return;
        const std::size_t groups = divide_up(count, b_format::block_size) * repeats;
        slice.plain = !kernels_.kernel->joinable(slice.scales.data(), groups * kernel::panel_columns) &&
                      !mend_zeros(slice, groups);
    }

    /// acc (tile rows x 32) += tile `tile` of the block, its slice at value `offset`, times the slice of B.
    void multiply(const a_block& block, std::size_t tile, std::size_t offset, std::size_t count, const b_slice& slice,
                  float* acc, std::size_t columns) const noexcept {
        const std::size_t tile_size = tile_rows();
        const bool plain = slice.plain || block.plain[tile] != 0;
        const auto kernel = plain ? kernels_.kernel->plain : kernels_.kernel->tile;
        const auto* const lanes =
            reinterpret_cast<const std::int8_t*>(block.lanes.data() + block.lanes_at(tile * tile_size, offset));
        const std::int32_t* const words = block.scales.data() + block.scales_at(tile * tile_size, offset);
        for (std::size_t c = 0; c < columns; c += kernels_.kernel->columns) {
            kernel({lanes, words, slice.lanes.data() + 4 * c, slice.scales.data() + c, divide_up(count, group), acc + c,
                    columns - c});
        }
    }

  private:
    /// Words of a row on its way into a block; no power of two.
    static constexpr std::size_t row_words(std::size_t depth) noexcept { return round_up(depth, 64) / 4 + 16; }

    /// The scale and the offset of each group of a row; whether one of them leaves the range of the kernel's scale step
    /// (kernels without the magic start take any).
    bool write_scales(const float* scales, const std::int8_t* lanes, std::size_t groups,
                      std::int32_t* words) const noexcept {
        constexpr std::size_t repeats = a_format::block_size / group;
        const std::size_t tile_size = tile_rows();
        const kernel::scale_join join = kernels_.kernel->join;
        bool plain = false;
        for (std::size_t g = 0; g < groups; ++g, words += 3 * tile_size) {
            float scale = scales[g / repeats];
            if (join == kernel::scale_join::none) {
                words[tile_size] = std::bit_cast<std::int32_t>(-kernel::magic_float * scale);
                if (magic && to_bits(scale) - 1U >= kernel::magic_limit_bits)
                    plain |= leaves_range(scale, lanes + g * group);
            } else {
                if (!can_be_joined(scale)) {
                    // Zeros add nothing, whatever their scale; but a NaN stays.
                    if (!is_nan(scale) && all_zero(lanes + g * group)) scale = 1.0F;
                    plain |= !can_be_joined(scale);
                }
                const std::uint32_t bits = to_bits(scale);
                words[tile_size] = static_cast<std::int32_t>(join == kernel::scale_join::add ? bits - to_bits(1.0F)
                                                                                             : (bits >> 20U & 7U) * 64);
            }
            words[0] = std::bit_cast<std::int32_t>(scale);
        }
        return plain;
    }

    static bool can_be_joined(float scale) noexcept {
        return to_bits(scale) - kernel::joined_least_bits <= kernel::joined_most_bits - kernel::joined_least_bits;
    }
    static bool all_zero(const std::int8_t* lanes) noexcept {
        return std::all_of(lanes, lanes + group, [](std::int8_t lane) { return lane == 0; });
    }

    /// Gives groups of zeros in a slice of B the scale 1; whether all scales can be joined now.
    bool mend_zeros(b_slice& slice, std::size_t groups) const noexcept {
        constexpr std::size_t line = 4 * kernel::panel_columns;
        bool all = true;
        for (std::size_t i = 0; i < groups * kernel::panel_columns; ++i) {
            float& scale = slice.scales[i];
            if (can_be_joined(scale)) continue;
            const std::uint8_t* const lanes = slice.lanes.data() +
                                              i / kernel::panel_columns * group * kernel::panel_columns +
                                              4 * (i % kernel::panel_columns);
            bool zero = !is_nan(scale);
            for (std::size_t k = 0; k < group && zero; ++k)
                zero = lanes[k / 4 * line + k % 4] == static_cast<std::uint8_t>(kernels_.expand->bias);
            if (zero) scale = 1.0F;
            all &= zero;
        }
        return all;
    }

    /// Scales that are zero, negative, large or NaN: a NaN is no trouble, nor is a zero over zeros.
    static bool leaves_range(float scale, const std::int8_t* lanes) noexcept {
        if (is_nan(scale)) return false;
        return abs_bits(scale) != 0 || !all_zero(lanes) || sign_bit(scale);
    }

    const ASource* a_;
    const BSource* b_;
    kernel::integer_product kernels_;
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
