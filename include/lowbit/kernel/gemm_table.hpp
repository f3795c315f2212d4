// SPDX-License-Identifier: Apache-2.0
// The kernels of the matrix product by instruction set: the choice among the rows of isa_*_gemm.hpp.
//
// A unit compiles the kernels of the pairs of formats that it multiplies, no others. Tables are constexpr.
#pragma once

#include <cstddef>

#include <lowbit/arch/isa.hpp>
#include <lowbit/arch/target.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/gemm_common.hpp>
#include <lowbit/kernel/isa_amx_gemm.hpp>
#include <lowbit/kernel/isa_avx2_gemm.hpp>
#include <lowbit/kernel/isa_avx512_gemm.hpp>
#include <lowbit/kernel/isa_neon_gemm.hpp>
#include <lowbit/kernel/isa_scalar_gemm.hpp>

namespace lowbit::kernel {

/// Everything that the loops of one product call, for one pair of formats.
struct integer_product {
    const integer_kernel* kernel;
    const expand_kernel* expand;
    const output_kernel* output;
};

struct scaled_product {
    const scaled_kernel* kernel = nullptr;
    const expand_kernel* expand = nullptr;
};

struct float_product {
    const float_kernel* kernel;
    const output_kernel* output;
};

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The kernels of A x B for one instruction set, which must be one of available(). join_scales: those that join scales
/// where the instruction set has them.
template <class A, class B>
[[nodiscard]] integer_product integer_kernels(isa which, bool join_scales) noexcept {
    static_cast<void>(join_scales);
    using pair = pair_traits<A, B>;
    switch (which) {
#if LOWBIT_COMPILES_AMX
        case isa::amx:
            if constexpr (pair::group == 64) {
                using namespace LOWBIT_ISA_NAMESPACE(amx)::product;
                return {&integer_row<pair::group>, &expand_row<B>,
                        &LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::product::output_row};
            } else {
                return integer_kernels<A, B>(isa::avx512vbmi, join_scales);
            }
#endif
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::avx512vbmi: {
            namespace both = LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::product;
            integer_product product{&both::integer_row<pair::group, pair::kind>,
                                    &LOWBIT_ISA_NAMESPACE(avx512vbmi)::product::expand_row<B>, &both::output_row};
            if constexpr (pair::kind.join != scale_join::none) {
                if (join_scales) product.kernel = &both::joined_row<pair::group, pair::kind>;
            }
            return product;
        }
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: {
            using namespace LOWBIT_ISA_NAMESPACE(avx512vnni)::product;
            integer_product product{&integer_row<pair::group, pair::kind>, &expand_row<B>, &output_row};
            if constexpr (pair::kind.join != scale_join::none) {
                if (join_scales) product.kernel = &joined_row<pair::group, pair::kind>;
            }
            return product;
        }
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: {
            using namespace LOWBIT_ISA_NAMESPACE(avx2)::product;
            return {&integer_row<pair::group, pair::kind>, &expand_row<B>, &output_row};
        }
#endif
#if LOWBIT_COMPILES_NEON_DOTPROD
        case isa::neon_dotprod: {
            using namespace LOWBIT_ISA_NAMESPACE(neon_dotprod)::product;
            return {&integer_row<pair::group, pair::kind>, &expand_row<B>, &output_row};
        }
#endif
#if LOWBIT_COMPILES_NEON
        case isa::neon: {
            using namespace LOWBIT_ISA_NAMESPACE(neon)::product;
            return {&integer_row<pair::group, pair::kind>, &expand_row<B>, &output_row};
        }
#endif
        default: {
            using namespace LOWBIT_ISA_NAMESPACE(scalar)::product;
            return {&integer_row<pair::group>, &expand_row<B>, &output_row};
        }
    }
}

/// The kernels of A x B with scaled lanes; null where the instruction set has none.
template <class A, class B>
[[nodiscard]] scaled_product scaled_kernels(isa which) noexcept {
#if LOWBIT_COMPILES_AMX
    if constexpr (scaled_lanes<A, B>) {
        if (which == isa::amx) {
            using namespace LOWBIT_ISA_NAMESPACE(amx)::product;
            return {&scaled_row<common_group<A, B>>, &scaled_expand_row<B>};
        }
    }
#endif
    static_cast<void>(which);
    return {};
}

/// The expansion of packed panels of format B.
template <class B>
[[nodiscard]] const expand_kernel& expand_kernels(isa which) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: return LOWBIT_ISA_NAMESPACE(avx512vbmi)::product::expand_row<B>;
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: return LOWBIT_ISA_NAMESPACE(avx512vnni)::product::expand_row<B>;
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: return LOWBIT_ISA_NAMESPACE(avx2)::product::expand_row<B>;
#endif
#if LOWBIT_COMPILES_NEON_DOTPROD
        case isa::neon_dotprod: return LOWBIT_ISA_NAMESPACE(neon_dotprod)::product::expand_row<B>;
#endif
#if LOWBIT_COMPILES_NEON
        case isa::neon: return LOWBIT_ISA_NAMESPACE(neon)::product::expand_row<B>;
#endif
        default: return LOWBIT_ISA_NAMESPACE(scalar)::product::expand_row<B>;
    }
}

/// The kernels of products of float lanes.
[[nodiscard]] inline float_product float_kernels(isa which) noexcept {
    switch (which) {
#if LOWBIT_COMPILES_AVX512VBMI
        case isa::amx:
        case isa::avx512vbmi: {
            using namespace LOWBIT_ISA_NAMESPACE(LOWBIT_AVX512_ROW)::product;
            return {&float_row, &output_row};
        }
#endif
#if LOWBIT_COMPILES_AVX512VNNI
        case isa::avx512vnni: {
            using namespace LOWBIT_ISA_NAMESPACE(avx512vnni)::product;
            return {&float_row, &output_row};
        }
#endif
#if LOWBIT_COMPILES_AVX2
        case isa::avx2: {
            using namespace LOWBIT_ISA_NAMESPACE(avx2)::product;
            return {&float_row, &output_row};
        }
#endif
#if LOWBIT_COMPILES_NEON_DOTPROD
        case isa::neon_dotprod: {
            using namespace LOWBIT_ISA_NAMESPACE(neon_dotprod)::product;
            return {&float_row, &output_row};
        }
#endif
#if LOWBIT_COMPILES_NEON
        case isa::neon: {
            using namespace LOWBIT_ISA_NAMESPACE(neon)::product;
            return {&float_row, &output_row};
        }
#endif
        default: {
            using namespace LOWBIT_ISA_NAMESPACE(scalar)::product;
            return {&float_row<>, &output_row};
        }
    }
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::kernel
