// SPDX-License-Identifier: Apache-2.0
// From sums to C: tensor scales, alpha, bias, beta, the rounding to C's type.
//
//     s = (tensor_scale_a * tensor_scale_b) * alpha;   t = bias[n], or -0;   y = fma(s, acc, t)
//     y = fma(beta, C, y) unless beta == 0;   NaN -> 0x7FC00000
//     y = activation(y);   function(y);   y = y + residual;   NaN -> 0x7FC00000;   rounded to C's type
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include <lowbit/convert/row_access.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/gemm/options.hpp>
#include <lowbit/kernel/activation_table.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/kernel/table.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The steps from sums to values, on segments of at most 32 columns of a row.
class output_steps {
  public:
    output_steps(const gemm_options& options, const kernel::output_kernel& kernel, isa which) noexcept
        : options_(&options),
          bias_(options.bias.empty() ? nullptr : options.bias.data()),
          kernel_(&kernel),
          activate_(kernel::activation_row(which)),
          finishes_(options.activation != activation::none || options.function || !options.residual.empty()) {}

    const gemm_options& options() const noexcept { return *options_; }
    /// Whether anything follows the scaling.
    bool finishes() const noexcept { return finishes_; }

    /// `columns` values of row `row` from column `column` on; `old`: those of C, read only if beta is not zero; may
    /// be `out`.
    void operator()(const float* acc, float a_scale, const float* b_scales, std::size_t row, std::size_t column,
                    std::size_t columns, const float* old, float* out) const noexcept {
        kernel_->segment({acc, b_scales, a_scale, options_->alpha, bias_ != nullptr ? bias_ + column : nullptr,
                          options_->beta, old, out, columns});
        if (finishes_) finish(out, row, column, columns);
    }

  private:
    void finish(float* y, std::size_t row, std::size_t column, std::size_t columns) const noexcept {
        if (options_->activation != activation::none) activate_(options_->activation, y, columns);
        if (options_->function) (*options_->function)(row, column, std::span<float>(y, columns));
        if (!options_->residual.empty()) {
            const float* const residual = options_->residual.row(row) + column;
            for (std::size_t i = 0; i < columns; ++i) y[i] = exactly(exactly(y[i]) + residual[i]);
        }
        for (std::size_t i = 0; i < columns; ++i) {
            if (is_nan(y[i])) y[i] = quiet_nan;
        }
    }

    const gemm_options* options_;
    const float* bias_;
    const kernel::output_kernel* kernel_;
    kernel::activation_function activate_;
    bool finishes_;
};

/// Writes tiles of C. One object serves all threads; a tile is written by one call, once, with no second pass over C.
template <class T>
class epilogue {
  public:
    epilogue(const matrix_view<T>& c, const gemm_options& options, const kernel::output_kernel& kernel,
             isa which) noexcept
        : c_(c), steps_(options, kernel, which), which_(which) {}

    /// Panels that one thread must write one after the other.
    static constexpr std::size_t panel_step = 1;
    /// What a thread keeps between those panels, for rows of C from first_row on, at most `rows`.
    struct strip {
        std::size_t first_row = 0;
    };
    static strip make_strip(std::size_t) noexcept { return {}; }

    /// Asks for the lines of every `step`-th row of a tile that will be written, from row `first` of it on.
    void prefetch(std::size_t row, std::size_t rows, std::size_t column, std::size_t first,
                  std::size_t step) const noexcept {
        for (std::size_t r = first; r < rows; r += step) {
            const T* const p = c_.row(row + r) + column;
            for (std::size_t i = 0; i < kernel::panel_columns; i += 64 / sizeof(T)) prefetch_for_writing(p + i);
        }
    }

    /// `acc`: rows x 32 sums of C's rows from `row` on, columns from `column` on (`columns` of them, at most 32).
    /// `a_scale(i)` is row i's tensor scale, b_scales those of the 32 columns. acc, rows `acc_step` apart, may be C.
    template <class AScale>
    void write(const float* acc, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
               const float* b_scales, const AScale& a_scale, strip&,
               std::size_t acc_step = kernel::panel_columns) const noexcept {
        for (std::size_t r = 0; r < rows; ++r) {
            segment(acc + r * acc_step, a_scale(row + r), b_scales, row + r, column, columns);
        }
    }

  private:
    static void prefetch_for_writing(const T* p) noexcept {
#if LOWBIT_X86
        // Not __builtin_prefetch: without -mprfchw that asks for a line to read, and the store must ask again.
        asm volatile("prefetchw %0" : : "m"(*p));
#else
        __builtin_prefetch(p, 1);
#endif
    }

    void segment(const float* acc, float a_scale, const float* b_scales, std::size_t row, std::size_t column,
                 std::size_t columns) const noexcept {
        T* const out = c_.row(row) + column;
        if constexpr (std::is_same_v<T, float>) {
            if (!steps_.finishes()) {
                steps_(acc, a_scale, b_scales, row, column, columns, out, out);
                return;
            }
        }
        alignas(64) float y[kernel::panel_columns];
        if (abs_bits(steps_.options().beta) != 0) {
            if constexpr (std::is_same_v<T, float>) {
                std::copy_n(out, columns, y);
            } else {
                widen(kernel::rows(which_), out, columns, y);
            }
        }
        steps_(acc, a_scale, b_scales, row, column, columns, y, y);
        if constexpr (std::is_same_v<T, float>) {
            std::copy_n(y, columns, out);
        } else {
            narrow(kernel::rows(which_), y, columns, out);
        }
    }

    matrix_view<T> c_;
    output_steps steps_;
    isa which_;
};

/// The epilogue of products that write to C of this type.
template <class C>
struct epilogue_of;
template <class T>
struct epilogue_of<matrix_view<T>> {
    using type = epilogue<T>;
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
