// SPDX-License-Identifier: Apache-2.0
// Tables for the terminal, at most 100 columns wide.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace compare_formats {

/// The table of one tensor, with a line about its data above.
std::string tensor_table(const tensor_report& report);

/// The table over all tensors, the tensors that were left out, and what the columns mean.
std::string summary_table(const run_report& run);

/// What was left out and why, one line a reason where many share it.
std::string skipped_list(const std::vector<skipped_tensor>& skipped);

}  // namespace compare_formats
