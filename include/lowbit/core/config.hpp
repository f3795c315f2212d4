// SPDX-License-Identifier: Apache-2.0
// Version of the library, and the compilers and targets that it refuses.
#pragma once

#include <cfloat>

/// The version of these headers for the preprocessor; semantic versioning.
#define LOWBIT_VERSION_MAJOR 0
/// Grows with every change of what users see.
#define LOWBIT_VERSION_MINOR 1
/// Grows with every change that users do not see.
#define LOWBIT_VERSION_PATCH 0

#if defined(_MSC_VER) && !defined(__clang__)
# error "lowbit needs g++ 12 or clang 14 (on Windows: clang-cl); MSVC's own front end is not supported"
#endif

#if !defined(__cplusplus) || (__cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L))
# error "lowbit needs C++20: compile with -std=c++20 or later"
#endif

// 16 (half precision evaluated as such, float unchanged) is as good as 0; clang reports -1 under -ffast-math on targets
// that evaluate float as float. With SSE alone, clang calls it 0 though the x87 unit computes the doubles.
#if (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 && !(FLT_EVAL_METHOD == -1 && defined(__FAST_MATH__))) || \
    (defined(__i386__) && !defined(__SSE2_MATH__))
# error "lowbit needs float arithmetic in float (FLT_EVAL_METHOD 0): on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
# error "lowbit supports little-endian targets only"
#endif

/// 1 if errors are thrown, 0 if they go to the handler of core/error.hpp (-fno-exceptions).
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
# define LOWBIT_EXCEPTIONS 1
#else
# define LOWBIT_EXCEPTIONS 0
#endif

namespace lowbit {

/// A version of the library: semantic versioning, compared field by field.
struct version_number {
    int major_number;  ///< LOWBIT_VERSION_MAJOR
    int minor_number;  ///< LOWBIT_VERSION_MINOR
    int patch_number;  ///< LOWBIT_VERSION_PATCH

    friend constexpr bool operator==(const version_number&, const version_number&) = default;
};

/// The version of these headers; the LOWBIT_VERSION_* macros say the same to the preprocessor.
inline constexpr version_number version{LOWBIT_VERSION_MAJOR, LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH};

}  // namespace lowbit
