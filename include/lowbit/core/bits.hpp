// SPDX-License-Identifier: Apache-2.0
// Bit-level views of float and double, exact powers of two, and checked size arithmetic.
//
// Whatever decides about NaN, Inf, zero or sign in this library is a test on bits from this header, never a comparison
// of floats: such tests survive -ffast-math (which lets a compiler assume that NaN and Inf do not exist) and the DAZ
// mode (in which a subnormal compares equal to zero).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <lowbit/core/config.hpp>

namespace lowbit {

/// The IEEE bits of x.
[[nodiscard]] constexpr std::uint32_t to_bits(float x) noexcept { return std::bit_cast<std::uint32_t>(x); }
/// The IEEE bits of x.
[[nodiscard]] constexpr std::uint64_t to_bits(double x) noexcept { return std::bit_cast<std::uint64_t>(x); }

/// The float with these IEEE bits.
[[nodiscard]] constexpr float float_from_bits(std::uint32_t bits) noexcept { return std::bit_cast<float>(bits); }
/// The double with these IEEE bits.
[[nodiscard]] constexpr double double_from_bits(std::uint64_t bits) noexcept { return std::bit_cast<double>(bits); }

/// Bits of the only NaN that the library writes as a float.
inline constexpr std::uint32_t quiet_nan_bits = 0x7FC00000U;
/// Bits of +Inf as a float.
inline constexpr std::uint32_t infinity_bits = 0x7F800000U;
/// The only NaN that the library writes as a float (processors disagree about their default NaN).
inline constexpr float quiet_nan = float_from_bits(quiet_nan_bits);

/// Bits of |x|: an integer that orders the magnitudes of floats, Inf (0x7F800000) below every NaN.
[[nodiscard]] constexpr std::uint32_t abs_bits(float x) noexcept { return to_bits(x) & 0x7FFFFFFFU; }
/// Bits of |x|: an integer that orders the magnitudes of doubles, Inf below every NaN.
[[nodiscard]] constexpr std::uint64_t abs_bits(double x) noexcept { return to_bits(x) & 0x7FFFFFFFFFFFFFFFU; }

/// Whether x is a NaN.
[[nodiscard]] constexpr bool is_nan(float x) noexcept { return abs_bits(x) > infinity_bits; }
/// Whether x is a NaN.
[[nodiscard]] constexpr bool is_nan(double x) noexcept { return abs_bits(x) > 0x7FF0000000000000U; }
/// Whether x is +Inf or -Inf.
[[nodiscard]] constexpr bool is_inf(float x) noexcept { return abs_bits(x) == infinity_bits; }
/// Whether x is +Inf or -Inf.
[[nodiscard]] constexpr bool is_inf(double x) noexcept { return abs_bits(x) == 0x7FF0000000000000U; }
/// Whether x is neither NaN nor infinite.
[[nodiscard]] constexpr bool is_finite(float x) noexcept { return abs_bits(x) < infinity_bits; }
/// Whether x is neither NaN nor infinite.
[[nodiscard]] constexpr bool is_finite(double x) noexcept { return abs_bits(x) < 0x7FF0000000000000U; }
/// The sign of x: true for negative values, -0 and NaNs with the sign bit set.
[[nodiscard]] constexpr bool sign_bit(float x) noexcept { return (to_bits(x) >> 31U) != 0; }
/// The sign of x: true for negative values, -0 and NaNs with the sign bit set.
[[nodiscard]] constexpr bool sign_bit(double x) noexcept { return (to_bits(x) >> 63U) != 0; }

/// 2^e as a float, exact. Range: -149 <= e <= 127 (below -126 a subnormal).
[[nodiscard]] constexpr float power_of_two(int e) noexcept {
    const std::uint32_t normal = static_cast<std::uint32_t>(e + 127) << 23U;
    const std::uint32_t subnormal = 1U << (static_cast<std::uint32_t>(e + 149) & 31U);
    return float_from_bits(e >= -126 ? normal : subnormal);
}

/// floor(log2(x)) of a finite x > 0 from its exponent bits; right for subnormals (-149 .. 127). Sign is ignored.
[[nodiscard]] constexpr int floor_log2(float x) noexcept {
    const std::uint32_t magnitude = abs_bits(x);
    if (magnitude >= 0x00800000U) {
        return static_cast<int>(magnitude >> 23U) - 127;
    }
    return static_cast<int>(std::bit_width(magnitude)) - 150;
}

/// x (a float or a double) itself, as a value that the optimiser must have computed: under -ffast-math it may not merge
/// the operation that made x with the one that uses it, so that a rounding step survives. Costs nothing elsewhere.
template <class Float>
requires(std::is_same_v<Float, float> || std::is_same_v<Float, double>) [[nodiscard]] constexpr Float
    exactly(Float x) noexcept {
#if defined(__FAST_MATH__)
    if (!std::is_constant_evaluated()) {
# if defined(__x86_64__) || defined(__SSE2__)
        asm volatile("" : "+x"(x));
# elif defined(__aarch64__)
        asm volatile("" : "+w"(x));
# else
        asm volatile("" : "+m"(x));
# endif
    }
#endif
    return x;
}

namespace detail {

/// a * b + c rounded once, in double: for constant evaluation, where clang 14 cannot evaluate
/// std::fma, and for -ffast-math without FMA instructions, where it replaces std::fma by a product and a sum. The
/// product is exact in double; the sum is rounded to odd there (53 >= 2 * 24 + 2 bits), so that narrowing rounds once.
[[nodiscard]] constexpr float fused_multiply_add_in_double(float a, float b, float c) noexcept {
    const double product = exactly(static_cast<double>(a) * static_cast<double>(b));
    const double addend = static_cast<double>(c);
    const double sum = exactly(product + addend);
    std::uint64_t bits = to_bits(sum);
    if (is_nan(sum)) {
        return quiet_nan;
    }
    if (is_finite(sum)) {
        const double part = exactly(sum - product);
        const double lost = exactly(exactly(product - exactly(sum - part)) + exactly(addend - part));
        if (lost != 0.0 && (bits & 1U) == 0) {
            bits += (lost > 0.0) == (sum > 0.0) ? 1U : ~std::uint64_t{0};
        }
    }
    const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFU;
    if (magnitude >= 0x47EFFFFFF0000000U) {  // FLT_MAX and half a step: rounds to Inf
        return float_from_bits(static_cast<std::uint32_t>(bits >> 63U) << 31U | infinity_bits);
    }
    return static_cast<float>(double_from_bits(bits));
}

}  // namespace detail

/// a * b + c, rounded once (std::fma; exact in constant evaluation too, for finite arguments).
/// Cost: one instruction where the translation unit's baseline has FMA, else a call of the C library.
[[nodiscard]] constexpr float fused_multiply_add(float a, float b, float c) noexcept {
    if (std::is_constant_evaluated()) {
        return detail::fused_multiply_add_in_double(a, b, c);
    }
#if defined(__FAST_MATH__) && !defined(__FMA__) && !defined(__aarch64__)
    return detail::fused_multiply_add_in_double(a, b, c);
#else
    return std::fma(a, b, c);
#endif
}

/// The same in double. Not in constant evaluation.
[[nodiscard]] inline double fused_multiply_add(double a, double b, double c) noexcept {
#if defined(__FAST_MATH__) && !defined(__FMA__) && !defined(__aarch64__)
    double (*call)(double, double, double) = &std::fma;
    asm("" : "+r"(call));  // a function that the compiler does not know is not replaced by a product and a sum
    return call(a, b, c);
#else
    return std::fma(a, b, c);
#endif
}

/// The smallest multiple of `multiple` (> 0) that is at least n. The caller knows that it fits.
[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t multiple) noexcept {
    return n / multiple * multiple + (n % multiple != 0 ? multiple : 0);
}

/// The smallest q with q * divisor >= n, without overflow.
[[nodiscard]] constexpr std::size_t divide_up(std::size_t n, std::size_t divisor) noexcept {
    return n / divisor + (n % divisor != 0 ? 1 : 0);
}

/// a * b, or nothing where the product does not fit.
[[nodiscard]] constexpr std::optional<std::size_t> checked_multiply(std::size_t a, std::size_t b) noexcept {
    if (b != 0 && a > static_cast<std::size_t>(-1) / b) {
        return std::nullopt;
    }
    return a * b;
}

/// a + b, or nothing where the sum does not fit.
[[nodiscard]] constexpr std::optional<std::size_t> checked_add(std::size_t a, std::size_t b) noexcept {
    if (a > static_cast<std::size_t>(-1) - b) {
        return std::nullopt;
    }
    return a + b;
}

}  // namespace lowbit
