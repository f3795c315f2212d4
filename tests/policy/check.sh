#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of the source tree that no compiler checks: sh tests/policy/check.sh RULE [ROOT]
#
#   layers      a header includes its own layer and lower ones only; nobody includes an umbrella
#   intrinsics  intrinsics in kernel/isa_* and arch/ only; kernel/isa_* is for kernel/*table.hpp and for kernel/isa_*
#   printing    no header includes iostream or fmt (lowbit/fmt.hpp apart), and none prints
#   macros      macros are called LOWBIT_* and defined in core/config.hpp, core/error.hpp and arch/target.hpp only
#   length      no file of more than 600 lines, no line of more than 120 characters
#   text        licence line, #pragma once, no tabs, no unnamed namespace, no using-directive and no static function in a header
#   mirror      every header has its test file, or a reason in tests/policy/no_own_test.txt
#   cases       tests/CASES.md and the tests name each other: [NAME](FILE) in the row of a case, caseNN_... in FILE
#   faults      every patch of tests/faults applies and names a case, a target and a test that exist
#
# Prints FILE:LINE: what is wrong, for every fault, and exits 1 if there is one.

set -eu
rule=${1:?usage: check.sh RULE [ROOT]}
cd "${2:-$(dirname "$0")/../..}"

headers() { find include/lowbit -type f \( -name '*.hpp' -o -name '*.inl' \) | sort; }
sources() {
    find include bench examples tests -type f \( -name '*.hpp' -o -name '*.inl' -o -name '*.cpp' \) | sort
}
scripts() { find CMakeLists.txt cmake bench examples tests -type f \( -name CMakeLists.txt -o -name '*.cmake' -o -name '*.sh' \) | sort; }

