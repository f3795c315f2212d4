// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "definitions.hpp"
#include "environment.hpp"
#include "support/text.hpp"

namespace bench_report {
namespace {

using support::fit;

constexpr std::size_t columns = 100;
constexpr std::size_t name_width = 24;
constexpr std::size_t cell = 12;  // of a speed with its fraction
constexpr std::size_t most_moved = 60;

std::string optional_text(const std::optional<double>& value, std::string (*text)(double)) {
    return value ? text(*value) : "-";
}

template <class Row>
std::string error_line(const Row& row, bool layers) {
    std::string out = fmt::format("  {:<{}}{:>7.3f}{:>9}{:>10}", fit(row.name(), name_width), name_width, row.bits,
                                  decibel(row.sqnr_db), percent(row.error));
    if (layers) {
        out += fmt::format("{:>9}{:>10}{:>10}{:>14}", optional_text(row.input_sqnr_db, decibel),
                           optional_text(row.w4a4, percent), optional_text(row.w4a8, percent),
                           optional_text(row.weight_only, percent));
    }
    return out;
}

std::string error_head(bool layers) {
    std::string out = fmt::format("  {:<{}}{:>7}{:>9}{:>10}", "format", name_width, "bits", "SQNR w", "error");
    if (layers) out += fmt::format("{:>9}{:>10}{:>10}{:>14}", "SQNR x", "W4A4", "W4A8", "weights only");
    return out;
}

std::string speed_cell(const speed_row& row, const char* key) {
    const rate* const one = row.find(key);
    if (one == nullptr) return fmt::format("{:>{}}", "-", cell);
    const std::string share = one->fraction() ? fmt::format("{:.0f} %", 100 * *one->fraction()) : "-";
    return fmt::format("{:>{}}{:>6}", figure_text(key, one->value), cell - 6, share);
}

std::string skipped_text(const std::vector<skipped_tensor>& skipped) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const skipped_tensor& each : skipped) by_reason[each.reason].push_back(each.name);
    std::string out;
    for (const auto& [reason, names] : by_reason) {
        out += fmt::format("  skipped: {}: {}\n",
                           names.size() == 1 ? fit(names[0], 30) : fmt::format("{} tensors", names.size()),
                           fit(reason, 52));
    }
    return out;
}

bool has_layers(const report& run) {
    return std::any_of(run.tensors.begin(), run.tensors.end(), [](const tensor_report& t) { return !t.input.empty(); });
}

}  // namespace

std::string decibel(double value) {
    return std::isinf(value) ? (value > 0 ? "exact" : "lost") : fmt::format("{:.2f}", value);
}

std::string percent(double share) { return std::isinf(share) ? "lost" : fmt::format("{:.2f} %", 100 * share); }

std::string figure_text(const std::string& key, double value) {
    const std::string& unit = definition_of(key).unit;
    if (unit == "dB") return decibel(value);
    if (unit == "relative") return percent(value);
    if (key == "bits") return fmt::format("{:.3f}", value);
    if (key == "max_error") return fmt::format("{:.4g}", value);
    return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : 1);
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
    std::string out;
    std::size_t column = indent;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        if (column > indent && column + 1 + end - begin > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += text.substr(begin, end - begin);
        column += end - begin;
        begin = end + 1;
    }
    return out;
}

std::string head_text(const report& run) {
    std::string out = fmt::format("Formats against each other: {}\n", fit(run.source, 70));
    out += wrapped(machine_line(run.machine), columns, 0) + "\n" + wrapped(build_line(run.machine), columns, 0) + "\n";
    return out + fmt::format("8-bit activations of W4A8: {}\n", run.a8_format);
}

std::string tensor_table(const tensor_report& tensor) {
    const bool layer = !tensor.input.empty();
    std::string out = fmt::format(
        "\n{}   {} {}{}\n", fit(tensor.name, 40), tensor.dtype, support::shape_text(tensor.shape),
        layer ? fmt::format("   x = {}, {} rows", fit(tensor.input, 24), tensor.input_rows) : std::string());
    out += error_head(layer) + (layer ? "\n" : fmt::format("{:>13}\n", "max error"));
    for (const accuracy& row : tensor.formats) {
        out += error_line(row, layer) + (layer ? "\n" : fmt::format("{:>13.4g}\n", row.max_error));
    }
    return out;
}

