# SPDX-License-Identifier: Apache-2.0
# Runs Doxygen and checks what it made: cmake -D doxygen=PROGRAM -D awk=PROGRAM -D source=DIR -D dir=DIR -P build.cmake
# Fails on a public name without documentation, on a parameter that the text of its function does not name, on a link
# that leads nowhere, and on anything else that Doxygen warns about.

file(REMOVE_RECURSE ${dir}/html ${dir}/xml)
set(problems "")
execute_process(COMMAND ${doxygen} ${dir}/Doxyfile RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE output)
file(READ ${dir}/warnings.txt warnings)
# Standard error holds what headers.awk has to say.
if(NOT status EQUAL 0 OR NOT "${output}${warnings}" STREQUAL "")
    string(APPEND problems "${output}${warnings}")
endif()

# check(PROGRAM FOLDER PATTERN): runs an awk program of this folder over the files.
function(check program folder pattern)
    file(GLOB files RELATIVE ${folder} ${folder}/${pattern})
    if(files STREQUAL "")
        string(APPEND problems "${program}: no ${folder}/${pattern}\n")
    else()
        execute_process(
            COMMAND ${awk} -f ${source}/${program} ${files}
            WORKING_DIRECTORY ${folder}
            RESULT_VARIABLE status
            OUTPUT_VARIABLE output
            ERROR_VARIABLE output
        )
        if(NOT status EQUAL 0)
            string(APPEND problems "${output}")
        endif()
    endif()
    set(problems "${problems}" PARENT_SCOPE)
endfunction()
check(names.awk ${dir}/xml "*.xml")
check(links.awk ${dir}/html "*.html")

if(NOT problems STREQUAL "")
    message("${problems}")
    message(FATAL_ERROR "lowbit: the documentation has faults")
endif()
