// SPDX-License-Identifier: Apache-2.0
// How the rows of a matrix, or the columns of a few long rows, are dealt out to the threads of an executor.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/executor.hpp>

namespace lowbit::detail {

/// Columns of a stretch of rows: what one call of a loop body works on.
struct matrix_part {
    std::size_t first_row;
    std::size_t last_row;  // past the end
    std::size_t first_col;
    std::size_t last_col;  // past the end
};

/// A matrix cut into parts of nearly equal work. Which part holds an element changes no result.
/// Column cuts lie at multiples of `granule`, so that no block is split.
class matrix_partition {
  public:
    /// The largest block is 64 values, tiles of 16-bit input are 1024.
    static constexpr std::size_t granule = 1024;

    /// `granule_rows`: row cuts lie at multiples of it.
    matrix_partition(std::size_t rows, std::size_t cols, std::size_t threads, std::size_t granule_rows = 1,
                     std::size_t granule_cols = granule) noexcept
        : rows_(rows), cols_(cols), part_rows_(rows), part_cols_(cols) {
        if (rows == 0 || cols == 0) return;
        if (threads > 1) {
            // Parts of 64 KiB to 512 KiB of floats: far above the cost of handing one out (about a microsecond), and
            // at least 8 a thread, so that a slow thread delays the end by an eighth of its share at most.
            const std::size_t wanted = rows / threads * cols / 8 + 1;
            const std::size_t values = (std::min)((std::max)(wanted, least), most);
            const bool few_rows = rows / granule_rows < 4 * threads;
            if (few_rows || cols > 4 * most)
                part_cols_ = (std::min)(cols, round_up(values / granule_rows + 1, granule_cols));
            part_rows_ = (std::min)(rows, round_up((std::max)(std::size_t{1}, values / part_cols_), granule_rows));
        }
        row_parts_ = rows / part_rows_ + (rows % part_rows_ != 0 ? 1 : 0);
        col_parts_ = cols / part_cols_ + (cols % part_cols_ != 0 ? 1 : 0);
    }

    std::size_t size() const noexcept { return row_parts_ * col_parts_; }

    /// Whether a part holds whole rows.
    bool whole_rows() const noexcept { return col_parts_ <= 1; }

    matrix_part operator[](std::size_t i) const noexcept {
        const std::size_t row = i / col_parts_ * part_rows_;
        const std::size_t col = i % col_parts_ * part_cols_;
        return {row, row + (std::min)(part_rows_, rows_ - row), col, col + (std::min)(part_cols_, cols_ - col)};
    }

  private:
    static constexpr std::size_t least = std::size_t{1} << 14;
    static constexpr std::size_t most = std::size_t{1} << 17;

    std::size_t rows_;
    std::size_t cols_;
    std::size_t part_rows_;
    std::size_t part_cols_;
    std::size_t row_parts_ = 0;
    std::size_t col_parts_ = 0;
};

}  // namespace lowbit::detail
