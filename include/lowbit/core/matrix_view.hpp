// SPDX-License-Identifier: Apache-2.0
// A non-owning view of a row-major matrix: data, rows, columns and the distance between rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <lowbit/core/error.hpp>

namespace lowbit {

/// A row-major matrix in the caller's memory. Element (i, j) lies at data()[i * stride() + j]; what lies between
/// cols() and stride() belongs to the caller and is neither read nor written. Copying a view copies no elements.
/// Shape: any, rows and cols may be zero (data may then be null). All arithmetic is 64-bit and checked here, once:
/// every offset inside a view that exists is below 2^63 bytes.
template <class T>
class matrix_view {
    static_assert(std::is_object_v<T> && std::is_trivially_copyable_v<T>);

  public:
    using element_type = T;                  ///< const where the view only reads
    using value_type = std::remove_cv_t<T>;  ///< an element by itself

    /// An empty view, 0 x 0.
    constexpr matrix_view() noexcept = default;

    /// A view of contiguous rows at `data`: stride = cols.
    constexpr matrix_view(T* data, std::size_t rows, std::size_t cols) : matrix_view(data, rows, cols, cols) {}

    /// A view whose rows start `stride` elements apart.
    /// Errors: throws lowbit::error if stride < cols, if data is null or not aligned to T while rows * cols > 0, and
    /// if the extent exceeds the address space.
    constexpr matrix_view(T* data, std::size_t rows, std::size_t cols, std::size_t stride)
        : data_(data), rows_(rows), cols_(cols), stride_(stride) {
        check();
    }

    /// A view of T is a view of const T: `other` itself.
    template <class U>
    requires(!std::is_same_v<U, T> && std::is_same_v<const U, T>) constexpr matrix_view(
        const matrix_view<U>& other) noexcept  // NOLINT(google-explicit-constructor)
        : data_(other.data()), rows_(other.rows()), cols_(other.cols()), stride_(other.stride()) {}

    /// Element (0, 0); may be null where the view is empty.
    constexpr T* data() const noexcept { return data_; }
    /// How many rows.
    constexpr std::size_t rows() const noexcept { return rows_; }
    /// Elements of a row.
    constexpr std::size_t cols() const noexcept { return cols_; }
    /// Elements from the start of a row to the start of the next.
    constexpr std::size_t stride() const noexcept { return stride_; }
    /// Whether rows or cols is zero.
    constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }

    /// First element of row `i`; cols() elements may be accessed there. Not checked: i < rows().
    constexpr T* row(std::size_t i) const noexcept { return data_ == nullptr ? nullptr : data_ + i * stride_; }

    /// Element (i, j). Not checked: i < rows(), j < cols().
    constexpr T& operator()(std::size_t i, std::size_t j) const noexcept { return data_[i * stride_ + j]; }

  private:
    static constexpr std::size_t most_elements =
        static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)()) / sizeof(T);

    constexpr void check() const {
        if (stride_ < cols_) {
            detail::fail(detail::message("lowbit::matrix_view: stride ", stride_, " is less than cols ", cols_));
        }
        if (empty()) return;
        if (data_ == nullptr) {
            detail::fail(detail::message("lowbit::matrix_view: data is null, but rows ", rows_, " x cols ", cols_,
                                         " is not empty"));
        }
        if (cols_ > most_elements || (rows_ > 1 && rows_ - 1 > (most_elements - cols_) / stride_)) {
            detail::fail(detail::message("lowbit::matrix_view: rows ", rows_, " with stride ", stride_, " and cols ",
                                         cols_, " exceed the limit of ", most_elements, " elements"));
        }
        if (!std::is_constant_evaluated()) {
            const std::size_t excess = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(data_) % alignof(T));
            if (excess != 0) {
                detail::fail(detail::message("lowbit::matrix_view: data lies ", excess,
                                             " bytes past an address that is aligned to ", alignof(T)));
            }
        }
    }

    T* data_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
    std::size_t stride_ = 0;
};

namespace detail {

/// The memory of a view as bytes: `rows` runs of `width` bytes, `stride` bytes apart.
struct byte_rows {
    std::uintptr_t begin = 0;
    std::size_t rows = 0;
    std::size_t width = 0;
    std::size_t stride = 0;

    std::uintptr_t end() const noexcept { return begin + (rows - 1) * stride + width; }
};

template <class T>
byte_rows byte_rows_of(const matrix_view<T>& view) noexcept {
    if (view.empty()) return {};
    return {reinterpret_cast<std::uintptr_t>(view.data()), view.rows(), view.cols() * sizeof(T),
            view.rows() == 1 ? view.cols() * sizeof(T) : view.stride() * sizeof(T)};
}

inline byte_rows byte_rows_of(const void* data, std::size_t bytes) noexcept {
    if (bytes == 0) return {};
    return {reinterpret_cast<std::uintptr_t>(data), 1, bytes, bytes};
}

/// Whether some byte belongs to both. Exact where both have the same stride or one of them is a single run (so two
/// column ranges of one buffer do not overlap); with different strides the extents are compared, gaps included.
inline bool overlaps(const byte_rows& a, const byte_rows& b) noexcept {
    if (a.rows == 0 || b.rows == 0) return false;
    if (a.end() <= b.begin || b.end() <= a.begin) return false;
    if (a.rows == 1 && b.rows == 1) return true;
    if (a.rows > 1 && b.rows > 1 && a.stride != b.stride) return true;
    // Row i of a and row i + k of b meet where -b.width < offset + k * stride < a.width; the first k past the left
    // bound decides.
    const auto stride = static_cast<std::int64_t>(a.rows > 1 ? a.stride : b.stride);
    const auto offset = static_cast<std::int64_t>(b.begin - a.begin);
    const std::int64_t left = -static_cast<std::int64_t>(b.width) - offset;
    const std::int64_t floor = left / stride - (left % stride < 0 ? 1 : 0);
    const std::int64_t first = -static_cast<std::int64_t>(a.rows - 1);
    const std::int64_t k = floor + 1 < first ? first : floor + 1;
    return k <= static_cast<std::int64_t>(b.rows - 1) && offset + k * stride < static_cast<std::int64_t>(a.width);
}

template <class T, class U>
bool overlaps(const matrix_view<T>& a, const matrix_view<U>& b) noexcept {
    return overlaps(byte_rows_of(a), byte_rows_of(b));
}

}  // namespace detail
}  // namespace lowbit
