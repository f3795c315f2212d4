// SPDX-License-Identifier: Apache-2.0
// Quantises the transpose of a matrix, blocks along the rows of the source, without making the transposed matrix.
//
// A weight stored as K x N, or one that a backward pass reads the other way round, needs blocks down its columns. The
// source is walked in bands of 256 rows; in a band, 32 columns at a time are turned into 32 rows of 256 floats in a
// scratch tile of 34 KiB, and those rows go through the same row codec as quantize: same code, same bytes.
//
//     source  band of 256 rows  | 32 cols | ...        tile  32 rows of 256 floats  ->  blocks of 32 rows of the result
//
// Why these numbers: 32 columns are two whole cache lines of each source row, so that no line is fetched twice; 256
// rows are 256 pages at most (the second-level TLB holds 1000 and more) and a stretch long enough for the codecs' two
// passes.
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
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

namespace detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// A band of the source, a few columns wide, turned on its side.
class transposed_tile {
  public:
    static constexpr std::size_t band = 256;  // source rows; a multiple of every block
    static constexpr std::size_t width = 32;  // source columns

    /// Row `c` of the tile: what was column `c` of the band.
    const float* row(std::size_t c) const noexcept { return values_ + c * pitch; }

    /// Loads rows [first_row, first_row + rows) and columns [first_col, first_col + cols) of the source.
    template <class T>
    void load(const matrix_view<T>& source, std::size_t first_row, std::size_t rows, std::size_t first_col,
              std::size_t cols, const kernel::row_functions& functions) noexcept {
        for (std::size_t r = 0; r < rows; r += 4) {
            const std::size_t height = (std::min)(std::size_t{4}, rows - r);
            if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
                const float* from = source.row(first_row + r) + first_col;
                turn(from, source.stride(), height, cols, values_ + r);
            } else {
                float wide[4 * width];
                for (std::size_t i = 0; i < height; ++i) {
                    widen(functions, source.row(first_row + r + i) + first_col, cols, wide + i * width);
                }
                turn(wide, width, height, cols, values_ + r);
            }
        }
    }

  private:
    // Rows of 256 floats would all start in the same few cache sets; the odd line shifts them apart.
    static constexpr std::size_t pitch = band + 16;

    using four = float __attribute__((vector_size(16)));  // SSE2 or NEON at any baseline

    static four load_four(const float* from) noexcept {
        four value;
        std::memcpy(&value, from, sizeof(value));
        return value;
    }
    static void store_four(float* to, four value) noexcept { std::memcpy(to, &value, sizeof(value)); }

    // `height` (1 to 4) source rows of `cols` floats to columns of the tile. Moves bits, computes nothing.
    static void turn(const float* from, std::size_t stride, std::size_t height, std::size_t cols, float* to) noexcept {
        std::size_t c = 0;
        if (height == 4) {
            for (; c + 4 <= cols; c += 4) {
                const four a = load_four(from + c);
                const four b = load_four(from + stride + c);
                const four d = load_four(from + 2 * stride + c);
                const four e = load_four(from + 3 * stride + c);
                const four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
                const four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
                const four de_low = __builtin_shufflevector(d, e, 0, 4, 1, 5);
                const four de_high = __builtin_shufflevector(d, e, 2, 6, 3, 7);
                store_four(to + c * pitch, __builtin_shufflevector(ab_low, de_low, 0, 1, 4, 5));
                store_four(to + (c + 1) * pitch, __builtin_shufflevector(ab_low, de_low, 2, 3, 6, 7));
                store_four(to + (c + 2) * pitch, __builtin_shufflevector(ab_high, de_high, 0, 1, 4, 5));
                store_four(to + (c + 3) * pitch, __builtin_shufflevector(ab_high, de_high, 2, 3, 6, 7));
            }
        }
        for (; c < cols; ++c) {
            for (std::size_t r = 0; r < height; ++r)
                std::memcpy(to + c * pitch + r, from + r * stride + c, sizeof(float));
        }
    }

    alignas(64) float values_[width * pitch];
};

