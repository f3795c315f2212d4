// SPDX-License-Identifier: Apache-2.0
// The binades of HiF8 and the rounding of a magnitude to a HiF8 code; element/hif8.hpp says what the modes mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/narrow.hpp>
#include <lowbit/element/rounding.hpp>

namespace lowbit {

/// Rounding of a conversion to hif8; see the head of element/hif8.hpp.
enum class hif8_rounding : std::uint8_t {
    ties_away,     ///< to the nearest value, ties to the larger magnitude
    nearest_even,  ///< to the nearest value, ties to the even code
    toward_zero,   ///< to the smaller magnitude
    hybrid,        ///< ties_away near 1, the paper's simplified stochastic rounding far from it
    stochastic,    ///< up with probability (distance to the lower neighbour) / step
};

namespace detail {

inline constexpr std::uint32_t hif8_nan_code = 0x80;
inline constexpr std::uint32_t hif8_infinity_code = 0x6F;
inline constexpr std::uint32_t hif8_max_code = 0x6E;
inline constexpr int hif8_min_exponent = -22;
inline constexpr int hif8_max_exponent = 15;

/// A binade of HiF8: the code of 2^E, and its mantissa width.
struct hif8_binade {
    std::uint8_t base;
    std::uint8_t width;
};

/// Fields of the binade E in -22 .. 15 (16: the carry of the last one, which no rounding reaches).
[[nodiscard]] constexpr hif8_binade make_hif8_binade(int e) noexcept {
    const int magnitude = e < 0 ? -e : e;
    const int sign = e < 0 ? 1 : 0;
    const auto fields = [](int base, int width) {
        return hif8_binade{static_cast<std::uint8_t>(base), static_cast<std::uint8_t>(width)};
    };
    if (magnitude >= 16) {
        return fields(e < 0 ? e + 23 : 0x70, 0);
    }
    if (magnitude >= 8) {
        return fields(0x60 | sign << 4 | (magnitude - 8) << 1, 1);
    }
    if (magnitude >= 4) {
        return fields(0x40 | sign << 4 | (magnitude - 4) << 2, 2);
    }
    if (magnitude >= 2) {
        return fields(0x20 | sign << 4 | (magnitude - 2) << 3, 3);
    }
    return fields(magnitude == 1 ? 0x10 | sign << 3 : 0x08, 3);
}

/// Entry i: the binade of exponent i - 22.
inline constexpr auto hif8_binades = [] {
    std::array<hif8_binade, hif8_max_exponent - hif8_min_exponent + 2> table{};
    for (int i = 0; i < static_cast<int>(table.size()); ++i) {
        table[static_cast<std::size_t>(i)] = make_hif8_binade(i + hif8_min_exponent);
    }
    return table;
}();

/// Entry c: float bits of code c.
inline constexpr auto hif8_values = [] {
    std::array<std::uint32_t, 256> table{};
    for (int e = hif8_min_exponent; e <= hif8_max_exponent; ++e) {
        const hif8_binade binade = make_hif8_binade(e);
        for (std::uint32_t m = 0; m < 1U << binade.width; ++m) {
            const std::uint32_t bits = static_cast<std::uint32_t>(e + 127) << 23U | m << (23U - binade.width);
            table[binade.base + m] = bits;
            table[(binade.base + m) | 0x80U] = bits | 0x80000000U;
        }
    }
    table[hif8_infinity_code] = infinity_bits;
    table[hif8_infinity_code | 0x80U] = infinity_bits | 0x80000000U;
    table[hif8_nan_code] = quiet_nan_bits;
    return table;
}();

/// The paper's simplified stochastic rounding: T = 14 low mantissa bits at a float's positions, F = 14 top bits cut
/// off.
template <int Digits>
struct hif8_round_hybrid {
    std::uint64_t low;

    constexpr explicit hif8_round_hybrid(std::uint64_t significand) noexcept
        : low(significand >> static_cast<unsigned>(Digits - 24) & 0x3FFFU) {}
    [[nodiscard]] constexpr bool operator()(const cut& c) const noexcept {
        return c.rest != 0 && c.rest >> static_cast<unsigned>(c.shift - 14) >= low;
    }
};

/// The same from a 16-bit type, held as a float: T is 1 or 3, F two bits.
struct hif8_round_hybrid_16 {
    std::uint64_t low;

