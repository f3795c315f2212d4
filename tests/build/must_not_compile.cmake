# SPDX-License-Identifier: Apache-2.0
# Compiles FILE with FAULT_${FAULT} defined: it must fail, and the compiler must say what the line "// says: REGEX" of
# the fault tells; with ONE_LINE that must be the only error. With no FAULT the file must compile.

cmake_policy(VERSION 3.25)

set(flags -std=c++20 -I${SOURCE}/include)
if(FAULT MATCHES "^target_")
    list(APPEND flags -c -o ${WORK}/must_not_compile_${FAULT}.o)  # found when code is made
else()
    list(APPEND flags -fsyntax-only)
endif()
if(FAULT)
    list(APPEND flags -DFAULT_${FAULT})
    file(READ ${FILE} text)
    if(NOT text MATCHES "#ifdef FAULT_${FAULT}\n// says: ([^\n]*)\n")
        message(FATAL_ERROR "no line '// says: REGEX' below FAULT_${FAULT}")
    endif()
    set(says "${CMAKE_MATCH_1}")
    # Faults that only a warning finds: the user's own warnings must survive our headers.
    if(FAULT MATCHES "^warning_")
        list(APPEND flags -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Werror)
    endif()
endif()

execute_process(COMMAND ${CXX} ${flags} ${FILE} RESULT_VARIABLE status ERROR_VARIABLE output OUTPUT_VARIABLE ignored)
if(NOT FAULT)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "does not compile without a fault:\n${output}")
    endif()
elseif(status EQUAL 0)
    message(FATAL_ERROR "compiles with FAULT_${FAULT}")
elseif(NOT output MATCHES "${says}")
    message(FATAL_ERROR "fails, but does not say '${says}':\n${output}")
elseif(ONE_LINE)
    string(REGEX MATCHALL "error:" errors "${output}")
    if(NOT errors STREQUAL "error:")
        message(FATAL_ERROR "fails with more than one error:\n${output}")
    endif()
endif()
