// SPDX-License-Identifier: Apache-2.0
// One template for every small binary floating-point type with fixed field widths: minifloat<format>.
//
// A format is a sign (or none), an exponent field with a bias, a mantissa field, and two choices:
//
//     field zero   subnormals and zero (IEEE), or a binade like the others: then code 0 is the smallest value, not zero
//     top codes    all finite; or all ones is the only NaN (of each sign); or the top exponent holds Inf and NaN
//
// Codes sit in the low bits of a byte, sign first, as in IEEE formats; magnitudes are monotone in their codes.
//
// Conversion from float and from double is ONE rounding, on integer bits: it does not depend on the rounding mode, FTZ,
// DAZ or -ffast-math. The value is rounded on the unbounded grid first; only then is it compared with the largest one.
//
//     beyond it,   overflow::saturate: the largest finite value; overflow::infinity: Inf, else NaN where the type has
//     and Inf      none, else the largest value. The sign stays. toward_zero: finite inputs saturate, whatever is asked
//     NaN          the NaN code, positive (E5M2: 0x7E); where the type has none, +largest (as hardware and ONNX)
//     unsigned     a negative input gives NaN; -0 is zero
//     no zero      zero and everything below the smallest value give code 0, in every rounding mode
//     sign         a negative that rounds to zero gives -0
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/narrow.hpp>
#include <lowbit/element/rounding.hpp>

namespace lowbit {

/// Which codes of a minifloat are no finite numbers.
enum class minifloat_specials : std::uint8_t {
    none,      ///< every code is finite
    all_ones,  ///< the magnitude of all ones is NaN, no Inf
    ieee,      ///< the top exponent holds Inf (mantissa 0) and NaN
};

/// Fields of a minifloat type; values are (-1)^s * 2^(e - bias) * (1 + m / 2^mantissa_bits).
struct minifloat_format {
    bool has_sign = true;                                    ///< the bit above the exponent
    int exponent_bits = 0;                                   ///< width of the exponent field
    int mantissa_bits = 0;                                   ///< width of the mantissa field
    int bias = 0;                                            ///< what the exponent field is above the exponent
    bool has_subnormals = true;                              ///< exponent field 0 holds zero and subnormals
    minifloat_specials specials = minifloat_specials::none;  ///< codes that are no finite numbers
    rounding default_rounding = rounding::nearest_even;      ///< of from_float and from_double
};

/// A number of `Format` in the low bits of one byte. Storage type: conversions and comparison only.
template <minifloat_format Format>
class minifloat {
    static constexpr int magnitude_bits = Format.exponent_bits + Format.mantissa_bits;

  public:
    static constexpr minifloat_format format = Format;  ///< the fields
    /// Width of a code.
    static constexpr int bit_width = magnitude_bits + (Format.has_sign ? 1 : 0);
    static_assert(bit_width <= 8 && Format.exponent_bits >= 1 && Format.mantissa_bits >= 0);
    static_assert(Format.has_subnormals ? Format.mantissa_bits >= 1 : true);

    /// The sign bit of a code, 0 where there is none.
    static constexpr std::uint8_t sign_mask = Format.has_sign ? static_cast<std::uint8_t>(1U << magnitude_bits) : 0;
    /// The bits of a code below the sign.
    static constexpr std::uint8_t magnitude_mask = static_cast<std::uint8_t>((1U << magnitude_bits) - 1U);
    /// Whether a code is +Inf.
    static constexpr bool has_infinity = Format.specials == minifloat_specials::ieee;
    /// Whether a code is a NaN.
    static constexpr bool has_nan = Format.specials != minifloat_specials::none;
    /// Code of +Inf where the type has it.
    static constexpr std::uint8_t infinity_code =
        static_cast<std::uint8_t>(((1U << Format.exponent_bits) - 1U) << Format.mantissa_bits);
    /// The NaN that conversions give, where the type has one.
    static constexpr std::uint8_t nan_code = static_cast<std::uint8_t>(
        has_infinity ? infinity_code | 1U << (Format.mantissa_bits - 1 & 7) : std::uint32_t{magnitude_mask});
    /// Code of the largest finite value.
    static constexpr std::uint8_t max_code = static_cast<std::uint8_t>(
        has_infinity ? infinity_code - 1U : std::uint32_t{magnitude_mask} - (has_nan ? 1U : 0U));
    /// Exponent of the smallest normal value.
    static constexpr int min_exponent = (Format.has_subnormals ? 1 : 0) - Format.bias;

    /// The value of code 0: zero where the type has one.
    constexpr minifloat() noexcept = default;

    /// The value with this code; bits above bit_width are ignored.
    [[nodiscard]] static constexpr minifloat from_bits(std::uint8_t bits) noexcept {
        minifloat r;
        r.bits_ = static_cast<std::uint8_t>(bits & (sign_mask | magnitude_mask));
        return r;
    }

