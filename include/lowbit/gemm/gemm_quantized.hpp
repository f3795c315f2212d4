// SPDX-License-Identifier: Apache-2.0
/// Products whose result is quantised on the way out: the next layer's activations, without a float matrix between.
///
/// `gemm_quantized<F>(a, b, options)` gives quantize<F>(C) for the float32 C that gemm(a, b, C, options) would write,
/// byte for byte. C itself never exists: blocks are made of finished sums while these are in the first-level cache.
///
///     quantized_matrix<mxint8> hidden = gemm_quantized<mxint8>(x, up, {.bias = b, .activation = activation::gelu});
///     gemm(hidden, down, y, {.residual = x});
#pragma once

#include <cstddef>
#include <type_traits>

#include <lowbit/convert/check_options.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/quantizing_epilogue.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

/// How gemm_quantized makes blocks of format F.
template <block_format F>
struct quantized_output {
    typename F::options format = {};  ///< the format's own options
    float tensor_scale = 1;  ///< of formats that have one (nvfp4): the whole result's, finite and > 0, e.g. calibrated
};

namespace detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Checks, then calls product(target) unless C is empty.
template <class F, class Product>
quantized_matrix<F> make_quantized(std::size_t a_rows, std::size_t a_cols, std::size_t b_rows, std::size_t b_cols,
                                   const gemm_options& options, const quantized_output<F>& output,
                                   const Product& product) {
    using access = quantized_matrix_access<F>;
    constexpr const char* name = "lowbit::gemm_quantized";
    check_product(a_cols, b_rows, b_cols, options, "the result", name);
    check_residual_shape(a_rows, b_rows, options.residual, "the result", name);
    if (abs_bits(options.beta) != 0) {
        fail(message(name, ": option 'beta' is ", decimal(options.beta), ", but there is no old 'c' to add"));
    }
    check_format_options<F>(name, "output.format.", output.format);
    if constexpr (F::has_tensor_scale) check_tensor_scale(name, "output.tensor_scale", output.tensor_scale);
    access::check_size(name, a_rows, b_rows);
    quantized_matrix<F> c = access::make(a_rows, b_rows, false);
    block_target<F> target{access::blocks(c), a_rows, b_rows, output.format, {}};
    if constexpr (F::has_tensor_scale) {
        const arch::fp_guard guard;
        const auto scales = F::scales_from_tensor_scale(output.tensor_scale);
        target.context.tensor_scale = scales.tensor_scale;
        target.context.encode_scale = scales.encode_scale;
        access::set_tensor_scale(c, scales.tensor_scale);
    }
    if (a_rows != 0 && b_rows != 0) product(target);
    return c;
}

template <class F, class FA, class S, class B>
quantized_matrix<F> gemm_quantized_float_rows(const matrix_view<S>& a, const B& b, const gemm_options& options,
                                              const quantized_output<F>& output, const typename FA::options& format,
                                              const gemm_plan& plan) {
    check_weights(b, "lowbit::gemm_quantized");
    check_format_options<FA>("lowbit::gemm_quantized", "format.", format);
    return make_quantized<F>(a.rows(), a.cols(), b.rows(), b.cols(), options, output,
                             [&](const auto& target) { multiply_float_rows<FA>(a, b, target, options, format, plan); });
}

template <class F, class FA, class B>
quantized_matrix<F> gemm_quantized_blocks(const quantized_matrix<FA>& a, const B& b, const gemm_options& options,
                                          const quantized_output<F>& output, const gemm_plan& plan) {
    check_weights(b, "lowbit::gemm_quantized");
    return make_quantized<F>(a.rows(), a.cols(), b.rows(), b.cols(), options, output,
                             [&](const auto& target) { multiply_blocks(a, b, target, options, plan); });
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace detail

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// quantize<F> of C = alpha * A B^T + bias, and what else the options ask for, A quantised to format A on the way. `a`
/// is A (activations), `b` is B (weights), `output` says how the result is quantised, `format` how A is.
/// Shape: A m x k, B n x k, result m x n, blocks along n; all may be 0.
/// Exact: the bytes of quantize<F>(C) with output.format and, where F has one, output.tensor_scale as given; on every
/// instruction set, with any executor.
/// Special: NaN and Inf in C as the format says.
/// Errors: as gemm; beta that is not 0 (there is no old C); a tensor scale that is not finite and > 0; a size overflow.
/// Cost: scratch as gemm; for formats of 64 twice its sums more.
template <block_format F, block_format A, class S, gemm_weights B>
[[nodiscard]] quantized_matrix<F> gemm_quantized(matrix_view<S> a, const B& b, const gemm_options& options = {},
                                                 const quantized_output<F>& output = {},
                                                 const typename A::options& format = {}) {
    return detail::gemm_quantized_float_rows<F, A>(a, b, options, output, format, {arch::active()});
}

/// The same with A in the counterpart of B's format (activation_format_t).
template <block_format F, class S, gemm_weights B>
[[nodiscard]] quantized_matrix<F> gemm_quantized(matrix_view<S> a, const B& b, const gemm_options& options = {},
                                                 const quantized_output<F>& output = {}) {
    return gemm_quantized<F, activation_format_t<typename B::format>>(a, b, options, output);
}

/// The same with A quantised beforehand, in any format.
template <block_format F, block_format A, gemm_weights B>
[[nodiscard]] quantized_matrix<F> gemm_quantized(const quantized_matrix<A>& a, const B& b,
                                                 const gemm_options& options = {},
                                                 const quantized_output<F>& output = {}) {
    return detail::gemm_quantized_blocks<F>(a, b, options, output, {arch::active()});
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
