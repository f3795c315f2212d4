// SPDX-License-Identifier: Apache-2.0
/// How each block format becomes small integers: one 64-entry table, a selector and a scale code per format; or the
/// codes themselves.
///
/// A matrix kernel multiplies *lanes*, int8 integers, and scales each group's exact dot product once by a float32.
/// Every 4-bit format is lanes times one scale a block, exactly:
///
///     format            group  lane                        largest  scale of a lane   selector
///     mxfp4               32   2 E2M1                         12    2^e / 2           none
///     nvfp4               16   2 E2M1                         12    E4M3 / 2          none
///     hif4                64   code << (E1_8 + E1_16)         28    E6M2 / 4          (E1_8, E1_16), one a run of 4
///     m2xfp_weight        32   2 E2M1 (4 + k)                 84    2^e / 8           k, one a run of 8
///     m2xfp_activation    32   8 value                        56    2^e / 8           v at the top element, else 1
///
/// Lane of an element = table[16 * selector + code], whatever the format: one byte permute of 64 entries on AVX-512
/// VBMI and NEON, one to four of 16 entries elsewhere. The activations of M2XFP fit in too: with E2M3[4c] = E2M1[c],
/// the selector 1 changes nothing, so that the top element takes its stored v and every other one takes 1.
///
/// The *selector word* of a block gathers its micro-exponents or metadata, lowest subgroup in the lowest bits:
///
///     hif4     bits 0..15 E1_16 of runs 0..15, bits 16..23 E1_8 of runs 0..7        3 bytes
///     m2xfp_*  bits 2s, 2s + 1: metadata of subgroup s = 0..3                       1 byte
///
/// The 8-bit formats need no table: a code is the lane.
///
///     mxint8              32  code                         128    2^e / 64          none
///     int8_block          32  code                         128    the float scale   none
///
/// HiF8 has no integer lanes: its lanes are the float32 values themselves.
///
/// Exact: lane * scale is the decoded value for all codes, selectors and scale bytes; tests/lane proves it
/// exhaustively. Special: a NaN scale byte gives a NaN scale, and lanes then count as 0 (lower.hpp). Source: the lane
/// table of the library's specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <lowbit/block/registry.hpp>
#include <lowbit/core/bits.hpp>

namespace lowbit {

/// Where the 2-bit selector of an element comes from.
enum class lane_selector : std::uint8_t {
    none,      ///< always 0
    nested,    ///< hif4: one bit a run of 8, one bit a run of 4
    run_of_8,  ///< m2xfp_weight: two bits a run of 8
    top_of_8,  ///< m2xfp_activation: two bits a run of 8, for its top element; 1 for the others
};

/// How a scale byte becomes the float32 scale of a lane: with x = byte & mask,
///
///     x == nan ? NaN : float_from_bits((x << shift) + add | (x == 0 ? zero : 0)) * multiplier
///
/// Every step is exact; a vector kernel evaluates the same line for many bytes at once.
struct scale_code {
    std::uint32_t mask;   ///< bits of the byte that count
    std::uint32_t nan;    ///< x that stands for NaN
    std::uint32_t shift;  ///< from the byte's place to the float's
    std::uint32_t add;    ///< moves the exponent's bias
    std::uint32_t zero;   ///< bits of the float for x = 0, where shifting gives none
    float multiplier;     ///< from the block's scale to a lane's, and the rest of the bias

