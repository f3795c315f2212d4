// SPDX-License-Identifier: Apache-2.0
/// M2XFP: MXFP4 with two bits of metadata for each 8 values, 4.5 bits a value; one format for activations, another for
/// weights.
///
/// Characteristics. Both keep the 32-value block, the power-of-two scale and the E2M1 codes of MXFP4 and add one byte a
/// block, two bits for each subgroup of 8 values, spent differently. Activations, quantised on the fly, use it to
/// refine the greatest value of each subgroup (no search). Weights, quantised once, use it to choose the step of each
/// subgroup by a search, which reaches an error below that of HiF4 on normally distributed data (0.93 to 0.96 times).
///
/// Scale hierarchy. With e by the floor rule of MXFP4 (shared_exponent), s = 2^e:
///
///     m2xfp_activation (Elem-EM top-1):  value = +-E2M1[code] * s, but for the top element of each subgroup
///         value = +-E2M3[max(4 code + metadata - 1, 0)] * s. The top is the lowest index among the greatest magnitude
///         codes, sign ignored: it is found from the codes, not stored. Encoder: q = E2M3 code of |x| / s, ties to
///         even; metadata = clamp(q + 1, 4 code, 4 code + 3) & 3. Values above 6 * s are recovered up to 7 * s.
///     m2xfp_weight (Sg-EM):              value = +-E2M1[code] * (1 + metadata / 4) * 2^scale
///         For each bias b in -1, 0, 1 (exponent e + b, clamped to -127..125) and each subgroup the metadata k in 0..3
///         with the least squared error of E2M1(|x| / (2^(e+b) (1 + k/4))); of the biases the least sum over the block.
///         Ties go to the smallest k, then to the smallest b.
///
/// Storage picture (18 bytes, no padding), the same for both:
///
///     byte 0        scale, E8M0: 2^(b - 127), 0xFF = NaN
///     byte 1        metadata: bits 1..0 = values 0..7, bits 3..2 = values 8..15, ..., bits 7..6 = values 24..31
///     byte 2..17    two codes a byte: element 2i in the low nibble of byte 2 + i, element 2i + 1 in the high one
///                   code = sign (bit 3), E2M1 magnitude code (bits 2..0)
///
/// Exact. Decoding always, subnormals included: an integer of at most 84 times a power of two. Errors of the weight
/// search are float32, relative to the floor rule's scale s, in ascending order with one fused multiply-add a value,
/// subgroups added as (e0 + e1) + (e2 + e3). A candidate with a value past FLT_MAX loses.
///
/// Special. A NaN or Inf poisons the block: scale 0xFF, every value decodes to NaN; the other fields are made with that
/// element as +0. Zeros take scale byte 0 and metadata 0 (activation: 0x55, which its rule gives). The sign of zero and
/// of values that round to zero is kept.
///
/// Source: arXiv 2601.19213 (Elem-EM, Sg-EM) and its published quantiser; the packing is this library's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <lowbit/block/block_format.hpp>
#include <lowbit/block/block_math.hpp>
#include <lowbit/element/exmy.hpp>

namespace lowbit {

/// M2XFP has no options.
struct m2xfp_options {
    friend bool operator==(const m2xfp_options&, const m2xfp_options&) = default;
};

namespace detail {

/// Index of the top element of eight codes: the first with the greatest magnitude.
[[nodiscard]] constexpr std::size_t top_of_subgroup(const std::array<std::uint8_t, 32>& codes,
                                                    std::size_t subgroup) noexcept {
    std::size_t top = 8 * subgroup;
    for (std::size_t i = top + 1; i < 8 * subgroup + 8; ++i) {
        top = (codes[i] & 7U) > (codes[top] & 7U) ? i : top;
    }
    return top;
}

}  // namespace detail

/// The format for activations (see the top of this header).
struct m2xfp_activation {
    static constexpr std::string_view name = "m2xfp_activation";  ///< in files and reports
    static constexpr std::size_t block_size = 32;                 ///< values of a block
    static constexpr double bits_per_value = 4.5;                 ///< of whole blocks
    static constexpr bool has_tensor_scale = false;               ///< there is no second scale

    /// What is stored of 32 values: 18 bytes, as the storage picture shows.
    struct block {
        std::uint8_t scale;                  ///< E8M0
        std::uint8_t metadata;               ///< refinement of the top elements, subgroup 0 in bits 1..0
        std::array<std::uint8_t, 16> codes;  ///< even element in the low nibble

        friend bool operator==(const block&, const block&) = default;
    };

    /// Nothing to choose.
    using options = m2xfp_options;

