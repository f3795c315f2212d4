// SPDX-License-Identifier: Apache-2.0
// Constants and tables that the row codecs of every instruction set share: plain data, no vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <lowbit/core/bits.hpp>
#include <lowbit/element/hif8_rounding.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::kernel {

/// Values that a row codec treats at a time: first all maxima and scales, then all codes. One loop over single blocks
/// would wait for each block's reduction; 4 KiB of floats stay in the first-level cache between the two passes.
inline constexpr std::size_t tile_size = 1024;

struct byte_table_64 {
    std::uint8_t entry[64];
};
struct dword_table_32 {
    std::uint32_t entry[32];
};

/// The lane tables of a format, as bytes.
template <class F>
inline constexpr auto lane_bytes = [] {
    byte_table_64 table{};
    for (std::size_t i = 0; i < 64; ++i) table.entry[i] = static_cast<std::uint8_t>(lane_traits<F>::table[i]);
    return table;
}();

/// How far ahead of the tile at hand the second pass prefetches, in bytes.
inline constexpr std::size_t prefetch_distance = 16384;

/// Constants of rounding to E2M1 (and E2M3) by one addition: with u the power of two at or below the quotient |q| (at
/// least 1), q + 2^22 u rounds |q| to a multiple of u / 2, ties to even, which is E2M1's step in that binade. The low
/// mantissa bits n of the sum w are 0..4 for u = 1 and 2..4 above, and n + 2 * (exponent field) = 42 + code, modulo
/// 256: the low byte of w + (w >> 22).
inline constexpr std::uint32_t e2m1_magic = 22U << 23;
inline constexpr std::uint32_t e2m3_magic = 20U << 23;

/// From the low nibble of 42 + code to the code, 8 and more saturating at 7.
inline constexpr std::uint8_t e2m1_code_of_nibble[16] = {6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 1, 2, 3, 4, 5};
/// The same to eight times the code.
inline constexpr std::uint8_t e2m1_key_of_nibble[16] = {48, 56, 56, 56, 56, 56, 56, 56, 56, 56, 0, 8, 16, 24, 32, 40};
/// The same to lanes, twice the E2M1 magnitude.
inline constexpr std::uint8_t e2m1_lane_of_nibble[16] = {8, 12, 12, 12, 12, 12, 12, 12, 12, 12, 0, 1, 2, 3, 4, 6};

inline constexpr float e2m1_magnitudes[8] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};

/// Floats of the bytes of a scale type.
using scale_table = std::array<float, 256>;

/// E8M0: 2^(byte - 127); byte 0 is a float32 subnormal, 0xFF NaN.
inline constexpr scale_table e8m0_table = [] {
    scale_table table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        table[byte] = float_from_bits(byte == 255 ? quiet_nan_bits : byte == 0 ? 0x00400000U : byte << 23);
    }
    return table;
}();

/// E4M3 without its sign: bytes 0x7F and 0xFF NaN.
inline constexpr scale_table e4m3_table = [] {
    scale_table table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        const std::uint32_t code = byte & 0x7FU;
        table[byte] = code == 0x7F ? quiet_nan : float_from_bits(code << 20) * power_of_two(120);
    }
    return table;
}();

/// E6M2: bias 48, no zero, 0xFF NaN.
inline constexpr scale_table e6m2_table = [] {
    scale_table table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        table[byte] = byte == 255 ? quiet_nan : float_from_bits((byte << 21) + ((127U - 48U) << 23));
    }
    return table;
}();

inline constexpr float s1p2_magnitudes[8] = {0.0F, 0.25F, 0.5F, 0.75F, 1.0F, 1.25F, 1.5F, 1.75F};

/// The bits of HiF4's exponents by run of 4: e1_16 in a word of 16 bits (first byte on top), e1_8 in its byte.
struct hif4_bit_places {
    std::uint32_t e1_16[16];
    std::uint32_t e1_8[16];
};
inline constexpr hif4_bit_places hif4_bits = [] {
    hif4_bit_places places{};
    for (std::uint32_t run = 0; run < 16; ++run) {
        places.e1_16[run] = 0x8000U >> run;
        places.e1_8[run] = 0x80U >> (run / 2);
    }
    return places;
}();

/// 0, 1, 2, ...
inline constexpr std::uint32_t lane_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// M2XFP's units 2^(bias - 1) (1 + k / 4), relative to the floor rule's scale, and their rounded reciprocals.
inline constexpr float m2xfp_units[3][4] = {
    {0.5F, 0.625F, 0.75F, 0.875F}, {1.0F, 1.25F, 1.5F, 1.75F}, {2.0F, 2.5F, 3.0F, 3.5F}};
inline constexpr float m2xfp_reciprocals[3][4] = {{1 / 0.5F, 1 / 0.625F, 1 / 0.75F, 1 / 0.875F},
                                                  {1 / 1.0F, 1 / 1.25F, 1 / 1.5F, 1 / 1.75F},
                                                  {1 / 2.0F, 1 / 2.5F, 1 / 3.0F, 1 / 3.5F}};

/// Entry 16 * selector + code of an M2XFP activation: index on the grid of E2M3 (31 for the one below 0) and sign
/// bit 7. Selector 1 leaves a code what it is, the metadata refines the top element's.
inline constexpr auto e2m3_index_of_code = [] {
    byte_table_64 table{};
    for (std::uint32_t i = 0; i < 64; ++i) {
        table.entry[i] = static_cast<std::uint8_t>((4 * (i & 7U) + (i >> 4) - 1) % 32 | (i & 8U) << 4);
    }
    return table;
}();
/// Float bits of the E2M3 magnitudes 0..30; 31 is read for the index below 0.
inline constexpr auto e2m3_bits = [] {
    dword_table_32 table{};
    for (std::uint32_t i = 0; i < 31; ++i) {
        const float value = i < 8 ? static_cast<float>(i) * 0.125F
                                  : static_cast<float>(8 + (i & 7U)) * power_of_two(static_cast<int>(i >> 3) - 4);
        table.entry[i] = to_bits(value);
    }
    return table;
}();

