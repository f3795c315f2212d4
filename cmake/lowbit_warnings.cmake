# SPDX-License-Identifier: Apache-2.0
# The warnings that our own tests, benchmarks and examples are built with. Internal: users of the library never get them.

add_library(lowbit_warnings INTERFACE)
target_compile_options(
    lowbit_warnings
    INTERFACE
        $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow;-Wold-style-cast;-Wdouble-promotion>
        $<$<AND:$<BOOL:${LOWBIT_WARNINGS_AS_ERRORS}>,$<CXX_COMPILER_ID:GNU,Clang,AppleClang>>:-Werror>
)