    /// The block of 32 values.
    /// Exact: nearest E2M1 codes, ties to even; tops as their rule. Special: NaN and Inf poison the block.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& = {},
                                                const encode_context& = {}) noexcept {
        const auto parts = detail::split_block(values);
        const int exponent = detail::shared_exponent(parts.largest);
        const auto codes = detail::codes_of(parts, detail::e2m1_limits(exponent));
        block result{detail::e8m0_byte(exponent, parts.finite), 0, detail::pack_codes(codes)};
        for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
            const std::size_t top = detail::top_of_subgroup(codes, subgroup);
            const float relative = float_from_bits(detail::scale_bits(parts.magnitude[top], -exponent));
            const std::uint32_t fine = e2m3::from_float(relative).bits() + 1U;
            const std::uint32_t lowest = 4U * (codes[top] & 7U);
            const std::uint32_t clamped = fine < lowest ? lowest : fine > lowest + 3U ? lowest + 3U : fine;
            result.metadata = static_cast<std::uint8_t>(result.metadata | (clamped & 3U) << (2 * subgroup));
        }
        return result;
    }

    /// Writes the 32 values of a `packed` block; any bytes are a block.
    /// Exact: always. Special: scale 0xFF gives NaN; Inf of the sign past FLT_MAX.
    static constexpr void decode(const block& packed, std::span<float, block_size> values, float = 1.0F) noexcept {
        if (packed.scale == 0xFF) {
            detail::fill_nan(values);
            return;
        }
        const int exponent = packed.scale - 127;
        const auto table = detail::e2m1_table(exponent);
        const auto codes = detail::unpack_codes(packed.codes);
        for (std::size_t i = 0; i < block_size; ++i) {
            values[i] = detail::with_sign(table[codes[i] & 7U], codes[i]);
        }
        for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
            const std::size_t top = detail::top_of_subgroup(codes, subgroup);
            const std::uint32_t raised = 4U * (codes[top] & 7U) + (packed.metadata >> (2 * subgroup) & 3U);
            const e2m3 fine = e2m3::from_bits(static_cast<std::uint8_t>(raised == 0 ? 0 : raised - 1));
            values[top] = detail::with_sign(detail::scale_bits(to_bits(fine.to_float()), exponent), codes[top]);
        }
    }
};

/// The format for weights (see the top of this header).
struct m2xfp_weight {
    static constexpr std::string_view name = "m2xfp_weight";  ///< in files and reports
    static constexpr std::size_t block_size = 32;             ///< values of a block
    static constexpr double bits_per_value = 4.5;             ///< of whole blocks
    static constexpr bool has_tensor_scale = false;           ///< there is no second scale

    /// What is stored of 32 values: 18 bytes, as the storage picture shows.
    struct block {
        std::uint8_t scale;                  ///< E8M0
        std::uint8_t metadata;               ///< multiplier 1 + k/4 of each subgroup, subgroup 0 in bits 1..0
        std::array<std::uint8_t, 16> codes;  ///< even element in the low nibble

        friend bool operator==(const block&, const block&) = default;
    };

    /// Nothing to choose.
    using options = m2xfp_options;

