// SPDX-License-Identifier: Apache-2.0
// The macros by which one translation unit holds code for many instruction sets.
//
// A kernel header isa_X.hpp includes its intrinsics, opens LOWBIT_TARGET_BEGIN_X, opens the namespace
// lowbit::kernel::LOWBIT_ISA_NAMESPACE(X), defines its atoms, includes codec.inl and ukernel.inl, closes both.
//
// * `#pragma target` adds to the command line, so the "AVX2" code of a unit built with -march=native holds AVX-512
//   instructions. Two units of one program may differ in their flags while the linker keeps one copy of a symbol: the
//   unit's own baseline therefore is part of every kernel's namespace (avx2_on_avx512f), and of the tables' namespace.
// * An instruction set that the baseline already contains, with something better to offer, is not compiled at all
//   (LOWBIT_COMPILES_X is 0): such a unit cannot run on a machine where that row would be the best.
// * Nothing but our own .inl files is included inside a region, and no namespace-scope vector constants are defined.
#pragma once

#include <lowbit/core/config.hpp>

#define LOWBIT_CONCATENATE_RAW(a, b) a##b
#define LOWBIT_CONCATENATE(a, b) LOWBIT_CONCATENATE_RAW(a, b)
#define LOWBIT_PRAGMA(text) _Pragma(#text)

// The instruction sets that the command line lets the compiler use anywhere, as a word.
#if defined(__x86_64__)
# define LOWBIT_X86 1
# if defined(__AVX512FP16__)
#  define LOWBIT_BASELINE_ISA avx512fp16
# elif defined(__AVX512BF16__)
#  define LOWBIT_BASELINE_ISA avx512bf16
# elif defined(__AVX512VBMI__) && defined(__AVX512VNNI__)
#  define LOWBIT_BASELINE_ISA avx512vbmi
# elif defined(__AVX512VNNI__)
#  define LOWBIT_BASELINE_ISA avx512vnni
# elif defined(__AVX512F__)
#  define LOWBIT_BASELINE_ISA avx512f
# elif defined(__AVX2__) && defined(__FMA__)
#  define LOWBIT_BASELINE_ISA avx2fma
# elif defined(__AVX2__)
#  define LOWBIT_BASELINE_ISA avx2
# elif defined(__AVX__)
#  define LOWBIT_BASELINE_ISA avx
# elif defined(__SSE4_2__)
#  define LOWBIT_BASELINE_ISA sse4_2
# elif defined(__SSE4_1__)
#  define LOWBIT_BASELINE_ISA sse4_1
# elif defined(__SSSE3__)
#  define LOWBIT_BASELINE_ISA ssse3
# else
#  define LOWBIT_BASELINE_ISA x86_64
# endif
#else
# define LOWBIT_X86 0
# if defined(__aarch64__)
#  if defined(__ARM_FEATURE_SVE)
#   define LOWBIT_BASELINE_ISA sve
#  elif defined(__ARM_FEATURE_DOTPROD)
#   define LOWBIT_BASELINE_ISA armv8_dotprod
#  else
#   define LOWBIT_BASELINE_ISA armv8
#  endif
# else
#  define LOWBIT_BASELINE_ISA generic
# endif
#endif

#if defined(__aarch64__)
# define LOWBIT_AARCH64 1
#else
# define LOWBIT_AARCH64 0
#endif

// A unit under -ffast-math shares no symbol with the others either.
#if defined(__FAST_MATH__)
# define LOWBIT_BASELINE LOWBIT_CONCATENATE(LOWBIT_BASELINE_ISA, _fast)
#else
# define LOWBIT_BASELINE LOWBIT_BASELINE_ISA
#endif

/// Namespace of the tables: on_x86_64, on_avx2fma, ...
#define LOWBIT_BASELINE_NAMESPACE LOWBIT_CONCATENATE(on_, LOWBIT_BASELINE)
/// Namespace of one instruction set's kernels: avx2_on_x86_64, ...
#define LOWBIT_ISA_NAMESPACE(isa) LOWBIT_CONCATENATE(isa, LOWBIT_CONCATENATE(_on_, LOWBIT_BASELINE))

