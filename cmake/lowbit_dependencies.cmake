# SPDX-License-Identifier: Apache-2.0
# What tests, benchmarks and examples need; the library itself needs nothing. The system's packages come first; the
# pinned sources below are fetched only where there are none (LOWBIT_FETCH_DEPENDENCIES).

include(FetchContent)

set(lowbit_pin_GTest googletest https://github.com/google/googletest.git v1.14.0)
set(lowbit_pin_benchmark benchmark https://github.com/google/benchmark.git v1.8.3)
set(lowbit_pin_fmt fmt https://github.com/fmtlib/fmt.git 10.2.1)
set(lowbit_pin_nlohmann_json nlohmann_json https://github.com/nlohmann/json.git v3.11.3)
set(lowbit_pin_CLI11 CLI11 https://github.com/CLIUtils/CLI11.git v2.4.1)

# lowbit_need(PACKAGE TARGET): makes TARGET available, or warns and leaves it undefined. A macro, so that find_package's
# variables reach the caller.
macro(lowbit_need package target)
    if(NOT TARGET ${target})
        find_package(${package} QUIET)
    endif()
    list(GET lowbit_pin_${package} 0 lowbit_pin_name)
    string(TOUPPER "FETCHCONTENT_SOURCE_DIR_${lowbit_pin_name}" lowbit_pin_local)
    if(NOT TARGET ${target} AND (LOWBIT_FETCH_DEPENDENCIES OR DEFINED ${lowbit_pin_local}))
        list(GET lowbit_pin_${package} 1 lowbit_pin_url)
        list(GET lowbit_pin_${package} 2 lowbit_pin_tag)
        message(STATUS "lowbit: no ${package} on this system, fetching ${lowbit_pin_tag}")
        set(INSTALL_GTEST OFF CACHE INTERNAL "")
        set(BUILD_GMOCK OFF CACHE INTERNAL "")
        set(BENCHMARK_ENABLE_TESTING OFF CACHE INTERNAL "")
        set(BENCHMARK_ENABLE_INSTALL OFF CACHE INTERNAL "")
        FetchContent_Declare(
            ${lowbit_pin_name}
            GIT_REPOSITORY ${lowbit_pin_url}
            GIT_TAG ${lowbit_pin_tag}
            GIT_SHALLOW TRUE
            SYSTEM
        )
        FetchContent_MakeAvailable(${lowbit_pin_name})
        # The build tree of GoogleTest names its targets without a namespace before 1.13.
        if(NOT TARGET ${target} AND "${target}" STREQUAL "GTest::gtest_main" AND TARGET gtest_main)
            add_library(GTest::gtest_main ALIAS gtest_main)
        endif()
    endif()
    if(NOT TARGET ${target})
        message(WARNING "lowbit: ${package} is missing; what needs it is left out")
    endif()
endmacro()
