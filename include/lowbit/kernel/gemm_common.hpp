// SPDX-License-Identifier: Apache-2.0
// What the kernels of all instruction sets share: facts about pairs of formats, and biased lane tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
