// SPDX-License-Identifier: Apache-2.0
// The scalar row of the kernels for few rows of A: one record after the other, expanded on the stack.
#pragma once

#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_scalar_gemm.hpp>

namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)::product {

    template <class F, std::size_t Group, std::size_t Rows>
    inline void few_rows_panel(const few_rows_tile& t) noexcept {
        using arithmetic = panel_arithmetic<F>;
        constexpr std::size_t repeats = F::block_size / Group;
        std::uint8_t lanes[record_values * panel_columns];
        float scales[record_values / Group * panel_columns];
        for (std::size_t k = 0; k < t.depth; k += record_values) {
            const std::size_t blocks = arithmetic::blocks_at(k, t.depth);
            const std::uint8_t* const record = t.panel + arithmetic::record_at(k);
            expand_record<F>(record, record + arithmetic::selectors_at(blocks), record + arithmetic::scales_at(blocks),
                             blocks, repeats, lanes, scales);
            integer_tile_kernel<Group, Rows, panel_columns>({t.a + k * Rows, t.a_scales + k / Group * 3 * Rows, lanes,
                                                             scales, blocks * repeats, t.acc, panel_columns});
        }
    }

    template <class F, std::size_t Group, std::size_t Rows>
    inline constexpr few_rows_kernel few_rows_row{
        {Rows, panel_columns, start_kind::word, nullptr, nullptr, &start_row, &interleave_rows<Rows>},
        &few_rows_panel<F, Group, Rows>,
    };

    /// Zeros of 4-bit formats have the sign of their code.
    template <class F>
    inline void decode_record(const std::uint8_t* record, std::size_t values, std::size_t, float* out) noexcept {
        using arithmetic = panel_arithmetic<F>;
        std::uint8_t lanes[record_values * panel_columns];
        float scales[record_values / F::block_size * panel_columns];
        const std::size_t blocks = divide_up(values, F::block_size);
        expand_record<F>(record, record + arithmetic::selectors_at(blocks), record + arithmetic::scales_at(blocks),
                         blocks, 1, lanes, scales);
        for (std::size_t i = 0; i < blocks * F::block_size; ++i) {
            for (std::size_t c = 0; c < panel_columns; ++c) {
                const auto lane = static_cast<std::int8_t>(lanes[i / 4 * 4 * panel_columns + 4 * c + i % 4]);
                const float value = exactly(static_cast<float>(lane) * scales[i / F::block_size * panel_columns + c]);
                std::uint32_t sign = 0;
                if constexpr (table_lanes<F>) {
                    sign = (record[i / 4 * 64 + code_byte(c, i % 4)] >> (c < 16 ? 0U : 4U) & 8U) << 28U;
                }
                out[i * panel_columns + c] = float_from_bits(to_bits(value) | sign);
            }
        }
    }

    template <class F>
    inline constexpr decode_kernel decode_row = [] {
        if constexpr (lane_traits<F>::integer) {
            return decode_kernel{&decode_record<F>, nullptr, {}};
        } else {
            return decode_kernel{};
        }
    }();

    template <std::size_t Rows>
    inline void few_floats_values(const float* a, const float* b, std::size_t depth, float* acc) noexcept {
        float_tile_kernel<Rows, panel_columns>({a, b, depth, acc, panel_columns});
    }

    template <std::size_t Rows>
    inline constexpr few_floats_kernel few_floats_row{Rows, 1, &few_floats_values<Rows>};

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)::product
