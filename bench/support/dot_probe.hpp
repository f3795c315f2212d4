// SPDX-License-Identifier: Apache-2.0
// The machine's arithmetic ceilings by instruction set, in products a second: int8 dot products and float FMA. Each
// probe takes about a millisecond, works in registers only, and returns the better of two passes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <lowbit/arch/isa.hpp>
#include <lowbit/arch/target.hpp>

#if LOWBIT_X86
# include <immintrin.h>
#elif LOWBIT_AARCH64
# include <arm_neon.h>
#endif

namespace lowbit::bench {

/// Products a second of a body that does `products` of them.
template <class Body>
double best_of_two(double products, Body body) {
    double best = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const auto begin = std::chrono::steady_clock::now();
        body();
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        best = (std::max)(best, products / elapsed.count());
    }
    return best;
}

// Twelve independent accumulators, as inline assembly: nothing is folded, moved or spilled.
#define LOWBIT_PROBE_12(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)

#if LOWBIT_X86
constexpr int probe_rounds = 150'000;

[[gnu::target("avx512f"), gnu::noinline]] inline void vpdpbusd_rounds() {
    const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(2);
    __m512i x[12];
# pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) x[j] = a;
    for (int i = 0; i < probe_rounds; ++i) {
# define LOWBIT_PROBE_OP(j) asm volatile("vpdpbusd %2, %1, %0" : "+v"(x[j]) : "v"(a), "v"(b));
        LOWBIT_PROBE_12(LOWBIT_PROBE_OP)
# undef LOWBIT_PROBE_OP
    }
}
# if LOWBIT_COMPILES_AMX
/// 16 x 16 x 64 products of int8 by one tile instruction, four accumulators.
[[gnu::target("amx-tile,amx-int8"), gnu::noinline]] inline void tile_rounds() {
    struct alignas(64) {
        std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
        std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    asm volatile("" : : "r"(&shapes) : "memory");  // g++ believes that only 8 bytes of it are read
    _tile_loadconfig(&shapes);
    for (int i = 0; i < probe_rounds / 3; ++i) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_release();
}
# endif
[[gnu::target("avx512f"), gnu::noinline]] inline void fma512_rounds() {
    const __m512 a = _mm512_set1_ps(0.5F), b = _mm512_set1_ps(1.0F);
    __m512 x[12];
# pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) x[j] = a;
    for (int i = 0; i < probe_rounds; ++i) {
# define LOWBIT_PROBE_OP(j) asm volatile("vfmadd213ps %2, %1, %0" : "+v"(x[j]) : "v"(a), "v"(b));
        LOWBIT_PROBE_12(LOWBIT_PROBE_OP)
# undef LOWBIT_PROBE_OP
    }
}
[[gnu::target("avx2,fma"), gnu::noinline]] inline void fma256_rounds() {
    const __m256 a = _mm256_set1_ps(0.5F), b = _mm256_set1_ps(1.0F);
    __m256 x[12];
# pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) x[j] = a;
    for (int i = 0; i < probe_rounds; ++i) {
# define LOWBIT_PROBE_OP(j) asm volatile("vfmadd213ps %2, %1, %0" : "+x"(x[j]) : "x"(a), "x"(b));
        LOWBIT_PROBE_12(LOWBIT_PROBE_OP)
# undef LOWBIT_PROBE_OP
    }
}
/// 32 products of int8 by vpmaddubsw, added up in 16 bits.
[[gnu::target("avx2"), gnu::noinline]] inline void maddubs_rounds() {
    const __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(2);
    __m256i x[12];
# pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) x[j] = a;
    for (int i = 0; i < probe_rounds; ++i) {
        __m256i t;
# define LOWBIT_PROBE_OP(j) \
  asm volatile("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(x[j]), "=&x"(t) : "x"(a), "x"(b));
        LOWBIT_PROBE_12(LOWBIT_PROBE_OP)
# undef LOWBIT_PROBE_OP
    }
}
#endif

/// int8 products a second by vector instructions (vpdpbusd for all rows of AVX-512, amx included); 0 where there is no
/// probe.
inline double dot_ceiling(isa which) {
#if LOWBIT_X86
    if (which >= isa::avx512vnni) return best_of_two(12.0 * 64 * probe_rounds, vpdpbusd_rounds);
    if (which == isa::avx2) return best_of_two(12.0 * 32 * probe_rounds, maddubs_rounds);
#endif
    static_cast<void>(which);
    return 0;
}

/// int8 products a second of the tile unit; 0 where the row has none.
inline double tile_ceiling(isa which) {
#if LOWBIT_COMPILES_AMX
    if (which == isa::amx) return best_of_two(4.0 * 16 * 16 * 64 * (probe_rounds / 3), tile_rounds);
#endif
    static_cast<void>(which);
    return 0;
}

/// Float multiply-adds a second; 0 where there is no probe.
inline double fma_ceiling(isa which) {
#if LOWBIT_X86
    if (which >= isa::avx512vnni) return best_of_two(12.0 * 16 * probe_rounds, fma512_rounds);
    if (which == isa::avx2) return best_of_two(12.0 * 8 * probe_rounds, fma256_rounds);
#endif
    static_cast<void>(which);
    return 0;
}

#undef LOWBIT_PROBE_12

}  // namespace lowbit::bench
