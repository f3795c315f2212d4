// SPDX-License-Identifier: Apache-2.0
// Where and with what a report was made.
#pragma once

#include "results.hpp"

namespace bench_report {

environment this_environment();

/// "Intel(R) Xeon(R), avx512vbmi" and so on in two lines: for heads of tables and feet of pictures.
std::string machine_line(const environment& machine);
std::string build_line(const environment& machine);

}  // namespace bench_report
