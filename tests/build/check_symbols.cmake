# SPDX-License-Identifier: Apache-2.0
# Looks at the symbols of object files with nm.
#   OBJECT alone     a header-only library defines weak symbols only: a strong one is a function that lacks `inline`
#   OBJECT and OTHER (units with different -m flags) share no function of lowbit::kernel: the linker would keep one copy

cmake_policy(VERSION 3.25)

function(symbols_of objects out)
    execute_process(COMMAND ${NM} --defined-only ${objects} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" lines "${text}")
    list(FILTER lines INCLUDE REGEX "6lowbit")
    set(${out} "${lines}" PARENT_SCOPE)
endfunction()

symbols_of("${OBJECT}" symbols)
if(NOT OTHER)
    list(FILTER symbols INCLUDE REGEX " [TDBtdb] ")
    list(FILTER symbols EXCLUDE REGEX "everything_[12]|_GLOBAL__sub_I")
    if(symbols)
        list(JOIN symbols "\n" text)
        message(FATAL_ERROR "not inline (or with internal linkage) in a header:\n${text}")
    endif()
    return()
endif()

symbols_of("${OTHER}" others)
foreach(list IN ITEMS symbols others)
    list(FILTER ${list} INCLUDE REGEX " [WT] ")
    list(TRANSFORM ${list} REPLACE "^[^_]* ([^ ]+)$" "\\1")
    list(FILTER ${list} INCLUDE REGEX "^_ZN?K?6lowbit6kernel")
    list(LENGTH ${list} count)
    message("${count} functions of lowbit::kernel")
endforeach()
set(shared "")
foreach(symbol IN LISTS symbols)
    if(symbol IN_LIST others)
        list(APPEND shared ${symbol})
    endif()
endforeach()
if(shared)
    list(JOIN shared "\n" text)
    message(FATAL_ERROR "kernel functions that units with different flags share:\n${text}")
endif()
