// SPDX-License-Identifier: Apache-2.0
// The AMX row of the kernels for few rows of A: a tile of up to 16 rows. One record is expanded while the tile unit
// multiplies the one before; what is left to the vector ports is the expansion, and three operations on each 16 sums.
#pragma once

#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_amx_gemm.hpp>
#include <lowbit/kernel/isa_avx512_few_rows.hpp>

#if LOWBIT_COMPILES_AMX

LOWBIT_TARGET_BEGIN_AMX
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(amx)::product {

    inline constexpr std::size_t few_rows_size = 16;
    inline constexpr std::size_t few_rows_sums = few_rows_size * panel_columns;

    /// Dot products of one group of 16 rows of A by 32 columns of B to out[16][32]; odd groups in tiles of their own.
    template <std::size_t Group>
    LOWBIT_ALWAYS_INLINE void few_rows_dots(const std::int8_t* a, const std::uint8_t* b, bool odd,
                                            std::int32_t* out) noexcept {
        constexpr std::size_t line = 4 * panel_columns;
        if (odd) {
            _tile_loadd(5, a, Group);
            _tile_loadd(6, b, line);
            _tile_zero(2);
            _tile_dpbssd(2, 5, 6);
            _tile_loadd(7, b + line / 2, line);
            _tile_zero(3);
            _tile_dpbssd(3, 5, 7);
            _tile_stored(2, out, line);
            _tile_stored(3, out + 16, line);
        } else {
            _tile_loadd(4, a, Group);
            _tile_loadd(6, b, line);
            _tile_zero(0);
            _tile_dpbssd(0, 4, 6);
            _tile_loadd(7, b + line / 2, line);
            _tile_zero(1);
            _tile_dpbssd(1, 4, 7);
            _tile_stored(0, out, line);
            _tile_stored(1, out + 16, line);
        }
    }

    /// acc = fma(float(dot) * scale_a, scale_b, acc) for the groups of a record in turn.
    LOWBIT_ALWAYS_INLINE void few_rows_scale(const std::int32_t* dots, const std::int32_t* a_scales,
                                             const float* b_scales, std::size_t groups, std::size_t row,
                                             float* acc) noexcept {
        float* const out = acc + panel_columns * row;
        __m512 low = vectors::load(out), high = vectors::load(out + 16);
        for (std::size_t g = 0; g < groups; ++g) {
            const std::int32_t* const dot = dots + g * few_rows_sums + panel_columns * row;
            const __m512 sa = vectors::splat_bits(a_scales + 3 * few_rows_size * g + row);
            const __m512 x = _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_load_si512(dot));
            const __m512 y = _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_load_si512(dot + 16));
            low = vectors::madd(vectors::mul(x, sa), vectors::load(b_scales + panel_columns * g), low);
            high = vectors::madd(vectors::mul(y, sa), vectors::load(b_scales + panel_columns * g + 16), high);
        }
        vectors::store(out, low);
        vectors::store(out + 16, high);
    }

    /// The few_rows_kernel::panel of B's format F; a as [group][16 rows][Group].
    template <class F, std::size_t Group>
    inline void few_rows_panel(const few_rows_tile& t) noexcept {
        using arithmetic = panel_arithmetic<F>;
        constexpr std::size_t most = record_values / Group, repeats = F::block_size / Group;
        alignas(64) std::uint8_t lanes[2][record_values * panel_columns];
        alignas(64) float scales[2][most * panel_columns];
        alignas(64) std::int32_t dots[most * few_rows_sums];
        const auto expand = [&](std::size_t k) noexcept {
            const std::uint8_t* const record = t.panel + arithmetic::record_at(k);
            const std::size_t blocks = arithmetic::blocks_at(k, t.depth), buffer = k / record_values % 2;
            vectors::expand_record<F, 0>(record, record + arithmetic::selectors_at(blocks),
                                         record + arithmetic::scales_at(blocks), blocks, repeats, lanes[buffer],
                                         scales[buffer]);
        };
        expand(0);
        asm volatile("" : : : "memory");  // g++ 12's tile loads do not say that they read memory
        _tile_loadconfig(&shapes<Group>);
        for (std::size_t k = 0; k < t.depth; k += record_values) {
            const std::size_t groups = arithmetic::blocks_at(k, t.depth) * repeats, buffer = k / record_values % 2;
            const std::uint8_t* const record = t.panel + arithmetic::record_at(k);
            asm volatile("" : : : "memory");
            for (std::size_t g = 0; g < groups; ++g) {
                few_rows_dots<Group>(t.a + (k + g * Group) * few_rows_size, lanes[buffer] + g * Group * panel_columns,
                                     g % 2 != 0, dots + g * few_rows_sums);
            }
            if (k + record_values < t.depth) expand(k + record_values);
            const std::int32_t* const a_scales = t.a_scales + k / Group * 3 * few_rows_size;
            for (std::size_t r = 0; r < t.rows; ++r) {
                for (std::size_t i = r; i < arithmetic::full_record_bytes / 64; i += t.rows) {
                    vectors::fetch(record + t.ahead + 64 * i);
                }
                if (groups == most) {
                    few_rows_scale(dots, a_scales, scales[buffer], most, r, t.acc);
                } else {
                    few_rows_scale(dots, a_scales, scales[buffer], groups, r, t.acc);
                }
            }
        }
        _tile_release();
    }

    template <class F, std::size_t Group>
    inline constexpr few_rows_kernel few_rows_row{
        {few_rows_size, panel_columns, start_kind::word, nullptr, nullptr, &no_starts,
         &interleave_groups<few_rows_size, Group>},
        &few_rows_panel<F, Group>,
    };

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(amx)::product
LOWBIT_TARGET_END

#endif  // LOWBIT_COMPILES_AMX