// Which rows this unit holds; the scalar row always. AVX-512 here means F, DQ, BW, VL and VNNI.
#if LOWBIT_X86 && defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__)
# define LOWBIT_BASELINE_HAS_AVX512VNNI 1
#else
# define LOWBIT_BASELINE_HAS_AVX512VNNI 0
#endif
#if LOWBIT_BASELINE_HAS_AVX512VNNI && defined(__AVX512VBMI__)
# define LOWBIT_BASELINE_HAS_AVX512VBMI 1
#else
# define LOWBIT_BASELINE_HAS_AVX512VBMI 0
#endif
#if LOWBIT_AARCH64 && defined(__ARM_FEATURE_DOTPROD)
# define LOWBIT_BASELINE_HAS_NEON_DOTPROD 1
#else
# define LOWBIT_BASELINE_HAS_NEON_DOTPROD 0
#endif

// AMX needs the operating system's permission, which is asked for on Linux; g++ 11 or clang 12.
#if LOWBIT_X86 && defined(__linux__) && (defined(__clang__) || __GNUC__ >= 11)
# define LOWBIT_COMPILES_AMX 1
#else
# define LOWBIT_COMPILES_AMX 0
#endif
#define LOWBIT_COMPILES_AVX512VBMI LOWBIT_X86
#define LOWBIT_COMPILES_AVX512VNNI (LOWBIT_X86 && !LOWBIT_BASELINE_HAS_AVX512VBMI)
/// The row whose code both AVX-512 rows use where VBMI makes no difference: compiled once.
#if LOWBIT_BASELINE_HAS_AVX512VBMI
# define LOWBIT_AVX512_ROW avx512vbmi
#else
# define LOWBIT_AVX512_ROW avx512vnni
#endif
#define LOWBIT_COMPILES_AVX2 (LOWBIT_X86 && !LOWBIT_BASELINE_HAS_AVX512VNNI)
#define LOWBIT_COMPILES_NEON_DOTPROD LOWBIT_AARCH64
#define LOWBIT_COMPILES_NEON (LOWBIT_AARCH64 && !LOWBIT_BASELINE_HAS_NEON_DOTPROD)

/// For atoms: inlined whatever the compiler thinks, so that vectors stay in registers.
#define LOWBIT_ALWAYS_INLINE [[gnu::always_inline]] inline
/// Before a loop of at most 16 rounds over vectors: unrolled whole, so that arrays of vectors become registers.
#if defined(__clang__)
# define LOWBIT_UNROLL LOWBIT_PRAGMA(unroll)
#else
# define LOWBIT_UNROLL LOWBIT_PRAGMA(GCC unroll 16)
#endif

// Regions. The push at the beginning takes the feature string, the end restores what was before.
#if defined(__clang__)
# define LOWBIT_TARGET_BEGIN(features) \
  LOWBIT_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
# define LOWBIT_TARGET_END LOWBIT_PRAGMA(clang attribute pop)
#else
# define LOWBIT_TARGET_BEGIN(features) \
  LOWBIT_PRAGMA(GCC push_options)      \
  LOWBIT_PRAGMA(GCC target(features))
# define LOWBIT_TARGET_END LOWBIT_PRAGMA(GCC pop_options)
#endif

#define LOWBIT_TARGET_BEGIN_AVX2 LOWBIT_TARGET_BEGIN("avx2,fma,f16c,popcnt")
#define LOWBIT_TARGET_BEGIN_AVX512VNNI \
 LOWBIT_TARGET_BEGIN("avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c,popcnt")
#define LOWBIT_TARGET_BEGIN_AVX512VBMI \
 LOWBIT_TARGET_BEGIN("avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx512vbmi,avx2,fma,f16c,popcnt")
#define LOWBIT_TARGET_BEGIN_AMX                                                             \
 LOWBIT_TARGET_BEGIN(                                                                       \
     "avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx512vbmi,amx-tile,amx-int8,amx-bf16," \
     "avx2,fma,f16c,popcnt")
#if defined(__clang__)
# define LOWBIT_TARGET_BEGIN_NEON_DOTPROD LOWBIT_TARGET_BEGIN("dotprod")
#else
# define LOWBIT_TARGET_BEGIN_NEON_DOTPROD LOWBIT_TARGET_BEGIN("arch=armv8.2-a+dotprod")
#endif
