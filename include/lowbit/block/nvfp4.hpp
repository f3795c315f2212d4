// SPDX-License-Identifier: Apache-2.0
/// NVFP4: 16 E2M1 values under an E4M3 scale, with one float32 scale a tensor (or row), 4.5 bits a value.
///
/// Characteristics. Small blocks and a scale with three mantissa bits fit each block closely; the E4M3 scale spans only
/// 17 binades, so a second, float32 scale first moves the whole tensor into its range (greatest value to 6 * 448 =
/// 2688). Error on normally distributed data about 1.3 times that of HiF4; four-over-six brings it to 1.1 times.
///
/// Scale hierarchy.   value = (+-E2M1[code] * E4M3[scale]) * tensor_scale,   E2M1 = 0 .5 1 1.5 2 3 4 6
///
///     tensor:  amax over the finite values, counted as at least 2688 * 2^-126 (0 gives 1 and 1)
///              tensor_scale = amax / 2688           encode_scale (S_enc) = 2688 / amax
///     block, transformer_engine order (default):
///              s  = E4M3(min(vmax * (S_enc * fl(1/6)), 448))       x' = x * min(1 / (s * (1 / S_enc)), FLT_MAX)
///     block, division order:
///              s  = E4M3(min(vmax / 6 / tensor_scale, 448))        x' = x / s / tensor_scale
///     code = E2M1(min(|x'|, 6)), to nearest, ties to the even code; s = 0 gives magnitude 0
///
/// four_over_six (in division order, 1536 = 6 * 256 in place of 2688): each block also with s4 = E4M3(vmax / 4 /
/// tensor_scale), which maps its greatest value to 4; the smaller squared error wins, a tie keeps 6. Errors are
/// relative to tensor_scale, summed in ascending order with one fused multiply-add a value.
///
/// Storage picture (9 bytes, no padding):
///
///     byte 0        scale, E4M3: bit 7 is never written and ignored when read; 0x7F (and 0xFF) = NaN
///     byte 1..8     two codes a byte: element 2i in the low nibble of byte 1 + i, element 2i + 1 in the high one
///                   code = sign (bit 3), E2M1 magnitude code (bits 2..0)
///
/// The tensor scale is kept by the matrix. It is a factor of decoding: data = stored values * tensor_scale. Files that
/// hold the reciprocal (S_enc) must be converted.
///
/// Exact. Every division and product above rounds once, in float32 and in the order written. In decoding the first
/// product is exact and the second rounds once, so its place is part of the format.
///
/// Special. A NaN or Inf poisons the block: scale 0x7F, every value decodes to NaN; codes are made with that element as
/// +0, and amax does not see it. Zeros take scale byte 0, the sign of zero is kept (code 8), under a zero scale too.
/// Finite data never writes a NaN scale: block scales above 448 are 448 (0x7E).
///
/// Source: NVIDIA TransformerEngine (core_nvfp4, default order); four-over-six: arXiv 2512.02010.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <lowbit/block/block_format.hpp>
#include <lowbit/block/block_math.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/element/exmy.hpp>

namespace lowbit {

/// Order of the roundings that make block scale and codes.
enum class nvfp4_order : std::uint8_t {
    transformer_engine,  ///< multiply by reciprocals, as NVIDIA's training library
    division,            ///< divide, as the definition reads
};

/// Options of nvfp4.
struct nvfp4_options {
    nvfp4_order order = nvfp4_order::transformer_engine;  ///< the default is what NVIDIA's training library writes
    bool four_over_six = false;                           ///< implies division order, and tensor scales for 1536

    friend bool operator==(const nvfp4_options&, const nvfp4_options&) = default;
};

/// The two tensor-wide factors of NVFP4. Decoding multiplies by tensor_scale; the default order encodes with
/// encode_scale.
struct nvfp4_scales {
    float tensor_scale = 1;  ///< amax / 2688: what decoding multiplies by
    float encode_scale = 1;  ///< 2688 / amax: what encoding multiplies by

    friend bool operator==(const nvfp4_scales&, const nvfp4_scales&) = default;
};

/// The format (see the top of this header).
struct nvfp4 {
    static constexpr std::string_view name = "nvfp4";  ///< in files and reports
    static constexpr std::size_t block_size = 16;      ///< values of a block
    static constexpr double bits_per_value = 4.5;      ///< of whole blocks
    static constexpr bool has_tensor_scale = true;     ///< the second, float32 scale of a matrix or a row

