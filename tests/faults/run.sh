#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the faults of this folder into the library, one at a time, and expects the tests of their cases to fail:
#   sh tests/faults/run.sh [--check] [CASE...]
#
#   CASE      two digits, or the beginning of a file's name: 07, 07_e4m3_overflow; without one, all
#   --check   only sees that every patch applies and names a case, a target and a test that exist (a second)
#
# Two programs are built at a time ($LOWBIT_FAULTS_JOBS). Prints a line a fault: "caught" where the tests pass without
# the fault and fail with it, else "MISSED" and why; then a summary. Exits 1 when one is missed. Copies, programs and
# logs lie in $LOWBIT_FAULTS_DIR, else out/faults. Needs patch and what the tests need. README.md describes a fault's
# file.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=${LOWBIT_FAULTS_DIR:-$root/out/faults}
compiler=${CXX:-c++}

# key NAME FAULT: what stands after "NAME:" at the head of the file.
key() { sed -n "/^--- /q; s/^$1: *//p" "$2"; }

# label FAULT: number and name, as a line of the report shows them.
label() { basename "$1" .patch | sed 's/_/ /'; }

# with_cmake FAULT: whether CMake builds its target; a program of tests/ is compiled here, which takes less.
with_cmake() { [ -n "$(key ctest "$1")" ] || case $(key target "$1") in build_*) true ;; *) false ;; esac }

# source_of TARGET: the file of a program of tests/.
source_of() {
    if [ -f "$root/tests/$1.cpp" ]; then echo "$root/tests/$1.cpp"; else echo "$root/tests/${1%%_*}/${1#*_}.cpp"; fi
}

# apply FOLDER FAULT [OPTION...]
apply() {
    folder=$1 fault=$2
    shift 2
    patch -s -f -p1 -F0 -d "$folder" "$@" <"$fault"
}

# slice SOURCE TESTS: the source without the tests of other names, which takes a fraction of the time to compile.
slice() {
    awk -v tests="$2" '
        /^(TYPED_)?TEST(_F|_P)?\(/ { head = 1; text = "" }
        head {
            text = text $0 "\n"
            if (!/[{}]$/) next
            head = 0
            if (tests == "" || index(text, tests)) printf "%s", text
            else other = !/}$/
            next
        }
        !other { print }
        /^}$/ { other = 0 }' "$1"
}

# compile INCLUDE TARGET SOURCE PROGRAM [OPTION...]
compile() {
    include=$1 home=$(dirname "$(source_of "$2")") source=$3 program=$4
    shift 4
    set -- "$@" "$source"
    case ${source##*/} in
        fmt_*) set -- "$@" -lfmt ;;
        openmp_*) set -- "$@" -fopenmp ;;
        tbb_*) set -- "$@" -ltbb ;;
    esac
    "$compiler" -std=c++20 -O1 -w -DNDEBUG -DLOWBIT_TEST_DATA="\"$root/tests/data\"" -I"$include" -I"$root/tests" \
        -I"$home" -pthread -o "$program" "$@" -lgtest_main -lgtest
}

# execute PROGRAM TESTS LOG: the program's exit status; 3 where no test has such a name.
execute() {
    status=0
    timeout 900 "$1" --gtest_filter="*$2*" >"$3" 2>&1 || status=$?
    [ "$status" -ne 0 ] || grep -q '^\[  PASSED  \] [1-9]' "$3" || status=3
    return "$status"
}

# verdict FAULT PROBLEM: prints the line of a fault; without a problem it is caught.
verdict() {
    if [ -z "$2" ]; then
        echo "caught   $(label "$1"): $(key fault "$1")"
    else
        echo "MISSED   $(label "$1"): $(key fault "$1") [$2]"
        echo "$1" >>"$dir/missed"
    fi
}

# built_badly LOG TEXT: the problem of a build that should have failed with TEXT, or with no TEXT should not have failed.
built_badly() {
    if [ -z "$2" ]; then
        echo "does not build, see $1"
    elif ! grep -qF -e "$2" "$1"; then
        echo "does not build, but $1 does not say why"
    fi
}

