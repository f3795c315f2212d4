#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves that check.sh finds what it is there to find: builds a small tree with one fault a rule and expects each.

set -eu
check=$(cd "$(dirname "$0")" && pwd)/check.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/include/lowbit/core" "$tree/include/lowbit/kernel" "$tree/include/lowbit/gemm" "$tree/tests/core" "$tree/tests/policy" \
    "$tree/tests/faults" "$tree/bench" "$tree/examples" "$tree/cmake"
cp "$(dirname "$check")/../faults/run.sh" "$tree/tests/faults"
cd "$tree"
licence='// SPDX-License-Identifier: Apache-2.0'
failures=0

# good: the smallest tree that keeps every rule.
good() {
    printf '# SPDX-License-Identifier: Apache-2.0\n# x\n' >CMakeLists.txt
    printf '%s\n#pragma once\n' "$licence" >include/lowbit/core/a.hpp
    printf '%s\n#include <lowbit/core/a.hpp>\n' "$licence" >tests/core/a_test.cpp
    printf '# none\n' >tests/policy/no_own_test.txt
    printf '%s\nTEST(b, case07_x) {}\n' "$licence" >tests/core/b_test.cpp
    printf '| case | what | tests |\n| --- | --- | --- |\n| 7 | x | [case07_x](core/b_test.cpp) |\n' >tests/CASES.md
    fault 07 core_b_test case07_ '#pragma once'
    rm -f include/lowbit/core/b.hpp include/lowbit/kernel/*.hpp include/lowbit/gemm/*.hpp
}

# fault CASE TARGET TESTS LINE: a patch that takes the second line, LINE, out of a header.
fault() {
    printf 'case: %s\nfault: x\ntarget: %s\ntests: %s\n' "$1" "$2" "$3" >tests/faults/07_x.patch
    printf '%s\n' '--- a/include/lowbit/core/a.hpp' '+++ b/include/lowbit/core/a.hpp' '@@ -1,2 +1,1 @@' " $licence" "-$4" \
        >>tests/faults/07_x.patch
}

# expect RULE TEXT: the rule must fail and say TEXT.
expect() {
    if output=$(sh "$check" "$1" "$tree" 2>&1); then
        echo "rule $1 found nothing, expected: $2"
        failures=1
    else
        case $output in
            *"$2"*) ;;
            *) echo "rule $1 said '$output', expected: $2"; failures=1 ;;
        esac
    fi
    good
}
# add FILE LINE...: a header with these lines.
add() {
    file=include/lowbit/$1
    shift
    printf '%s\n#pragma once\n' "$licence" >"$file"
    printf '%s\n' "$@" >>"$file"
}

good
for rule in layers intrinsics printing macros length text mirror cases faults; do
    sh "$check" "$rule" "$tree" || { echo "rule $rule finds a fault in a good tree"; failures=1; }
done

add core/a.hpp '#include <lowbit/gemm/gemm.hpp>';          expect layers 'layer 0 (core) includes layer 6'
add core/a.hpp '#include <lowbit/lowbit.hpp>';             expect layers 'umbrella'
add core/a.hpp '#include "x.hpp"';                         expect layers 'quoted include'
add core/a.hpp '#include <boost/x.hpp>';                   expect layers 'not the standard library'
add core/a.hpp '#include <immintrin.h>';                   expect intrinsics 'immintrin'
add core/a.hpp 'inline int f() { return _mm_getcsr(); }';  expect intrinsics 'intrinsic outside'
add gemm/g.hpp '#include <lowbit/kernel/isa_avx2.hpp>';    expect intrinsics 'only the tables'
add core/a.hpp '#include <iostream>';                      expect printing 'iostream'
add core/a.hpp '# include <fmt/core.h>';                   expect printing 'fmt/core.h'
add core/a.hpp 'inline void f() { std::printf("x"); }';    expect printing 'prints'
add core/a.hpp '#  define small 1';                        expect macros 'small'
add core/a.hpp '#define LOWBIT_X 1';                       expect macros 'defined here'
add core/a.hpp "$(awk 'BEGIN { for (i = 0; i < 600; i++) print "//" }')"; expect length '600 lines'
add core/a.hpp "$(awk 'BEGIN { for (i = 0; i < 121; i++) printf "x" }')"; expect length '121 characters'
printf '#pragma once\n\n' >include/lowbit/core/a.hpp;      expect text 'licence'
printf '%s\n\n' "$licence" >include/lowbit/core/a.hpp;     expect text 'pragma once'
add core/a.hpp 'namespace {';                              expect text 'unnamed namespace'
add core/a.hpp 'using namespace std;';                     expect text 'using-directive'
add core/a.hpp 'static int f();';                          expect text 'static at namespace scope'
rm tests/core/b_test.cpp; add core/b.hpp '';               expect mirror 'no tests/core/b_test.cpp'
echo 'TEST(b, case08_y) {}' >>tests/core/b_test.cpp;       expect cases 'add [case08_y](core/b_test.cpp) to the row of case 8'
echo 'TEST(b, case07_case09_z) {}' >>tests/core/b_test.cpp
echo '| 7 | z | [case07_case09_z](core/b_test.cpp) |' >>tests/CASES.md; expect cases 'to the row of case 9'
echo '| 9 | x | [case09_x](core/b_test.cpp) |' >>tests/CASES.md;       expect cases 'which does not exist'
echo '| 9 | x | [x](core/c_test.cpp) |' >>tests/CASES.md;              expect cases 'which does not exist'
echo '| case | what | tests |' >tests/CASES.md;              expect cases 'names no test'
fault 07 core_b_test case07_ '#pragma twice';                expect faults 'does not apply'
fault 08 core_b_test case07_ '#pragma once';                expect faults 'case 08 in a file of case 07'
fault 07 core_c_test case07_ '#pragma once';                expect faults 'no target is called core_c_test'
fault 07 core_b_test case07_y '#pragma once';               expect faults 'no test is called case07_y'
exit $failures