    /// The scale of a lane for a scale byte.
    [[nodiscard]] constexpr float operator()(std::uint8_t byte) const noexcept {
        const std::uint32_t x = byte & mask;
        if (x == nan) return quiet_nan;
        return float_from_bits(((x << shift) + add) | (x == 0 ? zero : 0U)) * multiplier;
    }
};

namespace detail {

/// E8M0: the byte is a float32 exponent; byte 0 is the subnormal 2^-127.
[[nodiscard]] constexpr scale_code e8m0_scale(float multiplier) noexcept {
    return {0xFF, 0xFF, 23, 0, 0x00400000, multiplier};
}
/// E4M3 (sign ignored): its fields at float32's places, exponent bias 7, subnormals included.
[[nodiscard]] constexpr scale_code e4m3_scale(float multiplier) noexcept {
    return {0x7F, 0x7F, 20, 0, 0, power_of_two(127 - 7) * multiplier};
}
/// E6M2: bias 48, no zero, no subnormals.
[[nodiscard]] constexpr scale_code e6m2_scale(float multiplier) noexcept {
    return {0xFF, 0xFF, 21, (127U - 48U) << 23U, 0, multiplier};
}

inline constexpr std::array<std::uint8_t, 8> doubled_e2m1{0, 1, 2, 3, 4, 6, 8, 12};

/// 8 * E2M3[code].
[[nodiscard]] constexpr int eightfold_e2m3(int code) noexcept {
    return code < 8 ? code : (8 + (code & 7)) << ((code >> 3) - 1);
}

/// Table of 4 x 16 lanes from a function magnitude(selector, code) of codes 0..7; bit 3 of a code is its sign.
template <class Magnitude>
[[nodiscard]] constexpr std::array<std::int8_t, 64> make_lane_table(Magnitude magnitude) noexcept {
    std::array<std::int8_t, 64> table{};
    for (int selector = 0; selector < 4; ++selector) {
        for (int code = 0; code < 16; ++code) {
            const int value = magnitude(selector, code & 7);
            table[static_cast<std::size_t>(16 * selector + code)] =
                static_cast<std::int8_t>(code >= 8 ? -value : value);
        }
    }
    return table;
}

[[nodiscard]] constexpr int largest_lane(const std::array<std::int8_t, 64>& table) noexcept {
    int largest = 0;
    for (const std::int8_t lane : table) largest = lane > largest ? lane : largest;
    return largest;
}

/// The byte with its bits in the opposite order.
[[nodiscard]] constexpr std::uint8_t reversed_bits(std::uint8_t byte) noexcept {
    std::uint32_t x = byte;
    x = (x & 0x0FU) << 4U | x >> 4U;
    x = (x & 0x33U) << 2U | (x >> 2U & 0x33U);
    x = (x & 0x55U) << 1U | (x >> 1U & 0x55U);
    return static_cast<std::uint8_t>(x);
}

}  // namespace detail

/// The lanes of format F. Members of the integer formats:
///
///     integer         true; false for formats whose lanes are float32 values
///     selector        where selectors come from
///     selector_bytes  bytes of a block's selector word in a packed matrix
///     table           lane of [16 * selector + code]
///     largest         greatest magnitude in the table, a bound on every lane
///     scale           scale byte -> float32 scale of a lane
///     selector_word(block), set_selector_word(block, word)
///     run_selector(word, run)     the selector of run `run` of 4 elements (top_of_8: of its top element)
///
/// Formats without `table` have codes of 8 bits, which are the lanes; those without `scale` a float32 scale.
template <class F>
struct lane_traits {
    static constexpr bool integer = false;  ///< whether lanes are int8
};

template <>
struct lane_traits<mxfp4> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::none;
    static constexpr std::size_t selector_bytes = 0;
    static constexpr std::array<std::int8_t, 64> table = detail::make_lane_table(
        [](int, int code) { return int{detail::doubled_e2m1[static_cast<std::size_t>(code)]}; });
    static constexpr int largest = detail::largest_lane(table);
    static constexpr scale_code scale = detail::e8m0_scale(0.5F);

    static constexpr std::uint32_t run_selector(std::uint32_t, std::size_t) noexcept { return 0; }
    static constexpr std::uint32_t selector_word(const mxfp4::block&) noexcept { return 0; }
    static constexpr void set_selector_word(mxfp4::block&, std::uint32_t) noexcept {}
};

template <>
struct lane_traits<nvfp4> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::none;
    static constexpr std::size_t selector_bytes = 0;
    static constexpr std::array<std::int8_t, 64> table = lane_traits<mxfp4>::table;
    static constexpr int largest = detail::largest_lane(table);
    static constexpr scale_code scale = detail::e4m3_scale(0.5F);

    static constexpr std::uint32_t run_selector(std::uint32_t, std::size_t) noexcept { return 0; }
    static constexpr std::uint32_t selector_word(const nvfp4::block&) noexcept { return 0; }
    static constexpr void set_selector_word(nvfp4::block&, std::uint32_t) noexcept {}
};

template <>
struct lane_traits<hif4> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::nested;
    static constexpr std::size_t selector_bytes = 3;
    /// Selector 2 * E1_8 + E1_16.
    static constexpr std::array<std::int8_t, 64> table =
        detail::make_lane_table([](int selector, int code) { return code << ((selector >> 1) + (selector & 1)); });
    static constexpr int largest = detail::largest_lane(table);
    static constexpr scale_code scale = detail::e6m2_scale(0.25F);

    static constexpr std::uint32_t run_selector(std::uint32_t word, std::size_t run) noexcept {
        return (word >> (16U + run / 2U) & 1U) << 1U | (word >> run & 1U);
    }
    static constexpr std::uint32_t selector_word(const hif4::block& block) noexcept {
        return std::uint32_t{detail::reversed_bits(block.e1_16[0])} |
               std::uint32_t{detail::reversed_bits(block.e1_16[1])} << 8U |
               std::uint32_t{detail::reversed_bits(block.e1_8)} << 16U;
    }
    static constexpr void set_selector_word(hif4::block& block, std::uint32_t word) noexcept {
        block.e1_16[0] = detail::reversed_bits(static_cast<std::uint8_t>(word));
        block.e1_16[1] = detail::reversed_bits(static_cast<std::uint8_t>(word >> 8U));
        block.e1_8 = detail::reversed_bits(static_cast<std::uint8_t>(word >> 16U));
    }
};

