// SPDX-License-Identifier: Apache-2.0
// What the kernels of all instruction sets share: facts about pairs of formats, and biased lane tables.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <lowbit/core/bits.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::kernel {

/// Whether a pair's dot product can be summed in 16 bits: a group's two half sums (lanes 0, 1 and 2, 3 of each 4) fit,
/// and no pair of products of an unsigned (biased) and a signed lane saturates.
[[nodiscard]] constexpr bool fits_int16(int largest_a, int largest_b, std::size_t group) noexcept {
    return largest_a * largest_b * static_cast<int>(group / 2) <= 32767 && 2 * largest_a * 2 * largest_b <= 32767;
}

/// Whether the sums stay within the magic float's range, 2^22.
[[nodiscard]] constexpr bool fits_magic(int largest_a, int largest_b, std::size_t group) noexcept {
    return largest_a * largest_b * static_cast<int>(group) < (1 << 22);
}

/// Significant bits of an integer: those from its highest to its lowest one.
[[nodiscard]] constexpr int significant_bits(std::uint32_t x) noexcept {
    return x == 0 ? 0 : 32 - std::countl_zero(x) - std::countr_zero(x);
}

/// The most significant bits that a format's scales have; E8M0 has 1.
template <class F>
inline constexpr int scale_bits = [] {
    int most = 0;
    for (const float scale : lane_scales<F>) {
        if (is_nan(scale) || abs_bits(scale) == 0) continue;
        const std::uint32_t bits = to_bits(scale), fraction = bits & 0x7FFFFFU;
        const int here = significant_bits((bits & 0x7F800000U) == 0 ? fraction : fraction | 0x800000U);
        most = here > most ? here : most;
    }
    return most;
}();

/// Whether lanes times scales can be kept in bfloat16 (8 significant bits) and products of a group added up in float32
/// (24) without rounding: m significant bits times n make m + n, or m where n is 1.
template <class A, class B>
inline constexpr bool scaled_lanes = [] {
    constexpr auto product = [](int m, int n) { return n == 1 ? m : m + n; };
    constexpr auto lane_bits = [](const auto& table) {
        int most = 0;
        for (const std::int8_t lane : table) {
            const int here = significant_bits(static_cast<std::uint32_t>(lane < 0 ? -lane : lane));
            most = here > most ? here : most;
        }
        return most;
    };
    const std::uint32_t dot = static_cast<std::uint32_t>(lane_traits<A>::largest * lane_traits<B>::largest) *
                              static_cast<std::uint32_t>(common_group<A, B>);
    return common_group<A, B> <= 32 && product(lane_bits(lane_traits<A>::table), scale_bits<A>) <= 8 &&
           product(lane_bits(lane_traits<B>::table), scale_bits<B>) <= 8 &&
           product(product(32 - std::countl_zero(dot), scale_bits<A>), scale_bits<B>) <= 24;
}();

/// What a kernel must know of a pair of integer formats.
template <class A, class B>
struct pair_traits {
    static constexpr std::size_t group = common_group<A, B>;
    static constexpr bool narrow = fits_int16(lane_traits<A>::largest, lane_traits<B>::largest, group);
    static_assert(fits_magic(lane_traits<A>::largest, lane_traits<B>::largest, group));
    static_assert(2 * lane_traits<A>::largest * 2 * lane_traits<B>::largest <= 32767, "pairs of products fit int16");
};

/// The table plus `bias`, as bytes.
[[nodiscard]] constexpr std::array<std::uint8_t, 64> biased_lanes(const std::array<std::int8_t, 64>& table,
                                                                  int bias) noexcept {
    std::array<std::uint8_t, 64> biased{};
    for (std::size_t i = 0; i < 64; ++i) biased[i] = static_cast<std::uint8_t>(table[i] + bias);
    return biased;
}

}  // namespace lowbit::kernel
