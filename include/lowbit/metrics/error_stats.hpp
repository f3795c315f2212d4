// SPDX-License-Identifier: Apache-2.0
// How far restored values lie from the original ones: mse, relative error, sqnr, cosine, maximum, and counts.
//
// One number hides faults: cosine is blind to a common factor, a mean is blind to one lost value, and a NaN fails no
// test that asks `error > tolerance`. So the figures come together, and they are defined for all data:
//
//     case                                        relative_error   sqnr_db   cosine   mse, max_abs
//     restored equals the original (also all 0)          0           +Inf       1          0
//     restored is all zeros                              1             0        0       of the original
//     restored is twice the original                     1             0        1       of the original
//     original all zeros, restored not                 +Inf          -Inf       0       of the restored
//     a finite original came back as NaN or Inf        +Inf          -Inf       0        +Inf   and failed() is true
//
// Values that are NaN or Inf in the original enter no sum (data may hold them, and a block format turns them into NaN);
// one that comes back finite is counted as hidden and fails. Nothing here is ever NaN.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/block/block_format.hpp>
#include <lowbit/block/m2xfp.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>
#include <lowbit/metrics/error_sums.hpp>

namespace lowbit {

/// The comparison of a restored matrix with its original. Sums run over elements that are finite on both sides;
/// a finite value that came back as NaN or Inf makes the errors infinite (see failed()).
struct error_stats {
    std::uint64_t count = 0;                ///< elements compared, all of them
    std::uint64_t exact = 0;                ///< restored to the same value (-0 and +0 are the same)
    std::uint64_t flushed = 0;              ///< nonzero, restored as zero
    std::uint64_t saturated = 0;            ///< larger than the largest value that its block's scales can express; 0
                                            ///< where no format is known
    std::uint64_t sign_changed = 0;         ///< nonzero, restored as nonzero of the other sign
    std::uint64_t nan = 0;                  ///< finite, restored as NaN
    std::uint64_t infinite = 0;             ///< finite, restored as Inf
    std::uint64_t nonfinite_reference = 0;  ///< NaN or Inf in the original
    std::uint64_t hidden = 0;               ///< of those, restored as a finite value
    double mse = 0;                         ///< mean of (original - restored)^2
    double relative_error = 0;              ///< Frobenius: sqrt(sum (original - restored)^2 / sum original^2)
    double sqnr_db = 0;                     ///< 10 log10(sum original^2 / sum (original - restored)^2), in decibels
    double cosine = 1;                      ///< of the angle between the two as vectors
    double max_abs = 0;                     ///< largest |original - restored|

