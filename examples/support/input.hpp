// SPDX-License-Identifier: Apache-2.0
// The part of the command line that says which tensors and formats a program works on, and what it leads to.
#pragma once

#include <string>
#include <vector>

#include "rules.hpp"
#include "synthetic.hpp"
#include "tensor_source.hpp"

namespace CLI {
class App;
}

namespace support {

struct input_options {
    source_options source;
    rule_choice choice;
    std::vector<std::string> synthetic;
    synthetic_options data;
    bool shipped = false;  ///< no file given: the layers that come with lowbit
    bool list = false;
};

/// Adds FILE..., --activations, --tensor, --formats, --rules, --min-values and --list.
void add_input_options(CLI::App& app, input_options& out);

/// Adds --synthetic and the options of made-up data as a group of the help.
void add_synthetic_options(CLI::App& app, input_options& out, const std::string& group);

/// The tensors of the run: files, the shipped layers where there are none, or made-up data.
/// Throws what list_tensors throws.
std::vector<tensor_item> choose_tensors(input_options& options);

/// The made-up tensors of --synthetic.
std::vector<tensor_item> synthetic_tensors(const input_options& options);

/// Where the tensors come from, in a line.
std::string source_text(const input_options& options);

/// One line a tensor on standard output, for --list.
void print_list(const std::vector<tensor_item>& items);

/// Throws std::invalid_argument where no tensor is left: with the reason of the first one that is skipped.
void require_tensors(const std::vector<tensor_item>& items);

}  // namespace support
