// SPDX-License-Identifier: Apache-2.0
// The kernels for few rows of A by instruction set and number of rows.
#pragma once

#include <cstddef>

#include <lowbit/arch/isa.hpp>
#include <lowbit/arch/target.hpp>
#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/gemm_table.hpp>
#include <lowbit/kernel/isa_amx_few_rows.hpp>
#include <lowbit/kernel/isa_avx2_few_rows.hpp>
#include <lowbit/kernel/isa_avx512_few_rows.hpp>
#include <lowbit/kernel/isa_neon_few_rows.hpp>
#include <lowbit/kernel/isa_scalar_few_rows.hpp>

namespace lowbit::kernel {

/// Rows of the largest tile of these kernels.
inline constexpr std::size_t largest_few_rows_tile = 16;
/// Whether the tile unit (tiles of 16 rows) is faster than vpdpbusd (of 8). Measured with N = 32768, K = 4096: time of
/// that over time of this at M = 8, 16
///     hif4 0.8 1.3    mxfp4 0.7 1.1    m2xfp_weight 0.7 1.2    nvfp4 0.6 0.9
/// From 17 to 24 rows three tiles of 8 stand against two of 16: a draw for hif4 (measured at 24).
[[nodiscard]] constexpr bool few_rows_by_amx(std::size_t group, std::size_t rows) noexcept {
    return rows > 8 && (group == 64 || (group == 32 && rows <= 16));
}
/// Rows of A up to which they are used. Measured on Sapphire Rapids with N = 8192, K = 4096, against slices expanded to
/// scratch for many rows: time of those over time of these at M = 4, 8, 16, 24
///     avx512vbmi    mxfp4 2.3 1.7 1.2 1.0    nvfp4 2.1 1.9 1.2 1.0    hif4 2.2 2.1 1.4 1.1
///     amx           mxfp4 4.2 3.0 2.1 1.2    nvfp4 3.7 2.7 1.4 1.1    hif4 3.3 2.6 1.8 1.0
inline constexpr std::size_t most_few_rows = 24;
/// Rows of float A up to which records are decoded one at a time, for all rows.
inline constexpr std::size_t most_few_float_rows = 16;
/// The most panels of a tile of these, and the most rows x panels of those that decode in registers.
inline constexpr std::size_t most_few_floats_panels = 4, largest_few_floats_tile = 8;
/// Values of K that go through all tiles of rows before the next ones: two panels of HiF8 take 16 KiB of them.
inline constexpr std::size_t abreast_part = 256;
/// Floats from tile to tile of their sums, and from panel to panel of decoded values.
inline constexpr std::size_t few_floats_sums = largest_few_floats_tile * panel_columns;
inline constexpr std::size_t decoded_record = record_values * panel_columns;
/// Prefetch distance in bytes. A line is asked for beside each line that is worked off: all of a record's at once fill
/// the processor's buffers of misses, and cost a quarter of the bandwidth at M = 1 .. 8.
inline constexpr std::size_t few_rows_ahead = 8192;

struct few_rows_product {
    const few_rows_kernel* kernel;
    const expand_kernel* expand;
    const output_kernel* output;
};

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The kernels of A x B for tiles that suit `rows` rows: tiles of 1, 4 or 8 rows, of at most 4 where registers are few.
template <class A, class B>
[[nodiscard]] few_rows_product few_rows_kernels(isa which, std::size_t rows) noexcept {
    using pair = pair_traits<A, B>;
    constexpr std::size_t group = pair::group;
    constexpr pair_kind kind = pair::kind;
    static_cast<void>(kind);
    switch (which) {
#if LOWBIT_COMPILES_AMX
        case isa::amx:
            if (few_rows_by_amx(group, rows)) {
                using namespace LOWBIT_ISA_NAMESPACE(amx)::product;
                return {&few_rows_row<B, group>, &expand_row<B>,
                        &LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::product::output_row};
            }
            [[fallthrough]];
#endif
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::avx512vbmi: {
            using namespace LOWBIT_ISA_NAMESPACE(avx512vbmi)::product;
            return {rows <= 1   ? &few_rows_row<B, group, kind, 1>
                    : rows <= 4 ? &few_rows_row<B, group, kind, 4>
                                : &few_rows_row<B, group, kind, 8>,
                    &expand_row<B>, &LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::product::output_row};
        }
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: {
            using namespace LOWBIT_ISA_NAMESPACE(avx512vnni)::product;
            return {rows <= 1   ? &few_rows_row<B, group, kind, 1>
                    : rows <= 4 ? &few_rows_row<B, group, kind, 4>
                                : &few_rows_row<B, group, kind, 8>,
                    &expand_row<B>, &output_row};
        }
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: {
            using namespace LOWBIT_ISA_NAMESPACE(avx2)::product;
            return {rows <= 1 ? &few_rows_row<B, group, kind, 1> : &few_rows_row<B, group, kind, 4>, &expand_row<B>,
                    &output_row};
        }
#endif
#if LOWBIT_COMPILES_NEON_DOTPROD
        case isa::neon_dotprod: {
            using namespace LOWBIT_ISA_NAMESPACE(neon_dotprod)::product;
            return {rows <= 1 ? &few_rows_row<B, group, kind, 1> : &few_rows_row<B, group, kind, 4>, &expand_row<B>,
                    &output_row};
        }
#endif
#if LOWBIT_COMPILES_NEON
        case isa::neon: {
            using namespace LOWBIT_ISA_NAMESPACE(neon)::product;
            return {rows <= 1 ? &few_rows_row<B, group, kind, 1> : &few_rows_row<B, group, kind, 4>, &expand_row<B>,
                    &output_row};
        }
#endif
        default: {
            using namespace LOWBIT_ISA_NAMESPACE(scalar)::product;
            return {rows <= 1 ? &few_rows_row<B, group, 1> : &few_rows_row<B, group, 4>, &expand_row<B>, &output_row};
        }
    }
}

/// The decoder of packed panels of format B.
template <class B>
[[nodiscard]] const decode_kernel& decode_kernels(isa which) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: return LOWBIT_ISA_NAMESPACE(avx512vbmi)::product::decode_row<B>;
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: return LOWBIT_ISA_NAMESPACE(avx512vnni)::product::decode_row<B>;
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: return LOWBIT_ISA_NAMESPACE(avx2)::product::decode_row<B>;
#endif
#if LOWBIT_COMPILES_NEON_DOTPROD
        case isa::neon_dotprod: return LOWBIT_ISA_NAMESPACE(neon_dotprod)::product::decode_row<B>;
#endif
#if LOWBIT_COMPILES_NEON
        case isa::neon: return LOWBIT_ISA_NAMESPACE(neon)::product::decode_row<B>;
#endif
        default: return LOWBIT_ISA_NAMESPACE(scalar)::product::decode_row<B>;
    }
}

