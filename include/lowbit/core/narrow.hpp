// SPDX-License-Identifier: Apache-2.0
// Rounding of a float or double to a narrower binary floating-point grid, once, in integers.
//
// A finite nonzero magnitude is split into a normalised significand and an exponent; a grid (mantissa bits, smallest
// normal exponent, subnormals or not) cuts the significand at the right bit; a policy decides from the bits cut off
// whether to go up. The result is the *code* of the magnitude, exponent field above mantissa field, where a carry out
// of the mantissa moves into the exponent by itself. Nothing here depends on the rounding mode, FTZ, DAZ or
// -ffast-math.
#pragma once

#include <bit>
#include <cstdint>

#include <lowbit/core/bits.hpp>

namespace lowbit::detail {

/// A nonzero magnitude significand * 2^(exponent - (Digits - 1)), leading one at bit Digits - 1: in [2^exponent, 2 *
/// 2^exponent).
template <int Digits>
struct split_magnitude {
    std::uint64_t significand;
    int exponent;
};

/// Splits a nonzero finite |x|; subnormals are normalised. Zero gives significand 0 and a very small exponent.
[[nodiscard]] constexpr split_magnitude<24> split(float x) noexcept {
    const std::uint32_t magnitude = abs_bits(x);
    const std::uint32_t fraction = magnitude & 0x007FFFFFU;
    if (magnitude >= 0x00800000U) {
        return {fraction | 0x00800000U, static_cast<int>(magnitude >> 23U) - 127};
    }
    const int shift = std::countl_zero(fraction | 1U) - 8;
    return {std::uint64_t{fraction} << static_cast<unsigned>(shift), -126 - shift};
}

/// As the float version, with 53 digits.
[[nodiscard]] constexpr split_magnitude<53> split(double x) noexcept {
    const std::uint64_t magnitude = abs_bits(x);
    const std::uint64_t fraction = magnitude & 0x000FFFFFFFFFFFFFU;
    if (magnitude >= 0x0010000000000000U) {
        return {fraction | 0x0010000000000000U, static_cast<int>(magnitude >> 52U) - 1023};
    }
    const int shift = std::countl_zero(fraction | 1U) - 11;
    return {fraction << static_cast<unsigned>(shift), -1022 - shift};
}

/// What was cut off: `rest` of `shift` bits (rest / 2^shift of a step), below a truncated code that is odd or even.
struct cut {
    std::uint64_t rest;
    int shift;  // 1 .. 63
    bool odd;

    [[nodiscard]] constexpr std::uint64_t half() const noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(shift - 1);
    }
};

/// Cuts a significand of `digits` bits (at most 53) at bit `shift` >= 1; a cut beyond bit 63 keeps a sticky bit.
struct cut_significand {
    std::uint64_t kept;
    std::uint64_t rest;
    int shift;

    constexpr cut_significand(std::uint64_t significand, int at) noexcept : kept(0), rest(significand), shift(at) {
        if (at > 63) {
            const int excess = at - 63 < 63 ? at - 63 : 63;
            rest = significand >> static_cast<unsigned>(excess) | (significand != 0 ? 1U : 0U);
            shift = 63;
        }
        kept = rest >> static_cast<unsigned>(shift);
        rest &= (std::uint64_t{1} << static_cast<unsigned>(shift)) - 1U;
    }
};

struct round_nearest_even {
    [[nodiscard]] constexpr bool operator()(const cut& c) const noexcept {
        return c.rest + (c.odd ? 1U : 0U) > c.half();
    }
};

struct round_nearest_away {
    [[nodiscard]] constexpr bool operator()(const cut& c) const noexcept { return c.rest >= c.half(); }
};

struct round_toward_zero {
    [[nodiscard]] constexpr bool operator()(const cut&) const noexcept { return false; }
};

/// Up with probability rest / 2^shift, in steps of 2^-24: iff `random` (24 bits) is below the 24 top bits cut off.
struct round_stochastic {
    std::uint32_t random;

    [[nodiscard]] constexpr bool operator()(const cut& c) const noexcept {
        const std::uint64_t top = c.shift >= 24 ? c.rest >> static_cast<unsigned>(c.shift - 24)
                                                : c.rest << static_cast<unsigned>(24 - c.shift);
        return random < top;
    }
};

/// A grid of magnitudes: steps of 2^(e - mantissa_bits) in each binade e >= min_exponent; below 2^min_exponent either
/// the same step down to zero (subnormals: code 0 is zero) or nothing (code 0 is 2^min_exponent, the smallest value).
struct float_grid {
    int mantissa_bits;
    int min_exponent;
    bool subnormals;
};

/// Code of a finite magnitude on the grid, unbounded above: the caller compares it with the largest code, after
/// rounding. Zero gives code 0. `up` decides from the bits cut off.
template <int Digits, class RoundUp>
[[nodiscard]] constexpr std::uint32_t round_to_grid(split_magnitude<Digits> x, float_grid grid, RoundUp up) noexcept {
    const int above = x.exponent - grid.min_exponent;
    if (above < 0 && !grid.subnormals) {
        return 0;
    }
    const auto width = static_cast<unsigned>(grid.mantissa_bits);
    const int shift = Digits - 1 - grid.mantissa_bits + (above < 0 ? -above : 0);
    const cut_significand parts(x.significand, shift);
    // A normal significand keeps its leading one, which adds one to the exponent field: right where field 0 is
    // subnormal.
    const std::uint32_t hidden = grid.subnormals ? 0U : 1U << width;
    const std::uint32_t field = above < 0 ? 0U : static_cast<std::uint32_t>(above) << width;
    const std::uint32_t code = field + static_cast<std::uint32_t>(parts.kept) - hidden;
    return code + (up(cut{parts.rest, parts.shift, (code & 1U) != 0}) ? 1U : 0U);
}

}  // namespace lowbit::detail
