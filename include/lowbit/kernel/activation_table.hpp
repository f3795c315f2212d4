// SPDX-License-Identifier: Apache-2.0
// The activation functions by instruction set.
#pragma once

#include <cstddef>

#include <lowbit/arch/isa.hpp>
#include <lowbit/arch/target.hpp>
#include <lowbit/kernel/activation.hpp>
#include <lowbit/kernel/isa_neon_activation.hpp>
#include <lowbit/kernel/isa_x86_activation.hpp>

namespace lowbit::kernel {

/// Applies an activation to `count` values in place. NaN gives 0x7FC00000.
using activation_function = void (*)(activation kind, float* values, std::size_t count) noexcept;

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The activation functions for one instruction set, which must be one that can run here.
[[nodiscard]] inline activation_function activation_row(isa which) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: return &LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::activate_values;
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: return &LOWBIT_ISA_NAMESPACE(avx512vnni)::activate_values;
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: return &LOWBIT_ISA_NAMESPACE(avx2)::activate_values;
#endif
#if LOWBIT_AARCH64
        case isa::neon_dotprod:
        case isa::neon: return &LOWBIT_ISA_NAMESPACE(neon)::activate_values;
#endif
        default: return &LOWBIT_ISA_NAMESPACE(scalar)::activate_values;
    }
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::kernel