    /// What is stored of 16 values: 9 bytes, as the storage picture shows.
    struct block {
        std::uint8_t scale;                 ///< E4M3
        std::array<std::uint8_t, 8> codes;  ///< even element in the low nibble

        friend bool operator==(const block&, const block&) = default;
    };

    /// What the caller may choose.
    using options = nvfp4_options;
    /// What `option` holds in enumerations, for whoever checks it.
    [[nodiscard]] static constexpr auto enumerated(const options& option) noexcept {
        return std::array{detail::enumerated_option{"order", static_cast<unsigned>(option.order),
                                                    static_cast<unsigned>(nvfp4_order::division)}};
    }

    /// Scales of a tensor or row whose greatest finite magnitude is amax (finite, >= 0), for the same `option` as the
    /// encoding.
    /// Special: 0 gives 1 and 1; a tiny amax counts as 2688 * 2^-126 (1536 * 2^-126 for four-over-six), so that
    /// tensor_scale is a normal number and encode_scale finite.
    [[nodiscard]] static constexpr nvfp4_scales scales_from_amax(float amax, const options& option = {}) noexcept {
        if (abs_bits(amax) == 0) {
            return {};
        }
        const float top = option.four_over_six ? 1536.0F : 2688.0F;
        const std::uint32_t least = to_bits(top * power_of_two(-126));
        const float counted = float_from_bits(abs_bits(amax) < least ? least : abs_bits(amax));
        return {detail::quotient(counted, top), detail::quotient(top, counted)};
    }

    /// Scales for a tensor_scale that the caller chose; finite and above 0, which whole-matrix functions check.
    [[nodiscard]] static constexpr nvfp4_scales scales_from_tensor_scale(float tensor_scale) noexcept {
        return {tensor_scale, detail::at_most_flt_max(detail::quotient(1.0F, tensor_scale))};
    }

    /// The block of 16 values in the order that `option` names, given the scales of its tensor in `context`.
    /// Exact: float32 in the order of the formulas. Special: NaN and Inf poison the block; the sign of zero is kept.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& option = {},
                                                const encode_context& context = {}) noexcept {
        const auto parts = detail::split_block(values);
        const candidate chosen = option.four_over_six ? six_or_four(parts, context.tensor_scale)
                                 : option.order == nvfp4_order::division
                                     ? by_division(parts, 6.0F, context.tensor_scale)
                                     : by_reciprocal(parts, context.encode_scale);
        block result{parts.finite ? chosen.scale : std::uint8_t{0x7F}, {}};
        std::array<std::uint8_t, block_size> codes = chosen.codes;
        for (std::size_t i = 0; i < block_size; ++i) {
            codes[i] = static_cast<std::uint8_t>(codes[i] | parts.sign[i]);
        }
        result.codes = detail::pack_codes(codes);
        return result;
    }

    /// Writes the 16 values of a `packed` block, times a finite tensor_scale > 0; any bytes are a block.
    /// Exact: up to the one rounding of the product with tensor_scale. Special: scale 0x7F, 0xFF give NaN; Inf past
    /// FLT_MAX.
    static constexpr void decode(const block& packed, std::span<float, block_size> values,
                                 float tensor_scale = 1.0F) noexcept {
        const e4m3 scale = e4m3::from_bits(packed.scale & 0x7FU);
        if (scale.is_nan()) {
            detail::fill_nan(values);
            return;
        }
        std::array<std::uint32_t, 8> table{};
        for (std::size_t c = 0; c < table.size(); ++c) {
            table[c] = to_bits(exactly(detail::e2m1_values[c] * scale.to_float()) * tensor_scale);
        }
        const auto codes = detail::unpack_codes(packed.codes);
        for (std::size_t i = 0; i < block_size; ++i) {
            values[i] = detail::with_sign(table[codes[i] & 7U], codes[i]);
        }
    }

  private:
    using parts_type = detail::block_parts<block_size>;

    /// A scale byte with the magnitude codes that go with it.
    struct candidate {
        std::uint8_t scale = 0;
        std::array<std::uint8_t, block_size> codes{};
    };

