// SPDX-License-Identifier: Apache-2.0
// Compilers and targets that config.hpp refuses, as far as their macros tell: one #ifdef FAULT_name each, with what it
// says. `.ci/matrix` asks compilers of such targets, where there are any.
#include <cfloat>

#ifdef FAULT_front_end_of_msvc
// says: lowbit needs g\+\+ 12 or clang 14 .*MSVC's own front end is not supported
# undef __clang__
# define _MSC_VER 1940
#endif

#ifdef FAULT_older_standard
// says: lowbit needs C\+\+20: compile with -std=c\+\+20
# undef __cplusplus
# define __cplusplus 201703L
#endif

#ifdef FAULT_x87_arithmetic
// says: on 32-bit x86 compile with -msse2 -mfpmath=sse
# undef FLT_EVAL_METHOD
# define FLT_EVAL_METHOD 2
#endif

#ifdef FAULT_x87_doubles_beside_sse_floats
// says: on 32-bit x86 compile with -msse2 -mfpmath=sse
# undef __x86_64__
# undef __SSE2_MATH__
# undef __i386__
# define __i386__ 1
#endif

#ifdef FAULT_big_endian
// says: lowbit supports little-endian targets only
# undef __BYTE_ORDER__
# define __BYTE_ORDER__ __ORDER_BIG_ENDIAN__
#endif

#include <lowbit/core/config.hpp>
