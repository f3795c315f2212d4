#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes measured output into README.md: sh cmake/update_readme.sh BUILD_DIR [PATTERN]
#
# A figure in README.md is never pasted by hand. It stands between
#     <!-- output of: COMMAND -->   and   <!-- end of output -->
# and this script runs each COMMAND (in the source folder, with $BUILD set to BUILD_DIR) whose text contains PATTERN
# (all of them when none is given) and replaces what stands between the two lines. A command that fails stops the
# script, and README.md stays as it was.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 1 ]; then
    echo "usage: sh cmake/update_readme.sh BUILD_DIR [PATTERN]" >&2
    exit 2
fi
BUILD=$(cd "$1" && pwd)
export BUILD
pattern=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

skipping=no
while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    "<!-- output of: "*" -->")
        printf '%s\n' "$line" >>"$work/README.md"
        command=${line#"<!-- output of: "}
        command=${command%" -->"}
        case $command in
        *"$pattern"*)
            echo "running: $command" >&2
            sh -c "$command" >"$work/output" </dev/null || { echo "update_readme.sh: failed: $command" >&2; exit 1; }
            { printf '```text\n'; sed 's/[[:space:]]*$//' "$work/output"; printf '```\n'; } >>"$work/README.md"
            skipping=yes
            ;;
        esac
        ;;
    "<!-- end of output -->")
        skipping=no
        printf '%s\n' "$line" >>"$work/README.md"
        ;;
    *)
        [ $skipping = yes ] || printf '%s\n' "$line" >>"$work/README.md"
        ;;
    esac
done <README.md
cat "$work/README.md" >README.md
