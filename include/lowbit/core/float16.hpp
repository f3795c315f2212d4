// SPDX-License-Identifier: Apache-2.0
// The 16-bit storage types bfloat16 and float16 (IEEE half): exact widening, one rounding when narrowing, no
// arithmetic.
//
//                  sign exponent mantissa  largest   smallest normal  smallest subnormal
//     bfloat16      1      8        7      3.39e38       2^-126            2^-133
//     float16       1      5       10      65504         2^-14             2^-24
//
// Narrowing rounds to nearest, ties to even, from float and from double alike in one step; what rounds past the largest
// value becomes Inf; every NaN becomes the positive quiet NaN (0x7FC0, 0x7E00). Widening is exact; NaN gives
// 0x7FC00000.
#pragma once

#include <cstdint>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/narrow.hpp>

namespace lowbit {
namespace detail {

/// Bits of a 16-bit IEEE-like format with `MantissaBits` bits of mantissa; Float is float or double.
template <int MantissaBits, int MinExponent, class Float>
[[nodiscard]] constexpr std::uint16_t narrow_to_16(Float x) noexcept {
    constexpr std::uint32_t infinity = (0x7FFFU >> MantissaBits) << MantissaBits;
    const std::uint32_t sign = sign_bit(x) ? 0x8000U : 0U;
    if (!is_finite(x)) {
        return static_cast<std::uint16_t>(is_nan(x) ? infinity | 1U << (MantissaBits - 1) : infinity | sign);
    }
    const std::uint32_t code =
        round_to_grid(split(x), float_grid{MantissaBits, MinExponent, true}, round_nearest_even{});
    return static_cast<std::uint16_t>((code < infinity ? code : infinity) | sign);
}

/// Integer that orders the finite values and infinities of a float as their values do; both zeros give 0.
[[nodiscard]] constexpr std::int32_t order_key(float x) noexcept {
    const auto magnitude = static_cast<std::int32_t>(abs_bits(x));
    return sign_bit(x) ? -magnitude : magnitude;
}

/// x == y as IEEE defines it, from bits: NaN equals nothing, -0 equals +0.
[[nodiscard]] constexpr bool equal_values(float x, float y) noexcept {
    return !is_nan(x) && !is_nan(y) && order_key(x) == order_key(y);
}

}  // namespace detail

/// bfloat16: the upper half of a float. Two bytes, no arithmetic.
class bfloat16 {
  public:
    /// +0.
    constexpr bfloat16() noexcept = default;

    /// The value with the code `bits`.
    [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
        bfloat16 r;
        r.bits_ = bits;
        return r;
    }

    /// The value nearest to x, ties to even; overflow to Inf; NaN to 0x7FC0.
    [[nodiscard]] static constexpr bfloat16 from_float(float x) noexcept {
        const std::uint32_t u = to_bits(x);
        const std::uint32_t rounded = (u + 0x7FFFU + (u >> 16U & 1U)) >> 16U;
        return from_bits(static_cast<std::uint16_t>(lowbit::is_nan(x) ? 0x7FC0U : rounded));
    }

    /// As from_float, rounding once.
    [[nodiscard]] static constexpr bfloat16 from_double(double x) noexcept {
        return from_bits(detail::narrow_to_16<7, -126>(x));
    }

    /// The code.
    [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }

    /// Exact. NaN gives 0x7FC00000.
    [[nodiscard]] constexpr float to_float() const noexcept {
        return float_from_bits(is_nan() ? quiet_nan_bits : std::uint32_t{bits_} << 16U);
    }

    /// Decided by the code, so under -ffast-math, too.
    [[nodiscard]] constexpr bool is_nan() const noexcept { return (bits_ & 0x7FFFU) > 0x7F80U; }
    /// +Inf or -Inf, by the code.
    [[nodiscard]] constexpr bool is_inf() const noexcept { return (bits_ & 0x7FFFU) == 0x7F80U; }

    /// Compares values: NaN equals nothing, -0 equals +0.
    friend constexpr bool operator==(bfloat16 a, bfloat16 b) noexcept {
        return detail::equal_values(a.to_float(), b.to_float());
    }

  private:
    std::uint16_t bits_ = 0;
};

/// IEEE binary16. Two bytes, no arithmetic.
class float16 {
  public:
    /// +0.
    constexpr float16() noexcept = default;

    /// The value with the code `bits`.
    [[nodiscard]] static constexpr float16 from_bits(std::uint16_t bits) noexcept {
        float16 r;
        r.bits_ = bits;
        return r;
    }

    /// The value nearest to x, ties to even; from 65520 on Inf; NaN to 0x7E00.
    [[nodiscard]] static constexpr float16 from_float(float x) noexcept {
        return from_bits(detail::narrow_to_16<10, -14>(x));
    }

    /// As from_float, rounding once.
    [[nodiscard]] static constexpr float16 from_double(double x) noexcept {
        return from_bits(detail::narrow_to_16<10, -14>(x));
    }

    /// The code.
    [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }

    /// Exact, subnormals included. NaN gives 0x7FC00000.
    [[nodiscard]] constexpr float to_float() const noexcept {
        const std::uint32_t sign = (bits_ & 0x8000U) << 16U;
        const std::uint32_t magnitude = bits_ & 0x7FFFU;
        if (magnitude >= 0x7C00U) {
            return float_from_bits(magnitude > 0x7C00U ? quiet_nan_bits : infinity_bits | sign);
        }
        if (magnitude >= 0x0400U) {
            return float_from_bits(sign | ((magnitude << 13U) + (112U << 23U)));
        }
        if (magnitude == 0) {
            return float_from_bits(sign);
        }
        // magnitude * 2^-24: shift the leading one to bit 10, where it is the hidden one of exponent -14 - shift.
        const auto shift = static_cast<std::uint32_t>(std::countl_zero(magnitude) - 21);
        return float_from_bits(sign | ((113U - shift) << 23U) | ((magnitude << shift & 0x03FFU) << 13U));
    }

    /// Decided by the code, so under -ffast-math, too.
    [[nodiscard]] constexpr bool is_nan() const noexcept { return (bits_ & 0x7FFFU) > 0x7C00U; }
    /// +Inf or -Inf, by the code.
    [[nodiscard]] constexpr bool is_inf() const noexcept { return (bits_ & 0x7FFFU) == 0x7C00U; }

    /// Compares values: NaN equals nothing, -0 equals +0.
    friend constexpr bool operator==(float16 a, float16 b) noexcept {
        return detail::equal_values(a.to_float(), b.to_float());
    }

  private:
    std::uint16_t bits_ = 0;
};

static_assert(sizeof(bfloat16) == 2 && sizeof(float16) == 2);
static_assert(bfloat16::from_float(1.0F).bits() == 0x3F80 && float16::from_float(1.0F).bits() == 0x3C00);
static_assert(float16::from_float(65520.0F).bits() == 0x7C00 && float16::from_double(65519.999).bits() == 0x7BFF);
static_assert(to_bits(float16::from_bits(0x0001).to_float()) == to_bits(power_of_two(-24)));

}  // namespace lowbit