# whole TARGET: builds the program without any fault, unless it is there already.
whole() {
    program=$dir/whole/$1
    if [ ! -x "$program" ] || [ -n "$(find "$root/include" "$root/tests" -newer "$program" -name '*.[chi][pn][pl]')" ]; then
        rm -f "$program"
        compile "$root/include" "$1" "$(source_of "$1")" "$program" >"$program.log" 2>&1 || tail -n 20 "$program.log"
    fi
}

# one FAULT: of a program of tests/.
one() {
    target=$(key target "$1") tests=$(key tests "$1") text=$(key build "$1") work=$dir/$(basename "$1" .patch)
    # The tests shall find the fault, not a static_assert before them.
    blind='-Dstatic_assert(...)=static_assert(true)'
    [ -z "$text" ] || blind=-DNDEBUG
    rm -rf "$work"
    mkdir -p "$work"
    cp -R "$root/include" "$work/include"
    source=$(source_of "$target") slice=$work/$(basename "$source")
    slice "$source" "$tests" >"$slice"
    problem='' status=0
    if ! apply "$work" "$1" >"$work/patch.log" 2>&1; then
        problem='does not apply'
    elif [ ! -x "$dir/whole/$target" ]; then
        problem="$target does not build without it"
    elif ! compile "$work/include" "$target" "$slice" "$work/$target" "$blind" >"$work/build.log" 2>&1; then
        problem=$(built_badly "$work/build.log" "$text")
    elif [ -n "$text" ]; then
        problem='builds'
    elif ! execute "$dir/whole/$target" "$tests" "$work/whole.log"; then
        problem="fails without it, too, see $work/whole.log"
    else
        execute "$work/$target" "$tests" "$work/test.log" || status=$?
        case $status in
            0) problem='the tests pass' ;;
            1) grep -q '^\[  FAILED  \]' "$work/test.log" || problem="exit status 1, see $work/test.log" ;;
            3 | 124 | 125 | 126 | 127) problem="exit status $status, see $work/test.log" ;;
        esac
    fi
    rm -rf "$work/include" "$work/$target"
    verdict "$1" "$problem"
}

# cmake_build TARGET LOG; cmake_test NAME LOG: no such test is a failure.
cmake_build() { [ -z "$1" ] || cmake --build "$dir/build" --target $1 -j "${LOWBIT_FAULTS_JOBS:-2}" >"$2" 2>&1; }
cmake_test() { ctest --test-dir "$dir/build" --no-tests=error --output-on-failure -R "$1" >"$2" 2>&1; }

# all_with_cmake FAULT...: of tests/build and tests/policy, in one copy and one build folder.
all_with_cmake() {
    rm -rf "$dir/copy" "$dir/build"
    mkdir -p "$dir/copy"
    (cd "$root" && cp -R CMakeLists.txt LICENSE *.md bench cmake examples include tests "$dir/copy")
    cmake -S "$dir/copy" -B "$dir/build" -DLOWBIT_TEST_FOLDERS= -DLOWBIT_BUILD_BENCH=OFF -DLOWBIT_BUILD_EXAMPLES=OFF \
        -DLOWBIT_FETCH_DEPENDENCIES=OFF -DLOWBIT_WARNINGS_AS_ERRORS=ON >"$dir/configure.log" 2>&1 ||
        tail -n 20 "$dir/configure.log"
    for fault in "$@"; do # first all without a fault: they share what is built
        log=$dir/$(basename "$fault" .patch)
        name=$(key ctest "$fault")
        rm -f "$log.whole"
        if cmake_build "$(key target "$fault")" "$log.log" && { [ -z "$name" ] || cmake_test "$name" "$log.log"; }; then
            touch "$log.whole"
        fi
    done
    for fault in "$@"; do
        log=$dir/$(basename "$fault" .patch)
        name=$(key ctest "$fault") text=$(key build "$fault") problem=''
        if [ ! -f "$log.whole" ]; then
            problem="fails without it, too, see $log.log"
        elif ! apply "$dir/copy" "$fault" >"$log.log" 2>&1; then
            problem='does not apply'
        else
            if ! cmake_build "$(key target "$fault")" "$log.log"; then
                problem=$(built_badly "$log.log" "$text")
            elif [ -n "$text" ]; then
                problem='builds'
            elif cmake_test "$name" "$log.log"; then
                problem='the tests pass'
            fi
            apply "$dir/copy" "$fault" -R
        fi
        rm -f "$log.whole"
        verdict "$fault" "$problem"
    done
}

