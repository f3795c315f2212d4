// SPDX-License-Identifier: Apache-2.0
// The command line of bench_report.
#pragma once

#include <optional>
#include <string>

#include "support/input.hpp"

namespace bench_report {

struct options {
    support::input_options input;
    std::string a8_format;
    std::string json;
    std::string csv;
    std::string html;
    std::string svg;
    std::string against;
    std::string from;
    bool errors = true;
    bool speeds = true;
    bool quick = false;
    unsigned threads = 0;  ///< 0: one a core
};

/// Fills `out`. Returns the exit code where the program should end at once (after --help, or a wrong option).
std::optional<int> parse(int argc, char** argv, options& out);

}  // namespace bench_report
