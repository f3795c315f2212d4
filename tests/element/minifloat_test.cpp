// SPDX-License-Identifier: Apache-2.0
// Every rounding mode and overflow rule of every minifloat, at every value and midpoint and next to them, against a
// search in the list of values; stochastic rounding; special values; limits.
#include <lowbit/element/minifloat.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <type_traits>

#include <lowbit/element/exmy.hpp>

#include "support/element_oracle.hpp"

namespace lowbit::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// What the specification says of a type, typed anew.
struct description {
    const char* name;
    int width, mantissa_bits, bias;
    bool has_sign, subnormals;
    int finite;         // number of finite magnitudes
    int infinity_code;  // -1: none
    int nan_code;       // -1: none
};

template <class T>
struct described;
template <>
struct described<e2m1> {
    static constexpr description value{"e2m1", 4, 1, 1, true, true, 8, -1, -1};
};
template <>
struct described<e1m2> {
    static constexpr description value{"e1m2", 4, 2, 1, true, true, 8, -1, -1};
};
template <>
struct described<e2m3> {
    static constexpr description value{"e2m3", 6, 3, 1, true, true, 32, -1, -1};
};
template <>
struct described<e3m2> {
    static constexpr description value{"e3m2", 6, 2, 3, true, true, 32, -1, -1};
};
template <>
struct described<e4m3> {
    static constexpr description value{"e4m3", 8, 3, 7, true, true, 127, -1, 0x7F};
};
template <>
struct described<e5m2> {
    static constexpr description value{"e5m2", 8, 2, 15, true, true, 124, 0x7C, 0x7E};
};
template <>
struct described<e8m0> {
    static constexpr description value{"e8m0", 8, 0, 127, false, false, 255, -1, 0xFF};
};
template <>
struct described<e6m2> {
    static constexpr description value{"e6m2", 8, 2, 48, false, false, 255, -1, 0xFF};
};
template <>
struct described<ue5m3> {
    static constexpr description value{"ue5m3", 8, 3, 15, false, true, 255, -1, 0xFF};
};

template <class T>
value_grid grid_of() {
    constexpr description d = described<T>::value;
    return make_grid(d.mantissa_bits, d.bias, d.subnormals, d.finite);
}

/// The code that the specification wants for a finite x.
template <class T>
int expected(const value_grid& grid, double x, rounding mode, overflow over, random_source random) {
    constexpr description d = described<T>::value;
    const bool negative = std::signbit(x);
    if (!d.has_sign && negative && x != 0.0) return d.nan_code;
    const double magnitude = std::fabs(x);
    std::optional<std::uint8_t> code;
    switch (mode) {
        case rounding::nearest_even: code = round_by_search(grid, magnitude, direction::even); break;
        case rounding::nearest_away: code = round_by_search(grid, magnitude, direction::away); break;
        case rounding::toward_zero: code = round_by_search(grid, magnitude, direction::zero); break;
        case rounding::stochastic: code = round_by_chance(grid, magnitude, random_bits24(random)); break;
    }
    int result = 0;
    if (code) {
        result = *code;
    } else if (over == overflow::saturate || mode == rounding::toward_zero || (d.infinity_code < 0 && d.nan_code < 0)) {
        result = d.finite - 1;
    } else {
        result = d.infinity_code >= 0 ? d.infinity_code : d.nan_code;
    }
    return result | (negative && d.has_sign ? 1 << (d.width - 1) : 0);
}

constexpr rounding all_modes[] = {rounding::nearest_even, rounding::nearest_away, rounding::toward_zero,
                                  rounding::stochastic};

template <class T>
class minifloat_all : public testing::Test {};

struct type_names {
    template <class T>
    static std::string GetName(int) {
        return described<T>::value.name;
    }
};

using all_types = testing::Types<e2m1, e1m2, e2m3, e3m2, e4m3, e5m2, e8m0, e6m2, ue5m3>;
TYPED_TEST_SUITE(minifloat_all, all_types, type_names);

