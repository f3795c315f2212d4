// SPDX-License-Identifier: Apache-2.0
// The tensor scales of two-level formats (NVFP4), computed from the data where the options say so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/block/block_format.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/convert/partition.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit::detail {

/// A maximum that several threads raise; the result does not depend on their order.
inline void raise(std::atomic<std::uint32_t>& largest, std::uint32_t value) noexcept {
    std::uint32_t seen = largest.load(std::memory_order_relaxed);
    while (seen < value && !largest.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Bits of the largest finite magnitude of a matrix, 0 where there is none.
template <class F, class T>
std::uint32_t matrix_amax_bits(const matrix_view<T>& source, const row_codec<F>& codec, const executor& executor) {
    std::atomic<std::uint32_t> largest{0};
    const matrix_partition parts(source.rows(), source.cols(), executor.concurrency());
    executor.for_each(parts.size(), [&](std::size_t i) {
        const arch::fp_guard guard;
        const matrix_part part = parts[i];
        std::uint32_t mine = 0;
        for (std::size_t r = part.first_row; r < part.last_row; ++r) {
            const std::remove_const_t<T>* row = source.row(r) + part.first_col;
            mine = (std::max)(mine, codec.amax_bits(row, part.last_col - part.first_col));
        }
        raise(largest, mine);
    });
    return largest.load();
}

/// The scales that every block of the matrix is encoded with, unless rows have their own.
template <class F, class T>
encode_context matrix_scales(const matrix_view<T>& source, const row_codec<F>& codec,
                             const quantize_options<F>& options) {
    encode_context context;
    if constexpr (F::has_tensor_scale) {
        auto scales = F::scales_from_tensor_scale(1.0F);
        switch (options.tensor_scale.kind) {
            case tensor_scale_kind::matrix: {
                const float amax = float_from_bits(matrix_amax_bits(source, codec, options.executor));
                scales = F::scales_from_amax(amax, options.format);
                break;
            }
            case tensor_scale_kind::given: scales = F::scales_from_tensor_scale(options.tensor_scale.value); break;
            case tensor_scale_kind::row:
            case tensor_scale_kind::none: break;
        }
        context.tensor_scale = scales.tensor_scale;
        context.encode_scale = scales.encode_scale;
    }
    return context;
}

/// The scales of a row (or of a transposed matrix, a column) from its largest finite magnitude.
template <class F>
encode_context row_scales_of(std::uint32_t amax_bits, const typename F::options& options) noexcept {
    const auto scales = F::scales_from_amax(float_from_bits(amax_bits), options);
    encode_context context;
    context.tensor_scale = scales.tensor_scale;
    context.encode_scale = scales.encode_scale;
    return context;
}

/// Whether each row of the result has a tensor scale of its own.
template <class F>
constexpr bool wants_row_scales(const quantize_options<F>& options) noexcept {
    return F::has_tensor_scale && options.tensor_scale.kind == tensor_scale_kind::row;
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
