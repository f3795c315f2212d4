// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else: tables that sort, charts, and the definition of each figure.
#pragma once

#include <string>

#include "results.hpp"

namespace bench_report {

/// Well-formed XML as well, so that any tool can read it.
std::string to_html(const report& run);

}  // namespace bench_report
