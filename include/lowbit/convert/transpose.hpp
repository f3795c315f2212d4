// SPDX-License-Identifier: Apache-2.0
// Quantises the transpose of a matrix, blocks along the rows of the source, without making the transposed matrix.
//
// A weight stored as K x N, or one that a backward pass reads the other way round, needs blocks down its columns. The
// source is walked in tiles of 64 rows by 64 columns, each turned on its side in 16 KiB of scratch:
//
//     source tile: 64 rows, 64 columns   ->   scratch: column 0, column 1, ... , 64 floats each, one after the other
//
// 64 rows are a whole number of blocks of every format, so the scratch is one run of blocks for the row codec that
// quantize uses: same code, same bytes. (Of a format of one value the codes are turned, not the floats.) The blocks of
// a panel of 256 rows and 1024 columns (at most 256 KiB) are collected tile after tile, and then go to the rows of the
// result, up to 256 bytes each: written tile by tile, the result costs a cache miss for every 34 bytes, more time than
// all the rest.
//
// What makes it half as fast as quantize and more (measured on Sapphire Rapids, a source whose rows are 16 KiB apart):
// * a tile stays in the first-level cache: encoding takes as long as it does from there;
// * panels are as wide as a page: the hardware streams along the rows of a band (512 columns: a tenth slower);
// * the next tile's lines are asked for between the parts of the encoding, when the memory is idle (a tenth);
// * the result's lines are asked for four rows ahead of the copying, which else waits for each (a third of the time).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/check_options.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/convert/partition.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/convert/tensor_scale.hpp>
#include <lowbit/convert/transposed_bytes.hpp>
#include <lowbit/convert/transposed_tile.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/element/hif8.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

namespace detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Fills `maxima` with the largest finite magnitude of each column of the source, 0 where there is none.
template <class F, class T>
void column_maxima(const matrix_view<T>& source, const row_codec<F>& codec, const executor& executor, float* maxima) {
    constexpr std::size_t width = transposed_tile::width;
    const std::size_t strips = source.cols() / width + (source.cols() % width != 0 ? 1 : 0);
    executor.for_each(strips, [&](std::size_t i) {
        const arch::fp_guard guard;
        const std::size_t first = i * width;
        const std::size_t cols = (std::min)(width, source.cols() - first);
        std::uint32_t largest[width] = {};
        transposed_tile tile;
        for (std::size_t r = 0; r < source.rows();) {
            const std::size_t rows = (std::min)(transposed_tile::band, source.rows() - r);
            tile.load(source, r, rows, first, cols, codec.rows());
            for (std::size_t c = 0; c < cols; ++c) {
                largest[c] = (std::max)(largest[c], codec.amax_bits(tile.row(c), rows));
            }
            r += rows;
        }
        for (std::size_t c = 0; c < cols; ++c) maxima[first + c] = float_from_bits(largest[c]);
    });
}

/// Whether a block depends on which element of the matrix it begins with.
template <class F>
constexpr bool depends_on_index(const typename F::options& options) noexcept {
    if constexpr (std::is_same_v<F, hif8>) {
        return options.rounding == hif8_rounding::stochastic;
    } else {
        return false;
    }
}

/// What the encoding of a transposed matrix is the same for everywhere.
template <class F, class T>
struct transposed_encoder {
    matrix_view<T> source;
    const row_codec<F>& codec;
    const quantize_options<F>& options;
    encode_context shared;        // scales of the matrix
    const float* column_maximum;  // where columns have scales of their own, else null
    typename F::block* blocks;    // of the result
    std::size_t blocks_per_row;

    using block = typename F::block;
    using value_type = std::remove_const_t<T>;
    static constexpr std::size_t band = transposed_tile::band;
    static constexpr std::size_t width = transposed_tile::width;
    static constexpr std::size_t panel_rows = 256;
    static constexpr std::size_t panel_cols = 1024;

