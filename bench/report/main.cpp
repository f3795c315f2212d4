// SPDX-License-Identifier: Apache-2.0
// bench_report: bits, errors and speeds of all formats in one report. `bench_report --help` says more.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/thread_pool.hpp>

#include "against.hpp"
#include "candidate.hpp"
#include "charts.hpp"
#include "csv.hpp"
#include "environment.hpp"
#include "html.hpp"
#include "json.hpp"
#include "options.hpp"
#include "support/input.hpp"
#include "support/product.hpp"
#include "support/progress.hpp"
#include "support/text.hpp"
#include "text.hpp"

namespace {

namespace br = bench_report;

void print(const std::string& text) {
    fmt::print("{}", text);
    std::fflush(stdout);
}

br::tensor_report describe(const support::tensor_item& item, const lowbit::tensor& values,
                           const lowbit::tensor& input) {
    br::tensor_report out;
    out.name = item.name;
    out.dtype = item.dtype;
    out.shape = values.shape();
    out.rows = values.rows();
    out.cols = values.cols();
    if (item.load_input) {
        out.input = item.input;
        out.input_rows = input.rows();
    }
    for (const float value : values.values()) {
        if (lowbit::is_finite(value)) out.energy += static_cast<double>(value) * static_cast<double>(value);
    }
    return out;
}

/// Errors of all candidates on all tensors; a tensor's table is printed when it is done.
void measure_errors(const std::vector<support::tensor_item>& items, const std::vector<br::candidate>& candidates,
                    const lowbit::executor& runner, br::report& run) {
    support::progress_line progress;
    for (std::size_t i = 0; i < items.size() && !support::stop_requested(); ++i) {
        const support::tensor_item& item = items[i];
        if (!item.skipped.empty()) {
            run.skipped.push_back({item.name, item.skipped});
            continue;
        }
        progress.show(i, items.size(), item.name);
        const lowbit::tensor values = item.load();
        const lowbit::tensor input = item.load_input ? item.load_input() : lowbit::tensor();
        br::tensor_report one = describe(item, values, input);
        std::vector<double> exact;
        if (item.load_input) exact = support::product(input.view(), values.view(), runner);
        const br::layer recorded{input.view(), exact, run.a8_format};
        for (const br::candidate& each : candidates) {
            if (support::stop_requested()) break;
            progress.show(i, items.size(), item.name + "  " + each.name());
            one.formats.push_back(each.errors(values.view(), item.load_input ? &recorded : nullptr, runner));
        }
        progress.clear();
        if (one.formats.empty()) break;
        print(br::tensor_table(one));
        run.tensors.push_back(std::move(one));
    }
}

/// Speeds of all candidates: first the codecs, then the products, each in rounds through all of them; a line is printed
/// when its last round is done, or the run is stopped.
void measure_speeds(const std::vector<br::candidate>& candidates, const br::speed_sizes& sizes, br::report& run) {
    support::progress_line progress;
    const auto products = static_cast<std::size_t>(std::count_if(
        candidates.begin(), candidates.end(), [](const br::candidate& each) { return bool(each.product_speeds); }));
    const std::size_t total = sizes.rounds * (candidates.size() + products);
    std::size_t done = 0;
    for (const br::candidate& each : candidates) {
        run.speeds.push_back({.format = each.format, .rule = each.rule, .rates = {}});
    }
    const auto in_rounds = [&](const auto& measure_one, const auto& line, const char* key) {
        for (std::size_t round = 1; round <= sizes.rounds; ++round) {
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                if (!support::stop_requested()) {
                    progress.show(std::min(done, total - 1), total, "speeds  " + candidates[i].name());
                    const bool measured = measure_one(
                        candidates[i], [&](const br::rate& one) { br::add_samples(run.speeds[i].rates, one); });
                    if (measured) ++done;
                    progress.clear();
                }
                const bool last = round == sizes.rounds || support::stop_requested();
                if (last && run.speeds[i].find(key) != nullptr) print(line(run.speeds[i]));
            }
            if (support::stop_requested()) break;
        }
    };
    print(br::codec_head(run.quick));
    in_rounds(
        [&](const br::candidate& each, const br::rate_sink& sink) {
            each.codec_speeds(sizes, sink);
            return true;
        },
        br::codec_line, "quantise");
    if (products > 0 && !support::stop_requested()) {
        print(br::product_head(run.quick));
        in_rounds(
            [&](const br::candidate& each, const br::rate_sink& sink) {
                if (each.product_speeds) each.product_speeds(sizes, run.a8_format, sink);
                return bool(each.product_speeds);
            },
            br::product_line, "gemm_w4a4");
    }
    std::erase_if(run.speeds, [](const br::speed_row& row) { return row.rates.empty(); });
}

