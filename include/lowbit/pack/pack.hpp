// SPDX-License-Identifier: Apache-2.0
// Weights to kernel order, from a quantised matrix or straight from floats, and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>
#include <lowbit/pack/packed_matrix.hpp>
#include <lowbit/pack/panel.hpp>

namespace lowbit {

/// Rearranges the quantised matrix q for products, on the threads of `executor`: make once, use often.
/// Shape: any. Exact: unpack(pack(q)) == q, byte for byte. Errors: size overflow; the executor's own.
/// Cost: one pass over the blocks.
template <block_format F>
[[nodiscard]] packed_matrix<F> pack(const quantized_matrix<F>& q, const executor& executor = {}) {
    using access = detail::packed_matrix_access<F>;
    packed_matrix<F> packed = access::make(q.rows(), q.cols(), q.row_scales());
    if (q.row_scales()) {
        for (std::size_t i = 0; i < q.rows(); ++i) access::row_scales(packed)[i] = q.tensor_scale(i);
    } else {
        access::set_tensor_scale(packed, q.tensor_scale());
    }
    const std::size_t per_row = q.blocks_per_row();
    executor.for_each(q.cols() == 0 ? 0 : packed.panels(), [&](std::size_t i) {
        const std::size_t first = i * kernel::panel_columns;
        detail::pack_panel<F>(q.blocks().data() + first * per_row, per_row,
                              (std::min)(kernel::panel_columns, q.rows() - first), q.cols(), access::panel(packed, i));
    });
    return packed;
}

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Quantises and packs `source`: `pack<hif4>(weights)` is pack(quantize<hif4>(weights, options), options.executor).
/// Shape, Special, Errors: as quantize.
template <block_format F, class T>
[[nodiscard]] packed_matrix<F> pack(matrix_view<T> source, const quantize_options<F>& options = {}) {
    static_assert(matrix_element<std::remove_const_t<T>>, "lowbit::pack takes float, bfloat16 or float16");
    return pack(detail::quantize(source, options, detail::row_codec<F>{}, "lowbit::pack"), options.executor);
}

}  // namespace LOWBIT_BASELINE_NAMESPACE

/// The blocks of a packed matrix in their own order again, put there by the threads of `executor`.
/// Exact: the bytes that were packed. Errors: a packed matrix of another layout.
template <block_format F>
[[nodiscard]] quantized_matrix<F> unpack(const packed_matrix<F>& packed, const executor& executor = {}) {
    detail::check_layout("lowbit::unpack", "packed", packed.layout());
    using access = detail::quantized_matrix_access<F>;
    quantized_matrix<F> q = access::make(packed.rows(), packed.cols(), packed.row_scales());
    if (packed.row_scales()) {
        for (std::size_t i = 0; i < q.rows(); ++i) access::row_scales(q)[i] = packed.tensor_scale(i);
    } else {
        access::set_tensor_scale(q, packed.tensor_scale(0));
    }
    const std::size_t per_row = q.blocks_per_row();
    executor.for_each(q.cols() == 0 ? 0 : packed.panels(), [&](std::size_t i) {
        const std::size_t first = i * kernel::panel_columns;
        detail::unpack_panel<F>(packed.panel(i), (std::min)(kernel::panel_columns, q.rows() - first), q.cols(),
                                access::blocks(q) + first * per_row, per_row);
    });
    return q;
}

}  // namespace lowbit
