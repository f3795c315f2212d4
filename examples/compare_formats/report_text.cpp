// SPDX-License-Identifier: Apache-2.0
#include "report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/text.hpp"

namespace compare_formats {
namespace {

constexpr std::size_t widest_name = 21;

constexpr const char* column_help = R"(bits       stored bits a value, scales and padding included
SQNR       signal over quantisation noise, higher is better
error      root of the sum of squared errors over the sum of squares
flushed    values that were not zero and became zero
saturated  values past the largest that their block can hold
)";

constexpr const char* output_help =
    R"(out        error of the layer's output x w^T against double arithmetic, with only the weights
           quantised (w) and with weights and activations quantised (w,x)
)";

std::string decibel(double value) {
    return std::isinf(value) ? (value > 0 ? "exact" : "lost") : fmt::format("{:.2f}", value);
}

std::string percent(double share) { return std::isinf(share) ? "lost" : fmt::format("{:.2f} %", 100 * share); }

std::string share(std::uint64_t part, std::uint64_t whole) {
    if (part == 0 || whole == 0) return "0 %";
    const double value = 100 * static_cast<double>(part) / static_cast<double>(whole);
    return value < 0.005 ? "<0.01 %" : fmt::format("{:.2f} %", value);
}

std::string optional_percent(const std::optional<double>& value, bool best) {
    return value ? percent(*value) + (best ? "*" : " ") : "- ";
}

/// Index of the least value among ranked rows, or none.
template <class Rows, class Value>
std::size_t least(const Rows& rows, const Value& value) {
    std::size_t best = rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::optional<double> mine = value(rows[i]);
        if (!rows[i].ranked || !mine || !std::isfinite(*mine)) continue;
        if (best == rows.size() || *mine < *value(rows[best])) best = i;
    }
    return best;
}

template <class Rows>
std::size_t name_width(const Rows& rows, std::size_t least_width, const auto& name_of) {
    std::size_t width = least_width;
    for (const auto& row : rows) width = std::max(width, std::min(widest_name, name_of(row).size()));
    return width;
}

}  // namespace

std::string tensor_table(const tensor_report& report) {
    const bool layer = !report.input.empty();
    std::string out =
        fmt::format("\n{}   {} {}   sigma {:.4g}   max/sigma {:.3g}   kurtosis {:.3g}\n", fit(report.name, 48),
                    report.dtype, shape_text(report.shape), report.sigma, report.peak, report.kurtosis);
    if (report.nonfinite != 0) {
        out += fmt::format("  {} values are NaN or Inf: a block format loses their whole blocks\n", report.nonfinite);
    }
    if (layer)
        out += fmt::format("  layer output x w^T with x = {}, {} rows\n", fit(report.input, 60), report.input_rows);
    const std::size_t width = name_width(report.formats, 16, [](const measurement& row) { return row.name(); });
    out += fmt::format("  {:<{}}{:>7}{:>9}{:>11}{:>11}{:>9}{:>10}", "format", width, "bits", "SQNR dB", "error",
                       "max error", "flushed", "saturated");
    out += layer ? fmt::format("{:>10}{:>10}\n", "out w ", "out w,x ") : "\n";
    const std::size_t best = best_format(report).value_or(report.formats.size());
    const std::size_t best_output = least(report.formats, [](const measurement& row) { return row.output; });
    const std::size_t best_both = least(report.formats, [](const measurement& row) { return row.output_both; });
    for (std::size_t i = 0; i < report.formats.size(); ++i) {
        const measurement& row = report.formats[i];
        out += fmt::format("  {:<{}}{:>7.3f}{:>9}{:>11}{:>11.4g}{:>9}{:>10}", fit(row.name(), width), width, row.bits,
                           decibel(row.stats.sqnr_db), percent(row.stats.relative_error) + (i == best ? "*" : " "),
                           row.stats.max_abs, share(row.stats.flushed, row.stats.count),
                           share(row.stats.saturated, row.stats.count));
        if (layer) {
            out += fmt::format("{:>10}{:>10}", optional_percent(row.output, i == best_output),
                               optional_percent(row.output_both, i == best_both));
        }
        out += '\n';
        if (row.stats.failed()) {
            out +=
                fmt::format("  {:<{}}  {} values became NaN, {} Inf\n", "", width, row.stats.nan, row.stats.infinite);
        }
    }
    return without_trailing_spaces(out);
}

std::string summary_table(const run_report& run) {
    std::string out;
    const std::vector<summary_row> rows = summarise(run);
    const bool layers =
        std::any_of(rows.begin(), rows.end(), [](const summary_row& row) { return row.output.has_value(); });
    if (run.tensors.size() > 1) {
        std::size_t values = 0;
        for (const tensor_report& tensor : run.tensors) values += tensor.rows * tensor.cols;
        out += fmt::format("\nAll {} tensors, {} values\n", run.tensors.size(), values);
        const std::size_t width = name_width(rows, 16, [](const summary_row& row) { return row.name; });
        out += fmt::format("  {:<{}}{:>7}{:>9}{:>11}{:>5}", "format", width, "bits", "SQNR dB", "error", "best");
        out += layers ? fmt::format("{:>10}{:>10}", "out w ", "out w,x ") : "";
        out += "  worst SQNR\n";
        const std::size_t best =
            least(rows, [](const summary_row& row) { return std::optional<double>(row.relative_error); });
        const std::size_t best_output = least(rows, [](const summary_row& row) { return row.output; });
        const std::size_t best_both = least(rows, [](const summary_row& row) { return row.output_both; });
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const summary_row& row = rows[i];
            out += fmt::format("  {:<{}}{:>7.3f}{:>9}{:>11}{:>5}", fit(row.name, width), width, row.bits,
                               decibel(row.mean_sqnr_db), percent(row.relative_error) + (i == best ? "*" : " "),
                               row.ranked ? fmt::format("{}", row.wins) : "-");
            if (layers) {
                out += fmt::format("{:>10}{:>10}", optional_percent(row.output, i == best_output),
                                   optional_percent(row.output_both, i == best_both));
            }
            const std::size_t room = 100 - (2 + width + 32 + (layers ? 20 : 0) + 2 + 6);
            out += fmt::format("  {:>5} {}\n", decibel(row.worst_sqnr_db), fit(row.worst_tensor, room));
        }
    }
    if (run.interrupted) out += "\nStopped before the end: the rows above are those that were finished.\n";
    out += skipped_list(run.skipped);
    if (!rows.empty()) {
        out += fmt::format("\n* least error among the formats of at most {:g} bits\n", most_ranked_bits);
        out += column_help;
        if (layers) out += output_help;
    }
    return without_trailing_spaces(out);
}

std::string skipped_list(const std::vector<skipped_tensor>& skipped) {
    if (skipped.empty()) return "";
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const skipped_tensor& each : skipped) by_reason[each.reason].push_back(each.name);
    std::string out = "\nSkipped\n";
    for (const auto& [reason, names] : by_reason) {
        out += fmt::format("  {}{}\n", names.size() == 1 ? fit(names[0], 40) : fmt::format("{} tensors", names.size()),
                           fit(": " + reason, 56));
        if (names.size() > 1) out += fmt::format("    {}, ..., {}\n", fit(names.front(), 44), fit(names.back(), 44));
    }
    return out;
}

}  // namespace compare_formats
