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

/// What 16 bits can hold of a pair's dot products, where an instruction set multiplies with vpmaddubsw.
enum class pair_sum : std::uint8_t {
    narrow,  ///< a group's two half sums: of lanes 0, 1 and 2, 3 of each 4
    wide,    ///< the sum of two products
    split,   ///< one product only
};

/// A pair's kernels.
struct pair_kind {
    pair_sum sum;
    bool magic;  ///< the magic start is exact (gemm_abi.hpp): A's scales have few significant bits
    scale_join join = scale_join::none;

    friend constexpr bool operator==(const pair_kind&, const pair_kind&) = default;
};

/// Whether no two products of an unsigned (biased) and a signed lane saturate.
[[nodiscard]] constexpr bool products_fit_int16(int largest_a, int largest_b) noexcept {
    return 2 * largest_a * 2 * largest_b <= 32767;
}

[[nodiscard]] constexpr pair_sum sum_of(int largest_a, int largest_b, std::size_t group) noexcept {
    if (!products_fit_int16(largest_a, largest_b)) return pair_sum::split;
    return largest_a * largest_b * static_cast<int>(group / 2) <= 32767 ? pair_sum::narrow : pair_sum::wide;
}

/// Whether the sums stay within the magic float's range, 2^22.
[[nodiscard]] constexpr bool fits_magic(int largest_a, int largest_b, std::size_t group) noexcept {
    return largest_a * largest_b * static_cast<int>(group) < (1 << 22);
}

/// Significant bits of an integer: those from its highest to its lowest one.
[[nodiscard]] constexpr int significant_bits(std::uint32_t x) noexcept {
    return x == 0 ? 0 : 32 - std::countl_zero(x) - std::countr_zero(x);
}

/// The most significant bits that a format's scales have; E8M0 has 1, any float 24.
template <class F>
inline constexpr int scale_bits = 24;
template <byte_scales F>
inline constexpr int scale_bits<F> = [] {
    int most = 0;
    for (const float scale : lane_scales<F>) {
        if (is_nan(scale) || abs_bits(scale) == 0) continue;
        const std::uint32_t bits = to_bits(scale), fraction = bits & 0x7FFFFFU;
        const int here = significant_bits((bits & 0x7F800000U) == 0 ? fraction : fraction | 0x800000U);
        most = here > most ? here : most;
    }
    return most;
}();

/// The most significant bits of a lane; int8 has 7.
template <class F>
inline constexpr int lane_bits = 7;
template <table_lanes F>
inline constexpr int lane_bits<F> = [] {
    int most = 0;
    for (const std::int8_t lane : lane_traits<F>::table) {
        const int here = significant_bits(static_cast<std::uint32_t>(lane < 0 ? -lane : lane));
        most = here > most ? here : most;
    }
    return most;
}();

/// Whether lanes times scales can be kept in bfloat16 (8 significant bits) and products of a group added up in float32
/// (24) without rounding: m significant bits times n make m + n, or m where n is 1.
template <class A, class B>
inline constexpr bool scaled_lanes = [] {
    constexpr auto product = [](int m, int n) { return n == 1 ? m : m + n; };
    const std::uint32_t dot = static_cast<std::uint32_t>(lane_traits<A>::largest * lane_traits<B>::largest) *
                              static_cast<std::uint32_t>(common_group<A, B>);
    return common_group<A, B> <= 32 && product(lane_bits<A>, scale_bits<A>) <= 8 &&
           product(lane_bits<B>, scale_bits<B>) <= 8 &&
           product(product(32 - std::countl_zero(dot), scale_bits<A>), scale_bits<B>) <= 24;
}();

/// How the scales of A x B are joined (gemm_abi.hpp), if they can be.
template <class A, class B>
inline constexpr scale_join join_of = [] {
    const std::uint32_t dot = static_cast<std::uint32_t>(lane_traits<A>::largest * lane_traits<B>::largest) *
                              static_cast<std::uint32_t>(common_group<A, B>);
    const int dot_bits = 32 - std::countl_zero(dot);
    if (!byte_scales<A> || !byte_scales<B> || dot_bits + scale_bits < A >> 24) return scale_join::none;
    if (scale_bits<A> == 1 || scale_bits<B> == 1) return scale_join::add;
    return scale_bits<A> <= 4 && scale_bits<B> <= 4 ? scale_join::table : scale_join::none;
}();

/// joining[ma][mb] of gemm_abi.hpp, 16 words a row, less mb: the index rides in the low bits of bits(scale_b).
struct alignas(64) joining_table {
    std::uint32_t words[8][16];
};
inline constexpr joining_table joining = [] {
    joining_table table{};
    for (std::uint32_t ma = 0; ma < 8; ++ma) {
        for (std::uint32_t i = 0; i < 16; ++i) {
            const std::uint32_t mb = i % 8;
            const float product = static_cast<float>((8 + ma) * (8 + mb)) / 64;
            table.words[ma][i] = std::bit_cast<std::uint32_t>(product) - ((ma + mb) << 20U) - (254U << 23U) - mb;
        }
    }
    return table;
}();

/// What a kernel must know of a pair of integer formats.
template <class A, class B>
struct pair_traits {
    static constexpr std::size_t group = common_group<A, B>;
    static constexpr int largest_a = lane_traits<A>::largest, largest_b = lane_traits<B>::largest;
    static constexpr pair_kind kind{sum_of(largest_a, largest_b, group), byte_scales<A>, join_of<A, B>};
    static_assert(fits_magic(largest_a, largest_b, group));
    static_assert(kind.sum == pair_sum::split || products_fit_int16(largest_a, largest_b),
                  "vpmaddubsw would saturate: such pairs need kernels that widen");
    static_assert(2 * largest_a * largest_b <= 65535 && 2 * largest_b <= 256, "products and biased lanes fit");
};

// The 4-bit formats never widen; with 8 bits on one side, only the largest lanes of the other do.
static_assert(pair_traits<m2xfp_weight, m2xfp_weight>::kind.sum != pair_sum::split);
static_assert(pair_traits<mxint8, mxfp4>::kind.sum == pair_sum::narrow);
static_assert(pair_traits<mxint8, hif4>::kind.sum == pair_sum::wide);
static_assert(pair_traits<mxint8, m2xfp_weight>::kind.sum == pair_sum::split);
static_assert(pair_traits<mxint8, mxint8>::kind.sum == pair_sum::split);
static_assert(pair_traits<mxint8, hif4>::kind.magic && !pair_traits<int8_block, hif4>::kind.magic);

/// The table plus `bias`, as bytes.
[[nodiscard]] constexpr std::array<std::uint8_t, 64> biased_lanes(const std::array<std::int8_t, 64>& table,
                                                                  int bias) noexcept {
    std::array<std::uint8_t, 64> biased{};
    for (std::size_t i = 0; i < 64; ++i) biased[i] = static_cast<std::uint8_t>(table[i] + bias);
    return biased;
}

}  // namespace lowbit::kernel
