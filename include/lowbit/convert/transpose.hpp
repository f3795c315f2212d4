// SPDX-License-Identifier: Apache-2.0
// Quantises the transpose of a matrix, blocks along the rows of the source, without making the transposed matrix.
//
// A weight stored as K x N, or one that a backward pass reads the other way round, needs blocks down its columns. The
// source is walked in tiles of 64 rows by 64 columns, each turned on its side in 16 KiB of scratch:
//
//     source tile: 64 rows, 64 columns   ->   scratch: column 0, column 1, ... , 64 floats each, one after the other
//
// 64 rows are a whole number of blocks of every format, so the scratch is one run of blocks for the row codec that
// quantize uses: same code, same bytes, one call a tile. Blocks are collected for panels of 512 rows and 512 columns
// (at most 256 KiB) and then copied to the rows of the result, a few hundred bytes each: written tile by tile, the
// result costs a cache miss for every 34 bytes, more time than all the rest.
//
// Why 64 by 64: a tile and its blocks stay in the first-level cache, 64 columns are whole cache lines and enough of
// them for the hardware to stream, and 64 rows need few pages (bands of 256 rows and 32 columns turn at half the
// speed).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/convert/partition.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/convert/tensor_scale.hpp>
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
            tile.load(source, r, rows, first, cols, codec.rows);
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
    static constexpr std::size_t panel_rows = 512;
    static constexpr std::size_t panel_cols = 512;

    /// Encodes rows and columns of the source that begin at multiples of panel_rows and width.
    void encode(const matrix_part& part) const {
        const std::size_t most_rows = (std::min)(panel_rows, part.last_row - part.first_row);
        const std::size_t most_cols = (std::min)(panel_cols, part.last_col - part.first_col);
        aligned_buffer<block> staged(blocks_in(most_rows) * most_cols);
        transposed_tile tile;
        for (std::size_t c = part.first_col; c < part.last_col;) {
            const std::size_t cols = (std::min)(panel_cols, part.last_col - c);
            for (std::size_t r = part.first_row; r < part.last_row;) {
                const std::size_t rows = (std::min)(panel_rows, part.last_row - r);
                encode_panel({r, r + rows, c, c + cols}, tile, staged.data());
                const std::size_t count = blocks_in(rows);
                for (std::size_t j = 0; j < cols; ++j) {
                    std::copy_n(staged.data() + j * count, count,
                                blocks + (c + j) * blocks_per_row + r / F::block_size);
                }
                r += rows;
            }
            c += cols;
        }
    }

  private:
    static constexpr std::size_t blocks_in(std::size_t values) noexcept {
        return values / F::block_size + (values % F::block_size != 0 ? 1 : 0);
    }

    void encode_panel(const matrix_part& panel, transposed_tile& tile, block* staged) const noexcept {
        const std::size_t pitch = blocks_in(panel.last_row - panel.first_row);
        for (std::size_t r = panel.first_row; r < panel.last_row; r += (std::min)(band, panel.last_row - r)) {
            const std::size_t rows = (std::min)(band, panel.last_row - r);
            for (std::size_t c = panel.first_col; c < panel.last_col; c += (std::min)(width, panel.last_col - c)) {
                const std::size_t cols = (std::min)(width, panel.last_col - c);
                tile.load(source, r, rows, c, cols, codec.rows);
                block* const to = staged + (c - panel.first_col) * pitch + (r - panel.first_row) / F::block_size;
                if (rows == band && column_maximum == nullptr && !depends_on_index<F>(options.format)) {
                    encode_whole_blocks(tile, cols, to, pitch);
                } else {
                    encode_row_by_row(tile, r, rows, c, cols, to, pitch);
                }
            }
        }
    }

    // All blocks of the tile in one call: they share their scales, and nothing depends on where they are.
    void encode_whole_blocks(const transposed_tile& tile, std::size_t cols, block* to,
                             std::size_t pitch) const noexcept {
        constexpr std::size_t bytes = band / F::block_size * sizeof(block);
        alignas(64) unsigned char encoded[width * bytes];  // as blocks they would be set to zero first
        codec.template encode_widened<value_type>(tile.row(0), cols * band, reinterpret_cast<block*>(encoded),
                                                  options.format, shared);
        for (std::size_t j = 0; j < cols; ++j) {
            std::memcpy(reinterpret_cast<unsigned char*>(to + j * pitch), encoded + j * bytes, bytes);
        }
    }

    void encode_row_by_row(const transposed_tile& tile, std::size_t r, std::size_t rows, std::size_t c,
                           std::size_t cols, block* to, std::size_t pitch) const noexcept {
        for (std::size_t j = 0; j < cols; ++j) {
            encode_context context = shared;
            if constexpr (F::has_tensor_scale) {
                if (column_maximum != nullptr) {
                    context = row_scales_of<F>(to_bits(column_maximum[c + j]), options.format);
                }
            }
            context.index = static_cast<std::uint64_t>(c + j) * source.rows() + r;
            codec.template encode_widened<value_type>(tile.row(j), rows, to + j * pitch, options.format, context);
        }
    }
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace detail

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Quantises the transpose of `source`: the result has source.cols() rows and source.rows() cols, its blocks lie along
/// the rows of the source, and its bytes are those of quantize<F> on a transposed copy. Row scales are one for each
/// column of the source.
/// Shape, Exact, Special, Errors: as quantize.
/// Cost: one pass over the source, two for NVFP4 with a computed tensor scale; at most 280 KiB of scratch a thread.
template <block_format F, class T>
[[nodiscard]] quantized_matrix<F> quantize_transposed(matrix_view<T> source, const quantize_options<F>& options = {}) {
    static_assert(matrix_element<std::remove_const_t<T>>,
                  "lowbit::quantize_transposed takes float, bfloat16 or float16");
    using access = detail::quantized_matrix_access<F>;
    using encoder_type = detail::transposed_encoder<F, T>;
    constexpr const char* name = "lowbit::quantize_transposed";

    access::check_size(name, source.cols(), source.rows());
    detail::check_tensor_scale_options<F>(name, options.tensor_scale);
    const detail::row_codec<F> codec;
    const arch::fp_guard guard;

    const bool by_row = detail::wants_row_scales(options);
    quantized_matrix<F> result = access::make(source.cols(), source.rows(), by_row);
    const encode_context shared = detail::matrix_scales(source, codec, options);
    if (!by_row) access::set_tensor_scale(result, shared.tensor_scale);
    // Both scales of a column follow from its maximum, which lies in the place of its tensor scale until all is done.
    float* const row_scales = access::row_scales(result);
    if (by_row) detail::column_maxima(source, codec, options.executor, row_scales);

    const encoder_type encoder{
        source, codec, options, shared, by_row ? row_scales : nullptr, access::blocks(result), result.blocks_per_row()};
    const detail::matrix_partition parts(source.rows(), source.cols(), options.executor.concurrency(),
                                         encoder_type::panel_rows, encoder_type::width);
    options.executor.for_each(parts.size(), [&](std::size_t i) {
        const arch::fp_guard body_guard;
        encoder.encode(parts[i]);
    });
    if constexpr (F::has_tensor_scale) {
        for (std::size_t i = 0; by_row && i < result.rows(); ++i) {
            row_scales[i] = detail::row_scales_of<F>(to_bits(row_scales[i]), options.format).tensor_scale;
        }
    }
    return result;
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
