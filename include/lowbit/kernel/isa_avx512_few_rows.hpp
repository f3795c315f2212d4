// SPDX-License-Identifier: Apache-2.0
// The AVX-512 rows of the kernels for few rows of A.
#pragma once

#include <lowbit/element/hif8.hpp>
#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_avx512_gemm.hpp>

#if LOWBIT_X86

# if LOWBIT_COMPILES_AVX512VBMI
LOWBIT_TARGET_BEGIN_AVX512VBMI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product{

#  include <lowbit/kernel/isa_avx512_few_rows.inl>

#  include <lowbit/kernel/isa_avx512_vbmi_few_rows.inl>

#  include <lowbit/kernel/few_lanes.inl>

#  include <lowbit/kernel/few_rows_registers.inl>

#  include <lowbit/kernel/few_rows.inl>

#  include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product
LOWBIT_TARGET_END
# endif

# if LOWBIT_COMPILES_AVX512VNNI
LOWBIT_TARGET_BEGIN_AVX512VNNI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)::product{

#  include <lowbit/kernel/isa_avx512_few_rows.inl>

#  include <lowbit/kernel/few_rows_index.inl>

#  include <lowbit/kernel/few_lanes.inl>

#  include <lowbit/kernel/few_rows_registers.inl>

#  include <lowbit/kernel/few_rows.inl>

#  include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)::product
LOWBIT_TARGET_END
# endif

#endif  // LOWBIT_X86
