// SPDX-License-Identifier: Apache-2.0
// What a caller may choose about a matrix product, and which format activations take by default.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <lowbit/block/registry.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/core/function_ref.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/kernel/activation.hpp>

namespace lowbit {

/// A user's part of the epilogue: changes `values`, those of row `row` of C from column `column` on (at most 32), in
/// place. Called once for each element, from several threads at once where the executor has them; must not throw.
using epilogue_function = function_ref<void(std::size_t row, std::size_t column, std::span<float> values)>;

/// Options of gemm: C = function(activation(alpha * A B^T + bias + beta * C)) + residual, rounded once to C's type; the
/// exact order is in gemm.hpp.
struct gemm_options {
    float alpha = 1;                   ///< 0: A and B are not read, and the sum starts at the bias (-0 without one)
    float beta = 0;                    ///< 0 (of either sign): C is not read
    std::span<const float> bias = {};  ///< one value a column of C, or empty
    lowbit::executor executor = {};    ///< serial by default; the result has the same bits for any
    lowbit::activation activation = lowbit::activation::none;  ///< see gemm/activation.hpp
    std::optional<epilogue_function> function = {};            ///< applied after the activation; must outlive the call
    matrix_view<const float> residual = {};                    ///< of C's shape, or empty; may be C itself
};

/// The format that activations are quantised to on the fly when the weights are in format F: F itself, but for
/// m2xfp_weight, whose counterpart is m2xfp_activation.
template <class F>
struct activation_format {
    using type = F;  ///< the activations' format
};
template <>
struct activation_format<m2xfp_weight> {
    using type = m2xfp_activation;
};
/// The format that activation_format names.
template <class F>
using activation_format_t = typename activation_format<F>::type;

}  // namespace lowbit
