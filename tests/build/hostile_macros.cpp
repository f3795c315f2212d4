// SPDX-License-Identifier: Apache-2.0
// Case 71: everything compiles after headers that define words of the language of others as macros (windows.h, X11, Qt,
// complex.h, old Mac and Arduino headers). The standard headers and the intrinsics come first: they are not ours to
// test.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <charconv>
#include <climits>
#include <cmath>
#include <compare>
#include <complex>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#if defined(__x86_64__)
# include <cpuid.h>
# include <immintrin.h>
#elif defined(__aarch64__)
# include <arm_neon.h>
# include <sys/auxv.h>
#endif
#if __has_include(<nlohmann/json.hpp>)
# include <nlohmann/json.hpp>
#endif
#if __has_include(<fmt/format.h>)
# include <fmt/format.h>
#endif
#if __has_include(<tbb/tbb.h>)
# include <tbb/tbb.h>
#endif
#if defined(_OPENMP)
# include <omp.h>
#endif

// windows.h
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define hyper long long
#define near
#define far
#define cdecl
#define pascal
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define ERROR 0
#define DELETE 1
#define TRUE 1
#define FALSE 0
#define ABSOLUTE 1
#define STRICT 1
#define DOMAIN 1
#define RELATIVE 2
#define OPAQUE 2
#define NO_ERROR 0L
// complex.h, math.h, sys/sysmacros.h
#define I 1
#define OVERFLOW 3
#define UNDERFLOW 4
#define major(x) (x)
#define minor(x) (x)
// X11
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define Always 2
#define True 1
#define False 0
#define Above 0
#define Below 1
#define Complex 0
#define Convex 2
#define Unsorted 0
#define Expose 12
#define Opposite 4
#define Button1 1
// Qt
#define signals public
#define slots
#define emit
#define foreach for
#define forever for (;;)
// AssertMacros.h, Arduino.h
#define check(x) hostile_check(x)
#define verify(x) hostile_verify(x)
#define require(x) hostile_require(x)
#define bit(b) (1UL << (b))
#define HIGH 1
#define LOW 0
#define PI 3.14
#define B0 0
#define B1 1

#include "all_headers.hpp"
