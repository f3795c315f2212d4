// SPDX-License-Identifier: Apache-2.0
/// MXFP4: 32 E2M1 values that share one power-of-two scale, 4.25 bits a value (OCP Microscaling Formats).
///
/// Characteristics. The cheapest of the 4-bit formats: a value is a code times 2^e, so scaling is exact in both
/// directions and products of blocks are integers times a power of two. The price is the coarse scale: the greatest
/// element of a block lands anywhere in [4, 8) (rule `floor`), where 6 is the last code and everything above saturates.
/// On normally distributed data the error is about 1.9 times that of HiF4; rules `uos` and `oas` gain a little.
///
/// Scale hierarchy.   value = +-E2M1[code] * 2^(scale - 127),   E2M1 = 0 .5 1 1.5 2 3 4 6
///
///     e = clamp(floor(log2 vmax) - 2 + bump, -127, 125), vmax = max |x|, from the exponent bits of vmax, never a log;
///     bump is 0 or 1 by the rule (mxfp4_scale_rule). Elements are rounded to nearest, ties to the even code.
///
/// Storage picture (17 bytes, no padding):
///
///     byte 0        scale, E8M0: 2^(b - 127), 0xFF = NaN; 0 is 2^-127, a float32 subnormal
///     byte 1..16    two codes a byte: element 2i in the low nibble of byte 1 + i, element 2i + 1 in the high one
///                   code = sign (bit 3), E2M1 magnitude code (bits 2..0)
///
/// Exact. One rounding a value, on integer bits: no reciprocal that could overflow, no dependence on the floating-point
/// environment. Blocks whose values are codes times 2^-126 .. 2^125, with a 4 or a 6 among them, survive a round trip.
///
/// Special. A NaN or Inf poisons the block: scale 0xFF, every value decodes to NaN; codes are made with that element
/// as +0. A block of zeros takes scale byte 0. The sign of zero and of values that round to zero is kept (code 8).
///
/// Source: OCP MX v1.0 as implemented by microxcaling (floor rule); arXiv 2603.08713 section 4.2 (oas), arXiv
/// 2607.24377 (uos); torchao (ceil, rceil, even).
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

/// How MXFP4 chooses the exponent of a block: with m in [1, 2) the mantissa of the block's maximum, the exponent is one
/// above floor(log2 vmax) - 2 if the condition holds.
enum class mxfp4_scale_rule : std::uint8_t {
    floor,   ///< never: the OCP rule; vmax / 2^e in [4, 8), above 6 saturates
    ceil,    ///< m > 1: (2, 4]
    rceil,   ///< m > 1.5: (3, 6], never saturates
    even,    ///< m >= 1.75: [3.5, 7)
    oas,     ///< m > 1.75: (3.5, 7]
    uos,     ///< m > 1.8125: (3.625, 7.25]
    search,  ///< of the floor rule's exponent - 1, + 0, + 1 the one with the least squared error, ties to the smaller
};

/// Options of mxfp4.
struct mxfp4_options {
    mxfp4_scale_rule scale_rule = mxfp4_scale_rule::floor;  ///< the default is the OCP rule

    friend bool operator==(const mxfp4_options&, const mxfp4_options&) = default;
};

/// The format (see the top of this header).
struct mxfp4 {
    static constexpr std::string_view name = "mxfp4";  ///< in files and reports
    static constexpr std::size_t block_size = 32;      ///< values of a block
    static constexpr double bits_per_value = 4.25;     ///< of whole blocks
    static constexpr bool has_tensor_scale = false;    ///< there is no second scale

    /// What is stored of 32 values: 17 bytes, as the storage picture shows.
    struct block {
        std::uint8_t scale;                  ///< E8M0
        std::array<std::uint8_t, 16> codes;  ///< even element in the low nibble

        friend bool operator==(const block&, const block&) = default;
    };

