// SPDX-License-Identifier: Apache-2.0
/// Steps that the block formats share: a block of floats as magnitudes and signs, exact scaling of float bits by powers
/// of two, and rounding to 3-bit codes by counting limits.
///
/// Everything here is integer arithmetic on IEEE bits. Bits of non-negative floats order as the floats do, so maximum
/// and rounding need no floating-point operation, and subnormal data is right whatever FTZ, DAZ or -ffast-math do.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <lowbit/core/bits.hpp>
#include <lowbit/element/nibble.hpp>

namespace lowbit::detail {

/// One block of floats, taken apart.
template <std::size_t N>
struct block_parts {
    std::array<std::uint32_t, N> magnitude{};  ///< bits of |x|, 0 where x is NaN or Inf
    std::array<std::uint8_t, N> sign{};        ///< 8 (bit 3 of a code) where x has its sign bit set, 0 where NaN or Inf
    std::uint32_t largest = 0;                 ///< the greatest magnitude
    bool finite = true;                        ///< no NaN and no Inf among the values
};

/// Takes a block apart. Special: NaN and Inf count as +0, and `finite` tells.
template <std::size_t N>
[[nodiscard]] constexpr block_parts<N> split_block(std::span<const float, N> values) noexcept {
    block_parts<N> parts;
    std::uint32_t greatest_seen = 0;
    for (std::size_t i = 0; i < N; ++i) {
        const std::uint32_t bits = to_bits(values[i]);
        const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
        const std::uint32_t keep = magnitude < infinity_bits ? 0xFFFFFFFFU : 0U;
        greatest_seen = greatest_seen < magnitude ? magnitude : greatest_seen;
        parts.magnitude[i] = magnitude & keep;
        parts.sign[i] = static_cast<std::uint8_t>((bits & keep) >> 28U & 8U);
    }
    parts.largest = greatest_seen;
    if (greatest_seen >= infinity_bits) {
        parts.finite = false;
        parts.largest = 0;
        for (const std::uint32_t magnitude : parts.magnitude) {
            parts.largest = parts.largest < magnitude ? magnitude : parts.largest;
        }
    }
    return parts;
}

/// Bits of x * 2^exponent for the bits of a finite x >= 0. Exact: wherever float32 holds the result; past its top the
/// bits of Inf, below its lowest bit cut off.
[[nodiscard]] constexpr std::uint32_t scale_bits(std::uint32_t bits, int exponent) noexcept {
    if (bits == 0) {
        return 0;
    }
    if (bits < 0x00800000U) {  // a subnormal: move its leading one to bit 23, where it reads as exponent field 1
        const int shift = std::countl_zero(bits) - 8;
        bits <<= static_cast<unsigned>(shift);
        exponent -= shift;
    }
    const int field = static_cast<int>(bits >> 23U) + exponent;
    if (field >= 255) {
        return infinity_bits;
    }
    if (field > 0) {
        return bits + (static_cast<std::uint32_t>(exponent) << 23U);
    }
    const std::uint32_t significand = (bits & 0x007FFFFFU) | 0x00800000U;
    return field > -24 ? significand >> static_cast<unsigned>(1 - field) : 0;
}

/// Mantissa bits (23) of the float x > 0 with these bits, a subnormal normalised first: x = 2^floor_log2(x) * (1 +
/// m/2^23).
[[nodiscard]] constexpr std::uint32_t normalised_mantissa(std::uint32_t bits) noexcept {
    return (bits < 0x00800000U && bits != 0 ? bits << static_cast<unsigned>(std::countl_zero(bits) - 8) : bits) &
           0x007FFFFFU;
}

/// Rounding to one of eight codes as seven comparisons: limits[c] holds the bits of the greatest magnitude that still
/// rounds to code c. So a tie that goes up is excluded by taking the bits of the tie less one.
using code_limits = std::array<std::uint32_t, 7>;

[[nodiscard]] constexpr std::uint8_t code_of(std::uint32_t magnitude, const code_limits& limits) noexcept {
    std::uint32_t code = 0;
    for (const std::uint32_t limit : limits) {
        code += static_cast<std::int32_t>(magnitude) > static_cast<std::int32_t>(limit) ? 1U : 0U;
    }
    return static_cast<std::uint8_t>(code);
}

/// For each magnitude the sum of the increments whose limits it exceeds: its code, with increments of 1. (Limit by
/// limit: loops that compilers turn into vector code.)
template <std::size_t N>
[[nodiscard]] constexpr std::array<std::int32_t, N> count_limits(const std::array<std::uint32_t, N>& magnitudes,
                                                                 const code_limits& limits,
                                                                 const std::array<std::int32_t, 7>& increments = {
                                                                     1, 1, 1, 1, 1, 1, 1}) noexcept {
    std::array<std::int32_t, N> sums{};
    for (std::size_t c = 0; c < limits.size(); ++c) {
        const auto limit = static_cast<std::int32_t>(limits[c]);
        const std::int32_t increment = increments[c];
        for (std::size_t i = 0; i < N; ++i) {
            sums[i] += -static_cast<std::int32_t>(static_cast<std::int32_t>(magnitudes[i]) > limit) & increment;
        }
    }
    return sums;
}

/// Codes of all values of a block, ORed with their signs.
template <std::size_t N>
[[nodiscard]] constexpr std::array<std::uint8_t, N> codes_of(const block_parts<N>& parts,
                                                             const code_limits& limits) noexcept {
    const auto magnitude_codes = count_limits(parts.magnitude, limits);
    std::array<std::uint8_t, N> codes{};
    for (std::size_t i = 0; i < N; ++i) {
        codes[i] = static_cast<std::uint8_t>(magnitude_codes[i] | parts.sign[i]);
    }
    return codes;
}

/// Two codes a byte, the even one in the low nibble.
template <std::size_t N>
[[nodiscard]] constexpr std::array<std::uint8_t, N / 2> pack_codes(const std::array<std::uint8_t, N>& codes) noexcept {
    std::array<std::uint8_t, N / 2> bytes{};
    for (std::size_t i = 0; i < N / 2; ++i) {
        bytes[i] = pack_nibbles(codes[2 * i], codes[2 * i + 1]);
    }
    return bytes;
}

/// The reverse of pack_codes.
template <std::size_t Bytes>
[[nodiscard]] constexpr std::array<std::uint8_t, 2 * Bytes> unpack_codes(
    const std::array<std::uint8_t, Bytes>& bytes) noexcept {
    std::array<std::uint8_t, 2 * Bytes> codes{};
    for (std::size_t i = 0; i < Bytes; ++i) {
        codes[2 * i] = low_nibble(bytes[i]);
        codes[2 * i + 1] = high_nibble(bytes[i]);
    }
    return codes;
}

/// Magnitudes of the E2M1 codes 0..7.
inline constexpr std::array<float, 8> e2m1_values = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};