    /// Encodes rows and columns of the source that begin at multiples of panel_rows and width.
    void encode(const matrix_part& part) const {
        const std::size_t most_bands = divide_up((std::min)(panel_rows, part.last_row - part.first_row), band);
        const std::size_t most_cols = (std::min)(panel_cols, part.last_col - part.first_col);
        // The tile, then the blocks of a panel: row codecs prefetch 16 KiB ahead, and past the end of a stack that
        // costs a walk through the page tables for each line.
        aligned_buffer<unsigned char> scratch(sizeof(transposed_tile) +
                                              most_bands * (most_cols + pad) * per_band * sizeof(block));
        transposed_tile& tile = *::new (static_cast<void*>(scratch.data())) transposed_tile;
        block* const staged = reinterpret_cast<block*>(scratch.data() + sizeof(transposed_tile));
        for (std::size_t c = part.first_col; c < part.last_col;) {
            const std::size_t cols = (std::min)(panel_cols, part.last_col - c);
            for (std::size_t r = part.first_row; r < part.last_row;) {
                const std::size_t rows = (std::min)(panel_rows, part.last_row - r);
                const matrix_part panel{r, r + rows, c, c + cols};
                if (F::block_size == 1 && !depends_on_index<F>(options.format)) {
                    encode_values(panel, staged);
                } else {
                    encode_panel(panel, tile, staged);
                    store_panel(panel, staged);
                }
                r += rows;
            }
            c += cols;
        }
    }

  private:
    /// Blocks of a column of a tile.
    static constexpr std::size_t per_band = band / F::block_size;
    /// Codes between rows of them, so that rows do not share a few lines of the cache.
    static constexpr std::size_t pad = F::block_size == 1 ? 64 : 0;
    /// Values encoded between two rounds of prefetching.
    static constexpr std::size_t step = 512;

    static constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept {
        return a / b + (a % b != 0 ? 1 : 0);
    }

    // Where blocks are single values, codes are turned instead of floats: a quarter of the bytes.
    void encode_values(const matrix_part& panel, block* staged) const noexcept {
        const std::size_t cols = panel.last_col - panel.first_col;
        const std::size_t pitch = cols + pad;
        for (std::size_t r = panel.first_row; r < panel.last_row; ++r) {
            codec.encode(source.row(r) + panel.first_col, cols, staged + (r - panel.first_row) * pitch, options.format,
                         shared);
        }
        turn_bytes(reinterpret_cast<const std::uint8_t*>(staged), pitch, panel.last_row - panel.first_row, cols,
                   reinterpret_cast<std::uint8_t*>(blocks + panel.first_col * blocks_per_row + panel.first_row),
                   blocks_per_row);
    }

    // Blocks in the order: bands, columns, rows.
    void encode_panel(const matrix_part& panel, transposed_tile& tile, block* staged) const noexcept {
        const std::size_t width_of_panel = panel.last_col - panel.first_col;
        for (std::size_t r = panel.first_row; r < panel.last_row; r += (std::min)(band, panel.last_row - r)) {
            const std::size_t rows = (std::min)(band, panel.last_row - r);
            for (std::size_t c = panel.first_col; c < panel.last_col; c += (std::min)(width, panel.last_col - c)) {
                const std::size_t cols = (std::min)(width, panel.last_col - c);
                tile.load(source, r, rows, c, cols, codec.rows());
                block* const to =
                    staged + ((r - panel.first_row) / band * width_of_panel + c - panel.first_col) * per_band;
                if (rows == band && column_maximum == nullptr && !depends_on_index<F>(options.format)) {
                    encode_whole_blocks(tile, cols, to, next_tile(panel, r, c));
                } else {
                    encode_row_by_row(tile, r, rows, c, cols, to);
                }
            }
        }
    }

    /// The tile after this one, if it lies in this panel and is a whole one.
    const value_type* next_tile(const matrix_part& panel, std::size_t r, std::size_t c) const noexcept {
        if (panel.last_col - c >= 2 * width) return source.row(r) + c + width;
        if (panel.last_row - r >= 2 * band && panel.last_col - panel.first_col >= width) {
            return source.row(r + band) + panel.first_col;
        }
        return nullptr;
    }

    // The blocks share their scales, and nothing depends on where they are.
    void encode_whole_blocks(const transposed_tile& tile, std::size_t cols, block* to,
                             const value_type* next) const noexcept {
        for (std::size_t done = 0; done < cols * band; done += step) {
            constexpr std::size_t rows = band * step / (band * width);
            if (next != nullptr) {
                transposed_tile::prefetch(next + done / band * source.stride(), source.stride(), rows);
            }
            codec.template encode_widened<value_type>(tile.row(0) + done, (std::min)(step, cols * band - done),
                                                      to + done / F::block_size, options.format, shared);
        }
    }