    /// The block of 32 values.
    /// Exact: the search of the top of this header. Special: NaN and Inf poison the block.
    /// Cost: 12 roundings and errors a value.
    [[nodiscard]] static constexpr block encode(std::span<const float, block_size> values, const options& = {},
                                                const encode_context& = {}) noexcept {
        const auto parts = detail::split_block(values);
        const int floor_exponent = detail::shared_exponent(parts.largest);
        const auto relative = detail::relative_magnitudes(parts, floor_exponent);  // below 8
        choice best = choose_multipliers(parts, relative, floor_exponent, -1);
        for (int bias = 0; bias <= 1; ++bias) {
            const choice other = choose_multipliers(parts, relative, floor_exponent, bias);
            best = other.error < best.error ? other : best;
        }
        block result{detail::e8m0_byte(best.exponent, parts.finite), 0, {}};
        std::array<std::uint8_t, block_size> codes{};
        for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
            const std::uint32_t k = best.multiplier[subgroup];
            result.metadata = static_cast<std::uint8_t>(result.metadata | k << (2 * subgroup));
            const auto limits = detail::e2m1_limits(best.exponent, multiplier(k));
            for (std::size_t i = 8 * subgroup; i < 8 * subgroup + 8; ++i) {
                codes[i] = static_cast<std::uint8_t>(detail::code_of(parts.magnitude[i], limits) | parts.sign[i]);
            }
        }
        result.codes = detail::pack_codes(codes);
        return result;
    }

    /// Writes the 32 values of a `packed` block; any bytes are a block.
    /// Exact: always. Special: scale 0xFF gives NaN; Inf of the sign past FLT_MAX.
    static constexpr void decode(const block& packed, std::span<float, block_size> values, float = 1.0F) noexcept {
        if (packed.scale == 0xFF) {
            detail::fill_nan(values);
            return;
        }
        const auto codes = detail::unpack_codes(packed.codes);
        for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
            const float multiplied = multiplier(packed.metadata >> (2 * subgroup) & 3U);
            std::array<std::uint32_t, 8> table{};
            for (std::size_t c = 0; c < table.size(); ++c) {
                table[c] = detail::scale_bits(to_bits(detail::e2m1_values[c] * multiplied), packed.scale - 127);
            }
            for (std::size_t i = 8 * subgroup; i < 8 * subgroup + 8; ++i) {
                values[i] = detail::with_sign(table[codes[i] & 7U], codes[i]);
            }
        }
    }

  private:
    using parts_type = detail::block_parts<block_size>;

    /// What the search found for one exponent.
    struct choice {
        int exponent = 0;
        std::uint32_t error = 0;  // as the bits of a float >= 0, which order as floats do
        std::array<std::uint8_t, 4> multiplier{};
    };

    [[nodiscard]] static constexpr float multiplier(std::uint32_t k) noexcept {
        return 1.0F + 0.25F * static_cast<float>(k);
    }

    /// Whether a candidate of this subgroup would decode past FLT_MAX. Its values are few bits wide, so those past
    /// FLT_MAX are those of at least 2^128.
    [[nodiscard]] static constexpr bool passes_flt_max(const std::array<float, block_size>& relative_value,
                                                       std::size_t subgroup, int floor_exponent) noexcept {
        bool passes = false;
        for (std::size_t i = 8 * subgroup; i < 8 * subgroup + 8; ++i) {
            passes = passes || relative_value[i] >= power_of_two(128 - floor_exponent);
        }
        return passes;
    }

    /// The best multiplier of each subgroup for one bias. A magnitude divided by scale and multiplier is never nearer
    /// to a midpoint of E2M1 than half a step of float32 without being it, so limits serve in place of the quotient.
    [[nodiscard]] static constexpr choice choose_multipliers(const parts_type& parts,
                                                             const std::array<float, block_size>& relative,
                                                             int floor_exponent, int bias) noexcept {
        choice result{detail::clamp_exponent(floor_exponent + bias), 0, {}};
        const float step = power_of_two(result.exponent - floor_exponent);
        std::array<std::uint32_t, 4> least{};  // as in choice
        for (std::uint32_t k = 0; k < 4; ++k) {
            const auto halves = detail::count_limits(
                parts.magnitude, detail::e2m1_limits(result.exponent, multiplier(k)), detail::e2m1_steps);
            const float half = 0.5F * multiplier(k) * step;
            std::array<float, block_size> value{};
            std::array<float, block_size> difference{};
            for (std::size_t i = 0; i < block_size; ++i) {
                value[i] = static_cast<float>(halves[i]) * half;
                difference[i] = exactly(value[i] - relative[i]);
            }
            for (std::size_t subgroup = 0; subgroup < 4; ++subgroup) {
                float error = 0;
                for (std::size_t i = 8 * subgroup; i < 8 * subgroup + 8; ++i) {
                    error = exactly(fused_multiply_add(difference[i], difference[i], error));
                }
                const bool lost = floor_exponent > 122 && passes_flt_max(value, subgroup, floor_exponent);
                const std::uint32_t bits = lost ? infinity_bits : to_bits(error);
                if (k == 0 || bits < least[subgroup]) {
                    least[subgroup] = bits;
                    result.multiplier[subgroup] = static_cast<std::uint8_t>(k);
                }
            }
        }
        result.error = to_bits(exactly(exactly(float_from_bits(least[0]) + float_from_bits(least[1])) +
                                       exactly(float_from_bits(least[2]) + float_from_bits(least[3]))));
        return result;
    }
};

static_assert(sizeof(m2xfp_activation::block) == 18 && alignof(m2xfp_activation::block) == 1);
static_assert(sizeof(m2xfp_weight::block) == 18 && alignof(m2xfp_weight::block) == 1);
static_assert(sizeof(m2xfp_weight::block) * 8 == m2xfp_weight::bits_per_value * m2xfp_weight::block_size);
static_assert(block_format<m2xfp_activation> && block_format<m2xfp_weight>);

}  // namespace lowbit
