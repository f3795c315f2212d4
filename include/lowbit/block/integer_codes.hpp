// SPDX-License-Identifier: Apache-2.0
/// Rounding of float magnitudes to small integers, shared by the 8-bit integer blocks.
///
/// Integer arithmetic on IEEE bits: one rounding, to nearest with ties to even, whatever the floating-point
/// environment.
#pragma once

#include <cstdint>

#include <lowbit/core/bits.hpp>

namespace lowbit::detail {

/// x * 2^exponent for the bits of a finite x >= 0, as the nearest integer, ties to even, at most `limit` (< 2^24).
/// Exact: one rounding; subnormal x included.
[[nodiscard]] constexpr std::uint32_t round_to_integer(std::uint32_t bits, int exponent, std::uint32_t limit) noexcept {
    const std::uint32_t field = bits >> 23U;
    const std::uint32_t significand = (bits & 0x007FFFFFU) | (field != 0 ? 0x00800000U : 0U);
    const int shift =
        150 - static_cast<int>(field != 0 ? field : 1U) - exponent;  // x * 2^exponent = significand >> shift
    std::uint32_t integer = 0;
    if (shift <= 0) {
        const bool saturates = significand != 0 && (shift < -7 || significand >= 0x01000000U);
        integer = saturates ? limit : significand << (static_cast<std::uint32_t>(-shift) & 7U);
    } else if (shift <= 25) {  // from 26 on below a quarter
        const auto places = static_cast<std::uint32_t>(shift);
        const std::uint32_t floor = significand >> places;
        const std::uint32_t rest = significand & ((1U << places) - 1U);
        const std::uint32_t half = 1U << (places - 1U);
        integer = floor + (rest > half || (rest == half && (floor & 1U) != 0) ? 1U : 0U);
    }
    return integer < limit ? integer : limit;
}

/// The code of a magnitude under the sign of the source value's bits: two's complement, no negative zero.
[[nodiscard]] constexpr std::int8_t signed_code(std::uint32_t magnitude, std::uint32_t source_bits) noexcept {
    const auto value = static_cast<std::int32_t>(magnitude);
    return static_cast<std::int8_t>((source_bits >> 31U) != 0 ? -value : value);
}

static_assert(round_to_integer(to_bits(2.5F), 0, 127) == 2 && round_to_integer(to_bits(3.5F), 0, 127) == 4);
static_assert(round_to_integer(1U, 149, 127) == 1 && round_to_integer(1U, 148, 127) == 0);

}  // namespace lowbit::detail
