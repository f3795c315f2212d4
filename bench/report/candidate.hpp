// SPDX-License-Identifier: Apache-2.0
// A format with one choice of its options, and what a report asks it: the errors on a tensor, the speeds.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <lowbit/core/executor.hpp>

#include "results.hpp"
#include "support/product.hpp"
#include "support/rules.hpp"
#include "timing.hpp"

namespace bench_report {

using support::float_view;

/// The 8-bit formats that activations of W4A8 can take; the first is the default.
inline const std::vector<std::string> a8_formats{"mxint8", "int8_block"};

/// The layer that a tensor belongs to.
struct layer {
    float_view input;
    const std::vector<double>& exact;  ///< its output in double, input rows x weight rows
    const std::string& a8_format;
};

/// Takes each speed as it is there.
using rate_sink = std::function<void(const rate&)>;

struct candidate {
    std::string format;
    std::string rule;
    /// `recorded` is null where no activations are known.
    std::function<accuracy(float_view weights, const layer* recorded, const lowbit::executor&)> errors;
    std::function<void(const speed_sizes&, const rate_sink&)> codec_speeds;
    /// Empty where the format is not meant for weights.
    std::function<void(const speed_sizes&, const std::string& a8_format, const rate_sink&)> product_speeds;

    std::string name() const { return rule.empty() ? format : format + " " + rule; }
};

/// Makes the rules of a format known. format.cpp, compiled once for each format, calls it before main.
bool add_format(std::string_view format, std::vector<candidate> (*make)());

/// The formats and rules asked for. Throws std::invalid_argument for a name that fits nothing.
std::vector<candidate> select_candidates(const support::rule_choice& choice);

}  // namespace bench_report