    /// The value nearest to x (or as `mode` says), rounded once; `overflow` says what lies past the largest one.
    /// Special: see the head of this file.
    /// `random` is read by rounding::stochastic only. Cost: some ten integer operations.
    [[nodiscard]] static constexpr minifloat from_float(float x, rounding mode = Format.default_rounding,
                                                        lowbit::overflow overflow = lowbit::overflow::saturate,
                                                        random_source random = {}) noexcept {
        return convert(x, mode, overflow, random);
    }

    /// As from_float; never narrows to float in between.
    [[nodiscard]] static constexpr minifloat from_double(double x, rounding mode = Format.default_rounding,
                                                         lowbit::overflow overflow = lowbit::overflow::saturate,
                                                         random_source random = {}) noexcept {
        return convert(x, mode, overflow, random);
    }

    /// The code.
    [[nodiscard]] constexpr std::uint8_t bits() const noexcept { return bits_; }

    /// Exact. NaN gives 0x7FC00000.
    [[nodiscard]] constexpr float to_float() const noexcept { return float_from_bits(value_table[bits_]); }

    /// Decided by the code; false where the type has no NaN.
    [[nodiscard]] constexpr bool is_nan() const noexcept {
        if constexpr (!has_nan) {
            return false;
        } else {
            return (bits_ & magnitude_mask) > (has_infinity ? infinity_code : max_code);
        }
    }
    /// +Inf or -Inf, by the code; false where the type has none.
    [[nodiscard]] constexpr bool is_inf() const noexcept {
        return has_infinity && (bits_ & magnitude_mask) == infinity_code;
    }
    /// True for negative values and -0 (and for a NaN with the sign bit set).
    [[nodiscard]] constexpr bool sign_bit() const noexcept { return (bits_ & sign_mask) != 0; }

    /// Flips the sign bit, of zero and NaN too.
    [[nodiscard]] constexpr minifloat operator-() const noexcept requires(Format.has_sign) {
        return from_bits(bits_ ^ sign_mask);
    }

    /// Compares values: NaN equals nothing, -0 equals +0.
    friend constexpr bool operator==(minifloat a, minifloat b) noexcept { return (a <=> b) == 0; }
    /// Orders values: NaN is unordered, -0 equals +0.
    friend constexpr std::partial_ordering operator<=>(minifloat a, minifloat b) noexcept {
        if (a.is_nan() || b.is_nan()) {
            return std::partial_ordering::unordered;
        }
        return a.order_key() <=> b.order_key();
    }

  private:
    [[nodiscard]] constexpr int order_key() const noexcept {
        const int magnitude = bits_ & magnitude_mask;
        return sign_bit() ? -magnitude : magnitude;
    }

    template <class Float>
    [[nodiscard]] static constexpr minifloat convert(Float x, rounding mode, lowbit::overflow overflow,
                                                     random_source random) noexcept {
        const bool zero = abs_bits(x) == 0;
        const bool negative = lowbit::sign_bit(x);
        if (lowbit::is_nan(x) || (!Format.has_sign && negative && !zero)) {
            return from_bits(has_nan ? nan_code : max_code);
        }
        const std::uint32_t sign = negative ? std::uint32_t{sign_mask} : 0U;
        const bool infinite = lowbit::is_inf(x);
        const std::uint32_t code = infinite ? 0xFFFFU : round(x, mode, random);
        if (code <= max_code) {
            return from_bits(static_cast<std::uint8_t>(code | sign));
        }
        const bool saturates = overflow == lowbit::overflow::saturate || (mode == rounding::toward_zero && !infinite);
        const std::uint32_t beyond = saturates      ? max_code
                                     : has_infinity ? infinity_code
                                     : has_nan      ? nan_code
                                                    : max_code;
        return from_bits(static_cast<std::uint8_t>(beyond | sign));
    }

    template <class Float>
    [[nodiscard]] static constexpr std::uint32_t round(Float x, rounding mode, random_source random) noexcept {
        constexpr detail::float_grid grid{Format.mantissa_bits, min_exponent, Format.has_subnormals};
        switch (mode) {
            case rounding::nearest_away:
                return detail::round_to_grid(detail::split(x), grid, detail::round_nearest_away{});
            case rounding::toward_zero:
                return detail::round_to_grid(detail::split(x), grid, detail::round_toward_zero{});
            case rounding::stochastic:
                return detail::round_to_grid(detail::split(x), grid, detail::round_stochastic{random_bits24(random)});
            case rounding::nearest_even: break;
        }
        return detail::round_to_grid(detail::split(x), grid, detail::round_nearest_even{});
    }

    /// Float bits of a code, by its fields.
    [[nodiscard]] static constexpr std::uint32_t decode(std::uint32_t code) noexcept {
        const std::uint32_t sign = (code & sign_mask) != 0 ? 0x80000000U : 0U;
        const std::uint32_t magnitude = code & magnitude_mask;
        if (has_infinity && magnitude == infinity_code) {
            return infinity_bits | sign;
        }
        if (magnitude > max_code) {
            return quiet_nan_bits;
        }
        const std::uint32_t field = magnitude >> Format.mantissa_bits;
        const std::uint32_t mantissa = magnitude & ((1U << Format.mantissa_bits) - 1U);
        const bool subnormal = Format.has_subnormals && field == 0;
        // significand * 2^step, both exact in float; the product is exact too (the smallest is 2^-127).
        const std::uint32_t significand = mantissa + (subnormal ? 0U : 1U << Format.mantissa_bits);
        const int exponent = subnormal ? min_exponent : static_cast<int>(field) - Format.bias;
        return float_bits(significand, exponent - Format.mantissa_bits) | sign;
    }

