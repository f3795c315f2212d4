// SPDX-License-Identifier: Apache-2.0
// The contract of the matrix product in plain loops: the oracle of every kernel; and the same in double, with a bound
// on how far the two can be apart.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/gemm/options.hpp>
#include <lowbit/lane/lower.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit {

namespace detail {

template <class F>
std::vector<float> decoded_row(const quantized_matrix<F>& q, std::size_t i) {
    std::vector<float> values(q.blocks_per_row() * F::block_size);
    for (std::size_t n = 0; n < q.blocks_per_row(); ++n) {
        F::decode(q.row(i)[n], std::span<float, F::block_size>(values.data() + n * F::block_size, F::block_size), 1.0F);
    }
    return values;
}

/// The sum of one element of C.
template <class A, class B>
float reference_sum(const quantized_matrix<A>& a, std::size_t i, const quantized_matrix<B>& b, std::size_t j) {
    const std::size_t k = a.cols();
    float acc = 0;
    if constexpr (integer_lanes<A> && integer_lanes<B>) {
        constexpr std::size_t group = common_group<A, B>;
        std::vector<std::int8_t> x(a.blocks_per_row() * A::block_size), y(b.blocks_per_row() * B::block_size);
        std::vector<float> x_scale(a.blocks_per_row()), y_scale(b.blocks_per_row());
        lower_row<A>(a.row(i).data(), k, x.data(), x_scale.data());
        lower_row<B>(b.row(j).data(), k, y.data(), y_scale.data());
        for (std::size_t g = 0; g * group < k; ++g) {
            std::int32_t dot = 0;
            for (std::size_t e = g * group; e < (g + 1) * group; ++e) dot += x[e] * y[e];
            const float scaled = exactly(static_cast<float>(dot) * x_scale[g * group / A::block_size]);
            acc = exactly(fused_multiply_add(scaled, y_scale[g * group / B::block_size], acc));
        }
    } else {
        const std::vector<float> x = decoded_row(a, i), y = decoded_row(b, j);
        for (std::size_t e = 0; e < k; ++e) acc = exactly(fused_multiply_add(x[e], y[e], acc));
    }
    return acc;
}

/// y of one element before it is rounded to C's type.
inline float reference_output(float acc, float a_scale, float b_scale, const gemm_options& options, std::size_t j,
                              float c) {
    const float t = options.bias.empty() ? -0.0F : options.bias[j];
    float y = t;
    if (abs_bits(options.alpha) != 0) {
        const float s = exactly(exactly(a_scale * b_scale) * options.alpha);
        y = exactly(fused_multiply_add(s, acc, t));
    }
    if (abs_bits(options.beta) != 0) y = exactly(fused_multiply_add(options.beta, c, y));
    return is_nan(y) ? quiet_nan : y;
}

}  // namespace detail

/// c = alpha * a b^T + bias + beta * c by the contract of gemm.hpp, one element after the other; `options` hold alpha,
/// beta and bias.
/// Shape: as gemm; not checked. Cost: slow.
template <class A, class B>
void reference_gemm(const quantized_matrix<A>& a, const quantized_matrix<B>& b, matrix_view<float> c,
                    const gemm_options& options = {}) {
    const arch::fp_guard guard;
    for (std::size_t i = 0; i < c.rows(); ++i) {
        for (std::size_t j = 0; j < c.cols(); ++j) {
            const bool product = abs_bits(options.alpha) != 0;
            const float acc = product ? detail::reference_sum(a, i, b, j) : 0.0F;
            const float old = abs_bits(options.beta) != 0 ? c(i, j) : 0.0F;
            c(i, j) = detail::reference_output(acc, a.tensor_scale(i), b.tensor_scale(j), options, j, old);
        }
    }
}

/// One element of A B^T (tensor scales in, alpha = 1, nothing added) in double, and a bound on the float result's
/// distance.
struct double_element {
    double value;  ///< the element, its sum in double
    double bound;  ///< on |float result - value|
};

/// Element (i, j) of a b^T in double, and the bound.
///
/// The bound, absent over- and underflow, finite operands. With u = 2^-24 and n fused steps of the contract, step i
/// with an exact term t_i: each step rounds its term's first product (absolutely by u |t_i|, only where it is inexact)
/// and its sum (by u |acc_i|, and |acc_i| <= (1 + u)^2i * sum |t|). So |acc - sum t| <= (n + 1) u (1 + u)^2n sum |t|;
/// the tensor scales' product and the last fma add two roundings: (n + 3) u sum |t| (1 + u)^(2n + 3), for which 1.01
/// stands in while n < 10^5. The double sum itself errs by less than n 2^-53 sum |t|, counted in.
template <class A, class B>
double_element reference_double(const quantized_matrix<A>& a, std::size_t i, const quantized_matrix<B>& b,
                                std::size_t j) {
    const std::vector<float> x = detail::decoded_row(a, i), y = detail::decoded_row(b, j);
    const double scale = static_cast<double>(a.tensor_scale(i)) * static_cast<double>(b.tensor_scale(j));
    double sum = 0, magnitude = 0;
    for (std::size_t e = 0; e < a.cols(); ++e) {
        const double term = static_cast<double>(x[e]) * static_cast<double>(y[e]);
        sum += term;
        magnitude += std::fabs(term);
    }
    const std::size_t group = integer_lanes<A> && integer_lanes<B> ? common_group<A, B> : 1;
    const double steps = static_cast<double>(divide_up(a.cols(), group));
    const double unit = 0x1p-24, tiny = static_cast<double>(a.cols() + 2) * 0x1p-53;
    return {sum * scale, 1.01 * ((steps + 3) * unit + tiny) * magnitude * scale};
}

}  // namespace lowbit
