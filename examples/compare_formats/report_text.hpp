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

/// `text` without spaces at the ends of its lines.
std::string without_trailing_spaces(const std::string& text);

/// `text` on `width` columns: cut in the middle where it is longer.
std::string fit(const std::string& text, std::size_t width);

}  // namespace compare_formats
