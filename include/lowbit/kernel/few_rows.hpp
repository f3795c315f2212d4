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
    std::size_t rows;   ///< those that count; kernels may work off the whole tile
    std::size_t ahead;  ///< how many bytes ahead to prefetch; 0: not
    float* acc;         ///< [rows][32], read and written
};

/// Kernels of a tile of `packing.rows` rows: how A is packed (packing.tile and packing.plain are null), and the
/// product.
struct few_rows_kernel {
    integer_kernel packing;
    void (*panel)(const few_rows_tile&) noexcept;
};

/// The most panels that are decoded side by side in registers.
inline constexpr std::size_t most_panels_abreast = 4;

/// A few rows of floats and some packed panels.
struct few_floats_tile {
    const float* a;  ///< [k][rows]
    const std::uint8_t* panels[most_panels_abreast];
    std::size_t depth;  ///< values of K, whole records
    std::size_t ahead;  ///< how many bytes ahead to prefetch
    float* acc;         ///< [panel][rows][32], read and written
};

/// The product of a tile and `panels` panels, decoded in registers: acc = fma(a, b, acc) for each k in ascending order.
struct abreast_kernel {
    std::size_t panels;  ///< 0: there is no such kernel
    void (*multiply)(const few_floats_tile&) noexcept;
};

/// Packed panels of one format as floats: lane * scale, zeros with the sign of their code.
struct decode_kernel {
    /// Writes `values` values of K, and what is missing to whole blocks, of 32 columns: float [value][32]. `out` lies
    /// on a 64-byte boundary. Prefetches `ahead` bytes ahead.
    void (*record)(const std::uint8_t* record, std::size_t values, std::size_t ahead, float* out) noexcept;
    /// The column at each of the 32 places that `record` and `abreast` write; null: column i at place i.
    const std::uint8_t* order;
    /// For tiles of 1, 2 and 4 rows.
    abreast_kernel abreast[3];
};

/// Rows of A as float [k][rows] times `panels` decoded panels: acc = fma(a, b, acc) for each k in ascending order.
struct few_floats_kernel {
    std::size_t rows;
    std::size_t panels;
    /// b: float [panel][record_values][32], of which `depth` values count; acc: float [panel][rows][32].
    void (*values)(const float* a, const float* b, std::size_t depth, float* acc) noexcept;
};

}  // namespace lowbit::kernel
