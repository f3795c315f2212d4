// SPDX-License-Identifier: Apache-2.0
// Rounding modes, overflow behaviour and the counter-based random source of stochastic rounding.
//
// Random bits are a pure function of (seed, index): no state, so that results do not depend on the order of calls, on
// the number of threads or on the instruction set. The generator is SplitMix64 in counter form: the seed is first mixed
// into a 64-bit key (so that neighbouring seeds give unrelated streams), then
//
//     bits(seed, index) = top 24 bits of mix(key + (index + 1) * 0x9E3779B97F4A7C15)
//
// with mix the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). The
// values are part of the library's contract: same seed and index, same result, in every version of major number 0.
#pragma once

#include <cstdint>

#include <lowbit/core/config.hpp>

namespace lowbit {

/// How a value between two neighbours of a grid is rounded.
enum class rounding : std::uint8_t {
    nearest_even,  ///< to the nearer one, ties to the even code
    nearest_away,  ///< to the nearer one, ties to the larger magnitude
    toward_zero,   ///< to the smaller magnitude
    stochastic,    ///< up with probability (distance to the lower neighbour) / step, see random_source
};

/// What becomes of a value that, once rounded, lies beyond the largest finite one; an infinite input counts as such.
enum class overflow : std::uint8_t {
    saturate,  ///< the largest finite value, with the sign of the input
    infinity,  ///< Inf; NaN where the type has no Inf; the largest value where it has neither
};

/// Identifies the random bits of one value: a seed and the index of the element.
struct random_source {
    std::uint64_t seed = 0;   ///< one stream of bits
    std::uint64_t index = 0;  ///< the place in it

    friend constexpr bool operator==(const random_source&, const random_source&) = default;
};

/// What an encoder may know of a block besides its values; each format reads what concerns it.
struct encode_context {
    float tensor_scale = 1;   ///< NVFP4: what decoding multiplies by
    float encode_scale = 1;   ///< NVFP4: its counterpart for encoding, see nvfp4_scales
    std::uint64_t index = 0;  ///< row * cols + column of the block's first value: the counter of stochastic rounding

    friend constexpr bool operator==(const encode_context&, const encode_context&) = default;
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t z) noexcept {
    z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
    return z ^ z >> 31U;
}

inline constexpr std::uint64_t weyl_step = 0x9E3779B97F4A7C15U;

/// What a seed contributes; the bits of index i are the top 24 of mix64(key + (i + 1) * weyl_step).
[[nodiscard]] constexpr std::uint64_t random_key(std::uint64_t seed) noexcept { return mix64(seed + weyl_step); }

}  // namespace detail

/// 24 uniform random bits of `source`, its seed and its index. Cost: two multiplications an index (the key of a
/// constant seed is hoisted).
[[nodiscard]] constexpr std::uint32_t random_bits24(random_source source) noexcept {
    const std::uint64_t key = detail::random_key(source.seed);
    return static_cast<std::uint32_t>(detail::mix64(key + (source.index + 1U) * detail::weyl_step) >> 40U);
}

}  // namespace lowbit