/// Steps from one E2M1 magnitude to the next, in halves.
inline constexpr std::array<std::int32_t, 7> e2m1_steps = {1, 1, 1, 1, 2, 2, 4};

/// Limits of E2M1 with scale 2^exponent * multiplier, ties to the even code: of the midpoints those after an even code
/// (0.25, 1.25, 2.5, 5) still round down, those after an odd code (0.75, 1.75, 3.5) round up. The multiplier is
/// 1, 1.25, 1.5 or 1.75, so that its products with the midpoints are exact.
[[nodiscard]] constexpr code_limits e2m1_limits(int exponent, float multiplier = 1.0F) noexcept {
    constexpr std::array<float, 7> midpoints = {0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5.0F};
    code_limits limits{};
    for (std::size_t c = 0; c < limits.size(); ++c) {
        limits[c] = scale_bits(to_bits(midpoints[c] * multiplier), exponent) - static_cast<std::uint32_t>(c % 2);
    }
    return limits;
}

/// Bits of the E2M1 magnitudes times 2^exponent; past FLT_MAX those of Inf.
[[nodiscard]] constexpr std::array<std::uint32_t, 8> e2m1_table(int exponent) noexcept {
    std::array<std::uint32_t, 8> table{};
    for (std::size_t c = 0; c < table.size(); ++c) {
        table[c] = scale_bits(to_bits(e2m1_values[c]), exponent);
    }
    return table;
}

/// The float with these magnitude bits and the sign of a 4-bit code.
[[nodiscard]] constexpr float with_sign(std::uint32_t magnitude, std::uint32_t code) noexcept {
    return float_from_bits(magnitude | (code & 8U) << 28U);
}

/// |x| / 2^exponent of a block's values. Exact: but for magnitudes 2^126 times smaller than the scale, which no code
/// and no error sum can tell from zero.
template <std::size_t N>
[[nodiscard]] constexpr std::array<float, N> relative_magnitudes(const block_parts<N>& parts, int exponent) noexcept {
    std::array<float, N> relative{};
    for (std::size_t i = 0; i < N; ++i) {
        relative[i] = float_from_bits(scale_bits(parts.magnitude[i], -exponent));
    }
    return relative;
}

/// a / b rounded once to float, for a, b >= 0. Through double, whose quotient is narrow enough a neighbour of the exact
/// one (53 >= 2 * 24 + 2 bits) that the second rounding changes nothing: so it is right under -ffast-math too, where
/// compilers replace float divisions by estimates of the reciprocal.
[[nodiscard]] constexpr float quotient(float a, float b) noexcept {
    if (std::is_constant_evaluated() && abs_bits(b) == 0) {
        return float_from_bits(infinity_bits);
    }
    return static_cast<float>(exactly(static_cast<double>(a) / exactly(static_cast<double>(b))));
}

/// min(x, FLT_MAX) for x >= 0.
[[nodiscard]] constexpr float at_most_flt_max(float x) noexcept {
    return float_from_bits(to_bits(x) < infinity_bits ? to_bits(x) : infinity_bits - 1U);
}

/// Every value becomes the library's NaN.
template <std::size_t N>
constexpr void fill_nan(std::span<float, N> values) noexcept {
    for (float& value : values) {
        value = quiet_nan;
    }
}

/// Exponents of written E8M0 scales: from 2^-127, the least that a byte holds, to 125, where 6 * 2^e still fits a
/// float.
[[nodiscard]] constexpr int clamp_exponent(int exponent) noexcept {
    return exponent < -127 ? -127 : exponent > 125 ? 125 : exponent;
}

/// Exponent e of the power-of-two scales, floor rule: floor(log2 largest) - 2, so that 2^e * 4 <= largest < 2^e * 8;
/// `bump` 1 takes the next. Clamped; zero takes -127.
[[nodiscard]] constexpr int shared_exponent(std::uint32_t largest, int bump = 0) noexcept {
    return clamp_exponent(floor_log2(float_from_bits(largest)) - 2 + bump);
}

/// E8M0 byte of 2^exponent, or its NaN for a poisoned block.
[[nodiscard]] constexpr std::uint8_t e8m0_byte(int exponent, bool finite) noexcept {
    return finite ? static_cast<std::uint8_t>(exponent + 127) : std::uint8_t{0xFF};
}

}  // namespace lowbit::detail
