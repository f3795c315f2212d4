// SPDX-License-Identifier: Apache-2.0
// HiF8: an 8-bit float with tapered precision, as an element and as a block format of one value.
//
// A prefix code (the dot) says how the seven bits below the sign are shared between exponent and mantissa: near 1 the
// mantissa is wide, far from 1 the exponent is. The exponent is sign and magnitude, its leading 1 hidden.
//
//     bits 6..      |E|          mantissa    values
//     11 s eee m    8 + eee      1 bit       2^E (1 + m/2)     8 <= |E| <= 15      (s = 1: negative exponent)
//     10 s ee mm    4 + ee       2 bits      2^E (1 + m/4)     4 <= |E| <= 7
//     01 s e mmm    2 + e        3 bits      2^E (1 + m/8)     2 <= |E| <= 3
//     001 s mmm     1            3 bits      2^E (1 + m/8)     |E| = 1
//     0001 mmm      0            3 bits      1 + m/8
//     0000 mmm      -            none        2^(m - 23), m = 1..7;   m = 0: zero
//
// 38 binades, 2^-22 .. 32768. One zero (0x00: no -0), one NaN (0x80, where -0 would lie), Inf 0x6F and 0xEF (where
// +-1.5 * 2^15 would lie). Code order is NOT value order: comparisons decode. Every value is exact in float, bfloat16
// and float16. Negation and absolute value leave 0x00 and 0x80 alone.
//
// Conversion is one rounding on the grid of the source's binade, in integers; a carry may change the field widths.
// |x| >= 40960 (the middle of 32768 and 49152) overflows: Inf, or 32768 with overflow::saturate, for infinite x too.
//
//     ties_away      (default) half away from zero. [2^-23, 2^-22) gives 2^-22, below 2^-23 gives 0
//     nearest_even   ties to the even code: 40960 gives 32768, 2^-23 gives 0, 1.5 * 2^-22 (codes 1, 2) gives 2
//     toward_zero    finite x never reaches Inf; below 2^-22 gives 0
//     hybrid         ties_away where |E| < 4, else "simplified stochastic": up iff a bit is discarded and F >= T (see
//                    below). An increment past 32768 overflows; below 2^-23 gives 0
//         from float     F: 14 top discarded bits, T: 14 low mantissa bits
//         from double    the same at the float's bit positions; the bits below them only count as discarded
//         from bfloat16, float16   F: 2 top discarded bits, T: 2 * (last mantissa bit) + 1
//                    in [2^-23, 2^-22) everything is discarded: F are the top bits of x / 2^-22, up gives 2^-22
//     stochastic     up with probability (distance to the lower neighbour) / step, 24 random bits of (seed, index);
//                    [32768, 40960) gives 32768 (overflow is decided as in ties_away); below 2^-22 the step is 2^-22
//
// NaN gives 0x80 in all of them.
//
// Source: HiFloat8 (Luo et al., 2024), arXiv 2409.16626, tables 2-4 and section 3.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/element/hif8_rounding.hpp>
#include <lowbit/element/minifloat.hpp>
#include <lowbit/element/rounding.hpp>

namespace lowbit {

/// Options of hif8 as a block format.
struct hif8_options {
    hif8_rounding rounding = hif8_rounding::ties_away;       ///< see the head of this file
    lowbit::overflow overflow = lowbit::overflow::infinity;  ///< of values of 40960 and more
    std::uint64_t seed = 0;                                  ///< of hif8_rounding::stochastic

    friend constexpr bool operator==(const hif8_options&, const hif8_options&) = default;
};

/// One HiF8 number. Storage type: conversions, comparison, negation and absolute value only.
class hif8 {
  public:
    /// Zero.
    constexpr hif8() noexcept = default;

    /// The value with the code `bits`.
    [[nodiscard]] static constexpr hif8 from_bits(std::uint8_t bits) noexcept {
        hif8 r;
        r.bits_ = bits;
        return r;
    }

    /// Rounds x once, as `mode` says; past the largest value `overflow` says what comes. Special: NaN gives 0x80, +-0
    /// and all that rounds to zero 0x00. `random` is read by hif8_rounding::stochastic only. Cost: some fifteen integer
    /// operations, one table look-up.
    [[nodiscard]] static constexpr hif8 from_float(float x, hif8_rounding mode = hif8_rounding::ties_away,
                                                   lowbit::overflow overflow = lowbit::overflow::infinity,
                                                   random_source random = {}) noexcept {
        return from_bits(detail::hif8_convert(x, mode, overflow, random));
    }

    /// As from_float; never narrows to float in between.
    [[nodiscard]] static constexpr hif8 from_double(double x, hif8_rounding mode = hif8_rounding::ties_away,
                                                    lowbit::overflow overflow = lowbit::overflow::infinity,
                                                    random_source random = {}) noexcept {
        return from_bits(detail::hif8_convert(x, mode, overflow, random));
    }

    /// As from_float(x.to_float()), but for hif8_rounding::hybrid, which has a rule of its own for 16-bit sources.
    [[nodiscard]] static constexpr hif8 from_bfloat16(bfloat16 x, hif8_rounding mode = hif8_rounding::ties_away,
                                                      lowbit::overflow overflow = lowbit::overflow::infinity,
                                                      random_source random = {}) noexcept {
        if (mode == hif8_rounding::hybrid) {
            return from_bits(detail::hif8_convert_hybrid_16(x.to_float(), x.bits(), overflow));
        }
        return from_bits(detail::hif8_convert(x.to_float(), mode, overflow, random));
    }