    [[nodiscard]] constexpr bool operator()(const cut& c) const noexcept {
        return c.rest != 0 && c.rest >> static_cast<unsigned>(c.shift - 2) >= low;
    }
};

/// Code of a magnitude with exponent <= 15; `up` judges the bits cut off. In the last binade only 1.0 and, after an
/// increment, 1.5 (the code of Inf) may come out: the caller has decided about what lies beyond.
template <int Digits, class RoundUp>
[[nodiscard]] constexpr std::uint32_t hif8_cut(split_magnitude<Digits> x, RoundUp up) noexcept {
    if (x.exponent < hif8_min_exponent) {
        const cut_significand parts(x.significand, Digits - 1 + hif8_min_exponent - x.exponent);
        return up(cut{parts.rest, parts.shift, false}) ? 1U : 0U;
    }
    const auto i = static_cast<std::size_t>(x.exponent - hif8_min_exponent);
    const std::uint32_t base = hif8_binades[i].base;
    const std::uint32_t width = hif8_binades[i].width;
    const cut_significand parts(x.significand, Digits - 1 - static_cast<int>(width));
    const std::uint32_t mantissa = static_cast<std::uint32_t>(parts.kept) - (1U << width);
    const bool odd = ((base + mantissa) & 1U) != 0;
    const std::uint32_t rounded = mantissa + (up(cut{parts.rest, parts.shift, odd}) ? 1U : 0U);
    return rounded >> width != 0 ? std::uint32_t{hif8_binades[i + 1].base} : base + rounded;
}

/// True where the magnitude is at least 40960 = 1.25 * 2^15; with `above`, where it is greater.
template <int Digits>
[[nodiscard]] constexpr bool hif8_overflows(split_magnitude<Digits> x, bool above = false) noexcept {
    const std::uint64_t bound = std::uint64_t{5} << static_cast<unsigned>(Digits - 3);
    return x.exponent > hif8_max_exponent ||
           (x.exponent == hif8_max_exponent && x.significand >= bound + (above ? 1U : 0U));
}

/// Hybrid rounding; `up` is its rule where |E| >= 4.
template <int Digits, class RoundUp>
[[nodiscard]] constexpr std::uint32_t hif8_hybrid_code(split_magnitude<Digits> x, RoundUp up) noexcept {
    if (hif8_overflows(x)) {
        return hif8_infinity_code;
    }
    if (x.exponent > -4 && x.exponent < 4) {
        return hif8_cut(x, round_nearest_away{});
    }
    return x.exponent < hif8_min_exponent - 1 ? 0U : hif8_cut(x, up);
}

/// Code of a finite magnitude; the code of Inf where it overflows.
template <int Digits>
[[nodiscard]] constexpr std::uint32_t hif8_code(split_magnitude<Digits> x, hif8_rounding mode,
                                                random_source random) noexcept {
    const bool last_binade = x.exponent >= hif8_max_exponent;
    switch (mode) {
        case hif8_rounding::nearest_even:
            return hif8_overflows(x, true) ? hif8_infinity_code : hif8_cut(x, round_nearest_even{});
        case hif8_rounding::toward_zero: return last_binade ? hif8_max_code : hif8_cut(x, round_toward_zero{});
        case hif8_rounding::hybrid: return hif8_hybrid_code(x, hif8_round_hybrid<Digits>{x.significand});
        case hif8_rounding::stochastic:
            if (last_binade) {
                return hif8_overflows(x) ? hif8_infinity_code : hif8_max_code;
            }
            return hif8_cut(x, round_stochastic{random_bits24(random)});
        case hif8_rounding::ties_away: break;
    }
    return hif8_overflows(x) ? hif8_infinity_code : hif8_cut(x, round_nearest_away{});
}

/// The code with its sign, and Inf made the largest value where overflow saturates. Zero has no sign.
[[nodiscard]] constexpr std::uint8_t hif8_finish(std::uint32_t code, bool negative, overflow overflow) noexcept {
    const bool saturates = code == hif8_infinity_code && overflow == lowbit::overflow::saturate;
    const std::uint32_t magnitude = saturates ? hif8_max_code : code;
    return static_cast<std::uint8_t>(negative && magnitude != 0 ? magnitude | 0x80U : magnitude);
}

/// Code of a float or double.
template <class Float>
[[nodiscard]] constexpr std::uint8_t hif8_convert(Float x, hif8_rounding mode, overflow overflow,
                                                  random_source random) noexcept {
    if (is_nan(x)) {
        return static_cast<std::uint8_t>(hif8_nan_code);
    }
    const std::uint32_t code = is_inf(x) ? hif8_infinity_code : hif8_code(split(x), mode, random);
    return hif8_finish(code, sign_bit(x), overflow);
}

/// Hybrid rounding of a 16-bit value with these bits, widened to x.
[[nodiscard]] constexpr std::uint8_t hif8_convert_hybrid_16(float x, std::uint16_t bits, overflow overflow) noexcept {
    if (is_nan(x)) {
        return static_cast<std::uint8_t>(hif8_nan_code);
    }
    const hif8_round_hybrid_16 up{2U * (bits & 1U) + 1U};
    const std::uint32_t code = is_inf(x) ? hif8_infinity_code : hif8_hybrid_code(split(x), up);
    return hif8_finish(code, sign_bit(x), overflow);
}

}  // namespace detail
}  // namespace lowbit
