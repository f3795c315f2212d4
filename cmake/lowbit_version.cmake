# SPDX-License-Identifier: Apache-2.0
# Reads the version from the header that owns it, so that the number is written down once.

function(lowbit_read_version header out)
    set(numbers "")
    foreach(part IN ITEMS MAJOR MINOR PATCH)
        file(STRINGS "${header}" line REGEX "#[ ]*define[ ]+LOWBIT_VERSION_${part}[ ]+[0-9]+" LIMIT_COUNT 1)
        if(NOT line MATCHES "LOWBIT_VERSION_${part}[ ]+([0-9]+)")
            message(FATAL_ERROR "lowbit: no LOWBIT_VERSION_${part} in ${header}")
        endif()
        list(APPEND numbers "${CMAKE_MATCH_1}")
    endforeach()
    list(JOIN numbers "." version)
    set(${out} "${version}" PARENT_SCOPE)
endfunction()
