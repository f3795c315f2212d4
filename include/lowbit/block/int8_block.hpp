// SPDX-License-Identifier: Apache-2.0
/// int8_block: 32 signed bytes that share one float32 scale, 9 bits a value.
///
/// Characteristics. What inference engines commonly quantise activations to: the scale puts the block's maximum exactly
/// on code 127, so that up to one bit more of the range is used than under a power of two (mxint8), for 0.75 bit a
/// value and inexact scaling: encoding divides, decoding multiplies, each with one rounding.
///
/// Scale hierarchy.   value = q * scale,   q = -127 .. 127
///
///     scale = max(min(amax, FLT_MAX less one step), 127 * 2^-126) / 127, amax = max |x|;   0 where all values are 0
///     q     = x / scale, the float quotient, rounded to nearest, ties to even, clamped to +-127
///
/// The lower bound keeps the scale a normal float. The upper one concerns amax = FLT_MAX alone: that scale would round
/// up, and 127 times it would be Inf, which finite data must never decode to.
///
/// Storage picture (36 bytes, no padding):
///
///     byte 0..3     scale, float32, little endian
///     byte 4..35    one code a byte, two's complement, element i in byte 4 + i
///
/// Exact. float32, round to nearest even: one rounding for the scale, one for each quotient, one for each decoded
/// product. A product of blocks rounds float(dot) * scale_a; the order of operations of the product's contract fixes
/// every bit.
///
/// Special. A NaN or Inf poisons the block: the scale is NaN (0x7FC00000), every value decodes to NaN; codes are made
/// with that element as 0. The format has one zero: -0 decodes as +0. Decoders take any scale and code -128:
/// the value is the float product, a NaN among those the canonical one.
///
/// Source: this library's specification; the layout of 32 bytes under one scale is that of ggml's Q8_0 with a float32
/// scale.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <lowbit/block/block_format.hpp>
#include <lowbit/block/block_math.hpp>
#include <lowbit/block/integer_codes.hpp>

namespace lowbit {

/// The format (see the top of this header).
struct int8_block {
    static constexpr std::string_view name = "int8_block";  ///< in files and reports
    static constexpr std::size_t block_size = 32;           ///< values of a block
    static constexpr double bits_per_value = 9.0;           ///< of whole blocks
    static constexpr bool has_tensor_scale = false;         ///< there is no second scale

    /// What is stored of 32 values: 36 bytes, as the storage picture shows.
    struct block {
        std::array<std::uint8_t, 4> scale;  ///< float32, little endian
        std::array<std::int8_t, 32> codes;  ///< in units of the scale

        friend bool operator==(const block&, const block&) = default;
    };

    /// Nothing to choose.
    struct options {
        friend bool operator==(const options&, const options&) = default;
    };

    /// The scale of a block as a float.
    [[nodiscard]] static constexpr float scale_of(const block& block) noexcept {
        return std::bit_cast<float>(block.scale);  // the library supports little-endian targets only
    }

    /// Bits of what amax counts as at least: 127 * 2^-126.
    static constexpr std::uint32_t least_amax_bits = 0x03FE0000U;
    /// Bits of what amax counts as at most: FLT_MAX less one step.
    static constexpr std::uint32_t greatest_amax_bits = 0x7F7FFFFEU;

    /// The scale of values whose largest magnitude has the bits `amax_bits` (finite).
    [[nodiscard]] static constexpr float scale_from_amax(std::uint32_t amax_bits) noexcept {
        if (amax_bits == 0) return 0.0F;
        const std::uint32_t bits = amax_bits < least_amax_bits      ? least_amax_bits
                                   : amax_bits < greatest_amax_bits ? amax_bits
                                                                    : greatest_amax_bits;
        return exactly(float_from_bits(bits)) / exactly(127.0F);
    }

    /// The block of 32 values.
    /// Exact: float quotient, then nearest code, ties to even, saturating at +-127.
    /// Special: NaN and Inf poison the block; -0 gives code 0.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& = {},
                                                const encode_context& = {}) noexcept {
        const auto parts = detail::split_block(values);
        const float scale = scale_from_amax(parts.largest);
        block result{std::bit_cast<std::array<std::uint8_t, 4>>(parts.finite ? scale : quiet_nan), {}};
        if (parts.largest == 0) return result;
        for (std::size_t i = 0; i < block_size; ++i) {
            const std::uint32_t quotient = to_bits(ratio(parts.magnitude[i], scale));
            result.codes[i] = detail::signed_code(detail::round_to_integer(quotient, 0, 127), to_bits(values[i]));
        }
        return result;
    }

    /// The 32 values of a block; any bytes are a block.
    /// Exact: one float product a value.
    static constexpr void decode(const block& block, std::span<float, block_size> values, float = 1.0F) noexcept {
        const float scale = scale_of(block);
        for (std::size_t i = 0; i < block_size; ++i) {
            values[i] = product(scale, block.codes[i]);
        }
    }

  private:
    /// What 2^149 adds to the bits of a float.
    static constexpr std::uint32_t unit_shift = 149U << 23U;

    /// magnitude / scale for a normal scale. Subnormal magnitudes are divided as integers, in units of 2^-149: the
    /// caller may have made the processor take subnormals for zeros.
    [[nodiscard]] static constexpr float ratio(std::uint32_t magnitude, float scale) noexcept {
        if (magnitude >= 0x00800000U) return exactly(exactly(float_from_bits(magnitude)) / exactly(scale));
        if (to_bits(scale) >= 0x30000000U) return 0.0F;  // less than 2^-95
        return exactly(exactly(static_cast<float>(magnitude)) / exactly(float_from_bits(to_bits(scale) + unit_shift)));
    }

    /// scale * code for a subnormal scale, likewise.
    [[nodiscard]] static constexpr std::uint32_t subnormal_product(std::uint32_t scale, std::uint32_t code) noexcept {
        const std::uint32_t units = scale * code;  // below 2^30
        return units < 0x00800000U ? units : to_bits(exactly(static_cast<float>(units))) - unit_shift;
    }

    /// scale * code by cases where it is not a finite product, so that it works in constant evaluation as well.
    [[nodiscard]] static constexpr float product(float scale, std::int8_t code) noexcept {
        if (is_nan(scale) || (is_inf(scale) && code == 0)) return quiet_nan;
        const std::uint32_t sign = (to_bits(scale) >> 31U ^ (code < 0 ? 1U : 0U)) << 31U;
        const int absolute = code < 0 ? -static_cast<int>(code) : static_cast<int>(code);
        if (abs_bits(scale) < 0x00800000U) {
            return float_from_bits(sign | subnormal_product(abs_bits(scale), static_cast<std::uint32_t>(absolute)));
        }
        const float largest = exactly(float_from_bits(abs_bits(scale)));
        const auto magnitude = static_cast<float>(absolute);
        // From 2^128 - 2^103 on (half a step above FLT_MAX) the product is Inf; a constant evaluator refuses to make
        // it.
        if (is_inf(scale) ||
            static_cast<double>(largest) * static_cast<double>(magnitude) >= double_from_bits(0x47EFFFFFF0000000U)) {
            return float_from_bits(sign | infinity_bits);
        }
        return float_from_bits(sign | to_bits(largest * magnitude));
    }
};

static_assert(sizeof(int8_block::block) == 36 && alignof(int8_block::block) == 1);
static_assert(sizeof(int8_block::block) * 8 == int8_block::bits_per_value * int8_block::block_size);
static_assert(to_bits(127.0F * power_of_two(-126)) == int8_block::least_amax_bits);
static_assert(block_format<int8_block>);

}  // namespace lowbit
