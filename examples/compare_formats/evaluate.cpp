// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>

#include <lowbit/core/bits.hpp>
#include <lowbit/metrics/error_stats.hpp>

namespace compare_formats {
namespace {

void describe(const lowbit::tensor& values, tensor_report& report) {
    report.shape = values.shape();
    report.rows = values.rows();
    report.cols = values.cols();
    double sum = 0;
    double largest = 0;
    std::size_t count = 0;
    for (const float value : values.values()) {
        if (!lowbit::is_finite(value)) {
            ++report.nonfinite;
            continue;
        }
        const auto x = static_cast<double>(value);
        sum += x;
        report.energy += x * x;
        largest = std::max(largest, std::fabs(x));
        ++count;
    }
    if (count == 0) return;
    const auto n = static_cast<double>(count);
    const double mean = sum / n;
    double second = 0;
    double fourth = 0;
    for (const float value : values.values()) {
        if (!lowbit::is_finite(value)) continue;
        const double square = (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
        second += square;
        fourth += square * square;
    }
    report.sigma = std::sqrt(second / n);
    if (second > 0) {
        report.kurtosis = fourth / n / (second / n * (second / n));
        report.peak = largest / report.sigma;
    }
}

lowbit::matrix_view<const double> as_matrix(const std::vector<double>& y, std::size_t rows) {
    return {y.data(), rows, rows == 0 ? 0 : y.size() / rows};
}

}  // namespace

void evaluate(const lowbit::tensor& values, const lowbit::tensor* input, const std::vector<variant>& variants,
              const lowbit::executor& runner, const stop_request& stop, const progress_note& note,
              tensor_report& report) {
    describe(values, report);
    std::vector<double> exact;
    if (input != nullptr) {
        report.input_rows = input->rows();
        exact = product(input->view(), values.view(), runner);
    }
    for (const variant& choice : variants) {
        if (stop()) return;
        note(choice.rule.empty() ? choice.format : choice.format + " " + choice.rule);
        const bool layer = input != nullptr && choice.restore_input;
        std::vector<float> weights;
        measurement result = choice.measure(values.view(), layer ? &weights : nullptr, runner);
        result.format = choice.format;
        result.rule = choice.rule;
        result.ranked = choice.ranked;
        if (layer) {
            const float_view w(weights.data(), values.rows(), values.cols());
            const auto error_of = [&](float_view x) {
                const std::vector<double> y = product(x, w, runner);
                return lowbit::compare(as_matrix(exact, report.input_rows), as_matrix(y, report.input_rows), runner)
                    .relative_error;
            };
            result.output = error_of(input->view());
            std::vector<float> activations;
            choice.restore_input(input->view(), activations, runner);
            result.output_both = error_of(float_view(activations.data(), input->rows(), input->cols()));
        }
        report.formats.push_back(std::move(result));
    }
}

}  // namespace compare_formats
