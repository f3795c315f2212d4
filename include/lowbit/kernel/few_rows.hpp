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

/// The same for rows of floats: a as float [k][rows], -0 between the end of the rows and that of B's last block.
struct few_floats_tile {
    const float* a;
    const std::uint8_t* panel;
    std::size_t depth;
    std::size_t ahead;
    float* acc;
};

struct few_floats_kernel {
    std::size_t rows;
    void (*panel)(const few_floats_tile&) noexcept;  ///< null: decode, then `values`
    /// The same with B decoded, as float [k][32].
    void (*values)(const float* a, const float* b, std::size_t depth, float* acc) noexcept;
};

}  // namespace lowbit::kernel
