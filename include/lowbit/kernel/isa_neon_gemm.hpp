// SPDX-License-Identifier: Apache-2.0
// The NEON rows of the matrix product's kernels: 4 columns a register, products of 4 by sdot or by vmull and pairwise
// adds.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_AARCH64

# include <arm_neon.h>

# include <array>
# include <bit>
# include <cstddef>
# include <cstdint>
# include <cstring>

# include <lowbit/kernel/gemm_abi.hpp>
# include <lowbit/kernel/gemm_common.hpp>
# include <lowbit/kernel/panel_layout.hpp>
# include <lowbit/lane/lane_traits.hpp>

# if LOWBIT_COMPILES_NEON_DOTPROD
LOWBIT_TARGET_BEGIN_NEON_DOTPROD
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon_dotprod)::product{

    template <pair_sum>
    LOWBIT_ALWAYS_INLINE int32x4_t dot4(int32x4_t acc, int8x16_t b, int8x16_t a) noexcept {return vdotq_s32(acc, b, a);
}

#  include <lowbit/kernel/isa_neon_gemm.inl>

#  include <lowbit/kernel/ukernel.inl>

#  include <lowbit/kernel/expand.inl>

#  include <lowbit/kernel/gemm_rows.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon_dotprod)::product
LOWBIT_TARGET_END
# endif

# if LOWBIT_COMPILES_NEON
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon)::product {

    template <pair_sum>
    LOWBIT_ALWAYS_INLINE int32x4_t dot4(int32x4_t acc, int8x16_t b, int8x16_t a) noexcept {
        const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(b), vget_low_s8(a)));
        const int32x4_t high = vpaddlq_s16(vmull_high_s8(b, a));
        return vaddq_s32(acc, vpaddq_s32(low, high));
    }

#  include <lowbit/kernel/isa_neon_gemm.inl>

#  include <lowbit/kernel/ukernel.inl>

#  include <lowbit/kernel/expand.inl>

#  include <lowbit/kernel/gemm_rows.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon)::product
# endif

#endif  // LOWBIT_AARCH64
