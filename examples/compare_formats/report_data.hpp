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

/// Throws lowbit::io_error with the reason where `path` cannot be written; leaves what the file holds.
void check_writable(const std::string& path);

/// Writes `text` to `path`. Throws lowbit::io_error.
void write_text(const std::string& path, const std::string& text);

}  // namespace compare_formats
