# SPDX-License-Identifier: Apache-2.0
# Runs the example on the shipped tensors: cmake -DTOOL=feed_forward -P feed_forward.cmake. The errors are the same on
# every machine, since the bits are.

execute_process(COMMAND ${TOOL} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
if(NOT result STREQUAL "0")
    message(SEND_ERROR "exit code ${result}\n${out}${err}")
endif()
foreach(
    line
    "136 rows of 512 values, 1536 hidden, 512 out; on [a-z0-9_]+\n"
    "hif4 +4.500 hif4 +SQNR +18.94 dB"
    "hif4 +4.500 mxint8 +SQNR +21.61 dB"
    "hif4 +4.500 float32 +SQNR +21.66 dB"
    "hif8 +8.000 hif8 +SQNR +26.52 dB"
    "mxfp4 +4.250 mxfp4 +SQNR +14.92 dB"
    "mxfp4 +4.250 mxint8 +SQNR +18.66 dB"
    "nvfp4 +4.500 nvfp4 +SQNR +18.21 dB"
    "nvfp4 +4.500 mxint8 +SQNR +20.76 dB"
    "m2xfp_weight +4.500 m2xfp_activation +SQNR +18.80 dB"
    "m2xfp_weight +4.500 mxint8 +SQNR +22.13 dB"
    "mxint8 +8.250 mxint8 +SQNR +38.98 dB"
    "int8_block +9.000 int8_block +SQNR +42.60 dB"
)
    if(NOT out MATCHES "${line}")
        message(SEND_ERROR "'${line}' is not in:\n${out}")
    endif()
endforeach()

execute_process(COMMAND ${TOOL} missing.safetensors missing.safetensors OUTPUT_QUIET ERROR_VARIABLE err
                RESULT_VARIABLE result)
if(NOT result STREQUAL "1" OR NOT err MATCHES "feed_forward: .*missing.safetensors")
    message(SEND_ERROR "a file that is not there: exit code ${result}\n${err}")
endif()
