# SPDX-License-Identifier: Apache-2.0
# Builds and runs the project in consumer/ with lowbit brought in as KIND says.

cmake_policy(VERSION 3.25)

separate_arguments(EMULATOR)
set(consumer ${CMAKE_CURRENT_LIST_DIR}/consumer)
set(work ${WORK}/consumer_${KIND})
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

macro(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endmacro()

if(KIND STREQUAL "include_path")
    run(${CXX} -std=c++20 -I${SOURCE}/include ${consumer}/main.cpp -o ${work}/consumer)
    run(${EMULATOR} ${work}/consumer)
    return()
endif()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug)
if(TOOLCHAIN)
    list(APPEND configure -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN})
endif()
set(arguments -S ${consumer} -B ${work}/build -DKIND=${KIND} -DJSON=${JSON} -DSOURCE=${SOURCE})

if(KIND STREQUAL "fetch_content")
    list(APPEND arguments -DFETCHCONTENT_SOURCE_DIR_LOWBIT=${SOURCE})
elseif(KIND STREQUAL "find_package")
    include(${SOURCE}/cmake/lowbit_version.cmake)
    lowbit_read_version(${SOURCE}/include/lowbit/core/config.hpp version)

    # Install, then move the tree: it must not know where it was made.
    run(${configure} -S ${SOURCE} -B ${work}/lowbit -DLOWBIT_BUILD_TESTS=OFF -DLOWBIT_BUILD_BENCH=OFF
        -DLOWBIT_BUILD_EXAMPLES=OFF -DLOWBIT_SAFETENSORS=OFF
    )
    run(${CMAKE_COMMAND} --install ${work}/lowbit --prefix ${work}/made_here)
    file(RENAME ${work}/made_here ${work}/moved)
    file(REMOVE_RECURSE ${work}/lowbit)
    list(APPEND arguments -DCMAKE_PREFIX_PATH=${work}/moved -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=BOTH
         -DVERSION=${version}
    )

    file(GLOB_RECURSE headers RELATIVE ${SOURCE}/include ${SOURCE}/include/lowbit/*)
    foreach(header IN LISTS headers)
        if(NOT EXISTS ${work}/moved/include/${header})
            message(FATAL_ERROR "${header} is not installed")
        endif()
    endforeach()
    file(GLOB_RECURSE files ${work}/moved/*)
    foreach(file IN LISTS files)
        file(READ ${file} text)
        foreach(path IN ITEMS ${WORK} ${SOURCE}/)
            string(FIND "${text}" "${path}" position)
            if(NOT position EQUAL -1)
                message(FATAL_ERROR "${file} names ${path}")
            endif()
        endforeach()
    endforeach()

    # A header-only library serves any pointer size: pretend to be another machine than the one that installed it.
    foreach(CMAKE_SIZEOF_VOID_P IN ITEMS 4 8)
        set(PACKAGE_FIND_VERSION ${version})
        string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" ignored ${version})
        set(PACKAGE_FIND_VERSION_MAJOR ${CMAKE_MATCH_1})
        set(PACKAGE_FIND_VERSION_MINOR ${CMAKE_MATCH_2})
        include(${work}/moved/share/cmake/lowbit/lowbitConfigVersion.cmake)
        if(PACKAGE_VERSION_UNSUITABLE OR NOT PACKAGE_VERSION_COMPATIBLE)
            message(FATAL_ERROR "the version file refuses a pointer size of ${CMAKE_SIZEOF_VOID_P}")
        endif()
    endforeach()
endif()

run(${configure} ${arguments})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${EMULATOR} ${work}/build/consumer)