# check FAULT...: see --check.
check() {
    wrong=0
    # shellcheck disable=SC2046
    awk '
        function bad(text) { print fault ":1: " text; faults++ }
        function sources_have(text, pattern, file) {
            for (file in content) if (file ~ pattern && index(content[file], text)) return 1
            return 0
        }
        function judge(name, source) {
            name = fault; sub(/.*\//, "", name); sub(/_.*/, "", name)
            if (key["case"] != name) bad("case " key["case"] " in a file of case " name)
            if (!(key["case"] + 0 in cases)) bad("case " key["case"] " is not in tests/CASES.md")
            if (key["fault"] == "") bad("does not say what the fault is")
            if (key["tests"] key["ctest"] key["build"] == "") bad("names no test")
            if (key["ctest"] != "" || key["target"] ~ /^build_/) {
                number = split(key["target"], words, " ")
                for (i = 1; i <= number; i++) {
                    sub(/^build_/, "", words[i])
                    if (!sources_have(words[i], "^tests/build/CMakeLists")) bad("tests/build has no target " words[i])
                }
                sub(/^[a-z]*\./, "", key["ctest"])
                name = key["ctest"]
                sub(/^must_not_compile\./, "FAULT_", name)
                # CMake may make the end of a name: case74_consumer_${kind}.
                while (name != "" && !sources_have(name, "^tests/(build|policy)/")) if (!sub(/_[^_]*$/, "", name)) break
                if (!sources_have(name, "^tests/(build|policy)/") || (name !~ /_/ && key["ctest"] ~ /_/)) {
                    bad("no test is called " key["ctest"])
                }
                return
            }
            source = key["target"]
            if (!("tests/" source ".cpp" in content)) sub(/_/, "/", source)
            source = "tests/" source ".cpp"
            if (!(source in content)) bad("no target is called " key["target"])
            else if (!index(content[source], key["tests"]) && !sources_have(key["tests"], "\\.hpp$")) {
                bad("no test is called " key["tests"])
            }
        }
        FNR == 1 {
            if (fault) judge()
            fault = FILENAME ~ /\.patch$/ ? FILENAME : ""
            head = 1
            delete key
        }
        /^--- / { head = 0 }
        fault && head { colon = index($0, ": "); key[substr($0, 1, colon - 1)] = substr($0, colon + 2) }
        FILENAME ~ /CASES\.md$/ && /^\| *[0-9]+ *\|/ { cases[$2 + 0] = 1 }
        !fault { content[FILENAME] = content[FILENAME] $0 "\n" }
        END { if (fault) judge(); exit faults > 0 }
    ' $(find tests -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt -o -name check.sh) tests/CASES.md "$@" || wrong=1
    for fault in "$@"; do
        apply . "$fault" --dry-run >/dev/null 2>&1 || { echo "$fault:1: does not apply"; wrong=1; }
    done
    return "$wrong"
}

mode=all
case ${1:-} in
    --check | --one | --whole)
        mode=${1#--}
        shift
        ;;
esac
case $mode in
    one | whole)
        cd "$root"
        "$mode" "$1"
        exit
        ;;
esac

# The arguments become paths of faults, below the root.
cd "$root"
[ $# -gt 0 ] || set -- ''
for argument in "$@"; do
    shift
    set -- "$@" "tests/faults/$argument"*.patch
done
for fault in "$@"; do
    [ -f "$fault" ] || { echo "no fault $fault"; exit 2; }
done
if [ "$mode" = check ]; then
    check "$@"
    exit
fi

mkdir -p "$dir/whole"
rm -f "$dir/missed"
parallel() { xargs -n 1 -P "${LOWBIT_FAULTS_JOBS:-2}" sh "$0" "$1"; }
programs='' cmake=''
for fault in "$@"; do
    if with_cmake "$fault"; then cmake="$cmake $fault"; else programs="$programs $fault"; fi
done
if [ -n "$programs" ]; then
    for fault in $programs; do key target "$fault"; done | sort -u | parallel --whole
    printf '%s\n' $programs | parallel --one
fi
[ -z "$cmake" ] || all_with_cmake $cmake
missed=0
[ ! -f "$dir/missed" ] || missed=$(wc -l <"$dir/missed")
echo "$# faults: $(($# - missed)) caught, $missed missed"
[ "$missed" -eq 0 ]