std::string summary_table(const report& run) {
    std::string out;
    const std::vector<summary_row> rows = summarise(run);
    if (run.tensors.size() > 1) {
        const bool layers = has_layers(run);
        std::size_t values = 0;
        for (const tensor_report& tensor : run.tensors) values += tensor.rows * tensor.cols;
        out += fmt::format("\nAll {} tensors, {} values\n{}", run.tensors.size(), values, error_head(layers));
        out += layers ? "\n" : "  least SQNR\n";
        for (const summary_row& row : rows) {
            out += error_line(row, layers);
            out += layers ? "\n" : fmt::format("  {:>5} {}\n", decibel(row.worst_sqnr_db), fit(row.worst_tensor, 36));
        }
    }
    return out + skipped_text(run.skipped);
}

std::string codec_head(bool quick) {
    return fmt::format(
        "\nQuantising{}, one thread: GB/s of floats, and of the memory's ceiling\n  {:<{}}{:>{}}{:>{}}\n",
        quick ? " small matrices" : " 4096 x 4096 floats", "format", name_width, "quantise", cell, "dequantise", cell);
}

std::string codec_line(const speed_row& row) {
    return fmt::format("  {:<{}}{}{}\n", fit(row.name(), name_width), name_width, speed_cell(row, "quantise"),
                       speed_cell(row, "dequantise"));
}

std::string product_head(bool quick) {
    std::string out = fmt::format("\nProducts{}, one thread: speed, and of the ceiling of arithmetic or memory\n",
                                  quick ? " of small matrices" : "");
    out += fmt::format("  {:<{}}{:>{}}{:>{}}\n", "", name_width, quick ? "M = 64, GMAC/s" : "M = 512, GMAC/s", 3 * cell,
                       "M = 1, Gweights/s", 3 * cell);
    out += fmt::format("  {:<{}}", "format", name_width);
    for (int i = 0; i < 2; ++i) out += fmt::format("{:>{}}{:>{}}{:>{}}", "W4A4", cell, "W4A8", cell, "W only", cell);
    return out + "\n";
}

std::string product_line(const speed_row& row) {
    std::string out = fmt::format("  {:<{}}", fit(row.name(), name_width), name_width);
    for (const char* key :
         {"gemm_w4a4", "gemm_w4a8", "gemm_weight_only", "decode_w4a4", "decode_w4a8", "decode_weight_only"}) {
        out += speed_cell(row, key);
    }
    return out + "\n";
}

std::string against_text(const comparison& against) {
    std::string out = fmt::format("\nAgainst {}\n  of {}, commit {}, {}\n", fit(against.file, 80), against.older.date,
                                  against.older.commit, fit(against.older.cpu, 40));
    for (const std::string& warning : against.warnings) {
        out += "  note: " + wrapped(warning, columns, 8) + "\n";
    }
    const auto better = static_cast<std::size_t>(
        std::count_if(against.changes.begin(), against.changes.end(), [](const change& c) { return c.better; }));
    out += fmt::format("  {} figures in both: {} better, {} worse, {} within noise\n", against.compared, better,
                       against.changes.size() - better, against.compared - against.changes.size());
    for (std::size_t i = 0; i < against.changes.size(); ++i) {
        if (i == most_moved) {
            out += fmt::format("  ... and {} more, see --json or --html\n", against.changes.size() - i);
            break;
        }
        const change& one = against.changes[i];
        const std::string name = one.rule.empty() ? one.format : one.format + " " + one.rule;
        const double relative = one.before == 0 ? 0 : one.after / one.before - 1;
        out += fmt::format("  {:<7}{:<24}{:<18}{:>9} -> {:<9}{:>9}  {}\n", one.better ? "better" : "worse",
                           fit(name, 23), one.key, figure_text(one.key, one.before), figure_text(one.key, one.after),
                           std::isfinite(relative) ? fmt::format("{:+.3g} %", 100 * relative) : "", fit(one.where, 18));
    }
    return support::without_trailing_spaces(out);
}

std::string legend_text(const legend_parts& parts) {
    constexpr std::size_t indent = 20;
    std::string out = "\n";
    const auto add = [&](const definition& d) {
        out += fmt::format("{:<{}}{}\n", fit(d.title, indent - 1), indent, wrapped(d.text, columns, indent));
    };
    for (const definition& d : accuracy_measures()) {
        const bool of_layer = d.key == "input_sqnr_db" || d.key == "w4a4" || d.key == "w4a8" || d.key == "weight_only";
        if (parts.errors && (parts.layers || !of_layer)) add(d);
    }
    if (parts.speeds) std::for_each(speed_measures().begin(), speed_measures().end(), add);
    for (const definition& d : other_definitions()) {
        if (d.key == "moved" ? parts.against : parts.speeds) add(d);
    }
    return out;
}

}  // namespace bench_report
