// SPDX-License-Identifier: Apache-2.0
// Measures one tensor in every format, and the output of its layer where activations are known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lowbit/core/executor.hpp>
#include <lowbit/io/tensor.hpp>

#include "results.hpp"
#include "variants.hpp"

namespace compare_formats {

/// Asked between formats; true ends the work, what is done is kept.
using stop_request = std::function<bool()>;
/// Told before each format: its name.
using progress_note = std::function<void(const std::string&)>;

/// Fills the statistics of `report` (energy, sigma, kurtosis, peak) and one measurement a variant. With `input`, also
/// the relative error of y = input x^T against double arithmetic: weights quantised, and both sides quantised.
void evaluate(const lowbit::tensor& values, const lowbit::tensor* input, const std::vector<variant>& variants,
              const lowbit::executor& runner, const stop_request& stop, const progress_note& note,
              tensor_report& report);

}  // namespace compare_formats
