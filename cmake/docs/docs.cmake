# SPDX-License-Identifier: Apache-2.0
# Target docs: the API documentation, in docs/html of the build folder. It exists where Doxygen and awk are installed.

find_package(Doxygen 1.9.4 QUIET)
find_program(LOWBIT_AWK NAMES awk mawk gawk)
mark_as_advanced(LOWBIT_AWK)
set(LOWBIT_DOCS_EXTRA "" CACHE STRING "Further headers to document (the test of the documentation's own checks)")
mark_as_advanced(LOWBIT_DOCS_EXTRA)
if(NOT DOXYGEN_FOUND OR NOT LOWBIT_AWK)
    return()
endif()

set(lowbit_docs_source ${CMAKE_CURRENT_LIST_DIR})
set(lowbit_docs_dir ${CMAKE_CURRENT_BINARY_DIR}/docs)
set(lowbit_docs_input "")
foreach(input IN ITEMS README.md tests/CASES.md tests/FAULTS.md bench/report/SCHEMA.md cmake/docs/structure.dox
        include/lowbit)
    string(APPEND lowbit_docs_input " \"${PROJECT_SOURCE_DIR}/${input}\"")
endforeach()
foreach(input IN LISTS LOWBIT_DOCS_EXTRA)
    string(APPEND lowbit_docs_input " \"${input}\"")
endforeach()
configure_file(${lowbit_docs_source}/Doxyfile.in ${lowbit_docs_dir}/Doxyfile @ONLY)

add_custom_target(
    docs
    COMMAND
        ${CMAKE_COMMAND} -D doxygen=${DOXYGEN_EXECUTABLE} -D awk=${LOWBIT_AWK} -D source=${lowbit_docs_source} -D
        dir=${lowbit_docs_dir} -P ${lowbit_docs_source}/build.cmake
    COMMENT "Documentation: ${lowbit_docs_dir}/html/index.html"
    VERBATIM
)
