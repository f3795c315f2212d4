// SPDX-License-Identifier: Apache-2.0
// Lowering of blocks to lanes and scales in plain code: the oracle of the vector kernels, and their fall-back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <lowbit/lane/lane_traits.hpp>

namespace lowbit {

namespace detail {

/// Index within a subgroup of the lowest of the largest magnitude codes.
[[nodiscard]] constexpr std::size_t top_index(const std::uint8_t* codes, std::size_t count) noexcept {
    std::size_t top = 0;
    for (std::size_t i = 1; i < count; ++i) {
        if ((codes[i] & 7U) > (codes[top] & 7U)) top = i;
    }
    return top;
}

}  // namespace detail

/// Writes the lanes of one block; returns the scale of a lane.
/// Exact: lane * scale is the decoded value (its sign of zero aside; int8_block: rounded once), Inf where that is Inf.
/// Special: a NaN scale returns NaN, the lanes are then 0.
template <integer_lanes F>
constexpr float lower_block(const typename F::block& block, std::span<std::int8_t, F::block_size> lanes) noexcept {
    using traits = lane_traits<F>;
    const float scale = lane_scale<F>(block);
    if (is_nan(scale)) {
        for (std::int8_t& lane : lanes) lane = 0;
        return scale;
    }
    if constexpr (!table_lanes<F>) {
        for (std::size_t i = 0; i < F::block_size; ++i) lanes[i] = block.codes[i];
    } else {
        const std::uint32_t word = traits::selector_word(block);
        for (std::size_t i = 0; i < F::block_size; i += 8) {
            std::uint8_t codes[8] = {};
            for (std::size_t j = 0; j < 8; j += 2) {
                const std::uint8_t pair = block.codes[(i + j) / 2];
                codes[j] = pair & 0x0FU;
                codes[j + 1] = static_cast<std::uint8_t>(pair >> 4U);
            }
            if constexpr (traits::selector == lane_selector::top_of_8) {
                for (std::size_t j = 0; j < 8; ++j) lanes[i + j] = traits::table[16U + codes[j]];
                const std::size_t top = detail::top_index(codes, 8);
                lanes[i + top] = traits::table[16U * traits::run_selector(word, i / 4) + codes[top]];
            } else {
                for (std::size_t j = 0; j < 8; ++j) {
                    lanes[i + j] = traits::table[16U * traits::run_selector(word, (i + j) / 4) + codes[j]];
                }
            }
        }
    }
    return scale;
}

/// Writes the lanes of the first `count` values of a row of `blocks`, and one scale a block.
/// Shape: `lanes` has round_up(count, block_size) entries, those from `count` on become 0; scales has one entry a
/// block.
template <integer_lanes F>
constexpr void lower_row(const typename F::block* blocks, std::size_t count, std::int8_t* lanes,
                         float* scales) noexcept {
    constexpr std::size_t size = F::block_size;
    for (std::size_t done = 0; done < count; done += size) {
        *scales++ = lower_block<F>(*blocks++, std::span<std::int8_t, size>(lanes + done, size));
        if (count - done < size) {
            for (std::size_t i = count - done; i < size; ++i) lanes[done + i] = 0;
        }
    }
}

}  // namespace lowbit
