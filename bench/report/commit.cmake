# SPDX-License-Identifier: Apache-2.0
# Writes OUT with the commit of SOURCE, at each build, where it has changed:
# cmake -DSOURCE=... -DOUT=... -P commit.cmake

execute_process(
    COMMAND git -C ${SOURCE} describe --always --dirty OUTPUT_VARIABLE commit ERROR_QUIET RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE
)
if(NOT result EQUAL 0)
    set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "inline constexpr const char* report_commit = \"${commit}\";\n" @ONLY)
