// SPDX-License-Identifier: Apache-2.0
// The report as JSON, there and back; SCHEMA.md describes it.
#pragma once

#include <string>

#include "results.hpp"

namespace bench_report {

/// The "schema" of the files that this version writes and reads.
inline constexpr const char* json_schema = "lowbit-report/1";

std::string to_json(const report& run);

/// Reads a file that to_json wrote. Throws lowbit::io_error with file and reason where it is none.
report read_json(const std::string& path);

}  // namespace bench_report
