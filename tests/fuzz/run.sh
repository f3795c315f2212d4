#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the fuzz targets of this folder:  sh tests/fuzz/run.sh [--msan] SECONDS [TARGET...]
#
#   SECONDS   for each target; 0: its seeds only
#   TARGET    npy, safetensors, decode, ...; without one, all
#   --msan    with MemorySanitizer instead of AddressSanitizer and UndefinedBehaviorSanitizer
#
# Two targets are built and run at a time ($LOWBIT_FUZZ_JOBS). Prints a line a target. After a finding the line names the
# input, the end of the log follows, and the exit status is not 0. Builds, logs, findings, and the inputs that a run
# found worth keeping lie in $LOWBIT_FUZZ_DIR, else out/fuzz. Needs clang 14 with its runtime (Debian: clang,
# libclang-rt-14-dev) and nlohmann-json3-dev.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${LOWBIT_FUZZ_DIR:-$here/../../out/fuzz}
compiler=${LOWBIT_FUZZ_CXX:-clang++}

# build KIND TARGET PROGRAM
build() {
    case $1 in
        asan) set -- "$2" "$3" -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all ;;
        msan) set -- "$2" "$3" -fsanitize=memory -fsanitize-ignorelist="$here/../support/msan_ignore.txt" \
            -include "$here/../support/msan.hpp" "$here/replay.cpp" ;;
    esac
    target=$1 program=$2
    shift 2
    "$compiler" -std=c++20 -O1 -g1 -I"$here/../../include" "$here/${target}_fuzz.cpp" "$@" -pthread -o "$program"
}

# execute KIND SECONDS TARGET PROGRAM
execute() {
    target=$3 program=$4
    seeds=$here/corpus/$target finding=$dir/findings/$target
    if [ "$1" = msan ]; then
        "$program" "$2" "$finding-msan" "$seeds"/*
        return
    fi
    kept=$dir/corpus/$target
    mkdir -p "$kept"
    limit=-max_total_time=$2
    [ "$2" != 0 ] || limit=-runs=0
    set -- "$limit" -artifact_prefix="$finding-" -print_final_stats=1 -max_len=1000 -len_control=0 -timeout=300
    [ ! -f "$here/$target.dict" ] || set -- "$@" -dict="$here/$target.dict"
    "$program" "$@" "$kept" "$seeds"
}

# one KIND SECONDS TARGET: builds and runs a target, prints its line.
one() {
    program=$dir/$1/${3}_fuzz log=$dir/$1/$3.log
    mkdir -p "$dir/$1" "$dir/findings"
    if ! build "$1" "$3" "$program" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "$3: does not compile"
        return 1
    fi
    status=0
    execute "$1" "$2" "$3" "$program" >"$log" 2>&1 || status=$?
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    found='no finding'
    if [ "$status" -ne 0 ]; then
        tail -n 40 "$log"
        found="FINDING $(sed -n 's/^.*Test unit written to //p' "$log" | tail -n 1)"
    fi
    printf '%-12s %s %9s executions  cov %5s  peak %4s MB  %s\n' \
        "$3" "$1" "${executed:--}" "${covered:--}" "${peak:--}" "$found"
    return "$status"
}

if [ "${1:-}" = --one ]; then
    shift
    one "$@"
    exit
fi
kind=asan
if [ "${1:-}" = --msan ]; then
    kind=msan
    shift
fi
seconds=${1:?usage: run.sh [--msan] SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- gemm matrix_file quantize decode safetensors npy # what takes longest to compile comes first
printf '%s\n' "$@" | xargs -n 1 -P "${LOWBIT_FUZZ_JOBS:-2}" sh "$0" --one "$kind" "$seconds"
