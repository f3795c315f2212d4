// SPDX-License-Identifier: Apache-2.0
// The command line of compare_formats.
#pragma once

#include <optional>
#include <string>

#include "results.hpp"
#include "support/input.hpp"

namespace compare_formats {

struct options {
    input_options input;
    std::string json;
    std::string csv;
    std::string svg;
    bool gaussian = false;
    unsigned threads = 0;  ///< 0: one a core
};

/// Fills `out`. Returns the exit code where the program should end at once (after --help, or a wrong option).
std::optional<int> parse(int argc, char** argv, options& out);

}  // namespace compare_formats
