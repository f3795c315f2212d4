// SPDX-License-Identifier: Apache-2.0
// An owning array on a 64-byte boundary whose elements are not touched unless asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>

namespace lowbit {

/// Owns `size()` elements of a trivial type, aligned to 64 bytes (a cache line, the widest vector). Move-only.
/// Errors: a size in bytes past PTRDIFF_MAX throws `error`; a failed allocation throws std::bad_alloc.
/// Cost: one allocation, nothing when empty; elements stay uninitialised unless a value is given.
template <class T>
class aligned_buffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    using value_type = T;                         ///< the element
    static constexpr std::size_t alignment = 64;  ///< of data(), in bytes
    static_assert(alignof(T) <= alignment);

    /// An empty buffer; data() is null.
    aligned_buffer() noexcept = default;

    /// `count` elements with no defined value: write before reading.
    explicit aligned_buffer(std::size_t count) : data_(allocate(count)), size_(count) {}

    /// `count` copies of `value`.
    aligned_buffer(std::size_t count, const T& value) : aligned_buffer(count) { std::fill_n(data_, count, value); }

    aligned_buffer(const aligned_buffer&) = delete;
    aligned_buffer& operator=(const aligned_buffer&) = delete;

    /// Takes the memory of `other`, which is empty then.
    aligned_buffer(aligned_buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

    /// Frees what it has and takes the memory of `other`, which is empty then.
    aligned_buffer& operator=(aligned_buffer&& other) noexcept {
        aligned_buffer(std::move(other)).swap(*this);
        return *this;
    }

    ~aligned_buffer() {
        if (data_ != nullptr) {
            ::operator delete (data_, std::align_val_t{alignment});
        }
    }

    /// Exchanges the memory with `other`; copies no element.
    void swap(aligned_buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    /// The first element; null for an empty buffer.
    [[nodiscard]] T* data() noexcept { return data_; }
    /// The first element; null for an empty buffer.
    [[nodiscard]] const T* data() const noexcept { return data_; }
    /// How many elements.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Whether there are none.
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Element i. Not checked: i < size().
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
    /// Element i. Not checked: i < size().
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
    /// The first element.
    [[nodiscard]] T* begin() noexcept { return data_; }
    /// Past the last element.
    [[nodiscard]] T* end() noexcept { return data_ + size_; }
    /// The first element.
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    /// Past the last element.
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
    /// All elements.
    [[nodiscard]] std::span<T> span() noexcept { return {data_, size_}; }
    /// All elements.
    [[nodiscard]] std::span<const T> span() const noexcept { return {data_, size_}; }

  private:
    static T* allocate(std::size_t count) {
        if (count == 0) {
            return nullptr;
        }
        const auto bytes = checked_multiply(count, sizeof(T));
        if (!bytes || *bytes > static_cast<std::size_t>(PTRDIFF_MAX)) {
            detail::fail(detail::message("lowbit::aligned_buffer: count ", count, " of elements of ", sizeof(T),
                                         " bytes exceeds the largest object, ", PTRDIFF_MAX, " bytes"));
        }
        return static_cast<T*>(::operator new (*bytes, std::align_val_t{alignment}));
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace lowbit
