// SPDX-License-Identifier: Apache-2.0
// What a caller may choose about a matrix product, and which format activations take by default.
#pragma once

#include <cstddef>
#include <span>

#include <lowbit/block/registry.hpp>
#include <lowbit/core/executor.hpp>

namespace lowbit {

/// Options of gemm: C = alpha * A B^T + bias + beta * C, rounded once to C's type; the exact order is in gemm.hpp.
struct gemm_options {
    float alpha = 1;                   ///< 0: A and B are not read
    float beta = 0;                    ///< 0 (of either sign): C is not read
    std::span<const float> bias = {};  ///< one value a column of C, or empty
    lowbit::executor executor = {};    ///< serial by default; the result has the same bits for any
};

/// The format that activations are quantised to on the fly when the weights are in format F: F itself, but for
/// m2xfp_weight, whose counterpart is m2xfp_activation.
template <class F>
struct activation_format {
    using type = F;
};
template <>
struct activation_format<m2xfp_weight> {
    using type = m2xfp_activation;
};
template <class F>
using activation_format_t = typename activation_format<F>::type;

}  // namespace lowbit