TYPED_TEST(minifloat_all, every_code_decodes_to_its_value) {
    constexpr description d = described<TypeParam>::value;
    const value_grid grid = grid_of<TypeParam>();
    for (int code = 0; code < 1 << d.width; ++code) {
        const auto x = TypeParam::from_bits(static_cast<std::uint8_t>(code));
        const bool negative = d.has_sign && (code >> (d.width - 1)) != 0;
        const int magnitude = code & ((1 << (d.width - (d.has_sign ? 1 : 0))) - 1);
        ASSERT_EQ(x.bits(), code);
        ASSERT_EQ(x.sign_bit(), negative);
        const float value = x.to_float();
        if (magnitude < d.finite) {
            const double exact = grid.values[static_cast<std::size_t>(magnitude)];
            ASSERT_EQ(static_cast<double>(value), negative ? -exact : exact) << code;
            ASSERT_EQ(std::signbit(value), negative) << code;
            ASSERT_FALSE(x.is_nan() || x.is_inf());
        } else if (magnitude == d.infinity_code) {
            ASSERT_EQ(value, negative ? -infinity : infinity);
            ASSERT_TRUE(x.is_inf() && !x.is_nan());
        } else {
            ASSERT_EQ(to_bits(value), 0x7FC00000U) << code;
            ASSERT_TRUE(x.is_nan() && !x.is_inf());
        }
    }
}

TYPED_TEST(minifloat_all, upper_bits_of_a_code_are_ignored) {
    constexpr description d = described<TypeParam>::value;
    for (int code = 0; code < 256; ++code) {
        ASSERT_EQ(TypeParam::from_bits(static_cast<std::uint8_t>(code)).bits(), code & ((1 << d.width) - 1));
    }
}

TYPED_TEST(minifloat_all, every_code_survives_a_round_trip_in_every_mode) {
    constexpr description d = described<TypeParam>::value;
    for (int code = 0; code < 1 << d.width; ++code) {
        const auto x = TypeParam::from_bits(static_cast<std::uint8_t>(code));
        if (x.is_nan()) continue;
        for (const rounding mode : all_modes) {
            for (std::uint64_t index = 0; index < 20; ++index) {
                const random_source random{1, index};
                const overflow over = x.is_inf() ? overflow::infinity : overflow::saturate;
                ASSERT_EQ(TypeParam::from_float(x.to_float(), mode, over, random).bits(), code);
                ASSERT_EQ(TypeParam::from_double(static_cast<double>(x.to_float()), mode, over, random).bits(), code);
            }
        }
    }
}

TYPED_TEST(minifloat_all, every_midpoint_and_its_neighbours_in_every_mode) {
    const value_grid grid = grid_of<TypeParam>();
    const test_points points = make_test_points(grid);
    std::size_t count = 0;
    for (const rounding mode : all_modes) {
        for (const overflow over : {overflow::saturate, overflow::infinity}) {
            for (std::uint64_t index = 0; index < (mode == rounding::stochastic ? 8U : 1U); ++index) {
                const random_source random{42, index};
                for (const double sign : {1.0, -1.0}) {
                    for (const float f : points.floats) {
                        const float x = static_cast<float>(sign) * f;
                        const int want = expected<TypeParam>(grid, static_cast<double>(x), mode, over, random);
                        ASSERT_EQ(TypeParam::from_float(x, mode, over, random).bits(), want)
                            << std::hexfloat << x << " mode " << static_cast<int>(mode);
                        ASSERT_EQ(TypeParam::from_double(static_cast<double>(x), mode, over, random).bits(), want)
                            << std::hexfloat << x << " mode " << static_cast<int>(mode);
                        ++count;
                    }
                    for (const double d : points.doubles) {
                        const double x = sign * d;
                        ASSERT_EQ(TypeParam::from_double(x, mode, over, random).bits(),
                                  (expected<TypeParam>(grid, x, mode, over, random)))
                            << std::hexfloat << x << " mode " << static_cast<int>(mode);
                    }
                }
            }
        }
    }
    EXPECT_GT(count, 22 * 15 * grid.values.size());
}

