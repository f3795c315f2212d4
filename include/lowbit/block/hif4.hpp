// SPDX-License-Identifier: Apache-2.0
/// HiF4 (HiFloat4): 64 four-bit values under a three-level scale, 4.5 bits a value.
///
/// Characteristics. The scale is fine (two mantissa bits) and adapts inside the block: one bit for each 8 values and
/// one for each 4 values doubles their step, so that a group has 4.8 binades between its greatest and smallest
/// magnitude while the element grid itself stays uniform. Least error of the 4.5-bit formats on normally distributed
/// data (HiF4 : NVFP4 : MXFP4 = 1 : 1.32 : 1.89) and 69 binades of range without a tensor scale.
///
/// Scale hierarchy.   value = +-code / 4 * 2^(E1_8[i / 8] + E1_16[i / 4]) * E6M2
///
///     v16[j] = max |x| of elements 4j..4j+3, v8[g] = max(v16[2g], v16[2g+1]), vmax = max v8
///     sf   = clamp(bf16(vmax * bf16(1/7)), 2^-48, 49152)
///     E6M2 = sf rounded to two mantissa bits, to nearest, ties to even        rec = bf16(1 / E6M2)
///     E1_8[g] = v8[g] * rec >= 4         E1_16[j] = v16[j] * rec * 2^-E1_8[j/2] >= 2
///     code = min(7, 4 bf16(|x| * rec * 2^-(E1_8 + E1_16)) rounded half away)
///
/// 7 = 1.75 * 2 * 2 is the greatest value relative to E6M2. Where published implementations differ in rounding,
/// hif4_rounding names which one is meant.
///
/// Storage picture (36 bytes, no padding):
///
///     byte 0        scale, E6M2: 2^((b >> 2) - 48) * (1 + (b & 3) / 4); 0xFF = NaN; no zero
///     byte 1        E1_8, bit 7 = values 0..7, ..., bit 0 = values 56..63
///     byte 2, 3     E1_16, bit 7 of byte 2 = values 0..3, ..., bit 0 of byte 3 = values 60..63
///     byte 4..35    two codes a byte: element 2i in the low nibble of byte 4 + i, element 2i + 1 in the high one
///                   code = sign (bit 3), magnitude in quarters (bits 2..0)
///
/// Exact. Decoding always: three significant bits times three, 2^-50 .. 344064, far inside float32. Encoding rounds
/// where the formulas above say, and a power of two is exact wherever it stands.
///
/// Special. A NaN or Inf poisons the block: scale 0xFF, every value decodes to NaN; the other fields are made with that
/// element as +0. Zeros take scale byte 0. -0 is stored as +0; a negative that rounds to zero keeps its sign.
///
/// Source: arXiv 2602.11287 section II, tables I and II, algorithm 1; bytes and default rounding of the vendor's
/// quantisation toolkit (AMCT).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <lowbit/block/block_format.hpp>
#include <lowbit/block/block_math.hpp>
#include <lowbit/core/error.hpp>

namespace lowbit {

/// Where HiF4 rounds on its way to a code; the paper leaves it open.
enum class hif4_rounding : std::uint8_t {
    amct,       ///< the vendor's toolkit: scaled magnitude rounded to bfloat16, then half away
    reference,  ///< the paper's companion code: no bfloat16 in between, half away
    ascend_a6,  ///< the vendor's hardware model: magnitudes and every product rounded to bfloat16, codes ties to even
};

/// Options of hif4.
struct hif4_options {
    hif4_rounding rounding = hif4_rounding::amct;  ///< the default is what the vendor's tools write

    friend bool operator==(const hif4_options&, const hif4_options&) = default;
};

namespace detail {

/// Bits of a non-negative finite float to the nearest bfloat16, ties to even, still as bits of a float. Stays below
/// Inf: what would round there saturates every code anyway.
[[nodiscard]] constexpr std::uint32_t bfloat16_bits(std::uint32_t bits) noexcept {
    const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16U & 1U)) & 0xFFFF0000U;
    return rounded < infinity_bits ? rounded : 0x7F7F0000U;
}

