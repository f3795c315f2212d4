// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "text.hpp"

namespace support {
namespace {

std::string formats_help() {
    constexpr std::size_t room = 64;
    std::string out = "Only these:";
    std::size_t column = out.size();
    for (const std::string& format : format_names()) {
        const bool fits = column + 1 + format.size() <= room;
        out += (fits ? " " : "\n  ") + format;
        column = fits ? column + 1 + format.size() : 2 + format.size();
    }
    return out;
}

std::string rules_help() {
    std::string out = "Other ways to encode, as rows of their own: all, or some of\n";
    for (const std::string& format : format_names()) {
        const std::vector<std::string> rules = rule_names(format);
        if (!rules.empty()) out += fmt::format("  {}: {}\n", format, fmt::join(rules, " "));
    }
    out.pop_back();
    return out;
}

}  // namespace

void add_input_options(CLI::App& app, input_options& out) {
    app.add_option("files", out.source.files,
                   ".npy, .safetensors or model.safetensors.index.json files, or\nfolders of them; the last axis is K")
        ->type_name("FILE");
    app.add_option("-a,--activations", out.source.activations, "Inputs of the layer, rows of K values (.npy)")
        ->type_name("FILE");
    app.add_option("-t,--tensor", out.source.patterns, "Only these tensors; * and ? as in a shell. May be repeated")
        ->type_name("NAME|GLOB")
        ->allow_extra_args(false);
    app.add_option("-f,--formats", out.choice.formats, formats_help())
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("-r,--rules", out.choice.rules, rules_help())
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--min-values", out.source.least_values, "Skip tensors with fewer values than this")
        ->capture_default_str();
    app.add_flag("-l,--list", out.list, "List the tensors of the files and stop");
}

void add_synthetic_options(CLI::App& app, input_options& out, const std::string& group) {
    app.add_option("-s,--synthetic", out.synthetic, fmt::format("Any of {}", fmt::join(synthetic_names(), " ")))
        ->type_name("KIND,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember(synthetic_names()).description(""))
        ->group(group);
    app.add_option("--rows", out.data.rows, "Rows")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->group(group);
    app.add_option("--cols", out.data.cols, "Columns, K")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->group(group);
    app.add_option("--seed", out.data.seed, "Seed: same seed, same data")->capture_default_str()->group(group);
    app.add_option("--degrees", out.data.degrees, "student-t: degrees of freedom")
        ->capture_default_str()
        ->check(CLI::Validator(CLI::PositiveNumber).description(""))
        ->group(group);
    app.add_option("--outlier-share", out.data.outlier_share, "outliers: share of the columns")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1.0).description(""))
        ->group(group);
    app.add_option("--outlier-size", out.data.outlier_size, "outliers: factor on their values")
        ->capture_default_str()
        ->group(group);
}

std::vector<tensor_item> synthetic_tensors(const input_options& options) {
    std::vector<tensor_item> items;
    for (const std::string& name : options.synthetic) {
        items.push_back({.name = name,
                         .dtype = "BF16",
                         .shape = {options.data.rows, options.data.cols},
                         .skipped = {},
                         .load = [name, data = options.data] { return make_synthetic(name, data); },
                         .input = {},
                         .load_input = {}});
    }
    return items;
}

std::vector<tensor_item> choose_tensors(input_options& options) {
    if (!options.synthetic.empty()) {
        if (!options.source.files.empty() || !options.source.activations.empty()) {
            throw std::invalid_argument("--synthetic takes no files");
        }
        return synthetic_tensors(options);
    }
    options.shipped = options.source.files.empty();
    if (options.shipped) options.source.files = {LOWBIT_EXAMPLE_DATA "/layers.safetensors"};
    return list_tensors(options.source);
}

std::string source_text(const input_options& options) {
    if (!options.synthetic.empty()) return "synthetic data";
    if (options.shipped) return "three layers of the Universal Sentence Encoder Lite, bfloat16 (examples/data)";
    std::string out;
    for (const std::string& file : options.source.files) out += (out.empty() ? "" : ", ") + file;
    return fit(out, 120);
}

void print_list(const std::vector<tensor_item>& items) {
    for (const tensor_item& item : items) {
        fmt::print("{:<60} {:<8} {}{}{}\n", item.name, item.dtype, shape_text(item.shape),
                   item.input.empty() ? "" : "   x = " + item.input,
                   item.skipped.empty() ? "" : "   skipped: " + item.skipped);
    }
}

void require_tensors(const std::vector<tensor_item>& items) {
    const auto usable = [](const tensor_item& item) { return item.skipped.empty(); };
    if (std::any_of(items.begin(), items.end(), usable)) return;
    if (items.empty()) throw std::invalid_argument("the files hold no tensors");
    const std::string first = fmt::format("{}: {}", items.front().name, items.front().skipped);
    throw std::invalid_argument(items.size() == 1 ? "nothing left to work on: " + first
                                                  : fmt::format("nothing left to work on, all {} tensors are skipped, "
                                                                "the first one is {}",
                                                                items.size(), first));
}

}  // namespace support