/// Calls `use(tile, first_row, rows, first_col, cols)` for every tile of a part of the source.
template <class T, class Use>
void for_each_tile(const matrix_view<T>& source, const matrix_part& part, const kernel::row_functions& functions,
                   Use use) {
    transposed_tile tile;
    for (std::size_t r = part.first_row; r < part.last_row; r += transposed_tile::band) {
        const std::size_t rows = (std::min)(transposed_tile::band, part.last_row - r);
        for (std::size_t c = part.first_col; c < part.last_col; c += transposed_tile::width) {
            const std::size_t cols = (std::min)(transposed_tile::width, part.last_col - c);
            tile.load(source, r, rows, c, cols, functions);
            use(tile, r, rows, c, cols);
        }
    }
}

/// Fills `maxima` with the largest finite magnitude of each column of the source, 0 where there is none.
template <class F, class T>
void column_maxima(const matrix_view<T>& source, const row_codec<F>& codec, const executor& executor, float* maxima) {
    constexpr std::size_t width = transposed_tile::width;
    const std::size_t strips = source.cols() / width + (source.cols() % width != 0 ? 1 : 0);
    executor.for_each(strips, [&](std::size_t i) {
        const arch::fp_guard guard;
        const std::size_t first = i * width;
        const std::size_t last = (std::min)(first + width, source.cols());
        std::uint32_t largest[width] = {};
        for_each_tile(source, {0, source.rows(), first, last}, codec.rows,
                      [&](const transposed_tile& tile, std::size_t, std::size_t rows, std::size_t, std::size_t cols) {
                          for (std::size_t c = 0; c < cols; ++c) {
                              largest[c] = (std::max)(largest[c], codec.amax_bits(tile.row(c), rows));
                          }
                      });
        for (std::size_t c = first; c < last; ++c) maxima[c] = float_from_bits(largest[c - first]);
    });
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace detail

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Quantises the transpose of `source`: the result has source.cols() rows and source.rows() cols, its blocks lie along
/// the rows of the source, and its bytes are those of quantize<F> on a transposed copy. Row scales are one for each
/// column of the source.
/// Shape, Exact, Special, Errors: as quantize.
/// Cost: one pass over the source, two for NVFP4 with a computed tensor scale; 34 KiB of stack in each thread.
template <block_format F, class T>
[[nodiscard]] quantized_matrix<F> quantize_transposed(matrix_view<T> source, const quantize_options<F>& options = {}) {
    static_assert(matrix_element<std::remove_const_t<T>>,
                  "lowbit::quantize_transposed takes float, bfloat16 or float16");
    using access = detail::quantized_matrix_access<F>;
    using tile_type = detail::transposed_tile;
    constexpr const char* name = "lowbit::quantize_transposed";

    access::check_size(name, source.cols(), source.rows());
    detail::check_tensor_scale_options<F>(name, options.tensor_scale);
    const detail::row_codec<F> codec;
    const arch::fp_guard guard;

    const bool by_row = detail::wants_row_scales(options);
    quantized_matrix<F> result = access::make(source.cols(), source.rows(), by_row);
    typename F::block* const blocks = access::blocks(result);
    const std::size_t blocks_per_row = result.blocks_per_row();
    const encode_context shared = detail::matrix_scales(source, codec, options);
    if (!by_row) access::set_tensor_scale(result, shared.tensor_scale);
    // Both scales of a column follow from its maximum, which lies in the place of its tensor scale until all is
    // encoded.
    float* const row_scales = access::row_scales(result);
    if (by_row) detail::column_maxima(source, codec, options.executor, row_scales);

    const detail::matrix_partition parts(source.rows(), source.cols(), options.executor.concurrency(), tile_type::band,
                                         tile_type::width);
    options.executor.for_each(parts.size(), [&](std::size_t i) {
        const arch::fp_guard body_guard;
        detail::for_each_tile(
            source, parts[i], codec.rows,
            [&](const tile_type& tile, std::size_t r, std::size_t rows, std::size_t c, std::size_t cols) {
                for (std::size_t j = 0; j < cols; ++j) {
                    encode_context context = shared;
                    if constexpr (F::has_tensor_scale) {
                        if (by_row) context = detail::row_scales_of<F>(to_bits(row_scales[c + j]), options.format);
                    }
                    context.index = static_cast<std::uint64_t>(c + j) * source.rows() + r;
                    codec.template encode_widened<std::remove_const_t<T>>(
                        tile.row(j), rows, blocks + (c + j) * blocks_per_row + r / F::block_size, options.format,
                        context);
                }
            });
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
