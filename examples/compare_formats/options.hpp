// SPDX-License-Identifier: Apache-2.0
// The command line of compare_formats.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synthetic.hpp"
#include "tensor_source.hpp"

namespace compare_formats {

struct options {
    source_options source;
    bool shipped = false;  ///< no file given: the layers that come with lowbit
    std::vector<std::string> formats;
    std::vector<std::string> rules;
    std::string json;
    std::string csv;
    std::string svg;
    bool gaussian = false;
    bool list = false;
    std::vector<std::string> synthetic;
    synthetic_options data;
    unsigned threads = 0;  ///< 0: one a core
};

/// Fills `out`. Returns the exit code where the program should end at once (after --help, or a wrong option).
std::optional<int> parse(int argc, char** argv, options& out);

}  // namespace compare_formats
