// SPDX-License-Identifier: Apache-2.0
/// Products with weights in a block format and activations as they are (W4A16, W4A32): C = A B^T, B decoded on the way.
///
///     acc = fma(a, b, acc) for each k in ascending order, acc starts at +0; a: the float, or the 16-bit value widened;
///     b: the decoded value without its tensor scale, which stays in the epilogue as in gemm
///
/// Everything else, epilogue, options, errors, is as in gemm. The same bits for every instruction set and number of
/// threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/row_access.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/kernel/table.hpp>

namespace lowbit {

namespace detail {

/// Stands for the format of values that are not quantised.
struct float_values {
    static constexpr std::size_t block_size = 1;
    static constexpr bool has_tensor_scale = false;
};

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Rows of A as they are.
template <class T>
class plain_rows {
  public:
    using format = float_values;

    plain_rows(const matrix_view<const T>& view, isa which) noexcept : view_(view), which_(which) {}

    float tensor_scale(std::size_t) const noexcept { return 1.0F; }
    void decode(std::size_t i, std::size_t k, std::size_t count, float* out) const noexcept {
        if constexpr (std::is_same_v<T, float>) {
            std::copy_n(view_.row(i) + k, count, out);
        } else {
            widen(kernel::rows(which_), view_.row(i) + k, count, out);
        }
    }

  private:
    matrix_view<const T> view_;
    isa which_;
};

template <class S, class B, class T>
void gemm_plain_rows(const matrix_view<S>& a, const B& b, const matrix_view<T>& c, const gemm_options& options,
                     const gemm_plan& plan) {
    check_arguments(a, b, c, options, "lowbit::gemm_weight_only");
    if (c.empty()) return;
    using value = std::remove_const_t<S>;
    const plain_rows<value> source(a, plan.which);
    multiply_or_write(source, b, c, a.cols(), options, plan);
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace detail

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// C = alpha * A B^T + bias + beta * C with A as it is: `gemm_weight_only(x, p, y)`. `a` is A (activations), `b` is B
/// (weights), `c` is C; `options` as for gemm.
/// Shape, Special, Errors: as gemm. Exact: see the top of this header.
/// Cost: one fma a product: about 16 to 32 times the arithmetic of gemm, which matters from a few rows on.
template <class S, gemm_weights B, matrix_element T>
void gemm_weight_only(matrix_view<S> a, const B& b, matrix_view<T> c, const gemm_options& options = {}) {
    detail::gemm_plain_rows(a, b, c, options, {arch::active()});
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