    /// What the caller may choose.
    using options = mxfp4_options;
    /// What `option` holds in enumerations, for whoever checks it.
    [[nodiscard]] static constexpr auto enumerated(const options& option) noexcept {
        return std::array{detail::enumerated_option{"scale_rule", static_cast<unsigned>(option.scale_rule),
                                                    static_cast<unsigned>(mxfp4_scale_rule::search)}};
    }

    /// The block of 32 values, under the scale rule that `option` names.
    /// Exact: nearest code, ties to even, saturating at 6 * scale.
    /// Special: NaN and Inf poison the block; -0 and negatives that round to zero give code 8.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& option = {},
                                                const encode_context& = {}) noexcept {
        const auto parts = detail::split_block(values);
        const int exponent = option.scale_rule == mxfp4_scale_rule::search
                                 ? least_error_exponent(parts)
                                 : detail::shared_exponent(parts.largest, bump(parts.largest, option.scale_rule));
        return {detail::e8m0_byte(exponent, parts.finite),
                detail::pack_codes(detail::codes_of(parts, detail::e2m1_limits(exponent)))};
    }

    /// Writes the 32 values of a `packed` block; any bytes are a block.
    /// Exact: always, subnormals included. Special: scale 0xFF gives NaN; past FLT_MAX (bytes 253, 254) Inf of the
    /// sign.
    static constexpr void decode(const block& packed, std::span<float, block_size> values, float = 1.0F) noexcept {
        if (packed.scale == 0xFF) {
            detail::fill_nan(values);
            return;
        }
        const auto table = detail::e2m1_table(packed.scale - 127);
        const auto codes = detail::unpack_codes(packed.codes);
        for (std::size_t i = 0; i < block_size; ++i) {
            values[i] = detail::with_sign(table[codes[i] & 7U], codes[i]);
        }
    }

  private:
    [[nodiscard]] static constexpr int bump(std::uint32_t largest, mxfp4_scale_rule rule) noexcept {
        const std::uint32_t mantissa = detail::normalised_mantissa(largest);  // m = 1 + mantissa / 2^23
        switch (rule) {
            case mxfp4_scale_rule::ceil: return mantissa > 0 ? 1 : 0;
            case mxfp4_scale_rule::rceil: return mantissa > 0x400000U ? 1 : 0;
            case mxfp4_scale_rule::even: return mantissa >= 0x600000U ? 1 : 0;
            case mxfp4_scale_rule::oas: return mantissa > 0x600000U ? 1 : 0;
            case mxfp4_scale_rule::uos: return mantissa > 0x680000U ? 1 : 0;
            case mxfp4_scale_rule::floor:
            case mxfp4_scale_rule::search: break;
        }
        return 0;
    }

    /// Errors are relative to the floor rule's scale, a power of two, so that nothing overflows; summed in ascending
    /// order with one fused multiply-add a value.
    [[nodiscard]] static constexpr int least_error_exponent(const detail::block_parts<block_size>& parts) noexcept {
        const int floor_exponent = detail::shared_exponent(parts.largest);
        const auto relative = detail::relative_magnitudes(parts, floor_exponent);  // below 8
        int best = 0;
        float least = 0;
        for (int bias = -1; bias <= 1; ++bias) {
            const int exponent = detail::clamp_exponent(floor_exponent + bias);
            const float half = 0.5F * power_of_two(exponent - floor_exponent);
            const auto halves =
                detail::count_limits(parts.magnitude, detail::e2m1_limits(exponent), detail::e2m1_steps);
            float error = 0;
            for (std::size_t i = 0; i < block_size; ++i) {
                const float value = static_cast<float>(halves[i]) * half;
                const float difference = exactly(value - relative[i]);
                error = exactly(fused_multiply_add(difference, difference, error));
            }
            if (bias == -1 || error < least) {
                best = exponent;
                least = error;
            }
        }
        return best;
    }
};

static_assert(sizeof(mxfp4::block) == 17 && alignof(mxfp4::block) == 1);
static_assert(sizeof(mxfp4::block) * 8 == mxfp4::bits_per_value * mxfp4::block_size);
static_assert(block_format<mxfp4>);

}  // namespace lowbit