    /// Whether a value was lost: finite became NaN or Inf, or NaN or Inf became finite.
    [[nodiscard]] bool failed() const noexcept { return nan + infinite + hidden != 0; }
};

namespace detail {

[[nodiscard]] inline error_stats finish(const error_sums& sums) noexcept {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    error_stats out{.count = sums.count,
                    .exact = sums.exact,
                    .flushed = sums.flushed,
                    .saturated = sums.saturated,
                    .sign_changed = sums.sign_changed,
                    .nan = sums.nan,
                    .infinite = sums.infinite,
                    .nonfinite_reference = sums.nonfinite_reference,
                    .hidden = sums.hidden};
    const std::uint64_t compared = sums.count - sums.nonfinite_reference;
    const double signal = sums.reference_energy.value();
    const double noise = sums.error_energy.value();
    const double restored = sums.restored_energy.value();
    if (out.failed()) {
        out.mse = out.relative_error = out.max_abs = infinity;
        out.sqnr_db = -infinity;
        out.cosine = 0;
    } else if (sums.max_abs == 0) {
        out.sqnr_db = infinity;
    } else {
        out.mse = noise / static_cast<double>(compared);
        out.max_abs = sums.max_abs;
        out.relative_error = signal == 0 ? infinity : std::sqrt(noise / signal);
        out.sqnr_db = signal == 0 ? -infinity : 10 * std::log10(signal / noise);
        const double lengths = std::sqrt(signal) * std::sqrt(restored);
        out.cosine = lengths == 0 ? 0 : (std::clamp)(sums.product.value() / lengths, -1.0, 1.0);
    }
    return out;
}

/// Runs body(row, sums) over all rows and adds up: tasks of about 2^16 elements, merged in ascending order, so that the
/// result does not depend on the number of threads.
template <class Body>
[[nodiscard]] error_sums sum_rows(std::size_t rows, std::size_t cols, const executor& runner, const Body& body) {
    error_sums total;
    if (rows == 0 || cols == 0) return total;
    const std::size_t step = (std::max)(std::size_t{1}, (std::size_t{1} << 16U) / cols);
    std::vector<error_sums> parts(divide_up(rows, step));
    runner.for_each(parts.size(), [&](std::size_t part) {
        const arch::fp_guard guard;
        const std::size_t end = (std::min)(rows, (part + 1) * step);
        for (std::size_t row = part * step; row < end; ++row) body(row, parts[part]);
    });
    for (const error_sums& part : parts) total.add(part);
    return total;
}

/// The largest magnitudes that the elements of a block can have under its scale fields: decodes the block with the
/// largest code everywhere.
template <block_format F>
void largest_magnitudes(const typename F::block& block, std::span<float, F::block_size> out,
                        float tensor_scale) noexcept {
    using block_type = typename F::block;
    if constexpr (std::numeric_limits<block_type>::is_specialized) {
        out[0] = (std::numeric_limits<block_type>::max)().to_float();
    } else {
        block_type full = block;
        for (auto& pair : full.codes) pair = 0x77;
        if constexpr (std::is_same_v<F, m2xfp_activation>) {
            full.metadata = 0xFF;  // the top element, here the first of 8, reaches 7 where the others reach 6
            F::decode(full, out, tensor_scale);
            for (std::size_t first = 0; first < F::block_size; first += 8) {
                std::size_t top = first;
                const auto code = [&](std::size_t i) { return (block.codes[i / 2] >> (i % 2 * 4)) & 7; };
                for (std::size_t i = first + 1; i < first + 8; ++i) top = code(i) > code(top) ? i : top;
                std::swap(out[first], out[top]);
            }
        } else {
            F::decode(full, out, tensor_scale);
        }
    }
}

inline void check_same_shape(std::size_t rows, std::size_t cols, std::size_t restored_rows, std::size_t restored_cols) {
    if (rows != restored_rows) {
        fail(message("lowbit::compare: rows ", restored_rows, " of 'restored' do not match rows ", rows,
                     " of 'reference'"));
    }
    if (cols != restored_cols) {
        fail(message("lowbit::compare: cols ", restored_cols, " of 'restored' do not match cols ", cols,
                     " of 'reference'"));
    }
}

}  // namespace detail

/// Compares the matrix `restored` with `reference`, element by element; `runner` runs the loop. T, U: float, double,
/// bfloat16, float16, in any combination. Shape: both rows x cols; empty matrices agree (mse 0, sqnr +Inf). Exact: sums
/// are compensated; the result is the same for any executor. Squares of doubles past 1e154 overflow to Inf. Special:
/// see the head of this header; never NaN. Errors: throws lowbit::error where the shapes differ. Cost: one pass, about
/// 3 ns an element and thread.
template <detail::comparable_value T, detail::comparable_value U>
[[nodiscard]] error_stats compare(matrix_view<T> reference, matrix_view<U> restored, const executor& runner = {}) {
    detail::check_same_shape(reference.rows(), reference.cols(), restored.rows(), restored.cols());
    const arch::fp_guard guard;
    return detail::finish(
        detail::sum_rows(reference.rows(), reference.cols(), runner, [&](std::size_t row, detail::error_sums& sums) {
            const T* original = reference.row(row);
            const U* other = restored.row(row);
            for (std::size_t col = 0; col < reference.cols(); ++col) {
                sums.add(detail::as_double(original[col]), detail::as_double(other[col]));
            }
        }));
}

/// Compares the matrix `reference` with its quantised form, block by block, without restoring the whole of it; counts
/// saturated values, too. Otherwise as above.
template <detail::comparable_value T, block_format F>
[[nodiscard]] error_stats compare(matrix_view<T> reference, const quantized_matrix<F>& quantized,
                                  const executor& runner = {}) {
    detail::check_same_shape(reference.rows(), reference.cols(), quantized.rows(), quantized.cols());
    const arch::fp_guard guard;
    return detail::finish(
        detail::sum_rows(reference.rows(), reference.cols(), runner, [&](std::size_t row, detail::error_sums& sums) {
            std::array<float, F::block_size> values{};
            std::array<float, F::block_size> limits{};
            const T* original = reference.row(row);
            const float tensor_scale = quantized.tensor_scale(row);
            std::size_t col = 0;
            for (const typename F::block& block : quantized.row(row)) {
                F::decode(block, values, tensor_scale);
                detail::largest_magnitudes<F>(block, limits, tensor_scale);
                const std::size_t used = (std::min)(F::block_size, reference.cols() - col);
                for (std::size_t i = 0; i < used; ++i, ++col) {
                    const double value = detail::as_double(original[col]);
                    sums.add(value, static_cast<double>(values[i]));
                    const double limit = static_cast<double>(limits[i]);
                    const bool over = abs_bits(value) > abs_bits(limit) && is_finite(value);
                    sums.saturated += over && is_finite(values[i]) ? 1U : 0U;
                }
            }
        }));
}

}  // namespace lowbit