# check FILES PROGRAM: runs an awk program that calls fault(text); `path` is the file below include/lowbit/.
check() {
    files=$1
    [ -n "$files" ] || { echo "no files found"; exit 1; }
    # shellcheck disable=SC2086
    awk '
        function fault(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; faults++ }
        function included(line) { sub(/^[ \t]*#[ \t]*include[ \t]*[<"]/, "", line); sub(/[>"].*/, "", line); return line }
        FNR == 1 { path = FILENAME; sub(/^include\/lowbit\//, "", path); folder = path; if (!sub(/\/.*/, "", folder)) folder = "" }
        '"$2"'
        END { exit faults > 0 }' $files
}

case $rule in
    layers)
        check "$(headers)" '
            BEGIN {
                split("core 0 element 1 block 2 matrix 3 lane 3 arch 3 kernel 4 convert 5 pack 5 gemm 6 metrics 7 io 7", t, " ")
                for (i = 1; i in t; i += 2) layer[t[i]] = t[i + 1]
                outside["nlohmann/json.hpp"] = "io/safetensors"
                outside["omp.h"] = "core/openmp_executor.hpp"
            }
            FNR == 1 && folder != "" && !(folder in layer) { fault("folder " folder " has no layer") }
            /^[ \t]*#[ \t]*include/ {
                what = included($0)
                if (what ~ /^lowbit\//) {
                    if ($0 ~ /include[ \t]*"/ && what !~ /\.inl$/) fault("write #include <" what ">")
                    sub(/^lowbit\//, "", what)
                    to = what
                    if (!sub(/\/.*/, "", to)) { if (folder != "") fault("includes the umbrella " what); next }
                    if (!(to in layer)) { fault("includes " what " of no known layer"); next }
                    if (path == "blocks.hpp" && layer[to] > 2) fault("blocks.hpp holds layers 0 to 2, not " what)
                    if (folder != "" && layer[to] > layer[folder])
                        fault("layer " layer[folder] " (" folder ") includes layer " layer[to] " (" what ")")
                } else if ($0 ~ /include[ \t]*"/) {
                    if (what !~ /\.inl$/) fault("quoted include of " what)
                } else if (what in outside) {
                    if (index(path, outside[what]) != 1) fault(what " belongs in " outside[what])
                } else if (what ~ /^(oneapi\/)?tbb\//) {
                    if (path != "core/tbb_executor.hpp") fault(what " belongs in core/tbb_executor.hpp")
                } else if (what ~ /\// && what !~ /^(sys|fmt)\//) {
                    fault("needs " what ", which is not the standard library")
                }
            }'
        ;;
    intrinsics)
        check "$(headers)" '
            { allowed = path ~ /^kernel\/isa_/ || folder == "arch" }
            /^[ \t]*#[ \t]*include/ {
                what = included($0)
                if (!allowed && (what ~ /intrin\.h$/ || what ~ /^(arm_neon|arm_sve|cpuid|sys\/auxv)\.?h?$/)) fault("includes " what)
                if (what ~ /kernel\/isa_[a-z0-9_]*\.hpp$/ && path !~ /^kernel\/(([a-z_]+_)?table\.hpp$|isa_)/) fault("only the tables of kernel/ include " what)
                next
            }
            { line = $0; sub(/\/\/.*/, "", line) }
            !allowed && line ~ /(^|[^A-Za-z0-9_])(_mm[0-9]*_[a-z0-9]+|__m(128|256|512)[id]?|_xgetbv|__cpuid|v[a-z0-9]+q_[suf](8|16|32|64))([^A-Za-z0-9_]|$)/ { fault("intrinsic outside kernel/isa_*") }'
        ;;
    printing)
        check "$(headers)" '
            /^[ \t]*#[ \t]*include/ {
                what = included($0)
                if (what ~ /^(iostream|ostream|istream|sstream|iomanip|strstream|syncstream|print|format)$/) fault("includes <" what ">")
                if (what == "fstream" && folder != "io") fault("includes <fstream> outside io/")
                if (what ~ /^fmt\// && path != "fmt.hpp") fault("includes " what)
                next
            }
            { line = $0; sub(/\/\/.*/, "", line) }
            line ~ /(^|[^A-Za-z0-9_])(std::)?(printf|fprintf|puts|fputs|perror)[ \t]*\(/ || line ~ /std::(cout|cerr|clog)/ { fault("prints") }'
        ;;
    macros)
        check "$(headers)" '
            /^[ \t]*#[ \t]*(define|undef)[ \t]/ {
                name = $0; sub(/^[ \t]*#[ \t]*(define|undef)[ \t]+/, "", name); sub(/[^A-Za-z0-9_].*/, "", name)
                if (name !~ /^LOWBIT_/) fault("macro " name " is not called LOWBIT_*")
                if (path != "core/config.hpp" && path != "core/error.hpp" && path != "arch/target.hpp") fault("macro " name " defined here")
            }'
        ;;
    length)
        check "$(sources) $(scripts)" '
            FNR == 601 { fault("more than 600 lines") }
            length($0) > 120 && FILENAME !~ /\.sh$/ {
                # awk counts bytes where the locale is C; a character above ASCII is not what this rule is about.
                line = $0; gsub(/[^ -~]/, "", line); if (length(line) > 120) fault(length(line) " characters")
            }'
        ;;
    text)
        check "$(sources) $(scripts)" '
            FNR == 1 { licence = 0; header = FILENAME ~ /^include\//; once = 0 }
            FNR <= 2 && /SPDX-License-Identifier: Apache-2\.0/ { licence = 1 }
            FNR == 2 && !licence { fault("no SPDX licence line") }
            /\t/ { fault("tab") }
            /[ \r]$/ { fault("space at the end of the line") }
            header && /^[ \t]*(inline[ \t]+)?namespace[ \t]*\{/ { fault("unnamed namespace in a header") }
            header && /^using[ \t]+namespace/ { fault("using-directive in a header") }
            header && /^static[ \t]/ && !/static_assert/ { fault("static at namespace scope in a header") }'
        status=0
        for header in $(headers); do
            case $header in *.inl) continue ;; esac
            grep -q '^#pragma once' "$header" || { echo "$header:1: no #pragma once"; status=1; }
        done
        exit $status
        ;;
    mirror)
        status=0
        for header in $(headers); do
            name=${header#include/lowbit/}
            base=${name%.*}
            case $name in *.inl) continue ;; esac
            [ -f "tests/${base}_test.cpp" ] && continue
            grep -q "^$name  *[^ ]" tests/policy/no_own_test.txt && continue
            echo "$header:1: no tests/${base}_test.cpp, and no reason in tests/policy/no_own_test.txt"
            status=1
        done
        for name in $(sed -n 's/^\([a-z0-9_/]*\.hpp\) .*/\1/p' tests/policy/no_own_test.txt); do
            [ -f "include/lowbit/$name" ] || { echo "tests/policy/no_own_test.txt:1: $name does not exist"; status=1; }
            [ -f "tests/${name%.hpp}_test.cpp" ] && { echo "tests/policy/no_own_test.txt:1: $name has a test"; status=1; }
        done
        exit $status
        ;;
    cases)
        export LC_ALL=C
        cd tests
        [ -f CASES.md ] || { echo "tests/CASES.md:1: missing"; exit 1; }
        lists=$(mktemp -d)
        trap 'rm -rf "$lists"' EXIT
        # Lines "NUMBER NAME FILE": what the table says, and what the sources hold. A test may carry several numbers.
        awk -F'|' '/^\| *[0-9]+ *\|/ {
                number = $2 + 0; rest = $4
                while (match(rest, /\[[A-Za-z0-9_]+\]\([A-Za-z0-9_.\/]+\)/)) {
                    link = substr(rest, RSTART + 1, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH)
                    sub(/\]\(/, " ", link); print number, link
                }
            }' CASES.md | sort -u >"$lists/table"
        find . -type f \( -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt \) | sed 's|^\./||' | sort | xargs awk '{
                rest = $0
                while (match(rest, /[A-Za-z0-9_]*case[0-9]+_[A-Za-z0-9_]*/)) {
                    name = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
                    sub(/_+$/, "", name); numbers = name
                    if (name !~ /^case/) continue
                    while (match(numbers, /^case[0-9]+_/)) {
                        print substr(numbers, 5, RLENGTH - 5) + 0, name, FILENAME; numbers = substr(numbers, RLENGTH + 1)
                    }
                }
            }' | sort -u >"$lists/sources"
        status=0
        while read -r number name file; do
            grep -qsE "(^|[^A-Za-z0-9_])${name}_*([^A-Za-z0-9_]|$)" "$file" && continue
            echo "tests/CASES.md:1: case $number names [$name]($file), which does not exist"
            status=1
        done <"$lists/table"
        comm -13 "$lists/table" "$lists/sources" >"$lists/missing"
        while read -r number name file; do
            echo "tests/$file:1: add [$name]($file) to the row of case $number in tests/CASES.md"
            status=1
        done <"$lists/missing"
        [ -s "$lists/table" ] || { echo "tests/CASES.md:1: names no test"; status=1; }
        exit $status
        ;;
    faults)
        sh tests/faults/run.sh --check
        ;;
    *)
        echo "no rule called $rule"
        exit 2
        ;;
esac
