// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <lowbit/core/config.hpp>

#include "candidate.hpp"

namespace bench_report {
namespace {

constexpr const char* description =
    "Low-bit formats against each other, in one report: bits, errors on your own tensors, and speed on\n"
    "this machine.\n\n"
    "Every tensor is quantised to every format. Where the inputs of its layer are known (NAME.input\n"
    "beside NAME.weight, or --activations) the output of the layer is computed too: with weights and\n"
    "activations quantised (W4A4), with activations in 8 bits (W4A8), and with the weights only. Speeds\n"
    "are measured on one thread next to the ceilings of this machine. Without a file it runs on three\n"
    "layers that come with lowbit.";

constexpr const char* examples =
    "Examples:\n"
    "  bench_report                                          the layers that come with lowbit\n"
    "  bench_report model.safetensors --html report.html     every tensor of a model, as a page\n"
    "  bench_report w.npy -a x.npy --rules all --json a.json one layer, all encoding rules\n"
    "  bench_report weights/ --no-speed                      a folder of files, errors only\n"
    "  bench_report --json new.json --against old.json       what moved since the older report\n"
    "  bench_report --from new.json --html report.html       a page of a finished report\n\n"
    "Ctrl-C ends the run after the format at hand, writes what is done, and exits with 130. The report\n"
    "defines every figure, bench/report/SCHEMA.md the files.";

}  // namespace

std::optional<int> parse(int argc, char** argv, options& out) {
    CLI::App app(description, "bench_report");
    app.footer(examples);
    app.set_version_flag("--version", fmt::format("bench_report of lowbit {}.{}.{}", LOWBIT_VERSION_MAJOR,
                                                  LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH));
    app.get_formatter()->column_width(34);
    support::add_input_options(app, out.input);
    out.a8_format = a8_formats.front();
    app.add_option("--a8", out.a8_format, "8-bit format of the activations in W4A8: mxint8 or int8_block")
        ->capture_default_str()
        ->type_name("NAME")
        ->check(CLI::IsMember(a8_formats).description(""));
    bool no_errors = false;
    bool no_speed = false;
    app.add_flag("--no-errors", no_errors, "Speeds only");
    app.add_flag("--no-speed", no_speed, "Errors only");
    app.add_flag("--quick", out.quick, "Speeds of small matrices in a few seconds: to try, not to quote");
    app.add_option("--threads", out.threads, "Threads for the errors, 0: one a core; speeds take one")
        ->capture_default_str()
        ->check(CLI::Range(0, 1024).description(""));

    const char* const files = "Results as files";
    app.add_option("--html", out.html, "One page with tables and charts")->type_name("FILE")->group(files);
    app.add_option("--json", out.json, "All figures")->type_name("FILE")->group(files);
    app.add_option("--csv", out.csv, "One line a figure")->type_name("FILE")->group(files);
    app.add_option("--svg", out.svg, "The charts")->type_name("FILE")->group(files);
    app.add_option("--against", out.against, "Mark what moved since this older --json file")
        ->type_name("FILE")
        ->group(files);
    app.add_option("--from", out.from, "Take the figures of this --json file instead of measuring")
        ->type_name("FILE")
        ->group(files);
    support::add_synthetic_options(app, out.input, "Data that is made up");

    try {
        app.parse(argc, argv);
        if (no_errors && no_speed) throw CLI::ValidationError("--no-errors and --no-speed leave nothing to do");
        if (!out.from.empty() && (!out.input.source.files.empty() || !out.input.synthetic.empty())) {
            throw CLI::ValidationError("--from takes no files and no --synthetic");
        }
        if (no_errors && (!out.input.source.files.empty() || !out.input.synthetic.empty())) {
            throw CLI::ValidationError("--no-errors takes no files and no --synthetic: it measures speeds only");
        }
    } catch (const CLI::ParseError& problem) {
        const int code = app.exit(problem);
        return code == 0 ? 0 : 2;
    }
    out.errors = !no_errors;
    out.speeds = !no_speed;
    return std::nullopt;
}

}  // namespace bench_report
