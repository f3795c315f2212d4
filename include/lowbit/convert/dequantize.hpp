// SPDX-License-Identifier: Apache-2.0
// A whole matrix of a block format back to float, bfloat16 or float16.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/convert/partition.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Writes the values of `q` to `out`; `options` names an executor.
/// Shape: out has the rows and cols of q, any stride; elements between cols and stride keep what they hold.
/// Exact: the floats are those of F::decode block by block, on every instruction set and with any executor. To bfloat16
/// and float16 they are rounded once, to nearest even; overflow gives Inf.
/// Special: a poisoned block gives NaN, always 0x7FC00000 (0x7FC0, 0x7E00); -0 where the format has it.
/// Errors: shapes that differ, an output that overlaps the blocks or scales of q, a LOWBIT_ISA that cannot run here;
/// nothing is written then.
/// Cost: one pass.
template <block_format F, class T>
void dequantize(const quantized_matrix<F>& q, matrix_view<T> out, const dequantize_options& options = {}) {
    static_assert(matrix_element<T>, "lowbit::dequantize writes float, bfloat16 or float16");
    constexpr const char* name = "lowbit::dequantize";
    if (out.rows() != q.rows()) {
        detail::fail(detail::message(name, ": rows ", out.rows(), " of output 'out' do not match rows ", q.rows(),
                                     " of input 'q'"));
    }
    if (out.cols() != q.cols()) {
        detail::fail(detail::message(name, ": cols ", out.cols(), " of output 'out' do not match cols ", q.cols(),
                                     " of input 'q'"));
    }
    const detail::byte_rows written = detail::byte_rows_of(out);
    const std::span<const float> scales = detail::quantized_matrix_access<F>::row_scales(q);
    if (detail::overlaps(written, detail::byte_rows_of(q.bytes().data(), q.bytes().size()))) {
        detail::fail(detail::message(name, ": output 'out' (", out.rows(), " x ", out.cols(),
                                     ") overlaps the blocks of input 'q' (", q.bytes().size(), " bytes)"));
    }
    if (detail::overlaps(written, detail::byte_rows_of(scales.data(), scales.size_bytes()))) {
        detail::fail(detail::message(name, ": output 'out' (", out.rows(), " x ", out.cols(),
                                     ") overlaps the row scales of input 'q' (", scales.size_bytes(), " bytes)"));
    }
    const detail::row_codec<F> codec;

    const bool past_cache = std::is_same_v<T, float> && q.rows() * q.cols() >= detail::past_cache_floats;
    const detail::matrix_partition parts(q.rows(), q.cols(), options.executor.concurrency());
    options.executor.for_each(parts.size(), [&](std::size_t i) {
        const arch::fp_guard guard;
        const detail::matrix_part part = parts[i];
        for (std::size_t r = part.first_row; r < part.last_row; ++r) {
            const typename F::block* const blocks = q.row(r).data() + part.first_col / F::block_size;
            const std::size_t count = part.last_col - part.first_col;
            T* const values = out.row(r) + part.first_col;
            if constexpr (std::is_same_v<T, float>) {
                if (past_cache) {
                    codec.decode_past_cache(blocks, count, values, q.tensor_scale(r));
                    continue;
                }
            }
            codec.decode(blocks, count, values, q.tensor_scale(r));
        }
        if (past_cache) arch::stream_fence();
    });
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
