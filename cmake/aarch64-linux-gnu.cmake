# SPDX-License-Identifier: Apache-2.0
# Toolchain file: Debian's cross compiler for 64-bit Arm, programs run under qemu-user.
#   cmake -B out/arm --toolchain cmake/aarch64-linux-gnu.cmake -DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=/usr/src/googletest
# LOWBIT_QEMU_CPU picks the CPU that qemu shows (max has the dot product, cortex-a53 has not).

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
if(NOT DEFINED LOWBIT_QEMU_CPU)
    set(LOWBIT_QEMU_CPU max)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu ${LOWBIT_QEMU_CPU})
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