TYPED_TEST(minifloat_all, every_bfloat16_and_random_floats_in_every_mode) {
    const value_grid grid = grid_of<TypeParam>();
    std::mt19937_64 generator(3);
    for (std::uint32_t i = 0; i < 2 * 65536; ++i) {
        const float x = float_from_bits(i < 65536 ? i << 16U : static_cast<std::uint32_t>(generator()));
        if (!is_finite(x)) continue;
        for (const rounding mode : all_modes) {
            const random_source random{9, i};
            ASSERT_EQ(TypeParam::from_float(x, mode, overflow::infinity, random).bits(),
                      (expected<TypeParam>(grid, static_cast<double>(x), mode, overflow::infinity, random)))
                << std::hexfloat << x << " mode " << static_cast<int>(mode);
        }
    }
}

TYPED_TEST(minifloat_all, special_values) {
    constexpr description d = described<TypeParam>::value;
    const int max = d.finite - 1;
    const int sign = d.has_sign ? 1 << (d.width - 1) : 0;
    for (const rounding mode : all_modes) {
        for (const overflow over : {overflow::saturate, overflow::infinity}) {
            for (const std::uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0x7F800001U, 0xFFFFFFFFU}) {
                const int nan = d.nan_code >= 0 ? d.nan_code : max;
                ASSERT_EQ(TypeParam::from_float(float_from_bits(bits), mode, over).bits(), nan);
                ASSERT_EQ(
                    TypeParam::from_double(double_from_bits(std::uint64_t{bits | 0x7FF00000U} << 32U | 1U), mode, over)
                        .bits(),
                    nan);
            }
            const bool to_max = over == overflow::saturate || d.nan_code < 0;
            const int beyond = to_max ? max : d.infinity_code >= 0 ? d.infinity_code : d.nan_code;
            ASSERT_EQ(TypeParam::from_float(infinity, mode, over).bits(), beyond);
            ASSERT_EQ(TypeParam::from_double(HUGE_VAL, mode, over).bits(), beyond);
            ASSERT_EQ(TypeParam::from_float(-infinity, mode, over).bits(), d.has_sign ? beyond | sign : d.nan_code);
            ASSERT_EQ(TypeParam::from_float(0.0F, mode, over).bits(), 0);
            ASSERT_EQ(TypeParam::from_float(-0.0F, mode, over).bits(), sign);
            ASSERT_EQ(TypeParam::from_double(-0.0, mode, over).bits(), sign);
        }
    }
    EXPECT_EQ(TypeParam().bits(), 0);
}

TYPED_TEST(minifloat_all, comparison_is_of_values) {
    constexpr description d = described<TypeParam>::value;
    for (int a = 0; a < 1 << d.width; ++a) {
        for (int b = 0; b < 1 << d.width; ++b) {
            const auto x = TypeParam::from_bits(static_cast<std::uint8_t>(a));
            const auto y = TypeParam::from_bits(static_cast<std::uint8_t>(b));
            ASSERT_EQ(x <=> y, x.to_float() <=> y.to_float()) << a << " " << b;
            ASSERT_EQ(x == y, x.to_float() == y.to_float()) << a << " " << b;
            ASSERT_EQ(x < y, x.to_float() < y.to_float()) << a << " " << b;
        }
    }
}

TYPED_TEST(minifloat_all, negation_flips_the_sign_bit) {
    if constexpr (described<TypeParam>::value.has_sign) {
        constexpr description d = described<TypeParam>::value;
        for (int code = 0; code < 1 << d.width; ++code) {
            ASSERT_EQ((-TypeParam::from_bits(static_cast<std::uint8_t>(code))).bits(), code ^ 1 << (d.width - 1));
        }
    } else {
        static_assert(!requires(TypeParam x) { -x; });
    }
}

