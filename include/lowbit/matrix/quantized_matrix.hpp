// SPDX-License-Identifier: Apache-2.0
// A matrix held in a block format: its shape, the packed blocks, and NVFP4's tensor scales.
//
// Row i is blocks_per_row() = ceil(cols / block_size) blocks along K, one row after the other, without gaps:
//
//     row 0   | block | block | ... | last, filled up with zeros when cols is no multiple of block_size |
//     row 1   | block | ...
//
// Blocks never straddle rows and a buffer never ends in half a block, so blocks() is what a file stores. Formats with a
// tensor scale (NVFP4) keep one float32 for the whole matrix or one for each row beside the blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include <lowbit/block/block_format.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/huge_pages.hpp>

namespace lowbit {

namespace detail {

template <class F>
struct quantized_matrix_access;

/// A tensor scale that blocks may carry: finite and > 0.
[[nodiscard]] constexpr bool is_tensor_scale(float scale) noexcept {
    return is_finite(scale) && !sign_bit(scale) && abs_bits(scale) != 0;
}

/// A float as text, for error messages.
[[nodiscard, gnu::cold, gnu::noinline]] inline std::string decimal(float value) {
    if (is_nan(value)) return "NaN";
    char text[32] = {};
    std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
    return text;
}

}  // namespace detail

/// Owns the blocks of a rows x cols matrix in format F; made by quantize, quantize_transposed or from_blocks.
/// A value type: copies copy the blocks, moves leave an empty 0 x 0 matrix behind, == compares shape, bytes and scales.
/// If an allocation fails, the objects involved keep the values that they had.
template <block_format F>
class quantized_matrix {
  public:
    using format = F;                 ///< hif4, mxfp4, ...
    using block = typename F::block;  ///< what F makes of block_size values

