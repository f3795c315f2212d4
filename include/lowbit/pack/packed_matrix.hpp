// SPDX-License-Identifier: Apache-2.0
// Weights in kernel order: the blocks of a quantized_matrix, rearranged once so that products read them as they come.
//
// The bits are the format's own (kernel/panel_layout.hpp has the picture): no float, no int8 copy, at most a cache line
// of padding a panel of 32 rows. Rows are filled up to a multiple of 32. unpack() returns the same bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <lowbit/block/block_format.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/huge_pages.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

namespace detail {

template <class F>
struct packed_matrix_access;

/// Refuses a layout that the kernels of this version do not read.
inline void check_layout(const char* name, const char* argument, const kernel::panel_layout& layout) {
    if (layout == kernel::native_layout) return;
    fail(message(name, ": input '", argument, "' has panel layout version ", layout.version, " with ", layout.columns,
                 " columns and records of ", layout.record, " values, but the kernels read version ",
                 kernel::native_layout.version, ", ", kernel::native_layout.columns, " and ",
                 kernel::native_layout.record, ": pack the weights again"));
}

}  // namespace detail

/// Owns the packed panels of a rows x cols matrix B in format F, for products C = A B^T; made by pack.
/// Moves leave an empty 0 x 0 matrix behind; not copyable by accident (weights are large): use clone().
template <block_format F>
class packed_matrix {
  public:
    using format = F;  ///< hif4, mxfp4, ...

    /// Empty, 0 x 0.
    packed_matrix() noexcept = default;
    /// Takes the contents of `other`, which is empty then.
    packed_matrix(packed_matrix&& other) noexcept { swap(other); }
    /// Takes the contents of `other`, which is empty then.
    packed_matrix& operator=(packed_matrix&& other) noexcept {
        packed_matrix taken(std::move(other));
        swap(taken);
        return *this;
    }
    packed_matrix(const packed_matrix&) = delete;
    packed_matrix& operator=(const packed_matrix&) = delete;
    ~packed_matrix() = default;

    /// Exchanges the contents with `other`; copies nothing.
    void swap(packed_matrix& other) noexcept {
        std::swap(rows_, other.rows_);
        std::swap(cols_, other.cols_);
        std::swap(layout_, other.layout_);
        std::swap(tensor_scale_, other.tensor_scale_);
        panels_.swap(other.panels_);
        scales_.swap(other.scales_);
    }

    /// A copy, panels and scales.
    [[nodiscard]] packed_matrix clone() const {
        packed_matrix copy;
        copy.panels_ = aligned_buffer<std::uint8_t>(panels_.size());
        detail::advise_huge_pages(copy.panels_.data(), copy.panels_.size());
        copy.scales_ = aligned_buffer<float>(scales_.size());
        std::copy(panels_.begin(), panels_.end(), copy.panels_.begin());
        std::copy(scales_.begin(), scales_.end(), copy.scales_.begin());
        copy.rows_ = rows_;
        copy.cols_ = cols_;
        copy.layout_ = layout_;
        copy.tensor_scale_ = tensor_scale_;
        return copy;
    }

    /// Rows of B: the columns of the product.
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    /// Columns of B: the depth K of the product.
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    /// The layout that the panels were made in; a product refuses any but its kernels' own.
    [[nodiscard]] const kernel::panel_layout& layout() const noexcept { return layout_; }

    /// All panels, one after the other.
    [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return panels_.span(); }
    /// The panel of rows 32 i to 32 i + 31, a multiple of 64 bytes on a 64-byte boundary. Not checked: i < panels().
    [[nodiscard]] const std::uint8_t* panel(std::size_t i) const noexcept { return panels_.data() + i * panel_bytes(); }
    /// How many panels: ceil(rows / 32).
    [[nodiscard]] std::size_t panels() const noexcept { return arithmetic::panels(rows_); }
    /// Bytes of each panel.
    [[nodiscard]] std::size_t panel_bytes() const noexcept { return arithmetic::panel_bytes(cols_); }

    /// Whether each row has a tensor scale of its own.
    [[nodiscard]] bool row_scales() const noexcept { return !scales_.empty(); }
    /// The tensor scale that row `i` uses; 1 for formats without. Not checked: i < rows().
    [[nodiscard]] float tensor_scale(std::size_t i) const noexcept { return row_scales() ? scales_[i] : tensor_scale_; }

    /// What a value costs here, padding and tensor scales included; for an empty matrix the format's own figure.
    [[nodiscard]] double bits_per_value() const noexcept {
        if (rows_ == 0 || cols_ == 0) return F::bits_per_value;
        const std::size_t scales = !F::has_tensor_scale ? 0 : row_scales() ? rows_ : 1;
        const double bits = 8.0 * static_cast<double>(panels_.size()) + 32.0 * static_cast<double>(scales);
        return bits / (static_cast<double>(rows_) * static_cast<double>(cols_));
    }

    /// Bytes of the panels of a rows x cols matrix.
    /// Errors: a size past the largest object that memory can hold.
    [[nodiscard]] static std::size_t size_bytes(std::size_t rows, std::size_t cols) {
        return panel_bytes_of("lowbit::packed_matrix::size_bytes", rows, cols);
    }

  private:
    friend struct detail::packed_matrix_access<F>;
    using arithmetic = kernel::panel_arithmetic<F>;

    static std::size_t panel_bytes_of(const char* name, std::size_t rows, std::size_t cols) {
        constexpr std::size_t most = static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)());
        const std::size_t panels = arithmetic::panels(rows);
        if (cols > most / 64 || (cols != 0 && panels > most / arithmetic::panel_bytes(cols))) {
            detail::fail(
                detail::message(name, ": rows ", rows, " x cols ", cols, " exceed the limit of ", most, " bytes"));
        }
        return panels * arithmetic::panel_bytes(cols);
    }

    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
    kernel::panel_layout layout_ = kernel::native_layout;
    float tensor_scale_ = 1;
    aligned_buffer<std::uint8_t> panels_;
    aligned_buffer<float> scales_;  // one a row, or none
};

namespace detail {

/// How pack, and a reader of files, make and fill a packed_matrix.
template <class F>
struct packed_matrix_access {
    using matrix = packed_matrix<F>;

    /// Panels and row scales are unwritten: fill them all. `name`: of the public function.
    static matrix make(std::size_t rows, std::size_t cols, bool row_scales, const char* name = "lowbit::pack") {
        matrix packed;
        packed.panels_ = aligned_buffer<std::uint8_t>(matrix::panel_bytes_of(name, rows, cols));
        advise_huge_pages(packed.panels_.data(), packed.panels_.size());
        packed.scales_ = aligned_buffer<float>(row_scales ? rows : 0);
        packed.rows_ = rows;
        packed.cols_ = cols;
        return packed;
    }
    static std::uint8_t* panel(matrix& packed, std::size_t i) noexcept {
        return packed.panels_.data() + i * packed.panel_bytes();
    }
    static float* row_scales(matrix& packed) noexcept { return packed.scales_.data(); }
    static void set_tensor_scale(matrix& packed, float scale) noexcept { packed.tensor_scale_ = scale; }
    static void set_layout(matrix& packed, const kernel::panel_layout& layout) noexcept { packed.layout_ = layout; }
};

}  // namespace detail
}  // namespace lowbit