    /// As from_bfloat16. The last mantissa bit of a subnormal is its stored one.
    [[nodiscard]] static constexpr hif8 from_float16(float16 x, hif8_rounding mode = hif8_rounding::ties_away,
                                                     lowbit::overflow overflow = lowbit::overflow::infinity,
                                                     random_source random = {}) noexcept {
        if (mode == hif8_rounding::hybrid) {
            return from_bits(detail::hif8_convert_hybrid_16(x.to_float(), x.bits(), overflow));
        }
        return from_bits(detail::hif8_convert(x.to_float(), mode, overflow, random));
    }

    /// The code.
    [[nodiscard]] constexpr std::uint8_t bits() const noexcept { return bits_; }

    /// Exact. NaN gives 0x7FC00000.
    [[nodiscard]] constexpr float to_float() const noexcept { return float_from_bits(detail::hif8_values[bits_]); }

    /// Decided by the code, so under -ffast-math, too.
    [[nodiscard]] constexpr bool is_nan() const noexcept { return bits_ == 0x80U; }
    /// +Inf or -Inf, by the code.
    [[nodiscard]] constexpr bool is_inf() const noexcept { return (bits_ & 0x7FU) == 0x6FU; }

    /// The other sign; zero and NaN, which have one code each, stay.
    [[nodiscard]] constexpr hif8 operator-() const noexcept {
        return from_bits(static_cast<std::uint8_t>((bits_ & 0x7FU) == 0 ? bits_ : bits_ ^ 0x80U));
    }

    /// |x|; NaN stays.
    [[nodiscard]] friend constexpr hif8 abs(hif8 x) noexcept {
        return from_bits(static_cast<std::uint8_t>(x.is_nan() ? 0x80U : x.bits_ & 0x7FU));
    }

    /// Compares values: NaN equals nothing.
    friend constexpr bool operator==(hif8 a, hif8 b) noexcept { return a.bits_ == b.bits_ && !a.is_nan(); }
    /// Orders values: NaN is unordered.
    friend constexpr std::partial_ordering operator<=>(hif8 a, hif8 b) noexcept {
        if (a.is_nan() || b.is_nan()) {
            return std::partial_ordering::unordered;
        }
        return detail::order_key(a.to_float()) <=> detail::order_key(b.to_float());
    }

    // As a block format of one value (see block/block_format.hpp).
    static constexpr std::string_view name = "hif8";  ///< in files and reports
    static constexpr std::size_t block_size = 1;      ///< values of a block
    static constexpr double bits_per_value = 8;       ///< of whole blocks
    static constexpr bool has_tensor_scale = false;   ///< there is no second scale
    using block = hif8;                               ///< one code
    using options = hif8_options;                     ///< rounding, overflow and seed
    /// What `option` holds in enumerations, for whoever checks it.
    [[nodiscard]] static constexpr auto enumerated(const options& option) noexcept {
        return std::array{detail::enumerated_option{"rounding", static_cast<unsigned>(option.rounding),
                                                    static_cast<unsigned>(hif8_rounding::stochastic)},
                          detail::enumerated_option{"overflow", static_cast<unsigned>(option.overflow),
                                                    static_cast<unsigned>(lowbit::overflow::infinity)}};
    }

    /// The code of values[0], rounded as `chosen`. The element's index (context.index) and the seed choose the random
    /// bits.
    [[nodiscard]] static constexpr hif8 encode(std::span<const float, 1> values, const options& chosen = {},
                                               const encode_context& context = {}) noexcept {
        return from_float(values[0], chosen.rounding, chosen.overflow, {chosen.seed, context.index});
    }

    /// Writes the value of one code to values[0]; the tensor scale is ignored.
    static constexpr void decode(const hif8& code, std::span<float, 1> values, float /*tensor_scale*/ = 1) noexcept {
        values[0] = code.to_float();
    }

  private:
    std::uint8_t bits_ = 0;
};

static_assert(sizeof(hif8) == 1 && alignof(hif8) == 1);
static_assert(hif8::from_float(1.0F).bits() == 0x08 && hif8::from_float(-1.0F).bits() == 0x88);
static_assert(hif8::from_bits(0x6E).to_float() == 32768.0F && hif8::from_bits(0x7E).to_float() == power_of_two(-15));
static_assert(hif8::from_bits(0x01).to_float() == power_of_two(-22));
static_assert((-hif8::from_bits(0x00)).bits() == 0x00 && (-hif8::from_bits(0x80)).bits() == 0x80);

}  // namespace lowbit

/// min() is the smallest value with a mantissa, 2^-15; denorm_min() the smallest of all, 2^-22; digits those next to 1.
template <>
class std::numeric_limits<lowbit::hif8>
    : public lowbit::detail::element_limits<lowbit::hif8, 4, true, true, true, true> {
    using T = lowbit::hif8;

  public:
    static constexpr int min_exponent = -14;
    static constexpr int max_exponent = 16;
    static constexpr int min_exponent10 = -4;
    static constexpr int max_exponent10 = 4;

    static constexpr T(min)() noexcept { return T::from_bits(0x7E); }
    static constexpr T(max)() noexcept { return T::from_bits(0x6E); }
    static constexpr T lowest() noexcept { return T::from_bits(0xEE); }
    static constexpr T denorm_min() noexcept { return T::from_bits(0x01); }
    static constexpr T infinity() noexcept { return T::from_bits(0x6F); }
    static constexpr T quiet_NaN() noexcept { return T::from_bits(0x80); }
    static constexpr T signaling_NaN() noexcept { return T{}; }
};
