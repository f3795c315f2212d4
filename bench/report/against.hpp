// SPDX-License-Identifier: Apache-2.0
// What moved between two reports, beyond noise.
#pragma once

#include <string>

#include "results.hpp"

namespace bench_report {

/// Compares what both hold; definitions() "moved" says what counts. `file` is the name of the older one.
comparison compare_reports(const report& older, const std::string& file, const report& newer);

}  // namespace bench_report
