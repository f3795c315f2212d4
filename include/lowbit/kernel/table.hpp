// SPDX-License-Identifier: Apache-2.0
// The kernel table: for each format and instruction set the row of functions, and the choice among them. The sole
// includer of the headers isa_*.hpp.
//
// Tables are constexpr: a global constructor may use them, and the first use may come from many threads. A unit
// compiles the codecs of the formats that it uses, no others. An instruction set without a vector codec of its own for
// something takes the scalar function there.
#pragma once

#include <lowbit/arch/isa.hpp>
#include <lowbit/arch/target.hpp>
#include <lowbit/kernel/abi.hpp>
#include <lowbit/kernel/isa_avx2.hpp>
#include <lowbit/kernel/isa_avx512.hpp>
#include <lowbit/kernel/isa_neon.hpp>
#include <lowbit/kernel/isa_scalar.hpp>

namespace lowbit::kernel {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The instruction sets whose rows can run here, best first (for tests and benchmarks).
[[nodiscard]] inline arch::isa_list available() noexcept { return arch::available(); }

/// The row codecs of format F for one instruction set, which must be one of available().
template <class F>
[[nodiscard]] const codec_functions<F>& codec(isa which) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: return LOWBIT_ISA_NAMESPACE(avx512vbmi)::codec_table<F>;
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: return LOWBIT_ISA_NAMESPACE(avx512vnni)::codec_table<F>;
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: return LOWBIT_ISA_NAMESPACE(avx2)::codec_table<F>;
#endif
#if LOWBIT_AARCH64
        case isa::neon:
        case isa::neon_dotprod: return LOWBIT_ISA_NAMESPACE(neon_codec)::codec_table<F>;
#endif
        default: return LOWBIT_ISA_NAMESPACE(scalar)::codec_table<F>;
    }
}

/// The row codecs of format F that this process uses.
/// Errors: LOWBIT_ISA names an instruction set that cannot run here.
template <class F>
[[nodiscard]] const codec_functions<F>& codec() {
    return codec<F>(arch::active());
}

/// The row functions for one instruction set, which must be one of available().
[[nodiscard]] inline const row_functions& rows(isa which) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: return LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::row_table;
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: return LOWBIT_ISA_NAMESPACE(avx512vnni)::row_table;
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: return LOWBIT_ISA_NAMESPACE(avx2)::row_table;
#endif
#if LOWBIT_AARCH64
        case isa::neon:
        case isa::neon_dotprod: return LOWBIT_ISA_NAMESPACE(neon_codec)::row_table;
#endif
        default: return LOWBIT_ISA_NAMESPACE(scalar)::row_table;
    }
}

/// The row functions that this process uses.
[[nodiscard]] inline const row_functions& rows() { return rows(arch::active()); }

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::kernel
