#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a bare machine to a result:
#   sh cmake/setup.sh demo    builds the examples and compares all formats on the tensors that come with them
#   sh cmake/setup.sh test    the same, then builds and runs the whole test suite
#   sh cmake/setup.sh report [FILE|FOLDER|OPTION]...
#                             builds bench_report and runs it on your files (default: the tensors that come with
#                             lowbit): bits, errors and speeds of all formats; --help tells the options. Without one
#                             that names a file for the results, lowbit-report.html and .json are written here.
#   sh cmake/setup.sh docs    writes the API documentation
# On Debian and Ubuntu missing packages are installed with apt (through sudo if not root); elsewhere missing tools are
# named and the build goes on with what there is. Nothing else is fetched.
#   LOWBIT_BUILD_DIR  where to build (default: build)      CXX  the compiler (default: what CMake finds)

set -eu
here=$PWD
cd "$(dirname "$0")/.."
build=${LOWBIT_BUILD_DIR:-build}
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }

usage() {
    sed -n '3,13s/^# \{0,1\}//p' cmake/setup.sh
    exit 2
}

# install PACKAGE...: what of these is not there yet, where there is apt.
install() {
    command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1 || return 0
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
            *' installed') ;;
            *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    say "Installing$missing"
    root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "Not root and no sudo here: install these by hand; going on without them."
            return 0
        fi
        root='sudo'
    fi
    # shellcheck disable=SC2086
    if ! { $root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
        $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
        >"${TMPDIR:-/tmp}/lowbit-apt.$$" 2>&1; then
        tail -n 5 "${TMPDIR:-/tmp}/lowbit-apt.$$"
        echo "apt could not install them; going on with what there is."
    fi
    rm -f "${TMPDIR:-/tmp}/lowbit-apt.$$"
}

# require_tools: names what cannot be done without, and stops only if the build cannot even start.
require_tools() {
    lacking=
    command -v cmake >/dev/null 2>&1 || lacking="$lacking cmake(>=3.25)"
    command -v "${CXX:-c++}" >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 ||
        lacking="$lacking g++(>=12)-or-clang(>=14)"
    command -v ninja >/dev/null 2>&1 || command -v make >/dev/null 2>&1 || lacking="$lacking ninja-or-make"
    if [ -n "$lacking" ]; then
        echo "Missing tools:$lacking"
        command -v cmake >/dev/null 2>&1 || exit 1
    fi
}

# build OPTION...: configures and builds Release with these parts on.
build() {
    say "Building in $build"
    parts=
    for part in EXAMPLES REPORT TESTS; do
        case " $* " in
            *" $part "*) parts="$parts -DLOWBIT_BUILD_$part=ON" ;;
            *) parts="$parts -DLOWBIT_BUILD_$part=OFF" ;;
        esac
    done
    # shellcheck disable=SC2086
    set -- -DCMAKE_BUILD_TYPE=Release $parts -DLOWBIT_BUILD_BENCH=OFF -DLOWBIT_SAFETENSORS=ON \
        -DLOWBIT_FETCH_DEPENDENCIES=OFF
    if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null 2>&1; then
        set -- -G Ninja "$@"
    fi
    cmake -S . -B "$build" "$@"
    cmake --build "$build" --parallel "$jobs"
}

demo() {
    say "Formats on the tensors in examples/data"
    "$build/examples/compare_formats"
}

# report ARGUMENT...: runs bench_report where the user is.
report() {
    program=$(cd "$build" && pwd)/bench/report/bench_report
    if [ ! -x "$program" ]; then
        echo "bench_report was not built: see the warnings above."
        exit 1
    fi
    cd "$here"
    case " $* " in
        *' --html'* | *' --json'* | *' --csv'* | *' --svg'* | *' --list '* | *' -l '* | *' --help '* | *' -h '*)
            exec "$program" "$@"
            ;;
    esac
    code=0
    "$program" "$@" --html lowbit-report.html --json lowbit-report.json || code=$?
    [ ! -s lowbit-report.html ] || say "The same as a page, and for programs: lowbit-report.html, lowbit-report.json"
    exit $code
}

case ${1:-} in
    demo)
        install g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev
        require_tools
        build EXAMPLES
        demo
        ;;
    test)
        install g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev patch
        require_tools
        build EXAMPLES TESTS
        demo
        say "Test suite"
        ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$jobs"
        ;;
    report)
        shift
        install g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev
        require_tools
        build REPORT
        say "Formats against each other"
        report "$@"
        ;;
    docs)
        install g++ cmake ninja-build doxygen
        require_tools
        command -v doxygen >/dev/null 2>&1 || { echo "Missing tools: doxygen(>=1.9.4)"; exit 1; }
        build
        cmake --build "$build" --target docs
        say "Begin at $build/docs/html/index.html"
        ;;
    *) usage ;;
esac
