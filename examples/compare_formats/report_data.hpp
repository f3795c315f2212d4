// SPDX-License-Identifier: Apache-2.0
// The results for other programs: JSON and CSV.
#pragma once

#include <string>

#include "results.hpp"

namespace compare_formats {

/// Everything, one object; figures that are infinite are the strings "inf" and "-inf".
std::string to_json(const run_report& run);

/// One line a tensor and format, after a line of column names.
std::string to_csv(const run_report& run);

}  // namespace compare_formats