/// The kernels of float rows x decoded panels: tiles of 1, 2 or 4 rows.
[[nodiscard]] inline const few_floats_kernel& few_floats_kernels(isa which, std::size_t rows) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: {
            using namespace LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::product;
            return rows <= 1 ? few_floats_row<1> : rows <= 2 ? few_floats_row<2> : few_floats_row<4>;
        }
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: {
            using namespace LOWBIT_ISA_NAMESPACE(avx512vnni)::product;
            return rows <= 1 ? few_floats_row<1> : rows <= 2 ? few_floats_row<2> : few_floats_row<4>;
        }
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: {
            using namespace LOWBIT_ISA_NAMESPACE(avx2)::product;
            return rows <= 1 ? few_floats_row<1> : rows <= 2 ? few_floats_row<2> : few_floats_row<4>;
        }
#endif
#if LOWBIT_COMPILES_NEON_DOTPROD
        case isa::neon_dotprod: {
            using namespace LOWBIT_ISA_NAMESPACE(neon_dotprod)::product;
            return rows <= 1 ? few_floats_row<1> : rows <= 2 ? few_floats_row<2> : few_floats_row<4>;
        }
#endif
#if LOWBIT_COMPILES_NEON
        case isa::neon: {
            using namespace LOWBIT_ISA_NAMESPACE(neon)::product;
            return rows <= 1 ? few_floats_row<1> : rows <= 2 ? few_floats_row<2> : few_floats_row<4>;
        }
#endif
        default: {
            using namespace LOWBIT_ISA_NAMESPACE(scalar)::product;
            return rows <= 1 ? few_floats_row<1> : rows <= 2 ? few_floats_row<2> : few_floats_row<4>;
        }
    }
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::kernel
