// SPDX-License-Identifier: Apache-2.0
/// Rounding of one number to a list of representable values by exact comparison in double: the oracle of all element
/// types. It knows values and codes only, no bit tricks; every quantity it compares is exact in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace lowbit::test {

/// The magnitudes of a type, ascending, with their codes; and the value that the unbounded grid has next.
struct value_grid {
    std::vector<double> values;
    std::vector<std::uint8_t> codes;
    double next = 0;
    bool has_zero = true;
};

/// Grid of a type with fields; `count` finite magnitudes, codes 0 .. count - 1.
inline value_grid make_grid(int mantissa_bits, int bias, bool subnormals, int count) {
    const auto value = [&](int code) {
        const int field = code >> mantissa_bits;
        const double fraction = std::ldexp(static_cast<double>(code & ((1 << mantissa_bits) - 1)), -mantissa_bits);
        return subnormals && field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, field - bias);
    };
    value_grid grid;
    for (int code = 0; code < count; ++code) {
        grid.values.push_back(value(code));
        grid.codes.push_back(static_cast<std::uint8_t>(code));
    }
    grid.next = value(count);
    grid.has_zero = subnormals;
    return grid;
}

/// Grid of HiF8, from the paper's table of codes: rows of eight codes, largest value 0x6E.
inline value_grid make_hif8_grid() {
    struct entry {
        double value;
        std::uint8_t code;
    };
    std::vector<entry> entries{{0.0, 0}};
    const auto binade = [&](int first_code, int exponent, int count) {
        for (int m = 0; m < count; ++m) {
            entries.push_back({std::ldexp(1.0 + static_cast<double>(m) / count, exponent),
                               static_cast<std::uint8_t>(first_code + m)});
        }
    };
    for (int c = 1; c < 8; ++c) binade(c, c - 23, 1);
    binade(0x08, 0, 8);
    binade(0x10, 1, 8), binade(0x18, -1, 8);
    binade(0x20, 2, 8), binade(0x28, 3, 8), binade(0x30, -2, 8), binade(0x38, -3, 8);
    for (int e = 0; e < 4; ++e) binade(0x40 + 4 * e, 4 + e, 4), binade(0x50 + 4 * e, -4 - e, 4);
    for (int e = 0; e < 7; ++e) binade(0x60 + 2 * e, 8 + e, 2);
    for (int e = 0; e < 8; ++e) binade(0x70 + 2 * e, -8 - e, 2);
    binade(0x6E, 15, 1);
    std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) { return a.value < b.value; });
    value_grid grid;
    for (const entry& e : entries) {
        grid.values.push_back(e.value);
        grid.codes.push_back(e.code);
    }
    grid.next = 49152.0;
    return grid;
}

/// Where a magnitude lies: between values[lower] and the next one, `share` of the way (exact).
struct location {
    std::size_t lower;
    double low, high;
    double share;
};

inline location locate(const value_grid& grid, double magnitude) {
    const auto above = std::upper_bound(grid.values.begin(), grid.values.end(), magnitude);
    const auto lower = static_cast<std::size_t>(above - grid.values.begin()) - 1;
    const double low = grid.values[lower];
    const double high = above == grid.values.end() ? grid.next : *above;
    return {lower, low, high, (magnitude - low) / (high - low)};
}

enum class direction { even, away, zero };

/// Code of a finite magnitude, nothing where it rounds past the largest value.
inline std::optional<std::uint8_t> round_by_search(const value_grid& grid, double magnitude, direction mode) {
    if (magnitude < grid.values.front()) return grid.codes.front();
    if (magnitude >= grid.next) return std::nullopt;
    const location at = locate(grid, magnitude);
    const double middle = (at.low + at.high) / 2;
    const bool odd = grid.codes[at.lower] % 2 != 0;
    const bool up =
        mode != direction::zero && (magnitude > middle || (magnitude == middle && (mode == direction::away || odd)));
    const std::size_t chosen = at.lower + (up ? 1 : 0);
    if (chosen == grid.codes.size()) return std::nullopt;
    return grid.codes[chosen];
}

/// The same for stochastic rounding with these 24 random bits.
inline std::optional<std::uint8_t> round_by_chance(const value_grid& grid, double magnitude, std::uint32_t random) {
    if (magnitude < grid.values.front()) return grid.codes.front();
    if (magnitude >= grid.next) return std::nullopt;
    const location at = locate(grid, magnitude);
    const bool up = static_cast<double>(random) < std::floor(at.share * 16777216.0);
    const std::size_t chosen = at.lower + (up ? 1 : 0);
    if (chosen == grid.codes.size()) return std::nullopt;
    return grid.codes[chosen];
}

/// Every value, every midpoint, and both sides of the largest one, each with its float and double neighbours; positive
/// numbers, as doubles that are floats (`floats`) or not (`doubles`).
struct test_points {
    std::vector<float> floats;
    std::vector<double> doubles;
};

inline test_points make_test_points(const value_grid& grid) {
    test_points points;
    const auto add = [&](double x) {
        points.doubles.insert(points.doubles.end(), {x, std::nextafter(x, 0.0), std::nextafter(x, HUGE_VAL)});
        if (x <= static_cast<double>(std::numeric_limits<float>::max()) &&
            static_cast<double>(static_cast<float>(x)) == x) {
            const auto f = static_cast<float>(x);
            points.floats.insert(points.floats.end(), {f, std::nextafter(f, 0.0F), std::nextafter(f, HUGE_VALF)});
            points.doubles.insert(points.doubles.end(), {x + std::ldexp(x, -40), x - std::ldexp(x, -40)});
        }
    };
    for (std::size_t i = 0; i < grid.values.size(); ++i) {
        const double low = grid.values[i];
        const double high = i + 1 < grid.values.size() ? grid.values[i + 1] : grid.next;
        for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) add(low + share * (high - low));
    }
    add(grid.values.front() / 2);
    add(grid.next * 2);
    points.floats.insert(points.floats.end(),
                         {0.0F, 1e-45F, 1e-40F, std::numeric_limits<float>::min(), std::numeric_limits<float>::max()});
    points.doubles.insert(points.doubles.end(), {5e-324, 1e-310, std::numeric_limits<double>::min(),
                                                 std::numeric_limits<double>::max(), 1e39});
    // nextafter of the largest float may have given Inf, which is tested apart.
    std::erase_if(points.floats, [](float f) { return !(f <= std::numeric_limits<float>::max()); });
    std::erase_if(points.doubles, [](double d) { return !(d <= std::numeric_limits<double>::max()); });
    return points;
}

}  // namespace lowbit::test
