// SPDX-License-Identifier: Apache-2.0
// The report as CSV: one line a figure, so that files of several machines can be put behind each other.
#pragma once

#include <string>

#include "results.hpp"

namespace bench_report {

std::string to_csv(const report& run);

}  // namespace bench_report
