// SPDX-License-Identifier: Apache-2.0
/// MXINT8: 32 signed bytes that share one power-of-two scale, 8.25 bits a value (OCP Microscaling Formats).
///
/// Characteristics. The usual partner of 4-bit weights: activations keep seven bits below the block's maximum, some 40
/// dB on normally distributed data, and lanes for the integer units cost nothing, since the codes are the lanes. The
/// uniform grid serves blocks without outliers best; the power-of-two scale wastes up to one bit where the maximum lies
/// just above a power of two.
///
/// Scale hierarchy.   value = q / 64 * 2^(scale - 127),   q = -127 .. 127
///
///     e = clamp(floor(log2 vmax), -127, 125), vmax = max |x|, from the exponent bits of vmax, never a log
///     q = x * 64 * 2^-e, rounded to nearest, ties to even, clamped to +-127 (symmetric: -128 is never written)
///
/// Storage picture (33 bytes, no padding):
///
///     byte 0        scale, E8M0: 2^(b - 127), 0xFF = NaN; 0 is 2^-127
///     byte 1..32    one code a byte, two's complement, element i in byte 1 + i
///
/// Exact. One rounding a value, on integer bits. Blocks of q / 64 * 2^e with some |q| >= 64 survive a round trip.
/// Decoding is exact; a stored -128 decodes as -2 * 2^e (so a lane's bound is 128).
///
/// Special. A NaN or Inf poisons the block: scale 0xFF, every value decodes to NaN; codes are made with that element
/// as 0. A block of zeros takes scale byte 0. The format has one zero: -0 decodes as +0.
///
/// Source: OCP MX v1.0, section 5.3.4, as implemented by microxcaling (floor rule, ties to even).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <lowbit/block/block_format.hpp>
#include <lowbit/block/block_math.hpp>
#include <lowbit/block/integer_codes.hpp>

namespace lowbit {

/// The format (see the top of this header).
struct mxint8 {
    static constexpr std::string_view name = "mxint8";  ///< in files and reports
    static constexpr std::size_t block_size = 32;       ///< values of a block
    static constexpr double bits_per_value = 8.25;      ///< of whole blocks
    static constexpr bool has_tensor_scale = false;     ///< there is no second scale

    /// What is stored of 32 values: 33 bytes, as the storage picture shows.
    struct block {
        std::uint8_t scale;                 ///< E8M0
        std::array<std::int8_t, 32> codes;  ///< in units of scale / 64

        friend bool operator==(const block&, const block&) = default;
    };

    /// Nothing to choose.
    struct options {
        friend bool operator==(const options&, const options&) = default;
    };

    /// The block of 32 values.
    /// Exact: nearest code, ties to even, saturating at +-127.
    /// Special: NaN and Inf poison the block; -0 gives code 0.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& = {},
                                                const encode_context& = {}) noexcept {
        const auto parts = detail::split_block(values);
        const int exponent = detail::shared_exponent(parts.largest, 2);  // floor(log2 largest), -127..125
        block result{detail::e8m0_byte(exponent, parts.finite), {}};
        for (std::size_t i = 0; i < block_size; ++i) {
            const std::uint32_t magnitude = detail::round_to_integer(parts.magnitude[i], 6 - exponent, 127);
            result.codes[i] = detail::signed_code(magnitude, to_bits(values[i]));
        }
        return result;
    }

    /// The 32 values of a block; any bytes are a block.
    /// Exact: always, subnormals included. Special: scale 0xFF gives NaN; past FLT_MAX (code -128, byte 254) -Inf.
    static constexpr void decode(const block& block, std::span<float, block_size> values, float = 1.0F) noexcept {
        if (block.scale == 0xFF) {
            detail::fill_nan(values);
            return;
        }
        for (std::size_t i = 0; i < block_size; ++i) {
            const std::uint32_t code_bits = to_bits(static_cast<float>(block.codes[i]));
            const std::uint32_t magnitude = detail::scale_bits(code_bits & 0x7FFFFFFFU, block.scale - 127 - 6);
            values[i] = float_from_bits((code_bits & 0x80000000U) | magnitude);
        }
    }
};

static_assert(sizeof(mxint8::block) == 33 && alignof(mxint8::block) == 1);
static_assert(sizeof(mxint8::block) * 8 == mxint8::bits_per_value * mxint8::block_size);
static_assert(block_format<mxint8>);

}  // namespace lowbit