    // Copies the blocks of a panel to where they belong.
    void store_panel(const matrix_part& panel, const block* staged) const noexcept {
        constexpr std::size_t ahead = 4;  // rows of the result
        const std::size_t rows = panel.last_row - panel.first_row, cols = panel.last_col - panel.first_col;
        const std::size_t bands = rows / band, left = divide_up(rows % band, F::block_size);
        const std::size_t bytes = (bands * per_band + left) * sizeof(block);
        block* to = blocks + panel.first_col * blocks_per_row + panel.first_row / F::block_size;
        for (std::size_t c = 0; c < cols; ++c) {
            if (c + ahead < cols) {
                const char* const first = reinterpret_cast<const char*>(to + ahead * blocks_per_row);
                const char* const end = first + bytes;
                for (const char* p = first - reinterpret_cast<std::uintptr_t>(first) % 64; p < end; p += 64) {
                    __builtin_prefetch(p, 1, 3);
                }
            }
            const block* from = staged + c * per_band;
            for (std::size_t b = 0; b < bands; ++b) {
                std::memcpy(static_cast<void*>(to + b * per_band), from, per_band * sizeof(block));
                from += cols * per_band;
            }
            if (left != 0) std::memcpy(static_cast<void*>(to + bands * per_band), from, left * sizeof(block));
            to += blocks_per_row;
        }
    }

    void encode_row_by_row(const transposed_tile& tile, std::size_t r, std::size_t rows, std::size_t c,
                           std::size_t cols, block* to) const noexcept {
        for (std::size_t j = 0; j < cols; ++j) {
            encode_context context = shared;
            if constexpr (F::has_tensor_scale) {
                if (column_maximum != nullptr) {
                    context = row_scales_of<F>(to_bits(column_maximum[c + j]), options.format);
                }
            }
            context.index = static_cast<std::uint64_t>(c + j) * source.rows() + r;
            codec.template encode_widened<value_type>(tile.row(j), rows, to + j * per_band, options.format, context);
        }
    }
};

/// quantize_transposed by the given codec.
template <block_format F, class T>
quantized_matrix<F> quantize_transposed(const matrix_view<T>& source, const quantize_options<F>& options,
                                        const row_codec<F>& codec) {
    using access = quantized_matrix_access<F>;
    using encoder_type = transposed_encoder<F, T>;
    constexpr const char* name = "lowbit::quantize_transposed";

    check_options(name, options);
    const bool by_row = wants_row_scales(options);
    access::check_size(name, source.cols(), source.rows(), by_row);
    const arch::fp_guard guard;

    quantized_matrix<F> result = access::make(source.cols(), source.rows(), by_row);
    const encode_context shared = matrix_scales(source, codec, options);
    if (!by_row) access::set_tensor_scale(result, shared.tensor_scale);
    // Both scales of a column follow from its maximum, which lies in the place of its tensor scale until all is done.
    float* const row_scales = access::row_scales(result);
    if (by_row) column_maxima(source, codec, options.executor, row_scales);

    const encoder_type encoder{
        source, codec, options, shared, by_row ? row_scales : nullptr, access::blocks(result), result.blocks_per_row()};
    const matrix_partition parts(source.rows(), source.cols(), options.executor.concurrency(), encoder_type::panel_rows,
                                 encoder_type::width);
    options.executor.for_each(parts.size(), [&](std::size_t i) {
        const arch::fp_guard body_guard;
        encoder.encode(parts[i]);
    });
    if constexpr (F::has_tensor_scale) {
        for (std::size_t i = 0; by_row && i < result.rows(); ++i) {
            row_scales[i] = row_scales_of<F>(to_bits(row_scales[i]), options.format).tensor_scale;
        }
    }
    return result;
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace detail

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Quantises the transpose of `source`: the result has source.cols() rows and source.rows() cols, its blocks lie along
/// the rows of the source, and its bytes are those of quantize<F> on a transposed copy. Row scales are one for each
/// column of the source. `options` as for quantize.
/// Shape, Exact, Special, Errors: as quantize.
/// Cost: one pass over the source, two for NVFP4 with a computed tensor scale; at most 300 KiB of scratch a thread.
template <block_format F, class T>
[[nodiscard]] quantized_matrix<F> quantize_transposed(matrix_view<T> source, const quantize_options<F>& options = {}) {
    static_assert(matrix_element<std::remove_const_t<T>>,
                  "lowbit::quantize_transposed takes float, bfloat16 or float16");
    return detail::quantize_transposed(source, options, detail::row_codec<F>{});
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
