# SPDX-License-Identifier: Apache-2.0
# Runs FIRST and SECOND (if given), at the instruction set of this machine and at scalar: all must print what file
# EXPECTED holds.

cmake_policy(VERSION 3.25)

separate_arguments(EMULATOR)
file(READ ${EXPECTED} expected)
foreach(isa IN ITEMS "" scalar)
    foreach(program IN ITEMS ${FIRST} ${SECOND})
        if(isa)
            set(ENV{LOWBIT_ISA} ${isa})
        else()
            unset(ENV{LOWBIT_ISA})
        endif()
        execute_process(COMMAND ${EMULATOR} ${program} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
        if(NOT output)
            message(FATAL_ERROR "${program} printed nothing")
        elseif(NOT output STREQUAL expected)
            message(FATAL_ERROR "${program} with LOWBIT_ISA='${isa}' printed\n${output}\nexpected\n${expected}")
        endif()
    endforeach()
endforeach()
