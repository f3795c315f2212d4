// SPDX-License-Identifier: Apache-2.0
// All 2^32 floats to E2M1, E4M3 and HiF8 (every deterministic rounding), against thresholds found by exact arithmetic
// in the list of values. Only with the CMake option LOWBIT_EXHAUSTIVE_TESTS; LOWBIT_EXHAUSTIVE_SHARE=i/n takes one of n
// equal pieces of the magnitudes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <lowbit/element/element.hpp>

#include "support/element_oracle.hpp"

#ifndef LOWBIT_EXHAUSTIVE_TESTS
# define LOWBIT_EXHAUSTIVE_TESTS 0
#endif

namespace lowbit::test {
namespace {

constexpr std::uint32_t infinity_pattern = 0x7F800000U;

/// A run of positive float patterns, ending where the next one begins, that share one code.
struct run {
    std::uint32_t first;
    int code;  // -1: past the largest value
};

/// The runs of the finite floats under one rounding: bisection over float patterns, each probe decided by the search in
/// double (round_by_search); codes of a monotone rounding change at most once between neighbours of the value list.
std::vector<run> make_runs(const value_grid& grid, direction mode) {
    const auto code_of = [&](std::uint32_t pattern) {
        const auto code = round_by_search(grid, static_cast<double>(float_from_bits(pattern)), mode);
        return code ? int{*code} : -1;
    };
    std::vector<run> runs{{0, code_of(0)}};
    while (true) {
        const int code = runs.back().code;
        std::uint32_t low = runs.back().first, high = infinity_pattern;  // code_of(low) == code, high: past the run
        if (code_of(high - 1) == code) break;
        // Gallop in value order: the rank of a code grows with the pattern, so bisect on "still the same code".
        while (high - low > 1) {
            const std::uint32_t middle = low + (high - low) / 2;
            (code_of(middle) == code ? low : high) = middle;
        }
        runs.push_back({high, code_of(high)});
    }
    return runs;
}

void piece_of_all(std::uint32_t& first, std::uint32_t& last) {
    unsigned index = 0, count = 1;
    if (const char* share = std::getenv("LOWBIT_EXHAUSTIVE_SHARE"); share != nullptr) {
        std::string text(share);
        const auto slash = text.find('/');
        index = static_cast<unsigned>(std::stoul(text));
        count = slash == std::string::npos ? 1 : static_cast<unsigned>(std::stoul(text.substr(slash + 1)));
    }
    const std::uint64_t all = 0x80000000U;
    first = static_cast<std::uint32_t>(all * index / count);
    last = static_cast<std::uint32_t>(all * (index + 1) / count);
}

/// Compares the codes of all floats +-x of the piece. `convert(x)` is under test; `finish(code, negative)` makes the
/// wanted code of a run's code (-1: overflow) and sign; `nan` is the wanted code of NaN.
template <class Convert, class Finish>
void sweep(const char* name, const std::vector<run>& runs, int nan, Convert convert, Finish finish) {
    std::uint32_t first = 0, last = 0;
    piece_of_all(first, last);
    std::uint64_t compared = 0, mismatches = 0;
    std::uint32_t example = 0;
    const auto expect_range = [&](std::uint32_t from, std::uint32_t to, int positive, int negative) {
        from = std::max(from, first);
        to = std::min(to, last);
        for (std::uint32_t u = from; u < to; ++u) {
            const bool wrong =
                (convert(float_from_bits(u)) != positive) || (convert(float_from_bits(u | 0x80000000U)) != negative);
            if (wrong) example = mismatches == 0 ? u : example;
            mismatches += wrong ? 1 : 0;
        }
        compared += from < to ? 2 * std::uint64_t{to - from} : 0;
    };
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::uint32_t end = i + 1 < runs.size() ? runs[i + 1].first : infinity_pattern;
        expect_range(runs[i].first, end, finish(runs[i].code, false), finish(runs[i].code, true));
    }
    expect_range(infinity_pattern, infinity_pattern + 1, finish(-1, false), finish(-1, true));
    expect_range(infinity_pattern + 1, 0x80000000U, nan, nan);
    std::printf("%s: %llu floats compared in %zu runs, %llu mismatches\n", name,
                static_cast<unsigned long long>(compared), runs.size(), static_cast<unsigned long long>(mismatches));
    EXPECT_EQ(mismatches, 0U) << "first at pattern " << std::hex << example;
    EXPECT_EQ(compared, 2 * std::uint64_t{last - first});
}

TEST(exhaustive, e2m1) {
    if (!LOWBIT_EXHAUSTIVE_TESTS) GTEST_SKIP() << "needs LOWBIT_EXHAUSTIVE_TESTS";
    sweep(
        "e2m1 nearest_even saturate", make_runs(make_grid(1, 1, true, 8), direction::even), 0x7,
        [](float x) { return e2m1::from_float(x).bits(); },
        [](int code, bool negative) { return (code < 0 ? 0x7 : code) | (negative ? 0x8 : 0); });
}

TEST(exhaustive, e4m3) {
    if (!LOWBIT_EXHAUSTIVE_TESTS) GTEST_SKIP() << "needs LOWBIT_EXHAUSTIVE_TESTS";
    const auto runs = make_runs(make_grid(3, 7, true, 127), direction::even);
    sweep(
        "e4m3 nearest_even saturate", runs, 0x7F, [](float x) { return e4m3::from_float(x).bits(); },
        [](int code, bool negative) { return (code < 0 ? 0x7E : code) | (negative ? 0x80 : 0); });
    sweep(
        "e4m3 nearest_even infinity", runs, 0x7F,
        [](float x) { return e4m3::from_float(x, rounding::nearest_even, overflow::infinity).bits(); },
        [](int code, bool negative) { return (code < 0 ? 0x7F : code) | (negative ? 0x80 : 0); });
}

TEST(exhaustive, hif8) {
    if (!LOWBIT_EXHAUSTIVE_TESTS) GTEST_SKIP() << "needs LOWBIT_EXHAUSTIVE_TESTS";
    const auto to_infinity = [](int code, bool negative) {
        const int magnitude = code < 0 ? 0x6F : code;
        return negative && magnitude != 0 ? magnitude | 0x80 : magnitude;
    };
    const value_grid grid = make_hif8_grid();
    sweep(
        "hif8 ties_away infinity", make_runs(grid, direction::away), 0x80,
        [](float x) { return hif8::from_float(x).bits(); }, to_infinity);
    sweep(
        "hif8 nearest_even infinity", make_runs(grid, direction::even), 0x80,
        [](float x) { return hif8::from_float(x, hif8_rounding::nearest_even).bits(); }, to_infinity);
    auto truncated = make_runs(grid, direction::zero);
    ASSERT_EQ(truncated.back().code, -1);
    truncated.pop_back();  // a finite input never overflows: 32768's run goes on
    sweep(
        "hif8 toward_zero infinity", truncated, 0x80,
        [](float x) { return hif8::from_float(x, hif8_rounding::toward_zero).bits(); }, to_infinity);
}

}  // namespace
}  // namespace lowbit::test
