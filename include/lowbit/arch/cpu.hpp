// SPDX-License-Identifier: Apache-2.0
// What the processor and the operating system together allow: own cpuid, xgetbv and getauxval.
//
// `__builtin_cpu_supports` of clang 14 lacks names that are needed here, so the bits are read and judged in this
// header. Reading (read_cpu) and judging (features_of) are apart: the judgement is a pure function, tested on made-up
// processors. A CPUID bit alone is no permission: AVX needs OSXSAVE and XCR0 bits 1 and 2 (0x6), AVX-512 XCR0 bits 5 to
// 7 too (0xE6), AMX bits 17 and 18 and the permission of Linux, which is asked for here (arch_prctl; it counts for the
// whole process and is refused where an alternate signal stack is too small for the tiles).
#pragma once

#include <cstdint>

#include <lowbit/arch/target.hpp>

#if LOWBIT_X86
# include <cpuid.h>
# if defined(__linux__)
#  include <sys/syscall.h>
#  include <unistd.h>
# endif
#endif
#if LOWBIT_AARCH64 && defined(__linux__)
# include <sys/auxv.h>
#endif

namespace lowbit::arch {

/// The raw words that decide: x86 CPUID leaves 1 and 7 and XCR0, or the aarch64 auxiliary vector.
struct cpu_words {
    std::uint32_t leaf1_ecx = 0;  ///< x86: CPUID leaf 1
    std::uint32_t leaf7_ebx = 0;  ///< x86: CPUID leaf 7, subleaf 0; zero where leaf 7 does not exist
    std::uint32_t leaf7_ecx = 0;  ///< the same
    std::uint64_t xcr0 = 0;       ///< x86: zero where OSXSAVE is not set: xgetbv would fault
    std::uint64_t hwcap = 0;      ///< aarch64: AT_HWCAP
    std::uint32_t leaf7_edx = 0;  ///< as leaf7_ebx
    bool amx_permitted = false;   ///< by the operating system, to this process
    bool amd = false;             ///< x86: the vendor is AMD, or Hygon
};

/// What kernels may use.
struct cpu_features {
    bool avx2 = false;          ///< AVX2, FMA, F16C, POPCNT, and the OS saves ymm
    bool avx512vnni = false;    ///< avx2, AVX-512 F DQ BW VL VNNI, and the OS saves zmm and masks
    bool avx512vbmi = false;    ///< avx512vnni and VBMI
    bool neon_dotprod = false;  ///< aarch64: SDOT and UDOT
    bool amx = false;           ///< avx512vbmi, AMX TILE, BF16 and INT8, and the OS saves tiles for this process
    bool adds_beside_products = false;  ///< float additions and permutations have other ports than dot products

    friend constexpr bool operator==(const cpu_features&, const cpu_features&) = default;
};

/// After stores that bypass the caches, before another thread may be told of them.
inline void stream_fence() noexcept {
#if LOWBIT_X86
    asm volatile("sfence" : : : "memory");
#endif
}

/// Judges the words of an x86 processor.
[[nodiscard]] constexpr cpu_features x86_features_of(const cpu_words& words) noexcept {
    const auto has = [](std::uint32_t word, unsigned bit) { return ((word >> bit) & 1U) != 0; };
    cpu_features features;
    const bool os_saves = has(words.leaf1_ecx, 27);                       // OSXSAVE
    const bool os_saves_ymm = os_saves && (words.xcr0 & 0x6U) == 0x6U;    // SSE, AVX state
    const bool os_saves_zmm = os_saves && (words.xcr0 & 0xE6U) == 0xE6U;  // and opmask, upper zmm, zmm16..31
    const bool avx = has(words.leaf1_ecx, 28);
    const bool fma_f16c_popcnt = has(words.leaf1_ecx, 12) && has(words.leaf1_ecx, 29) && has(words.leaf1_ecx, 23);
    features.avx2 = os_saves_ymm && avx && fma_f16c_popcnt && has(words.leaf7_ebx, 5);
    const bool f_dq_bw_vl =
        has(words.leaf7_ebx, 16) && has(words.leaf7_ebx, 17) && has(words.leaf7_ebx, 30) && has(words.leaf7_ebx, 31);
    features.avx512vnni = features.avx2 && os_saves_zmm && f_dq_bw_vl && has(words.leaf7_ecx, 11);
    features.avx512vbmi = features.avx512vnni && has(words.leaf7_ecx, 1);
    const bool os_saves_tiles = (words.xcr0 & 0x60000U) == 0x60000U && words.amx_permitted;
    features.amx = features.avx512vbmi && os_saves_tiles && has(words.leaf7_edx, 22) && has(words.leaf7_edx, 24) &&
                   has(words.leaf7_edx, 25);
    // Zen 4 and Zen 5: ports 0 and 1 multiply, 2 and 3 add. Intel's 512-bit vectors have two ports for everything.
    features.adds_beside_products = words.amd && features.avx512vnni;
    return features;
}

/// Judges the words of an aarch64 processor.
[[nodiscard]] constexpr cpu_features aarch64_features_of(const cpu_words& words) noexcept {
    cpu_features features;
    features.neon_dotprod = ((words.hwcap >> 20) & 1U) != 0;  // HWCAP_ASIMDDP
    return features;
}

/// Judges the words of a processor of the kind that this unit is compiled for.
[[nodiscard]] constexpr cpu_features features_of(const cpu_words& words) noexcept {
#if LOWBIT_X86
    return x86_features_of(words);
#elif LOWBIT_AARCH64
    return aarch64_features_of(words);
#else
    return static_cast<void>(words), cpu_features{};
#endif
}

/// Reads the words of this machine.
[[nodiscard]] inline cpu_words read_cpu() noexcept {
    cpu_words words;
#if LOWBIT_X86
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d) != 0) {
        words.amd = (b == 0x68747541U && d == 0x69746E65U && c == 0x444D4163U) ||  // AuthenticAMD
                    (b == 0x6F677948U && d == 0x6E65476EU && c == 0x656E6975U);    // HygonGenuine
    }
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) words.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        words.leaf7_ebx = b;
        words.leaf7_ecx = c;
        words.leaf7_edx = d;
    }
    if (((words.leaf1_ecx >> 27) & 1U) != 0) {
        std::uint32_t low = 0, high = 0;
        asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        words.xcr0 = (static_cast<std::uint64_t>(high) << 32) | low;
    }
# if defined(__linux__)
    cpu_words permitted = words;
    permitted.amx_permitted = true;
    if (x86_features_of(permitted).amx) {
        constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
        words.amx_permitted = ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
    }
# endif
#elif LOWBIT_AARCH64 && defined(__linux__)
    words.hwcap = getauxval(AT_HWCAP);
#elif LOWBIT_BASELINE_HAS_NEON_DOTPROD
    words.hwcap = std::uint64_t{1} << 20;
#endif
    return words;
}

}  // namespace lowbit::arch