    [[nodiscard]] static constexpr candidate by_reciprocal(const parts_type& parts, float encode_scale) noexcept {
        constexpr float sixth = 1.0F / 6.0F;
        const float per_maximum = exactly(encode_scale * sixth);
        const e4m3 scale = scale_of(exactly(float_from_bits(parts.largest) * per_maximum));
        candidate result{scale.bits(), {}};
        if (result.scale == 0) {
            return result;
        }
        std::array<std::uint32_t, block_size> scaled{};
        const float decode_scale = exactly(scale.to_float() * exactly(detail::quotient(1.0F, encode_scale)));
        const float multiplier = detail::at_most_flt_max(detail::quotient(1.0F, decode_scale));
        for (std::size_t i = 0; i < block_size; ++i) {
            scaled[i] = to_bits(exactly(float_from_bits(parts.magnitude[i]) * multiplier));
        }
        result.codes = codes_of_scaled(scaled);
        return result;
    }

    /// `peak` is what the greatest value of the block becomes.
    [[nodiscard]] static constexpr candidate by_division(const parts_type& parts, float peak,
                                                         float tensor_scale) noexcept {
        const float relative = detail::quotient(detail::quotient(float_from_bits(parts.largest), peak), tensor_scale);
        const e4m3 scale = scale_of(relative);
        candidate result{scale.bits(), {}};
        if (result.scale == 0) {
            return result;
        }
        std::array<std::uint32_t, block_size> scaled{};
        for (std::size_t i = 0; i < block_size; ++i) {
            const float per_scale = detail::quotient(float_from_bits(parts.magnitude[i]), scale.to_float());
            scaled[i] = to_bits(detail::quotient(per_scale, tensor_scale));
        }
        result.codes = codes_of_scaled(scaled);
        return result;
    }

    [[nodiscard]] static constexpr candidate six_or_four(const parts_type& parts, float tensor_scale) noexcept {
        const candidate six = by_division(parts, 6.0F, tensor_scale);
        const candidate four = by_division(parts, 4.0F, tensor_scale);
        return squared_error(parts, four, tensor_scale) < squared_error(parts, six, tensor_scale) ? four : six;
    }

    /// Error of a candidate relative to tensor_scale, as the bits of a float >= 0, which order as floats do; Inf if it
    /// would decode past FLT_MAX.
    [[nodiscard]] static constexpr std::uint32_t squared_error(const parts_type& parts, const candidate& tried,
                                                               float tensor_scale) noexcept {
        const float scale = e4m3::from_bits(tried.scale).to_float();
        float error = 0;
        for (std::size_t i = 0; i < block_size; ++i) {
            const float value = exactly(detail::e2m1_values[tried.codes[i]] * scale);
            if (!is_finite(exactly(value * tensor_scale))) {
                return infinity_bits;
            }
            const float wanted = detail::quotient(float_from_bits(parts.magnitude[i]), tensor_scale);
            const float difference = exactly(value - wanted);
            error = exactly(fused_multiply_add(difference, difference, error));
        }
        return to_bits(error);
    }

    /// Nearest E4M3, ties to even, never above 448 (a value past float32's range included).
    [[nodiscard]] static constexpr e4m3 scale_of(float x) noexcept {
        constexpr std::uint32_t greatest = to_bits(448.0F);
        return e4m3::from_float(float_from_bits(to_bits(x) < greatest ? to_bits(x) : greatest));
    }

    [[nodiscard]] static constexpr std::array<std::uint8_t, block_size> codes_of_scaled(
        const std::array<std::uint32_t, block_size>& scaled) noexcept {
        constexpr detail::code_limits limits = detail::e2m1_limits(0);
        const auto counts = detail::count_limits(scaled, limits);
        std::array<std::uint8_t, block_size> codes{};
        for (std::size_t i = 0; i < block_size; ++i) {
            codes[i] = static_cast<std::uint8_t>(counts[i]);
        }
        return codes;
    }
};

static_assert(sizeof(nvfp4::block) == 9 && alignof(nvfp4::block) == 1);
static_assert(sizeof(nvfp4::block) * 8 == nvfp4::bits_per_value * nvfp4::block_size);
static_assert(block_format<nvfp4>);

}  // namespace lowbit
