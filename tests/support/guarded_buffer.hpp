// SPDX-License-Identifier: Apache-2.0
// Memory between two pages that nobody may touch: an access one byte outside of the buffer is a crash.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace lowbit::test {

/// Which end of a guarded_buffer touches its guard page exactly.
enum class flush_with { end, begin };

/// `count` elements of T that end exactly where an inaccessible page begins (or begin where one ends). The other end
/// lies within the same run of pages, so only the flush end is guarded to the byte: run a test with both.
template <class T>
class guarded_buffer {
  public:
    explicit guarded_buffer(std::size_t count, flush_with flush = flush_with::end) : count_(count) {
        const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t inner = (count * sizeof(T) + page - 1) / page * page + (count == 0 ? page : 0);
        size_ = inner + 2 * page;
        void* memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) std::abort();
        base_ = static_cast<std::uint8_t*>(memory);
        if (mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
        std::memset(base_ + page, 0xA5, inner);
        const std::size_t offset = flush == flush_with::end ? inner - count * sizeof(T) : 0;
        begin_ = reinterpret_cast<T*>(base_ + page + offset);
        inner_ = {base_ + page, inner};
    }
    guarded_buffer(const guarded_buffer&) = delete;
    guarded_buffer& operator=(const guarded_buffer&) = delete;
    ~guarded_buffer() { munmap(base_, size_); }

    T* data() noexcept { return begin_; }
    const T* data() const noexcept { return begin_; }
    std::size_t size() const noexcept { return count_; }
    T& operator[](std::size_t i) noexcept { return begin_[i]; }
    T* begin() noexcept { return begin_; }
    T* end() noexcept { return begin_ + count_; }
    std::span<T> span() noexcept { return {begin_, count_}; }

    /// Whether the bytes between the other end and its guard page are as they were.
    bool slack_untouched() const noexcept {
        const auto* const first = reinterpret_cast<const std::uint8_t*>(begin_);
        const auto* const last = reinterpret_cast<const std::uint8_t*>(begin_ + count_);
        for (const std::uint8_t& byte : inner_) {
            if ((&byte < first || &byte >= last) && byte != 0xA5) return false;
        }
        return true;
    }

  private:
    std::size_t count_;
    std::size_t size_ = 0;
    std::uint8_t* base_ = nullptr;
    T* begin_ = nullptr;
    std::span<const std::uint8_t> inner_;
};

}  // namespace lowbit::test
