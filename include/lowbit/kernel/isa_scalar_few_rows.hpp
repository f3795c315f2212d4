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

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)::product
