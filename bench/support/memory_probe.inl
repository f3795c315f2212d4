// SPDX-License-Identifier: Apache-2.0
// Probes of memory, compiled once for each instruction set: lines of 64 bytes become the widest registers there are.

using line = std::uint64_t __attribute__((vector_size(64), aligned(64), may_alias));

/// Reads every line; the result keeps the reads alive.
[[gnu::noinline]] inline std::uint64_t read_all(const void* memory, std::size_t bytes) {
    const line* p = static_cast<const line*>(memory);
    line a{}, b{}, c{}, d{};
    for (const line* const end = p + bytes / 64; p < end; p += 4) {
        a ^= p[0];
        b ^= p[1];
        c ^= p[2];
        d ^= p[3];
    }
    a = (a ^ b) ^ (c ^ d);
    return a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];
}

/// Writes every line with ordinary stores.
[[gnu::noinline]] inline void fill_all(void* memory, std::size_t bytes, std::uint64_t value) {
    line* p = static_cast<line*>(memory);
    const line all = {value, value, value, value, value, value, value, value};
    for (line* const end = p + bytes / 64; p < end; ++p) {
        *p = all;
        asm volatile("" : : : "memory");  // no call of memset, no scalar loop
    }
}

[[gnu::noinline]] inline void copy_all(void* to, const void* from, std::size_t bytes) {
    line* p = static_cast<line*>(to);
    const line* q = static_cast<const line*>(from);
    for (line* const end = p + bytes / 64; p < end; ++p, ++q) {
        *p = *q;
        asm volatile("" : : : "memory");
    }
}
