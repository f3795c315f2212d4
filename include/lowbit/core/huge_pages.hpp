// SPDX-License-Identifier: Apache-2.0
// Asks the operating system for huge pages under large arrays that are read as streams.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
# include <sys/mman.h>
#endif

namespace lowbit::detail {

/// Bytes from which on asking is worth a system call: two huge pages of x86-64.
inline constexpr std::size_t huge_page_threshold = std::size_t{4} << 20U;

/// Advises that [data, data + bytes), freshly allocated and not yet written, be backed by huge pages. A hint: it may be
/// ignored and cannot fail. Whole pages inside the range only, so that no other object is affected.
inline void advise_huge_pages(void* data, std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes < huge_page_threshold) return;
    constexpr std::uintptr_t page = 64 * 1024;  // a multiple of the page size of every Linux that the library runs on
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#else
    static_cast<void>(data);
    static_cast<void>(bytes);
#endif
}

}  // namespace lowbit::detail
