#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves that the target docs finds what it is there to find: sh cmake/docs/check_test.sh BUILD_DIR [CMAKE_OPTION...]
# Builds the documentation of the library and of one more header, which is right at first and then full of faults.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?usage: check_test.sh BUILD_DIR [CMAKE_OPTION...]}
shift
mkdir -p "$build/extra/include/lowbit/core"
header=$(cd "$build" && pwd)/extra/include/lowbit/core/extra.hpp
cmake -S "$root" -B "$build" -DLOWBIT_BUILD_TESTS=OFF -DLOWBIT_BUILD_BENCH=OFF -DLOWBIT_BUILD_EXAMPLES=OFF \
    -DLOWBIT_SAFETENSORS=OFF "-DLOWBIT_DOCS_EXTRA=$header" "$@" >/dev/null

cat >"$header" <<'END'
// SPDX-License-Identifier: Apache-2.0
// One more header.
#pragma once

namespace lowbit {

/// Twice the value.
[[nodiscard]] constexpr int documented(int value) noexcept { return 2 * value; }

namespace detail {

inline int internal(int value) { return value; }

}  // namespace detail
}  // namespace lowbit
END
cmake --build "$build" --target docs

cat >"$header" <<'END'
// SPDX-License-Identifier: Apache-2.0
// One more header, with a link to <a href="nowhere.html">nothing</a>.
#pragma once

namespace lowbit {

[[nodiscard]] constexpr int undocumented(int value) noexcept { return 2 * value; }

/// Twice as much.
///     a picture that is none
[[nodiscard]] constexpr int half_documented(int value) noexcept { return 2 * value; }

/// The difference of `first` and another.
template <class T>
[[nodiscard]] T difference(T first, T second) {
    return first - second;
}

/// A struct.
struct with_member {
    int member = 0;

    void function() {}
};

class bare {};

template <class T>
concept anything = true;

using alias = int;

inline constexpr int constant = 1;

/// An enumeration.
enum class numbers {
    one,  ///< documented
    two
};

}  // namespace lowbit
END
if output=$(cmake --build "$build" --target docs 2>&1); then
    echo "the documentation was built in spite of its faults"
    exit 1
fi
failures=0
while read -r text; do
    case $output in
    *"$text"*) ;;
    *)
        echo "not found: $text"
        failures=1
        ;;
    esac
done <<'END'
'nowhere.html' leads nowhere
Member undocumented(int value) noexcept (function) of namespace lowbit is not documented
extra.hpp:10: a picture needs an empty line before it
the text of half_documented does not name its parameter 'value'
the text of difference does not name its parameter 'second'
Member member (variable) of struct lowbit::with_member is not documented
Member function() (function) of struct lowbit::with_member is not documented
lowbit::bare is not documented
'conceptlowbit_1_1anything.html' leads nowhere
Member alias (typedef) of namespace lowbit is not documented
Member constant (variable) of namespace lowbit is not documented
enumerator numbers::two is not documented
END
[ $failures -eq 0 ] || printf '%s\n' "$output"
exit $failures