/// Limits of the HiF4 codes, multiples of a quarter: the midpoints are odd multiples of an eighth. A tie goes up after
/// an odd code, and after an even one too if `away`.
[[nodiscard]] constexpr code_limits s1p2_limits(bool away) noexcept {
    code_limits limits{};
    for (std::size_t c = 0; c < limits.size(); ++c) {
        limits[c] = to_bits(0.125F * static_cast<float>(2 * c + 1)) - (away || c % 2 != 0 ? 1U : 0U);
    }
    return limits;
}

/// The greatest of each Run neighbours.
template <std::size_t Run, std::size_t N>
[[nodiscard]] constexpr std::array<std::uint32_t, N / Run> maxima(
    const std::array<std::uint32_t, N>& magnitudes) noexcept {
    std::array<std::uint32_t, N / Run> largest{};
    for (std::size_t i = 0; i < N; ++i) {
        largest[i / Run] = largest[i / Run] < magnitudes[i] ? magnitudes[i] : largest[i / Run];
    }
    return largest;
}

inline constexpr code_limits s1p2_ties_away = s1p2_limits(true);
inline constexpr code_limits s1p2_ties_to_even = s1p2_limits(false);

}  // namespace detail

/// The format (see the top of this header).
struct hif4 {
    static constexpr std::string_view name = "hif4";  ///< in files and reports
    static constexpr std::size_t block_size = 64;     ///< values of a block
    static constexpr double bits_per_value = 4.5;     ///< of whole blocks
    static constexpr bool has_tensor_scale = false;   ///< there is no second scale

    /// What is stored of 64 values: 36 bytes, as the storage picture shows.
    struct block {
        std::uint8_t scale;                  ///< E6M2
        std::uint8_t e1_8;                   ///< bit 7 = values 0..7
        std::array<std::uint8_t, 2> e1_16;   ///< bit 7 of the first byte = values 0..3
        std::array<std::uint8_t, 32> codes;  ///< even element in the low nibble

        friend bool operator==(const block&, const block&) = default;
    };

    /// What the caller may choose.
    using options = hif4_options;
    /// What `option` holds in enumerations, for whoever checks it.
    [[nodiscard]] static constexpr auto enumerated(const options& option) noexcept {
        return std::array{detail::enumerated_option{"rounding", static_cast<unsigned>(option.rounding),
                                                    static_cast<unsigned>(hif4_rounding::ascend_a6)}};
    }

