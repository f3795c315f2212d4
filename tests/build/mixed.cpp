// SPDX-License-Identifier: Apache-2.0
// Case 68: units built with different -m flags in one program agree on bytes and on the layout of public types (case
// 64).
#include <cstdio>

#include "part.hpp"

int main() {
    const part_result plain = run_plain();
    int failures = plain.numbers.empty() ? 1 : 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        const bool same = run_avx2() == plain;
        std::printf("unit with -mavx2: %s\n", same ? "same" : "DIFFERENT");
        failures += same ? 0 : 1;
    } else {
        std::printf("unit with -mavx2: skipped, not on this CPU\n");
    }
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq")) {
        const bool same = run_avx512() == plain;
        std::printf("unit with -mavx512*: %s\n", same ? "same" : "DIFFERENT");
        failures += same ? 0 : 1;
    } else {
        std::printf("unit with -mavx512*: skipped, not on this CPU\n");
    }
#endif
    return failures;
}