template <>
struct lane_traits<m2xfp_weight> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::run_of_8;
    static constexpr std::size_t selector_bytes = 1;
    static constexpr std::array<std::int8_t, 64> table = detail::make_lane_table([](int selector, int code) {
        return int{detail::doubled_e2m1[static_cast<std::size_t>(code)]} * (4 + selector);
    });
    static constexpr int largest = detail::largest_lane(table);
    static constexpr scale_code scale = detail::e8m0_scale(0.125F);

    static constexpr std::uint32_t run_selector(std::uint32_t word, std::size_t run) noexcept {
        return word >> (2U * (run / 2U)) & 3U;
    }
    static constexpr std::uint32_t selector_word(const m2xfp_weight::block& block) noexcept { return block.metadata; }
    static constexpr void set_selector_word(m2xfp_weight::block& block, std::uint32_t word) noexcept {
        block.metadata = static_cast<std::uint8_t>(word);
    }
};

template <>
struct lane_traits<m2xfp_activation> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::top_of_8;
    static constexpr std::size_t selector_bytes = 1;
    static constexpr std::array<std::int8_t, 64> table = detail::make_lane_table([](int selector, int code) {
        const int fine = 4 * code + selector - 1;
        return detail::eightfold_e2m3(fine < 0 ? 0 : fine);
    });
    static constexpr int largest = detail::largest_lane(table);
    static constexpr scale_code scale = detail::e8m0_scale(0.125F);

    static constexpr std::uint32_t run_selector(std::uint32_t word, std::size_t run) noexcept {
        return word >> (2U * (run / 2U)) & 3U;
    }
    static constexpr std::uint32_t selector_word(const m2xfp_activation::block& block) noexcept {
        return block.metadata;
    }
    static constexpr void set_selector_word(m2xfp_activation::block& block, std::uint32_t word) noexcept {
        block.metadata = static_cast<std::uint8_t>(word);
    }
};

template <>
struct lane_traits<mxint8> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::none;
    static constexpr std::size_t selector_bytes = 0;
    static constexpr int largest = 128;  // decoders take the code -128, which encoders never write
    static constexpr scale_code scale = detail::e8m0_scale(0x1p-6F);

    static constexpr std::uint32_t selector_word(const mxint8::block&) noexcept { return 0; }
    static constexpr void set_selector_word(mxint8::block&, std::uint32_t) noexcept {}
};

template <>
struct lane_traits<int8_block> {
    static constexpr bool integer = true;
    static constexpr lane_selector selector = lane_selector::none;
    static constexpr std::size_t selector_bytes = 0;
    static constexpr int largest = 128;

    static constexpr std::uint32_t selector_word(const int8_block::block&) noexcept { return 0; }
    static constexpr void set_selector_word(int8_block::block&, std::uint32_t) noexcept {}
};

static_assert(lane_traits<mxfp4>::largest == 12 && lane_traits<nvfp4>::largest == 12);
static_assert(lane_traits<hif4>::largest == 28);
static_assert(lane_traits<m2xfp_weight>::largest == 84);
static_assert(lane_traits<m2xfp_activation>::largest == 56);

/// A format whose lanes are integers.
template <class F>
concept integer_lanes = lane_traits<F>::integer;

/// Of these, one whose lanes are looked up by 4-bit codes.
template <class F>
concept table_lanes = integer_lanes<F> && requires {
    lane_traits<F>::table;
};

/// One whose scale is a byte: a float of few significant bits. (The other: any float.)
template <class F>
concept byte_scales = integer_lanes<F> && requires {
    lane_traits<F>::scale;
};

/// The scales of all 256 bytes.
template <byte_scales F>
inline constexpr std::array<float, 256> lane_scales = [] {
    std::array<float, 256> scales{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        scales[byte] = lane_traits<F>::scale(static_cast<std::uint8_t>(byte));
    }
    return scales;
}();

/// The scale of a block's lanes. Special: any NaN gives 0x7FC00000.
template <integer_lanes F>
[[nodiscard]] constexpr float lane_scale(const typename F::block& block) noexcept {
    if constexpr (byte_scales<F>) {
        return lane_scales<F>[block.scale];
    } else {
        const float scale = F::scale_of(block);
        return is_nan(scale) ? quiet_nan : scale;
    }
}

/// The number of values that share one exact integer dot product: the smaller block of the two.
template <class A, class B>
inline constexpr std::size_t common_group = A::block_size < B::block_size ? A::block_size : B::block_size;

}  // namespace lowbit
