// SPDX-License-Identifier: Apache-2.0
// The sums behind error_stats: compensated double sums that add up the same way for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/float16.hpp>

namespace lowbit::detail {

/// A double sum with the rounding errors of its additions kept apart (Knuth's two-sum, Neumaier's correction): for n
/// terms of one sign the relative error is about 2^-53 + n * 2^-106.
class compensated_sum {
  public:
    void add(double term) noexcept {
        const double total = exactly(sum_ + term);
        const double part = exactly(total - sum_);
        lost_ += exactly(sum_ - exactly(total - part)) + exactly(term - part);
        sum_ = total;
    }
    void add(const compensated_sum& other) noexcept {
        add(other.sum_);
        lost_ += other.lost_;
    }
    /// Inf or NaN where the sum itself left the range of double.
    [[nodiscard]] double value() const noexcept { return is_finite(sum_) ? sum_ + lost_ : sum_; }

  private:
    double sum_ = 0;
    double lost_ = 0;
};

/// Element types that can be compared.
template <class T>
concept comparable_value = std::same_as < std::remove_const_t<T>,
float > || std::same_as<std::remove_const_t<T>, double> || std::same_as<std::remove_const_t<T>, bfloat16> ||
    std::same_as<std::remove_const_t<T>, float16>;

template <comparable_value T>
[[nodiscard]] double as_double(T value) noexcept {
    if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
        return static_cast<double>(value);
    } else {
        return static_cast<double>(value.to_float());
    }
}

/// Sums and counts over a part of two matrices. What is not finite on either side is counted and enters no sum.
struct error_sums {
    std::uint64_t count = 0;
    std::uint64_t exact = 0;
    std::uint64_t flushed = 0;
    std::uint64_t saturated = 0;
    std::uint64_t sign_changed = 0;
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;
    std::uint64_t nonfinite_reference = 0;
    std::uint64_t hidden = 0;
    double max_abs = 0;
    compensated_sum reference_energy;
    compensated_sum restored_energy;
    compensated_sum error_energy;
    compensated_sum product;

    void add(double reference, double restored) noexcept {
        ++count;
        if (!is_finite(reference)) {
            ++nonfinite_reference;
            hidden += is_finite(restored) ? 1U : 0U;
            return;
        }
        if (!is_finite(restored)) {
            nan += is_nan(restored) ? 1U : 0U;
            infinite += is_nan(restored) ? 0U : 1U;
            return;
        }
        const double difference = exactly(reference - restored);
        if (abs_bits(difference) == 0) {
            ++exact;
        } else {
            const bool nonzero = abs_bits(reference) != 0 && abs_bits(restored) != 0;
            flushed += abs_bits(restored) == 0 ? 1U : 0U;
            sign_changed += nonzero && sign_bit(reference) != sign_bit(restored) ? 1U : 0U;
        }
        max_abs = (std::max)(max_abs, std::fabs(difference));
        reference_energy.add(exactly(reference * reference));
        restored_energy.add(exactly(restored * restored));
        error_energy.add(exactly(difference * difference));
        product.add(exactly(reference * restored));
    }

    void add(const error_sums& other) noexcept {
        count += other.count;
        exact += other.exact;
        flushed += other.flushed;
        saturated += other.saturated;
        sign_changed += other.sign_changed;
        nan += other.nan;
        infinite += other.infinite;
        nonfinite_reference += other.nonfinite_reference;
        hidden += other.hidden;
        max_abs = (std::max)(max_abs, other.max_abs);
        reference_energy.add(other.reference_energy);
        restored_energy.add(other.restored_energy);
        error_energy.add(other.error_energy);
        product.add(other.product);
    }
};

}  // namespace lowbit::detail
