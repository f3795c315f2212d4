// SPDX-License-Identifier: Apache-2.0
// A small tile of a matrix, turned on its side: what quantize_transposed feeds to the row codecs.
#pragma once

#include <algorithm>
#include <cstddef>
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
        if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
            functions.turn(source.row(first_row) + first_col, source.stride(), rows, cols, values_, band);
        } else {
            constexpr std::size_t step = 16;  // rows that `turn` takes at a time at most
            alignas(64) float wide[step * width];
            for (std::size_t r = 0; r < rows; r += step) {
                const std::size_t height = (std::min)(step, rows - r);
                for (std::size_t i = 0; i < height; ++i) {
                    widen(functions, source.row(first_row + r + i) + first_col, cols, wide + i * width);
                }
                functions.turn(wide, width, height, cols, values_ + r, band);
            }
        }
    }

    /// Asks the memory for `rows` rows of a whole tile. (Inlined: g++ drops a call that does nothing but prefetch.)
    template <class T>
    LOWBIT_ALWAYS_INLINE static void prefetch(const T* source, std::size_t stride, std::size_t rows) noexcept {
        constexpr std::size_t line = 64 / sizeof(T);
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t c = 0; c < width; c += line) __builtin_prefetch(source + r * stride + c, 0, 2);
        }
    }

  private:
    alignas(64) float values_[width * band];
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
