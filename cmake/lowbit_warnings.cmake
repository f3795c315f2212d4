# SPDX-License-Identifier: Apache-2.0
# The warnings that our own tests, benchmarks and examples are built with. Users of the library never get them.

set(lowbit_warning_options
    -Wall
    -Wextra
    -Wpedantic
    -Wconversion
    -Wsign-conversion
    -Wshadow
    -Wold-style-cast
    -Wdouble-promotion
)
if(LOWBIT_WARNINGS_AS_ERRORS)
    list(APPEND lowbit_warning_options -Werror)
endif()

add_library(lowbit_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(lowbit_warnings INTERFACE ${lowbit_warning_options})
endif()