    /// Bits of significand * 2^step, in integers.
    [[nodiscard]] static constexpr std::uint32_t float_bits(std::uint32_t significand, int step) noexcept {
        if (significand == 0) {
            return 0;
        }
        const int width = static_cast<int>(std::bit_width(significand));
        const int exponent = step + width - 1;
        if (exponent >= -126) {
            return (static_cast<std::uint32_t>(exponent + 127) << 23U) +
                   ((significand << static_cast<unsigned>(24 - width)) & 0x007FFFFFU);
        }
        return significand << static_cast<unsigned>(step + 149);
    }

    static constexpr auto value_table = [] {
        std::array<std::uint32_t, std::size_t{1} << bit_width> table{};
        for (std::uint32_t code = 0; code < table.size(); ++code) {
            table[code] = decode(code);
        }
        return table;
    }();

    std::uint8_t bits_ = 0;
};

namespace detail {

/// numeric_limits of an 8-bit-or-less type that knows its codes. `lowest` of an unsigned type is its smallest value.
template <class T, int Digits, bool HasSign, bool HasInfinity, bool HasNan, bool HasSubnormals>
struct element_limits {
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = HasSign;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool has_infinity = HasInfinity;
    static constexpr bool has_quiet_NaN = HasNan;
    static constexpr bool has_signaling_NaN = false;
    static constexpr std::float_denorm_style has_denorm = HasSubnormals ? std::denorm_present : std::denorm_absent;
    static constexpr bool has_denorm_loss = false;
    static constexpr std::float_round_style round_style = std::round_to_nearest;
    static constexpr bool is_iec559 = false;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = false;
    static constexpr int digits = Digits;
    static constexpr int digits10 = 0;                        // floor((digits - 1) log10 2)
    static constexpr int max_digits10 = Digits == 4 ? 3 : 2;  // ceil(1 + digits log10 2)
    static constexpr int radix = 2;
    static constexpr bool traps = false;
    static constexpr bool tinyness_before = false;
    static_assert(Digits <= 4);

    static constexpr T epsilon() noexcept { return T::from_float(power_of_two(1 - Digits)); }
    static constexpr T round_error() noexcept { return T::from_float(0.5F); }
};

/// Largest k with 10^k <= x, for x >= 1.
[[nodiscard]] constexpr int floor_log10(double x) noexcept {
    int k = 0;
    for (double power = 10.0; power <= x; power *= 10.0) {
        ++k;
    }
    return k;
}

/// Smallest k with 10^k >= 2^e, for e <= 0.
[[nodiscard]] constexpr int ceil_log10_of_power_of_two(int e) noexcept {
    double reciprocal = 1.0;
    for (int i = 0; i < -e; ++i) {
        reciprocal *= 2.0;
    }
    return -floor_log10(reciprocal);
}

}  // namespace detail
}  // namespace lowbit

/// min() is the smallest positive normal value; infinity() and quiet_NaN() are T{} where the type has none.
template <lowbit::minifloat_format Format>
class std::numeric_limits<lowbit::minifloat<Format>>
    : public lowbit::detail::element_limits<lowbit::minifloat<Format>, Format.mantissa_bits + 1, Format.has_sign,
                                            lowbit::minifloat<Format>::has_infinity, lowbit::minifloat<Format>::has_nan,
                                            Format.has_subnormals> {
    using T = lowbit::minifloat<Format>;
    static constexpr float largest = T::from_bits(T::max_code).to_float();

  public:
    static constexpr int min_exponent = T::min_exponent + 1;
    static constexpr int max_exponent = lowbit::floor_log2(largest) + 1;
    static constexpr int min_exponent10 = lowbit::detail::ceil_log10_of_power_of_two(T::min_exponent);
    static constexpr int max_exponent10 = lowbit::detail::floor_log10(static_cast<double>(largest));

    static constexpr T(min)() noexcept {
        return T::from_bits(Format.has_subnormals ? std::uint8_t{1U << Format.mantissa_bits} : std::uint8_t{0});
    }
    static constexpr T(max)() noexcept { return T::from_bits(T::max_code); }
    static constexpr T lowest() noexcept {
        return T::from_bits(static_cast<std::uint8_t>(Format.has_sign ? T::max_code | T::sign_mask : 0));
    }
    static constexpr T denorm_min() noexcept { return Format.has_subnormals ? T::from_bits(1) : (min)(); }
    static constexpr T infinity() noexcept { return T::has_infinity ? T::from_bits(T::infinity_code) : T{}; }
    static constexpr T quiet_NaN() noexcept { return T::has_nan ? T::from_bits(T::nan_code) : T{}; }
    static constexpr T signaling_NaN() noexcept { return T{}; }
};
