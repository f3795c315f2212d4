// SPDX-License-Identifier: Apache-2.0
/// The numbers behind block formats, in double from their field definitions, independent of the library's code.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include <lowbit/core/bits.hpp>

namespace lowbit::test {

inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// A sign-magnitude code with `mantissa` bits below a 2-bit exponent of bias 1: E2M1 (mantissa 1), E2M3 (3).
inline double small_float_value(unsigned code, int mantissa, unsigned sign_bit) {
    const unsigned magnitude = code & (sign_bit - 1);
    const int exponent = static_cast<int>(magnitude >> mantissa);
    const double fraction = std::ldexp(static_cast<double>(magnitude & ((1U << mantissa) - 1U)), -mantissa);
    const double value = exponent == 0 ? fraction : std::ldexp(1 + fraction, exponent - 1);
    return (code & sign_bit) != 0 ? -value : value;
}

inline double e2m1_value(unsigned code) { return small_float_value(code, 1, 8); }
inline double e2m3_value(unsigned index) { return small_float_value(index, 3, 32); }

/// Unsigned use of an E4M3 byte.
inline double e4m3_value(unsigned byte) {
    const int exponent = static_cast<int>(byte >> 3U & 15U);
    const double fraction = static_cast<double>(byte & 7U) / 8;
    if ((byte & 0x7FU) == 0x7F) {
        return no_number;
    }
    return exponent == 0 ? std::ldexp(fraction, -6) : std::ldexp(1 + fraction, exponent - 7);
}

inline double e6m2_value(unsigned byte) {
    return byte == 0xFF ? no_number
                        : std::ldexp(1 + static_cast<double>(byte & 3U) / 4, static_cast<int>(byte >> 2U) - 48);
}

inline double e8m0_value(unsigned byte) {
    return byte == 0xFF ? no_number : std::ldexp(1.0, static_cast<int>(byte) - 127);
}

/// Distance of a magnitude to the nearest E2M1 magnitude.
inline double distance_to_e2m1(double magnitude) {
    double least = magnitude;
    for (unsigned code = 1; code < 8; ++code) {
        const double distance = std::fabs(magnitude - e2m1_value(code));
        least = distance < least ? distance : least;
    }
    return least;
}

/// The float that an exact value decodes to: Inf of the sign past float32's range, the library's NaN.
inline float narrowed(double value) {
    if (std::isnan(value)) {
        return quiet_nan;
    }
    if (std::fabs(value) > static_cast<double>(FLT_MAX)) {
        return std::signbit(value) ? -INFINITY : INFINITY;
    }
    return static_cast<float>(value);
}

}  // namespace lowbit::test
