// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <lowbit/core/config.hpp>

namespace compare_formats {
namespace {

constexpr const char* description =
    "Shows how much each low-bit format loses on your own weights.\n\n"
    "Every tensor is quantised to every format and restored; the table says what that costs in bits\n"
    "and in error. With activations recorded from the model (a .npy file of rows of K values) it also\n"
    "says how far the output of the layer moves, which is what counts in the end. Without a file it\n"
    "runs on three layers that come with lowbit.";

constexpr const char* examples =
    "Examples:\n"
    "  compare_formats                                         the layers that come with lowbit\n"
    "  compare_formats model.safetensors                       every tensor of a model\n"
    "  compare_formats model.safetensors.index.json --tensor '*.q_proj.weight' --svg q.svg\n"
    "  compare_formats w.npy --activations x.npy --rules all   one layer, and all encoding rules\n"
    "  compare_formats --gaussian --rules all                  the test of the HiFloat4 paper\n"
    "  compare_formats --synthetic outliers --outlier-size 50  made-up data\n\n"
    "A tensor NAME.input in a file is taken as the activations of NAME.weight. Ctrl-C keeps the rows that are done.";

}  // namespace

std::optional<int> parse(int argc, char** argv, options& out) {
    CLI::App app(description, "compare_formats");
    app.footer(examples);
    app.set_version_flag("--version", fmt::format("compare_formats of lowbit {}.{}.{}", LOWBIT_VERSION_MAJOR,
                                                  LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH));
    app.get_formatter()->column_width(34);

    add_input_options(app, out.input);
    app.add_option("--json", out.json, "Write all figures to this file")->type_name("FILE")->group("Results as files");
    app.add_option("--csv", out.csv, "Write one line a tensor and format")
        ->type_name("FILE")
        ->group("Results as files");
    app.add_option("--svg", out.svg, "Draw a bar chart")->type_name("FILE")->group("Results as files");

    const char* const made_up = "Data that is made up";
    app.add_flag("-g,--gaussian", out.gaussian,
                 "18 Gaussian matrices, errors relative to hif4 (HiFloat4 paper, figure 3)")
        ->group(made_up);
    add_synthetic_options(app, out.input, made_up);
    app.add_option("--threads", out.threads, "Threads, 0: one a core")
        ->capture_default_str()
        ->check(CLI::Range(0, 1024).description(""));

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& problem) {
        const int code = app.exit(problem);
        return code == 0 ? 0 : 2;
    }
    return std::nullopt;
}

}  // namespace compare_formats
