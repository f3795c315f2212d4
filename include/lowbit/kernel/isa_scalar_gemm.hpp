// SPDX-License-Identifier: Apache-2.0
// The scalar row of the matrix product's kernels: plain loops for any tile shape, the oracle of the vector rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lowbit/arch/target.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/gemm_common.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)::product {

    /// Lanes are signed here, start words unused: the dot product is a plain integer sum, converted and multiplied.
    template <std::size_t Group, std::size_t Rows, std::size_t Columns>
    inline void integer_tile_kernel(const integer_tile& t) noexcept {
        const std::size_t columns = t.columns < Columns ? t.columns : Columns;
        for (std::size_t g = 0; g < t.groups; ++g) {
            for (std::size_t r = 0; r < Rows; ++r) {
                const std::int8_t* const a = t.a + Rows * Group * g + 4 * r;
                const float a_scale = std::bit_cast<float>(t.a_scales[3 * Rows * g + r]);
                for (std::size_t c = 0; c < columns; ++c) {
                    const std::uint8_t* const b = t.b + panel_columns * Group * g + 4 * c;
                    std::int32_t dot = 0;
                    for (std::size_t k = 0; k < Group; k += 4) {
                        for (std::size_t i = 0; i < 4; ++i) {
                            dot += a[Rows * k + i] * static_cast<std::int8_t>(b[panel_columns * k + i]);
                        }
                    }
                    float& acc = t.acc[panel_columns * r + c];
                    acc = exactly(fused_multiply_add(exactly(static_cast<float>(dot) * a_scale),
                                                     t.b_scales[panel_columns * g + c], acc));
                }
            }
        }
    }

    template <std::size_t Rows, std::size_t Columns>
    inline void float_tile_kernel(const float_tile& t) noexcept {
        const std::size_t columns = t.columns < Columns ? t.columns : Columns;
        for (std::size_t r = 0; t.fresh && r < Rows; ++r) std::fill_n(t.acc + t.acc_step * r, columns, 0.0F);
        for (std::size_t k = 0; k < t.depth; ++k) {
            for (std::size_t r = 0; r < Rows; ++r) {
                for (std::size_t c = 0; c < columns; ++c) {
                    float& acc = t.acc[t.acc_step * r + c];
                    acc = exactly(fused_multiply_add(t.a[k * Rows + r], t.b[panel_columns * k + c], acc));
                }
            }
        }
    }

    inline void start_row(const std::int8_t*, std::size_t groups, int, std::int32_t* out, std::size_t step) noexcept {
        for (std::size_t g = 0; g < groups; ++g) out[g * step] = static_cast<std::int32_t>(magic_bits);
    }

    template <std::size_t Rows>
    inline void interleave_rows(const std::int32_t* rows, std::size_t stride, std::size_t count,
                                std::int32_t* out) noexcept {
        for (std::size_t w = 0; w < count; ++w) {
            for (std::size_t r = 0; r < Rows; ++r) *out++ = rows[r * stride + w];
        }
    }

    inline void output_segment_kernel(const output_segment& s) noexcept {
        const bool reads_c = abs_bits(s.beta) != 0;
        for (std::size_t j = 0; j < s.count; ++j) {
            const float scale = exactly(exactly(s.a_scale * s.b_scale[j]) * s.alpha);
            float y = exactly(fused_multiply_add(scale, s.acc[j], s.bias != nullptr ? s.bias[j] : -0.0F));
            if (reads_c) y = exactly(fused_multiply_add(s.beta, s.c[j], y));
            s.out[j] = is_nan(y) ? quiet_nan : y;
        }
    }

    /// Lanes of one column of a block of 4-bit codes.
    template <class F>
    inline void expand_column(const std::uint8_t* codes, std::uint32_t word, std::size_t column,
                              std::uint8_t* out) noexcept {
        using traits = lane_traits<F>;
        for (std::size_t k = 0; k < F::block_size; k += 8) {
            std::uint8_t code[8];
            std::uint32_t selector[8];
            for (std::size_t i = 0; i < 8; ++i) {
                const std::uint8_t pair = codes[(k + i) / 4 * 64 + code_byte(column, i % 4)];
                code[i] = (column < 16 ? pair : pair >> 4U) & 0x0FU;
                selector[i] = traits::run_selector(word, (k + i) / 4);
            }
            if constexpr (traits::selector == lane_selector::top_of_8) {
                std::size_t top = 0;
                for (std::size_t i = 1; i < 8; ++i) top = (code[i] & 7U) > (code[top] & 7U) ? i : top;
                for (std::size_t i = 0; i < 8; ++i) selector[i] = i == top ? selector[i] : 1U;
            }
            for (std::size_t i = 0; i < 8; ++i) {
                out[(k + i) / 4 * 4 * panel_columns + 4 * column + i % 4] =
                    static_cast<std::uint8_t>(traits::table[16 * selector[i] + code[i]]);
            }
        }
    }

    template <class F>
    inline void expand_record(const std::uint8_t* codes, const std::uint8_t* selectors, const std::uint8_t* scales,
                              std::size_t blocks, std::size_t repeats, std::uint8_t* out, float* scales_out) noexcept {
        constexpr std::size_t size = F::block_size, planes = lane_traits<F>::selector_bytes;
        if constexpr (!table_lanes<F>) std::memcpy(out, codes, blocks * size * panel_columns);
        for (std::size_t n = 0; n < blocks; ++n) {
            for (std::size_t c = 0; c < panel_columns; ++c) {
                if constexpr (table_lanes<F>) {
                    std::uint32_t word = 0;
                    for (std::size_t p = 0; p < planes; ++p) {
                        word |= std::uint32_t{selectors[(n * planes + p) * panel_columns + c]} << (8 * p);
                    }
                    expand_column<F>(codes + n * size / 2 * panel_columns, word, c, out + n * size * panel_columns);
                }
                float scale;
                if constexpr (byte_scales<F>) {
                    scale = lane_scales<F>[scales[n * panel_columns + c]];
                } else {
                    std::memcpy(&scale, scales + 4 * (n * panel_columns + c), sizeof(scale));
                }
                for (std::size_t i = 0; i < repeats; ++i) scales_out[(n * repeats + i) * panel_columns + c] = scale;
            }
        }
        static_cast<void>(selectors);
    }

    template <std::size_t Group, std::size_t Rows = 4, std::size_t Columns = panel_columns>
    inline constexpr integer_kernel integer_row{
        Rows,
        Columns,
        start_kind::word,
        &integer_tile_kernel<Group, Rows, Columns>,
        &integer_tile_kernel<Group, Rows, Columns>,
        &start_row,
        &interleave_rows<Rows>,
    };

    template <std::size_t Rows = 4, std::size_t Columns = panel_columns>
    inline constexpr float_kernel float_row{Rows, Columns, &float_tile_kernel<Rows, Columns>, &interleave_rows<Rows>};

    template <class F>
    inline constexpr expand_kernel expand_row{0, &expand_record<F>};

    inline constexpr output_kernel output_row{&output_segment_kernel};

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)::product