    /// Empty, 0 x 0.
    quantized_matrix() noexcept = default;
    /// Copies the blocks and scales of `other`.
    quantized_matrix(const quantized_matrix& other) : quantized_matrix(other.rows_, other.cols_, other.scales_.size()) {
        std::copy(other.blocks_.begin(), other.blocks_.end(), blocks_.begin());
        std::copy(other.scales_.begin(), other.scales_.end(), scales_.begin());
        tensor_scale_ = other.tensor_scale_;
    }
    /// Takes the contents of `other`, which is empty then.
    quantized_matrix(quantized_matrix&& other) noexcept { swap(other); }
    /// Copies the blocks and scales of `other`; keeps what it has if that fails.
    quantized_matrix& operator=(const quantized_matrix& other) {
        quantized_matrix copy(other);
        swap(copy);
        return *this;
    }
    /// Takes the contents of `other`, which is empty then.
    quantized_matrix& operator=(quantized_matrix&& other) noexcept {
        quantized_matrix taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~quantized_matrix() = default;

    /// Exchanges the contents with `other`; copies nothing.
    void swap(quantized_matrix& other) noexcept {
        std::swap(rows_, other.rows_);
        std::swap(cols_, other.cols_);
        std::swap(tensor_scale_, other.tensor_scale_);
        blocks_.swap(other.blocks_);
        scales_.swap(other.scales_);
    }

    /// A rows x cols matrix of blocks that exist already (a copy of them): from a file, or from another tool.
    /// Shape: rows * ceil(cols / block_size) blocks, row by row. `tensor_scales`: none (1 is taken), one, or one a row;
    /// none for a format without tensor scale.
    /// Special: every byte pattern is accepted, decoding is defined for all of them.
    /// Errors: counts that do not match, a size overflow, a tensor scale that is not finite and > 0.
    static quantized_matrix from_blocks(std::size_t rows, std::size_t cols, std::span<const block> blocks,
                                        std::span<const float> tensor_scales = {}) {
        constexpr const char* name = "lowbit::quantized_matrix::from_blocks";
        const std::size_t scales = tensor_scales.size();
        const std::size_t count = block_count(name, rows, cols, scales > 1);
        if (blocks.size() != count) {
            detail::fail(detail::message(name, ": 'blocks' has ", blocks.size(), " blocks, but rows ", rows, " x cols ",
                                         cols, " need ", count));
        }
        detail::check_not_null(name, "'blocks'", blocks.data(), count);
        if (F::has_tensor_scale ? scales > 1 && scales != rows : scales != 0) {
            detail::fail(detail::message(name, ": 'tensor_scales' has ", scales, " values, but ",
                                         F::has_tensor_scale ? "one or one a row (" : "format ",
                                         F::has_tensor_scale ? std::to_string(rows) : std::string(F::name),
                                         F::has_tensor_scale ? ") are expected" : " has none"));
        }
        detail::check_not_null(name, "'tensor_scales'", tensor_scales.data(), scales);
        for (std::size_t i = 0; i < scales; ++i) {
            if (detail::is_tensor_scale(tensor_scales[i])) continue;
            detail::fail(detail::message(name, ": 'tensor_scales' has ", detail::decimal(tensor_scales[i]),
                                         " at index ", i, ", but a tensor scale is finite and > 0"));
        }
        quantized_matrix result(rows, cols, scales > 1 ? rows : 0);
        std::copy(blocks.begin(), blocks.end(), result.blocks_.begin());
        if (scales == 1) result.tensor_scale_ = tensor_scales[0];
        if (scales > 1) std::copy(tensor_scales.begin(), tensor_scales.end(), result.scales_.begin());
        return result;
    }

    /// Bytes of the blocks of a rows x cols matrix (tensor scales apart): the size that blocks() of such a matrix has.
    /// Errors: a size past the largest object that memory can hold.
    [[nodiscard]] static std::size_t size_bytes(std::size_t rows, std::size_t cols) {
        return block_count("lowbit::quantized_matrix::size_bytes", rows, cols) * sizeof(block);
    }

    /// Rows of the matrix.
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    /// Values of a row: K.
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    /// ceil(cols / block_size).
    [[nodiscard]] std::size_t blocks_per_row() const noexcept { return blocks_in(cols_); }

    /// The blocks of row `i`. Not checked: i < rows().
    [[nodiscard]] std::span<const block> row(std::size_t i) const noexcept {
        const std::size_t count = blocks_per_row();
        return blocks().subspan(i * count, count);
    }
    /// All blocks, row by row.
    [[nodiscard]] std::span<const block> blocks() const noexcept { return {blocks_.data(), blocks_.size()}; }
    /// The same memory as bytes.
    [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
        return {reinterpret_cast<const std::uint8_t*>(blocks_.data()), blocks_.size() * sizeof(block)};
    }

    /// Whether each row has a tensor scale of its own.
    [[nodiscard]] bool row_scales() const noexcept { return !scales_.empty(); }
    /// The tensor scale of the matrix; 1 for a format without.
    /// Errors: a matrix with a scale for each row has no such scale (ask tensor_scale(i)).
    [[nodiscard]] float tensor_scale() const {
        if (row_scales()) {
            detail::fail(detail::message("lowbit::quantized_matrix::tensor_scale: the matrix has ", scales_.size(),
                                         " row scales, not 1 tensor scale"));
        }
        return tensor_scale_;
    }
    /// The tensor scale that row `i` uses. Not checked: i < rows().
    [[nodiscard]] float tensor_scale(std::size_t i) const noexcept { return row_scales() ? scales_[i] : tensor_scale_; }

    /// What a value really costs here: the bits of all blocks, filled-up tails included, and of the tensor scales, over
    /// rows * cols. For an empty matrix the format's own figure.
    [[nodiscard]] double bits_per_value() const noexcept {
        if (rows_ == 0 || cols_ == 0) return F::bits_per_value;
        const std::size_t scales = !F::has_tensor_scale ? 0 : row_scales() ? rows_ : 1;
        const double bits = 8.0 * static_cast<double>(bytes().size()) + 32.0 * static_cast<double>(scales);
        return bits / (static_cast<double>(rows_) * static_cast<double>(cols_));
    }

    /// A copy of rows [first, first + count), scales included.
    /// Errors: a range that leaves the matrix.
    [[nodiscard]] quantized_matrix slice_rows(std::size_t first, std::size_t count) const {
        if (first > rows_ || count > rows_ - first) {
            detail::fail(detail::message("lowbit::quantized_matrix::slice_rows: first ", first, " and count ", count,
                                         " leave the rows ", rows_, " of the matrix"));
        }
        quantized_matrix result(count, cols_, row_scales() ? count : 0);
        const std::size_t per_row = blocks_per_row();
        std::copy_n(blocks_.begin() + first * per_row, count * per_row, result.blocks_.begin());
        if (row_scales()) std::copy_n(scales_.begin() + first, count, result.scales_.begin());
        result.tensor_scale_ = tensor_scale_;
        return result;
    }

    /// Same shape, same bytes, same tensor scale in each row (a scale for the matrix equals the same scale in each
    /// row).
    friend bool operator==(const quantized_matrix& a, const quantized_matrix& b) noexcept {
        if (a.rows_ != b.rows_ || a.cols_ != b.cols_) return false;
        const std::size_t size = a.bytes().size();
        if (size != 0 && std::memcmp(a.bytes().data(), b.bytes().data(), size) != 0) return false;
        if (!a.row_scales() && !b.row_scales()) return to_bits(a.tensor_scale_) == to_bits(b.tensor_scale_);
        for (std::size_t i = 0; i < a.rows_; ++i) {
            if (to_bits(a.tensor_scale(i)) != to_bits(b.tensor_scale(i))) return false;
        }
        return true;
    }

  private:
    friend struct detail::quantized_matrix_access<F>;

    // Blocks are left unwritten; `scales` is 0 or rows.
    quantized_matrix(std::size_t rows, std::size_t cols, std::size_t scales)
        : rows_(rows), cols_(cols), blocks_(rows * blocks_in(cols)), scales_(scales) {
        // First writes to fresh 4 KiB pages cost as much as quantising what goes there.
        detail::advise_huge_pages(blocks_.data(), blocks_.size() * sizeof(block));
    }

    static constexpr std::size_t blocks_in(std::size_t cols) noexcept {
        return cols / F::block_size + (cols % F::block_size != 0 ? 1 : 0);
    }

    // Checks that the blocks, the values and, where rows have scales of their own, these can exist.
    static std::size_t block_count(const char* name, std::size_t rows, std::size_t cols, bool row_scales = false) {
        constexpr std::size_t most = static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)());
        const std::size_t per_row = blocks_in(cols);
        if (per_row != 0 && (rows > most / sizeof(block) / per_row || (cols != 0 && rows > most / cols))) {
            detail::fail(detail::message(name, ": rows ", rows, " x cols ", cols, " exceed the limit of ", most,
                                         " bytes or values"));
        }
        if (row_scales && rows > most / sizeof(float)) {
            detail::fail(detail::message(name, ": rows ", rows, " with a tensor scale each exceed the limit of ", most,
                                         " bytes"));
        }
        return rows * per_row;
    }

    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
    float tensor_scale_ = 1;
    aligned_buffer<block> blocks_;
    aligned_buffer<float> scales_;  // one a row, or none
};

namespace detail {

/// How the functions of convert/ make and fill a quantized_matrix.
template <class F>
struct quantized_matrix_access {
    using matrix = quantized_matrix<F>;

    /// Checks that a matrix of this shape can exist; `name` is the public function that asks.
    static void check_size(const char* name, std::size_t rows, std::size_t cols, bool row_scales = false) {
        matrix::block_count(name, rows, cols, row_scales);
    }
    /// Blocks and row scales are unwritten: fill them all.
    static matrix make(std::size_t rows, std::size_t cols, bool row_scales) {
        return matrix(rows, cols, row_scales ? rows : 0);
    }
    static typename F::block* blocks(matrix& q) noexcept { return q.blocks_.data(); }
    static float* row_scales(matrix& q) noexcept { return q.scales_.data(); }
    static std::span<const float> row_scales(const matrix& q) noexcept { return {q.scales_.data(), q.scales_.size()}; }
    static void set_tensor_scale(matrix& q, float scale) noexcept { q.tensor_scale_ = scale; }
};

}  // namespace detail
}  // namespace lowbit
