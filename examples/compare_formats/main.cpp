// SPDX-License-Identifier: Apache-2.0
// compare_formats: how much each low-bit format loses on given tensors. `compare_formats --help` says more.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <lowbit/core/thread_pool.hpp>

#include "evaluate.hpp"
#include "gaussian.hpp"
#include "options.hpp"
#include "report_data.hpp"
#include "report_svg.hpp"
#include "report_text.hpp"
#include "results.hpp"
#include "support/input.hpp"
#include "support/progress.hpp"
#include "support/text.hpp"
#include "variants.hpp"

namespace {

namespace cf = compare_formats;

std::vector<cf::tensor_item> made_up_tensors(const cf::options& options) {
    std::vector<cf::tensor_item> items;
    for (int x = 0; options.gaussian && x < cf::gaussian_matrices; ++x) {
        items.push_back({.name = cf::gaussian_name(x),
                         .dtype = "BF16",
                         .shape = {1024, 1024},
                         .skipped = {},
                         .load = [x, seed = options.input.data.seed] { return cf::make_gaussian_matrix(x, seed); },
                         .input = {},
                         .load_input = {}});
    }
    const std::vector<cf::tensor_item> others = cf::synthetic_tensors(options.input);
    items.insert(items.end(), others.begin(), others.end());
    return items;
}

std::string source_text(const cf::options& options) {
    if (options.gaussian) return "Gaussian matrices of 1024 x 1024, sigma = 0.01 * 2^x";
    return cf::source_text(options.input);
}

void run(const std::vector<cf::tensor_item>& items, const std::vector<cf::variant>& variants,
         const cf::options& options, const lowbit::executor& runner, cf::run_report& report) {
    cf::progress_line progress;
    for (std::size_t i = 0; i < items.size() && !cf::stop_requested(); ++i) {
        const cf::tensor_item& item = items[i];
        if (!item.skipped.empty()) {
            report.skipped.push_back({item.name, item.skipped});
            continue;
        }
        progress.show(i, items.size(), item.name);
        const lowbit::tensor values = item.load();
        const lowbit::tensor input = item.load_input ? item.load_input() : lowbit::tensor();
        cf::tensor_report one;
        one.name = item.name;
        one.dtype = item.dtype;
        one.input = item.input;
        const auto stop = [] { return cf::stop_requested(); };
        const auto note = [&](const std::string& format) { progress.show(i, items.size(), item.name + "  " + format); };
        cf::evaluate(values, item.load_input ? &input : nullptr, variants, runner, stop, note, one);
        progress.clear();
        if (one.formats.empty()) break;
        if (!options.gaussian) fmt::print("{}", cf::tensor_table(one));
        std::fflush(stdout);
        report.tensors.push_back(std::move(one));
    }
    progress.clear();
    report.interrupted = cf::stop_requested();
}

void write_files(const cf::options& options, const cf::run_report& report) {
    if (!options.json.empty()) cf::write_text(options.json, cf::to_json(report));
    if (!options.csv.empty()) cf::write_text(options.csv, cf::to_csv(report));
    if (options.svg.empty()) return;
    const bool gaussian = options.gaussian && !cf::gaussian_rows(report).empty();
    cf::write_text(options.svg,
                   cf::to_svg(gaussian ? cf::gaussian_chart(report) : cf::error_chart(report, source_text(options))));
}

int compare(cf::options& options) {
    if (options.gaussian && (!options.input.source.files.empty() || !options.input.source.activations.empty())) {
        throw std::invalid_argument("--gaussian takes no files");
    }
    const std::vector<cf::variant> variants = cf::select_variants(options.input.choice);
    const std::vector<cf::tensor_item> items =
        options.gaussian ? made_up_tensors(options) : cf::choose_tensors(options.input);
    if (options.input.list) {
        cf::print_list(items);
        return 0;
    }
    cf::require_tensors(items);
    for (const std::string& path : {options.json, options.csv, options.svg}) {
        if (!path.empty()) cf::check_writable(path);  // now, not at the end of a long run
    }
    cf::catch_interrupt();
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    lowbit::thread_pool pool(options.threads == 0 ? cores : options.threads);
    cf::run_report report;
    // A file that turns out bad in the middle of a long run must not take the rows that are done with it.
    std::exception_ptr problem;
    try {
        run(items, variants, options, pool, report);
    } catch (const std::exception&) {
        problem = std::current_exception();
        report.interrupted = true;
    }
    fmt::print("{}", options.gaussian ? cf::gaussian_table(report) : cf::summary_table(report));
    write_files(options, report);
    if (problem) std::rethrow_exception(problem);
    return cf::stop_requested() ? cf::interrupted_code : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        cf::options options;
        if (const std::optional<int> code = cf::parse(argc, argv, options)) return *code;
        return compare(options);
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "compare_formats: not enough memory for the tensor\n");
    } catch (const std::exception& problem) {
        fmt::print(stderr, "compare_formats: {}\n", problem.what());
    }
    return 1;
}
