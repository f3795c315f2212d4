// SPDX-License-Identifier: Apache-2.0
// The NEON rows of the kernels for few rows of A.
#pragma once

#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_neon_gemm.hpp>

#if LOWBIT_AARCH64

# if LOWBIT_COMPILES_NEON_DOTPROD
LOWBIT_TARGET_BEGIN_NEON_DOTPROD
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon_dotprod)::product{

#  include <lowbit/kernel/isa_neon_few_rows.inl>

#  include <lowbit/kernel/few_rows_index.inl>

#  include <lowbit/kernel/few_lanes.inl>

#  include <lowbit/kernel/few_rows_records.inl>

#  include <lowbit/kernel/few_rows.inl>

#  include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon_dotprod)::product
LOWBIT_TARGET_END
# endif

# if LOWBIT_COMPILES_NEON
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon)::product {

#  include <lowbit/kernel/isa_neon_few_rows.inl>

#  include <lowbit/kernel/few_rows_index.inl>

#  include <lowbit/kernel/few_lanes.inl>

#  include <lowbit/kernel/few_rows_records.inl>

#  include <lowbit/kernel/few_rows.inl>

#  include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon)::product
# endif

#endif  // LOWBIT_AARCH64