/// The whole of a finished report.
void print_finished(const br::report& run) {
    for (const br::tensor_report& tensor : run.tensors) print(br::tensor_table(tensor));
    print(br::summary_table(run));
    if (run.speeds.empty()) return;
    print(br::codec_head(run.quick));
    for (const br::speed_row& row : run.speeds) print(br::codec_line(row));
    print(br::product_head(run.quick));
    for (const br::speed_row& row : run.speeds) {
        if (row.find("gemm_w4a4") != nullptr) print(br::product_line(row));
    }
}

void write_files(const br::options& options, const br::report& run) {
    if (!options.json.empty()) support::write_text(options.json, br::to_json(run));
    if (!options.csv.empty()) support::write_text(options.csv, br::to_csv(run));
    if (!options.html.empty()) support::write_text(options.html, br::to_html(run));
    if (!options.svg.empty()) support::write_text(options.svg, br::svg_file(run));
}

int make_report(br::options& options) {
    br::report run;
    std::vector<br::candidate> candidates;
    std::vector<support::tensor_item> items;
    if (!options.from.empty()) {
        run = br::read_json(options.from);
    } else {
        candidates = br::select_candidates(options.input.choice);
        if (options.errors) items = support::choose_tensors(options.input);
        if (options.input.list) {
            support::print_list(items);
            return 0;
        }
        if (options.errors) support::require_tensors(items);
        run.machine = br::this_environment();
        run.source = options.errors ? support::source_text(options.input) : "speeds only";
        run.a8_format = options.a8_format;
        run.quick = options.quick;
    }
    // Now, not at the end of a long run.
    const std::optional<br::report> older =
        options.against.empty() ? std::nullopt : std::optional<br::report>(br::read_json(options.against));
    for (const std::string& path : {options.json, options.csv, options.html, options.svg}) {
        if (!path.empty()) support::check_writable(path);
    }
    const bool measured = options.from.empty();
    const auto layer_item = [](const support::tensor_item& item) {
        return item.skipped.empty() && bool(item.load_input);
    };
    const auto layer_report = [](const br::tensor_report& tensor) { return !tensor.input.empty(); };
    print(br::head_text(run));
    print(br::legend_text({.errors = measured ? options.errors : !run.tensors.empty(),
                           .layers = measured ? std::any_of(items.begin(), items.end(), layer_item)
                                              : std::any_of(run.tensors.begin(), run.tensors.end(), layer_report),
                           .speeds = measured ? options.speeds : !run.speeds.empty(),
                           .against = older.has_value()}));
    support::catch_interrupt();
    // A file that turns out bad in the middle of a long run must not take the rows that are done with it.
    std::exception_ptr problem;
    if (measured) {
        try {
            if (options.errors) {
                const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
                lowbit::thread_pool pool(options.threads == 0 ? cores : options.threads);
                measure_errors(items, candidates, pool, run);
                print(br::summary_table(run));
            }
            if (options.speeds && !support::stop_requested()) {
                measure_speeds(candidates, options.quick ? br::speed_sizes::quick() : br::speed_sizes{}, run);
            }
        } catch (const std::exception&) {
            problem = std::current_exception();
        }
        run.complete = !problem && !support::stop_requested();
    } else {
        print_finished(run);
    }
    if (older) {
        run.against = br::compare_reports(*older, options.against, run);
        print(br::against_text(*run.against));
    }
    if (!run.complete) print("\nStopped before the end: the rows above are those that were finished.\n");
    write_files(options, run);
    if (problem) std::rethrow_exception(problem);
    return support::stop_requested() ? support::interrupted_code : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        br::options options;
        if (const std::optional<int> code = br::parse(argc, argv, options)) return *code;
        return make_report(options);
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "bench_report: not enough memory\n");
    } catch (const std::exception& problem) {
        fmt::print(stderr, "bench_report: {}\n", problem.what());
    }
    return 1;
}