    /// The block of 64 values.
    /// Exact: the bytes of the hif4_rounding that `option` names. Special: NaN and Inf poison the block; -0 becomes +0.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& option = {},
                                                const encode_context& = {}) noexcept {
        auto parts = detail::split_block(values);
        const bool a6 = option.rounding == hif4_rounding::ascend_a6;
        for (std::size_t i = 0; i < block_size; ++i) {
            parts.sign[i] = parts.magnitude[i] == 0 ? std::uint8_t{0} : parts.sign[i];
            parts.magnitude[i] = a6 ? detail::bfloat16_bits(parts.magnitude[i]) : parts.magnitude[i];
        }
        const auto v16 = detail::maxima<4>(parts.magnitude);
        const auto v8 = detail::maxima<2>(v16);
        const std::uint32_t scale = scale_byte(float_from_bits(detail::maxima<8>(v8)[0]));
        const float reciprocal = reciprocal_of(scale);

        block result{parts.finite ? static_cast<std::uint8_t>(scale) : std::uint8_t{0xFF}, 0, {}, {}};
        std::array<std::uint8_t, block_size> codes{};
        const auto& limits = a6 ? detail::s1p2_ties_to_even : detail::s1p2_ties_away;
        for (std::size_t j = 0; j < v16.size(); ++j) {
            const bool coarse8 = product(v8[j / 2], reciprocal, a6) >= 4.0F;
            const bool coarse16 = product(v16[j], reciprocal, a6) >= (coarse8 ? 4.0F : 2.0F);  // 2 * 2^E1_8
            result.e1_8 = static_cast<std::uint8_t>(result.e1_8 | (coarse8 ? 0x80U >> (j / 2) : 0U));
            result.e1_16[j / 8] = static_cast<std::uint8_t>(result.e1_16[j / 8] | (coarse16 ? 0x80U >> (j % 8) : 0U));
            // The power of two is exact, so it may be part of the factor: still one rounded product a value.
            const float factor = reciprocal * (coarse8 ? 0.5F : 1.0F) * (coarse16 ? 0.5F : 1.0F);
            for (std::size_t i = 4 * j; i < 4 * j + 4; ++i) {
                const std::uint32_t exact = to_bits(exactly(float_from_bits(parts.magnitude[i]) * factor));
                const std::uint32_t scaled =
                    option.rounding == hif4_rounding::reference ? exact : detail::bfloat16_bits(exact);
                codes[i] = static_cast<std::uint8_t>(detail::code_of(scaled, limits) | parts.sign[i]);
            }
        }
        result.codes = detail::pack_codes(codes);
        return result;
    }

    /// Writes the 64 values of a `packed` block; any bytes are a block. Exact: always. Special: scale 0xFF gives NaN;
    /// code 8 gives -0.
    static constexpr void decode(const block& packed, std::span<float, block_size> values, float = 1.0F) noexcept {
        if (packed.scale == 0xFF) {
            detail::fill_nan(values);
            return;
        }
        const float quarter = scale_value(packed.scale) * 0.25F;
        const auto codes = detail::unpack_codes(packed.codes);
        for (std::size_t j = 0; j < block_size / 4; ++j) {
            const bool coarse8 = (packed.e1_8 << (j / 2) & 0x80) != 0;
            const bool coarse16 = (packed.e1_16[j / 8] << (j % 8) & 0x80) != 0;
            const float step = quarter * (coarse8 ? 2.0F : 1.0F) * (coarse16 ? 2.0F : 1.0F);
            for (std::size_t i = 4 * j; i < 4 * j + 4; ++i) {
                values[i] = detail::with_sign(to_bits(static_cast<float>(codes[i] & 7U) * step), codes[i]);
            }
        }
    }

  private:
    [[nodiscard]] static constexpr float product(std::uint32_t magnitude, float reciprocal, bool in_bfloat16) noexcept {
        const float rounded_once = exactly(float_from_bits(magnitude) * reciprocal);
        return in_bfloat16 ? float_from_bits(detail::bfloat16_bits(to_bits(rounded_once))) : rounded_once;
    }

    /// E6M2 byte of a block with this maximum; never 0xFF.
    [[nodiscard]] static constexpr std::uint32_t scale_byte(float vmax) noexcept {
        constexpr float seventh = 0.142578125F;  // 1/7 in bfloat16, 0x3E12
        constexpr std::uint32_t smallest = to_bits(power_of_two(-48));
        constexpr std::uint32_t greatest = to_bits(49152.0F);
        const std::uint32_t bits = detail::bfloat16_bits(to_bits(exactly(vmax * seventh)));
        const std::uint32_t clamped = bits < smallest ? smallest : bits > greatest ? greatest : bits;
        const std::uint32_t rounded = (clamped + 0x0FFFFFU + (clamped >> 21U & 1U)) >> 21U;  // 2 mantissa bits left
        return rounded - ((127U - 48U) << 2U);
    }

    [[nodiscard]] static constexpr float scale_value(std::uint32_t byte) noexcept {
        return power_of_two(static_cast<int>(byte >> 2U) - 48) * (1.0F + 0.25F * static_cast<float>(byte & 3U));
    }

    /// bf16(1 / E6M2): four mantissas, an exact power of two.
    [[nodiscard]] static constexpr float reciprocal_of(std::uint32_t byte) noexcept {
        constexpr std::array<float, 4> of_mantissa = {1.0F, 0.80078125F, 0.66796875F, 0.5703125F};
        return of_mantissa[byte & 3U] * power_of_two(48 - static_cast<int>(byte >> 2U));
    }
};

static_assert(sizeof(hif4::block) == 36 && alignof(hif4::block) == 1);
static_assert(sizeof(hif4::block) * 8 == hif4::bits_per_value * hif4::block_size);
static_assert(block_format<hif4>);

}  // namespace lowbit
