// SPDX-License-Identifier: Apache-2.0
// A small tile of a matrix, turned on its side: what quantize_transposed feeds to the row codecs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <lowbit/arch/target.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/kernel/table.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// 64 rows and 64 columns of a matrix, or what is left of them at its edges, turned on their side and widened to float.
class transposed_tile {
  public:
    static constexpr std::size_t band = 64;   // source rows; a multiple of every block
    static constexpr std::size_t width = 64;  // source columns

    /// Row `c` of the tile: what was column `c` of the band. Rows are `band` floats apart.
    const float* row(std::size_t c) const noexcept { return values_ + c * band; }

    /// Loads rows [first_row, first_row + rows) and columns [first_col, first_col + cols) of the source.
    template <class T>
    void load(const matrix_view<T>& source, std::size_t first_row, std::size_t rows, std::size_t first_col,
              std::size_t cols, const kernel::row_functions& functions) noexcept {
        for (std::size_t r = 0; r < rows; r += 4) {
            const std::size_t height = (std::min)(std::size_t{4}, rows - r);
            if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
                const float* from = source.row(first_row + r) + first_col;
                if (first_col + 2 * width <= source.cols()) prefetch_next(from, source.stride(), height);
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
    using four = float __attribute__((vector_size(16)));  // SSE2 or NEON at any baseline

    // The tile to the right, which is loaded next: memory then works while this one is encoded.
    static void prefetch_next(const float* from, std::size_t stride, std::size_t height) noexcept {
        for (std::size_t r = 0; r < height; ++r) {
            for (std::size_t c = 0; c < width; c += 64 / sizeof(float)) {
                __builtin_prefetch(from + r * stride + width + c);
            }
        }
    }

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
                store_four(to + c * band, __builtin_shufflevector(ab_low, de_low, 0, 1, 4, 5));
                store_four(to + (c + 1) * band, __builtin_shufflevector(ab_low, de_low, 2, 3, 6, 7));
                store_four(to + (c + 2) * band, __builtin_shufflevector(ab_high, de_high, 0, 1, 4, 5));
                store_four(to + (c + 3) * band, __builtin_shufflevector(ab_high, de_high, 2, 3, 6, 7));
            }
        }
        for (; c < cols; ++c) {
            for (std::size_t r = 0; r < height; ++r) to[c * band + r] = from[r * stride + c];
        }
    }

    alignas(64) float values_[width * band];
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
