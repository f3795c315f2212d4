// SPDX-License-Identifier: Apache-2.0
// A whole matrix of float, bfloat16 or float16 to a block format, blocks along the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/check_options.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/convert/partition.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/convert/tensor_scale.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

namespace detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// quantize by the given codec; `name`: of the public function.
template <block_format F, class T>
quantized_matrix<F> quantize(const matrix_view<T>& source, const quantize_options<F>& options,
                             const row_codec<F>& codec, const char* name = "lowbit::quantize") {
    using value_type = std::remove_const_t<T>;
    using access = quantized_matrix_access<F>;

    check_options(name, options);
    const bool by_row = wants_row_scales(options);
    access::check_size(name, source.rows(), source.cols(), by_row);
    const arch::fp_guard guard;

    quantized_matrix<F> result = access::make(source.rows(), source.cols(), by_row);
    typename F::block* const blocks = access::blocks(result);
    const std::size_t blocks_per_row = result.blocks_per_row();
    const encode_context shared = matrix_scales(source, codec, options);
    float* const row_scales = access::row_scales(result);
    if (!by_row) access::set_tensor_scale(result, shared.tensor_scale);
    if (by_row && source.cols() == 0) std::fill_n(row_scales, source.rows(), 1.0F);

    // Row scales need a whole row's maximum before its first block: parts then are whole rows.
    const std::size_t granule = by_row ? (std::max)(source.cols(), std::size_t{1}) : matrix_partition::granule;
    const matrix_partition parts(source.rows(), source.cols(), options.executor.concurrency(), 1, granule);
    options.executor.for_each(parts.size(), [&](std::size_t i) {
        const arch::fp_guard body_guard;
        const matrix_part part = parts[i];
        const std::size_t count = part.last_col - part.first_col;
        for (std::size_t r = part.first_row; r < part.last_row; ++r) {
            const value_type* values = source.row(r) + part.first_col;
            encode_context context = shared;
            if constexpr (F::has_tensor_scale) {
                if (by_row) {
                    context = row_scales_of<F>(codec.amax_bits(values, count), options.format);
                    row_scales[r] = context.tensor_scale;
                }
            }
            context.index = static_cast<std::uint64_t>(r) * source.cols() + part.first_col;
            codec.encode(values, count, blocks + r * blocks_per_row + part.first_col / F::block_size, options.format,
                         context);
        }
    });
    return result;
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace detail

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Quantises the matrix `source` to format F: `quantize<hif4>(weights)`. `options` hold the options of the format, the
/// tensor scale (NVFP4) and an executor.
///
/// Shape: any rows and cols, also zero. Blocks lie along cols; the last block of each row is filled up with zeros
/// before its scale is chosen.
///
/// Exact: the bytes are those of F::encode block by block, on every instruction set, with any executor, whatever the
/// caller's rounding mode and FTZ/DAZ, which are restored. Stochastic rounding is keyed by seed and element index
/// row * cols + col. 16-bit input is widened first, which is exact.
///
/// Special: NaN, Inf and -0 as the format says; a tensor scale comes from finite values only.
///
/// Errors: a size overflow, an option out of its range, a given tensor scale that is not finite and > 0, a LOWBIT_ISA
/// that cannot run here; the executor's own exceptions and std::bad_alloc pass through.
///
/// Cost: one pass over the data, two for NVFP4 with a tensor scale by matrix.
template <block_format F, class T>
[[nodiscard]] quantized_matrix<F> quantize(matrix_view<T> source, const quantize_options<F>& options = {}) {
    static_assert(matrix_element<std::remove_const_t<T>>, "lowbit::quantize takes float, bfloat16 or float16");
    return detail::quantize(source, options, detail::row_codec<F>{});
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
