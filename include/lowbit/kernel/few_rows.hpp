// SPDX-License-Identifier: Apache-2.0
// What the loops know of the kernels for few rows of A.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lowbit/kernel/gemm_abi.hpp>

namespace lowbit::kernel {

/// A tile of rows of A (lanes and scales as in integer_tile) and a whole packed panel.
struct few_rows_tile {
    const std::int8_t* a;
    const std::int32_t* a_scales;
    const std::uint8_t* panel;
    std::size_t depth;  ///< values of K
    std::size_t ahead;  ///< how many bytes ahead to prefetch; 0: not
    float* acc;         ///< [rows][32], read and written
};

/// Kernels of a tile of `packing.rows` rows: how A is packed (packing.tile and packing.plain are null), and the
/// product.
struct few_rows_kernel {
    integer_kernel packing;
    void (*panel)(const few_rows_tile&) noexcept;
};

}  // namespace lowbit::kernel