/// By run of 4: where the metadata of its run of 8 lies in the byte.
inline constexpr std::uint32_t metadata_shift[16] = {0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 2, 2, 4, 4, 6, 6};

/// HiF8 by the magnitude a = 0..31 of the exponent: mantissa width, code of 2^a, and what a negative exponent adds to
/// it (from 16 on: the code of 2^-a, and nothing).
struct hif8_fields {
    std::uint32_t width[32];
    std::uint32_t code[32];
    std::uint32_t negative[32];
};
inline constexpr hif8_fields hif8_by_exponent = [] {
    hif8_fields fields{};
    for (std::uint32_t a = 0; a < 32; ++a) {
        fields.width[a] = a < 4 ? 3 : a < 8 ? 2 : a < 16 ? 1 : 0;
        fields.code[a] = a == 0   ? 0x08
                         : a == 1 ? 0x10
                         : a < 4  ? 0x20 + ((a - 2) << 3)
                         : a < 8  ? 0x40 + ((a - 4) << 2)
                         : a < 16 ? 0x60 + ((a - 8) << 1)
                         : a < 23 ? 23 - a
                                  : 0;
        fields.negative[a] = a == 0 ? 0 : a == 1 ? 0x08 : a < 16 ? 0x10 : 0;
    }
    return fields;
}();

/// HiF8 from the top 16 bits of a float, ties away, by exponent field - 103 (0: all fields below, 63: all above): what
/// rounds, then for the sum r = (bits + round) the code as (r >> (entry >> 12)) + entry, modulo 256.
struct hif8_words {
    std::uint16_t round[64];
    std::uint16_t entry[64];
};
inline constexpr hif8_words hif8_by_field = [] {
    hif8_words words{};
    for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint32_t field = i + 103;
        if (i < 2 || i >= 40) {  // below 2^-23; [2^-23, 2^-22) is all 2^-22; from 2^16 on infinity
            const std::uint32_t code = i < 2 ? i : detail::hif8_infinity_code;
            words.entry[i] = static_cast<std::uint16_t>(0xF000U | code);
            continue;
        }
        const detail::hif8_binade binade = detail::make_hif8_binade(static_cast<int>(field) - 127);
        const std::uint32_t shift = 7U - binade.width;
        words.round[i] = static_cast<std::uint16_t>(1U << (shift - 1));
        words.entry[i] = static_cast<std::uint16_t>(shift << 12 | ((binade.base - (field << binade.width)) & 0xFFFU));
    }
    return words;
}();

/// The same in bytes, for instruction sets that look up bytes: shift = entry >> 12, or a factor whose product with the
/// sum has the shifted sum in bits 31..16, in its high byte (0 where nothing is to be left).
struct hif8_bytes {
    std::uint8_t round[64];
    std::uint8_t shift[64];
    std::uint8_t factor[64];
    std::uint8_t offset[64];
    std::uint8_t above[64];  // offset where the sum counts from the least field
};
inline constexpr hif8_bytes hif8_bytes_by_field = [] {
    hif8_bytes bytes{};
    for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint32_t shift = hif8_by_field.entry[i] >> 12U;
        bytes.round[i] = static_cast<std::uint8_t>(hif8_by_field.round[i]);
        bytes.shift[i] = static_cast<std::uint8_t>(shift);
        bytes.factor[i] = static_cast<std::uint8_t>(0x100U >> shift);
        bytes.offset[i] = static_cast<std::uint8_t>(hif8_by_field.entry[i] & 0xFFU);
        const std::uint32_t least = (103U << 7) >> shift;  // 0 where nothing is to be left
        bytes.above[i] = static_cast<std::uint8_t>(hif8_by_field.entry[i] + least);
    }
    return bytes;
}();

/// The values of HiF8's codes.
inline constexpr scale_table hif8_table = [] {
    scale_table table{};
    for (std::size_t code = 0; code < 256; ++code) table[code] = float_from_bits(detail::hif8_values[code]);
    return table;
}();

/// The upper halves of the values of codes 0..127, as words: HiF8 is exact in bfloat16.
inline constexpr std::array<std::uint16_t, 128> hif8_words = [] {
    std::array<std::uint16_t, 128> words{};
    for (std::size_t code = 0; code < 128; ++code) {
        words[code] = static_cast<std::uint16_t>(detail::hif8_values[code] >> 16U);
    }
    return words;
}();

/// A byte with its bits in the opposite order.
inline constexpr std::array<std::uint8_t, 256> reversed_byte = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t reversed = 0;
        for (std::uint32_t bit = 0; bit < 8; ++bit) reversed |= (byte >> bit & 1U) << (7 - bit);
        table[byte] = static_cast<std::uint8_t>(reversed);
    }
    return table;
}();

/// Of 8 bits that are equal in pairs, one each, in the opposite order, in the high nibble.
inline constexpr std::array<std::uint8_t, 256> reversed_pairs = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t reversed = 0;
        for (std::uint32_t pair = 0; pair < 4; ++pair) reversed |= (byte >> (2 * pair) & 1U) << (7 - pair);
        table[byte] = static_cast<std::uint8_t>(reversed);
    }
    return table;
}();

}  // namespace lowbit::kernel
