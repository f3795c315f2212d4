# SPDX-License-Identifier: Apache-2.0
# Runs the tool as people do: cmake -DTOOL=compare_formats -DDATA=tests/data -DWORK=folder -P compare_formats.cmake

file(MAKE_DIRECTORY ${WORK})

# run(CODE ARGUMENTS...): runs the tool, demands its exit code, leaves its output in `out` and `err`.
macro(run code)
    execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
    if(NOT result STREQUAL "${code}")
        message(SEND_ERROR "${ARGN}: exit code ${result} instead of ${code}\n${out}${err}")
    endif()
endmacro()

# expect(TEXT PATTERN...): every pattern is found in the text.
function(expect text)
    foreach(pattern IN LISTS ARGN)
        if(NOT text MATCHES "${pattern}")
            message(SEND_ERROR "'${pattern}' is not in:\n${text}")
        endif()
    endforeach()
endfunction()

# At most 100 columns, whatever is printed.
function(expect_narrow text)
    string(REPLACE ";" "," text "${text}")
    string(REPLACE "[" "(" text "${text}")
    string(REPLACE "]" ")" text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    foreach(line IN LISTS lines)
        string(LENGTH "${line}" length)
        if(length GREATER 100)
            message(SEND_ERROR "${length} columns: ${line}")
        endif()
    endforeach()
endfunction()

# The shipped layers, all rules, all outputs.
run(0 --rules all --json ${WORK}/out.json --csv ${WORK}/out.csv --svg ${WORK}/out.svg --threads 2)
expect_narrow("${out}")
expect("${out}" "layer1.ffn_down.weight +BF16 512 x 1536" "nvfp4 four_over_six +4.500" "m2xfp_weight" "All 3 tensors"
       "hif4 +4.500 +21.7[0-9] +8.2[0-9] %"
)
file(READ ${WORK}/out.json json)
string(JSON tensors LENGTH "${json}" tensors)
string(JSON formats LENGTH "${json}" tensors 0 formats)
string(JSON complete GET "${json}" complete)
file(STRINGS ${WORK}/out.csv lines)
list(LENGTH lines rows)
math(EXPR wanted "${tensors} * ${formats} + 1")
if(NOT tensors EQUAL 3 OR NOT complete OR NOT rows EQUAL wanted)
    message(SEND_ERROR "JSON has ${tensors} tensors of ${formats} formats (complete: ${complete}), CSV ${rows} lines")
endif()
file(READ ${WORK}/out.svg svg)
expect("${svg}" "^<svg " "prefers-color-scheme: dark" "layer0.qkv.weight" "relative error, percent" "</svg>\n$")

# The same result whatever the number of threads.
run(0 --csv ${WORK}/serial.csv --threads 1)
run(0 --csv ${WORK}/parallel.csv --threads 5)
file(READ ${WORK}/serial.csv serial)
file(READ ${WORK}/parallel.csv parallel)
if(NOT serial STREQUAL parallel)
    message(SEND_ERROR "results depend on the number of threads")
endif()

# Files of other tools, sharded models, .npy with activations; names, globs and what is skipped.
run(0 ${DATA}/foreign/one.safetensors ${DATA}/foreign/sharded/model.safetensors.index.json --formats hif4)
expect_narrow("${out}")
expect("${out}" "embed.weight" "layers.2.weight" "All 4 tensors" "position_ids: I64 is not a float"
       "scale: too small: 1 values"
)
run(0 ${DATA}/foreign/sharded/model.safetensors.index.json --tensor "layers.?.weight" -t "*.1.*" --list)
expect("${out}" "layers.0.weight" "BF16 +32 x 32")
run(0 ${DATA}/foreign/one.safetensors --tensor conv.weight --formats mxfp4,nvfp4)
expect("${out}" "conv.weight +F16 4 x 3 x 2 x 16" "mxfp4 +8.500" "nvfp4 +4.583")
run(0 ${DATA}/x_f32.npy --activations ${DATA}/x_bf16.npy --formats mxfp4 --rules ceil)
expect("${out}" "x = x_bf16, 896 rows" "mxfp4 ceil")

# Made-up data; the published Gaussian ratios within 2 % are the program's own table.
run(0 --synthetic student-t,outliers,relu --rows 64 --cols 256 --outlier-share 0.05 --formats hif4,nvfp4)
expect("${out}" "student-t +BF16 64 x 256" "outliers" "relu")
run(0 --gaussian --formats hif4,nvfp4,mxfp4 --rules no_tensor_scale --svg ${WORK}/gaussian.svg)
expect_narrow("${out}")
expect("${out}" "mxfp4 +4.250 +1.8[6-9][0-9][0-9]" "nvfp4 no_tensor_scale +4.500 +1.3[0-4][0-9][0-9]")

# What goes wrong says so: 1 for files, 2 for the command line.
run(1 ${WORK}/missing.npy)
expect("${err}" "'.*missing.npy': cannot open")
run(1 ${WORK}/out.csv)
expect("${err}" "'.*out.csv': a folder or a file that ends in .npy, .safetensors or .safetensors.index.json is exp")
run(1 --tensor nothing)
expect("${err}" "--tensor 'nothing' fits no tensor")
run(1 --formats int4)
if(NOT out STREQUAL "")
    message(SEND_ERROR "a wrong format prints:\n${out}")
endif()
expect("${err}" "--formats 'int4': the formats are hif4")
run(1 --formats hif4 --rules ceil)
expect("${err}" "--rules 'ceil'")
run(1 --json ${WORK}/no/such/folder.json --formats hif4)
expect("${err}" "^compare_formats: '.*folder.json': cannot write: No such file")
if(NOT out STREQUAL "")
    message(SEND_ERROR "an output that cannot be written is found after the work only:\n${out}")
endif()
run(1 ${DATA}/x_f32.npy --activations ${DATA}/nvfp4_tensor_scales.npy)
expect("${err}" "--activations '.*nvfp4_tensor_scales.npy': its rows have K = 2, those of the tensors 64")
run(2 --no-such-option)
run(2 --synthetic cauchy)
run(0 --help)
expect("${out}" "how much each low-bit format loses" "Examples:" "four_over_six")

# Ctrl-C keeps the rows that are done.
find_program(timeout_program timeout)
if(timeout_program)
    execute_process(
        COMMAND ${timeout_program} --foreground --preserve-status -s INT 1 ${TOOL} --synthetic gaussian,relu,student-t
                --rows 4096 --rules all --threads 1 --csv ${WORK}/cut.csv
        OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result
    )
    if(NOT result EQUAL 0)
        if(NOT result EQUAL 130 OR NOT EXISTS ${WORK}/cut.csv)
            message(SEND_ERROR "after Ctrl-C: exit code ${result}\n${out}${err}")
        endif()
        file(READ ${WORK}/cut.csv csv)
        expect("${csv}" "^tensor,dtype")
    endif()
endif()

# An .npy of integers is listed as skipped and does not end the run; a default rule may be named.
run(0 ${DATA}/x_f32.npy ${DATA}/mxfp4_f32.npy --formats mxfp4 --rules floor)
expect("${out}" "x_f32" "mxfp4_f32: .u1 is not a float type")

# Folders: their files in order of name, NAME.input.npy beside NAME.weight.npy; parts of a model only through its index.
file(REMOVE_RECURSE ${WORK}/folder)
file(MAKE_DIRECTORY ${WORK}/folder)
file(COPY_FILE ${DATA}/x_f32.npy ${WORK}/folder/a.weight.npy)
file(COPY_FILE ${DATA}/x_bf16.npy ${WORK}/folder/a.input.npy)
file(WRITE ${WORK}/folder/notes.txt "not a tensor")
run(0 ${WORK}/folder --list)
expect("${out}" "^a.weight +float32 +896 x 64 +x = a.input\n$")
run(0 ${DATA}/foreign/sharded --list)
expect("${out}" "layers.0.weight" "layers.2.weight")
file(MAKE_DIRECTORY ${WORK}/empty)
run(1 ${WORK}/empty)
expect("${err}" "empty': the folder holds no .npy, .safetensors or .safetensors.index.json file")

# Nothing to work on is an error, in one line that says why.
run(1 ${DATA}/mxfp4_f32.npy)
expect("${err}" "^compare_formats: nothing left to work on: mxfp4_f32: .u1 is not a float type that can be read\n$")
run(1 ${DATA}/nvfp4_tensor_scales.npy)
expect("${err}" "too small: 2 values, fewer than 1024 .--min-values.")
run(1 ${DATA}/nvfp4_tensor_scales.npy ${DATA}/mxfp4_f32.npy)
expect("${err}" "all 2 tensors are skipped, the first one is nvfp4_tensor_scales: too small")
