// SPDX-License-Identifier: Apache-2.0
// compare_formats: how much each low-bit format loses on given tensors. `compare_formats --help` says more.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
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
#include "tensor_source.hpp"
#include "variants.hpp"

namespace {

namespace cf = compare_formats;

volatile std::sig_atomic_t stop_requested = 0;

/// The first Ctrl-C ends the work after the format at hand, the second ends the program.
extern "C" void on_interrupt(int signal_number) {
    stop_requested = 1;
    std::signal(signal_number, SIG_DFL);
}

/// The line on stderr that says what is being done; nothing where stderr is no terminal.
class progress_line {
  public:
    void show(std::size_t done, std::size_t total, const std::string& what) {
        if (!terminal_) return;
        fmt::print(stderr, "\r\033[K[{}/{}] {}", done + 1, total, cf::fit(what, 80));
        std::fflush(stderr);
        shown_ = true;
    }
    void clear() {
        if (shown_) fmt::print(stderr, "\r\033[K");
        shown_ = false;
    }

  private:
    bool terminal_ = ::isatty(STDERR_FILENO) != 0;
    bool shown_ = false;
};

std::vector<cf::tensor_item> made_up_tensors(const cf::options& options) {
    std::vector<cf::tensor_item> items;
    for (int x = 0; options.gaussian && x < cf::gaussian_matrices; ++x) {
        items.push_back({.name = cf::gaussian_name(x),
                         .dtype = "BF16",
                         .shape = {1024, 1024},
                         .skipped = {},
                         .load = [x, seed = options.data.seed] { return cf::make_gaussian_matrix(x, seed); },
                         .input = {},
                         .load_input = {}});
    }
    for (const std::string& name : options.synthetic) {
        items.push_back({.name = name,
                         .dtype = "BF16",
                         .shape = {options.data.rows, options.data.cols},
                         .skipped = {},
                         .load = [name, data = options.data] { return cf::make_synthetic(name, data); },
                         .input = {},
                         .load_input = {}});
    }
    return items;
}

std::string source_text(const cf::options& options) {
    if (options.gaussian) return "Gaussian matrices of 1024 x 1024, sigma = 0.01 * 2^x";
    if (!options.synthetic.empty()) return "synthetic data";
    if (options.shipped) return "three layers of the Universal Sentence Encoder Lite, bfloat16 (examples/data)";
    std::string out;
    for (const std::string& file : options.source.files) out += (out.empty() ? "" : ", ") + file;
    return cf::fit(out, 120);
}

void list(const std::vector<cf::tensor_item>& items) {
    for (const cf::tensor_item& item : items) {
        fmt::print("{:<60} {:<8} {}{}{}\n", item.name, item.dtype, cf::shape_text(item.shape),
                   item.input.empty() ? "" : "   x = " + item.input,
                   item.skipped.empty() ? "" : "   skipped: " + item.skipped);
    }
}

void run(const std::vector<cf::tensor_item>& items, const std::vector<cf::variant>& variants,
         const cf::options& options, const lowbit::executor& runner, cf::run_report& report) {
    progress_line progress;
    for (std::size_t i = 0; i < items.size() && stop_requested == 0; ++i) {
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
        const auto stop = [] { return stop_requested != 0; };
        const auto note = [&](const std::string& format) { progress.show(i, items.size(), item.name + "  " + format); };
        cf::evaluate(values, item.load_input ? &input : nullptr, variants, runner, stop, note, one);
        progress.clear();
        if (one.formats.empty()) break;
        if (!options.gaussian) fmt::print("{}", cf::tensor_table(one));
        std::fflush(stdout);
        report.tensors.push_back(std::move(one));
    }
    progress.clear();
    report.interrupted = stop_requested != 0;
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
    const bool made_up = options.gaussian || !options.synthetic.empty();
    if (made_up && (!options.source.files.empty() || !options.source.activations.empty())) {
        throw std::invalid_argument("--gaussian and --synthetic take no files");
    }
    const std::vector<cf::variant> variants = cf::select_variants(options.formats, options.rules);
    options.shipped = options.source.files.empty();
    if (options.shipped) options.source.files = {LOWBIT_EXAMPLE_DATA "/layers.safetensors"};
    const std::vector<cf::tensor_item> items = made_up ? made_up_tensors(options) : cf::list_tensors(options.source);
    if (options.list) {
        list(items);
        return 0;
    }
    for (const std::string& path : {options.json, options.csv, options.svg}) {
        if (!path.empty()) cf::check_writable(path);  // now, not at the end of a long run
    }
    std::signal(SIGINT, on_interrupt);
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
    return stop_requested != 0 ? 130 : 0;
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