// An unbiased share: over n draws the count of roundings up lies within 5 standard deviations of n * share.
TYPED_TEST(minifloat_all, case66_stochastic_rounding_is_unbiased_and_depends_on_seed_and_index_only) {
    const value_grid grid = grid_of<TypeParam>();
    constexpr int draws = 20000;
    for (const std::size_t i : {std::size_t{1}, grid.values.size() / 2}) {
        const double low = grid.values[i], high = grid.values[i + 1];
        for (const double share : {0.125, 0.5, 0.75}) {
            const double x = low + share * (high - low);
            int up = 0;
            for (std::uint64_t index = 0; index < draws; ++index) {
                const auto r = TypeParam::from_double(x, rounding::stochastic, overflow::saturate, {5, index});
                ASSERT_TRUE(r.bits() == i || r.bits() == i + 1);
                up += r.bits() == i + 1 ? 1 : 0;
                ASSERT_EQ(r.bits(),
                          TypeParam::from_double(x, rounding::stochastic, overflow::saturate, {5, index}).bits());
            }
            EXPECT_NEAR(up, draws * share, 5 * std::sqrt(draws * share * (1 - share)));
        }
    }
}

TYPED_TEST(minifloat_all, case76_numeric_limits) {
    using limits = std::numeric_limits<TypeParam>;
    using const_limits = std::numeric_limits<const volatile TypeParam>;
    constexpr description d = described<TypeParam>::value;
    const value_grid grid = grid_of<TypeParam>();
    static_assert(limits::is_specialized && const_limits::is_specialized &&
                  std::numeric_limits<const TypeParam>::is_specialized);
    static_assert(const_limits::max().bits() == limits::max().bits());
    static_assert(std::numeric_limits<const TypeParam>::lowest().bits() == limits::lowest().bits());
    static_assert(limits::radix == 2 && !limits::is_integer && !limits::is_exact && limits::is_bounded);
    EXPECT_EQ(limits::is_signed, d.has_sign);
    EXPECT_EQ(limits::has_infinity, d.infinity_code >= 0);
    EXPECT_EQ(limits::has_quiet_NaN, d.nan_code >= 0);
    EXPECT_EQ(limits::digits, d.mantissa_bits + 1);
    EXPECT_EQ(static_cast<double>(limits::max().to_float()), grid.values.back());
    EXPECT_EQ(static_cast<double>(limits::lowest().to_float()), d.has_sign ? -grid.values.back() : grid.values.front());
    EXPECT_EQ(static_cast<double>(limits::denorm_min().to_float()), grid.values[d.subnormals ? 1 : 0]);
    EXPECT_EQ(limits::min().to_float(), std::ldexp(1.0F, limits::min_exponent - 1));
    EXPECT_EQ(static_cast<double>(limits::min().to_float()),
              grid.values[d.subnormals ? std::size_t{1} << d.mantissa_bits : 0]);
    EXPECT_LE(std::ldexp(1.0, limits::max_exponent - 1), grid.values.back());
    EXPECT_GT(std::ldexp(1.0, limits::max_exponent), grid.values.back());
    EXPECT_EQ(limits::max_exponent10, static_cast<int>(std::floor(std::log10(grid.values.back()))));
    EXPECT_EQ(limits::min_exponent10,
              static_cast<int>(std::ceil(std::log10(static_cast<double>(limits::min().to_float())))));
    EXPECT_EQ(limits::max_digits10, static_cast<int>(std::ceil(1 + limits::digits * std::log10(2.0))));
    // The step from 1 to the next value.
    const location one = locate(grid, 1.0);
    EXPECT_EQ(static_cast<double>(limits::epsilon().to_float()), one.high - 1.0);
    EXPECT_EQ(limits::round_error().to_float(), 0.5F);
    EXPECT_EQ(limits::infinity().is_inf(), d.infinity_code >= 0);
    EXPECT_EQ(limits::quiet_NaN().is_nan(), d.nan_code >= 0);
}

// An own format: sign, 3 exponent bits, 1 mantissa bit, Inf and NaN.
using own = minifloat<minifloat_format{
    .exponent_bits = 3, .mantissa_bits = 1, .bias = 3, .specials = minifloat_specials::ieee}>;
static_assert(own::bit_width == 5 && own::max_code == 0x0D && own::infinity_code == 0x0E && own::nan_code == 0x0F);
static_assert(own::from_float(12.0F).bits() == 0x0D &&
              own::from_float(14.0F, rounding::nearest_even, overflow::infinity).is_inf());
static_assert(sizeof(own) == 1 && std::is_trivially_copyable_v<own> && !std::is_convertible_v<own, float>);

}  // namespace
}  // namespace lowbit::test
