// SPDX-License-Identifier: Apache-2.0
// The formats that are compared: each one of the library's registry, and the rules by which it can be encoded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <lowbit/core/executor.hpp>
#include <lowbit/core/matrix_view.hpp>

#include "results.hpp"
#include "support/product.hpp"
#include "support/rules.hpp"

namespace compare_formats {

/// A format with one choice of its options.
struct variant {
    std::string format;
    std::string rule;    ///< "" = the default options
    bool ranked = true;  ///< takes part in the choice of the best (at most most_ranked_bits)
    /// Quantises x and compares; the restored values go to *restored unless it is null.
    std::function<measurement(float_view x, std::vector<float>* restored, const lowbit::executor&)> measure;
    /// Quantises the activations of a layer whose weights are in this format, and restores them; empty where the format
    /// is not meant for weights.
    std::function<void(float_view x, std::vector<float>& restored, const lowbit::executor&)> restore_input;
};

/// The formats asked for, each followed by those of its rules that are asked for.
/// Throws std::invalid_argument for a name that fits nothing.
std::vector<variant> select_variants(const rule_choice& choice);

}  // namespace compare_formats
