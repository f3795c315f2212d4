#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A benchmark's rows as a table for people: sh bench/table.sh PROGRAM [FILTER [REPETITIONS]]
#
# Runs PROGRAM (of a Release build) with Google Benchmark's CSV output and prints, after the lines that say where the
# figures are from, one line a row: the median of the repetitions (default 5) of each of its counters. Counters above
# 10^5 are printed in units of 10^9, smaller ones as they are.
set -eu

if [ $# -lt 1 ]; then
    echo "usage: sh bench/table.sh PROGRAM [FILTER [REPETITIONS]]" >&2
    exit 2
fi
program=$1
filter=${2-.}
repetitions=${3-5}
build=$(cd "$(dirname "$program")/.." && pwd)
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
printf 'CPU      %s\n' "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
printf 'compiler %s, %s %s\n' "$("$(cache CMAKE_CXX_COMPILER)" --version | head -n 1)" "$(cache CMAKE_BUILD_TYPE)" \
    "$(cache CMAKE_CXX_FLAGS_RELEASE)"
printf 'commit   %s\n' "$(git -C "$(dirname "$0")" describe --always --dirty 2>/dev/null || echo unknown)"
printf 'command  %s --benchmark_filter=%s, median of %s\n\n' "$(basename "$program")" "$filter" "$repetitions"

"$program" --benchmark_filter="$filter" --benchmark_repetitions="$repetitions" \
    --benchmark_report_aggregates_only=true --benchmark_format=csv 2>/dev/null >"$rows"
awk '
    # Splits a line of CSV; fields may stand in quotes.
    function split_csv(line, field,    n, i, c, quoted, text) {
        n = 0; text = ""; quoted = 0
        for (i = 1; i <= length(line); ++i) {
            c = substr(line, i, 1)
            if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) { field[++n] = text; text = "" }
            else text = text c
        }
        field[++n] = text
        return n
    }
    function number(x) { if (x == "") return ""; x += 0; return x > 1e5 ? sprintf("%.1f", x / 1e9) : sprintf("%.3f", x) }
    !header && /^name,/ { header = 1; columns = split_csv($0, title); next }
    header {
        split_csv($0, cell)
        if (cell[1] !~ /_median$/) next
        sub(/_median$/, "", cell[1])
        gsub(/\/(min_time|min_warmup_time|repeats|iterations):[0-9.]+|\/(real_time|process_time|manual_time)/, "", cell[1])
        ++count
        text[count, 0] = cell[1]
        if (length(cell[1]) > wide) wide = length(cell[1])
        for (i = 11; i <= columns; ++i) text[count, i] = number(cell[i])
    }
    END {
        if (count == 0) { print "no rows" ; exit 1 }
        printf "%-*s", wide, "row"
        for (i = 11; i <= columns; ++i) printf "  %12s", title[i]
        print ""
        for (r = 1; r <= count; ++r) {
            printf "%-*s", wide, text[r, 0]
            for (i = 11; i <= columns; ++i) printf "  %12s", text[r, i]
            print ""
        }
    }' "$rows"
