// SPDX-License-Identifier: Apache-2.0
#include "report_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/svg.hpp"
#include "support/text.hpp"

namespace compare_formats {
namespace {

constexpr double margin = 24;
constexpr double bar_height = 11;
constexpr double row_gap = 12;
constexpr double letter = 6.7;  // mean width of one at 12 px
constexpr std::size_t longest_label = 34;
constexpr double panel_gap = 28;
constexpr double figure_room = 52;  // behind the longest bar, for its figure
constexpr double total_width = 980;
constexpr std::size_t panels_in_line = 3;
constexpr std::size_t most_panels = 6;

double largest_value(const bar_chart& chart) {
    double largest = 0;
    for (const bar_chart::panel& panel : chart.panels) {
        for (const auto& row : panel.values) {
            for (const std::optional<double>& value : row) {
                if (value && std::isfinite(*value)) largest = std::max(largest, *value);
            }
        }
    }
    return largest > 0 ? largest : 1;
}

/// Room for the labels of the rows.
double label_width(const bar_chart& chart) {
    std::size_t longest = 8;
    for (const std::string& row : chart.rows) longest = std::max(longest, std::min(row.size(), longest_label));
    return 14 + letter * static_cast<double>(longest);
}

/// Three digits; four where the figure is a plain ratio.
std::string figure(double value, const std::string& unit) {
    const int digits = (value >= 10 ? 1 : 2) + (unit.empty() ? 1 : 0);
    return fmt::format("{:.{}f}{}", value, digits, unit);
}

std::string bars(const bar_chart& chart, const std::vector<std::optional<double>>& values, double left, double top,
                 double scale) {
    std::string out;
    for (std::size_t s = 0; s < values.size(); ++s) {
        if (!values[s]) continue;
        const double y = top + static_cast<double>(s) * bar_height;
        const bool lost = !std::isfinite(*values[s]);
        const double length = lost ? 0 : *values[s] * scale;
        if (!lost) {
            out += fmt::format("<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                               s, left, y, std::max(length, 0.5), bar_height - 2);
        }
        out += svg_text(left + length + 4, y + bar_height - 3, "class=\"figure\"",
                        lost ? "lost" : figure(*values[s], chart.unit));
    }
    return out;
}

std::string axis(const bar_chart& chart, double left, double top, double bottom, double scale, double largest,
                 double step) {
    std::string out;
    for (int i = 0; i * step <= largest * (1 + 1e-9); ++i) {
        const double x = left + i * step * scale;
        out += svg_line(i == 0 ? "axis" : "grid", x, top, x, bottom);
        out += svg_text(x, bottom + 15, "class=\"faint\" text-anchor=\"middle\"",
                        fmt::format("{:g}{}", i * step, chart.unit));
    }
    return out;
}

}  // namespace

std::string to_svg(const bar_chart& chart) {
    const std::size_t columns = std::clamp(chart.panels.size(), std::size_t{1}, panels_in_line);
    const std::size_t lines = (chart.panels.size() + columns - 1) / columns;
    const double row_height = bar_height * static_cast<double>(chart.series.size()) + row_gap;
    const double body = row_height * static_cast<double>(chart.rows.size());
    const bool titled = std::any_of(chart.panels.begin(), chart.panels.end(),
                                    [](const bar_chart::panel& panel) { return !panel.title.empty(); });
    const double head = titled ? 104 : 64;
    const double line_height = body + 92;
    const double height = head + static_cast<double>(lines) * line_height + 30;
    const double labels = label_width(chart);
    const double panel_width = (total_width - 2 * margin - labels - panel_gap * static_cast<double>(columns - 1)) /
                               static_cast<double>(columns);
    const double longest = largest_value(chart);
    const double step = tick_step(longest, columns > 1 ? 4 : 10);
    const double largest = step * std::ceil(longest / step * (1 - 1e-9));  // the axis ends on a tick
    const double scale = std::min((panel_width - figure_room) / longest, (panel_width - 14) / largest);

    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
        "role=\"img\">\n"
        "<title>{2}</title>\n<desc>{3}</desc>\n",
        total_width, height, escaped(chart.title), escaped(chart.subtitle + " " + chart.axis));
    out += "<style>\n" + colour_rules("svg") + class_rules() + "</style>\n";
    out += fmt::format("<rect width=\"{:g}\" height=\"{:g}\" style=\"fill: var(--paper)\"/>\n", total_width, height);
    out += svg_text(margin, margin + 14, "class=\"title\"", chart.title);
    out += svg_text(margin, margin + 34, "class=\"faint\"", chart.subtitle);
    double legend = margin;
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        out += fmt::format("<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\"/>\n", s, legend,
                           margin + 46);
        out += svg_text(legend + 18, margin + 56, "", chart.series[s]);
        legend += 42 + 6.6 * static_cast<double>(chart.series[s].size());
    }
    for (std::size_t p = 0; p < chart.panels.size(); ++p) {
        const bar_chart::panel& panel = chart.panels[p];
        const double left = margin + labels + static_cast<double>(p % columns) * (panel_width + panel_gap);
        const double top = head + static_cast<double>(p / columns) * line_height + 40;
        const auto room = static_cast<std::size_t>(panel_width / 7.4);
        out += svg_text(left, top - 24, "class=\"panel\"", fit(panel.title, room));
        out += svg_text(left, top - 9, "class=\"faint\"", fit(panel.subtitle, room));
        out += axis(chart, left, top, top + body, scale, largest, step);
        for (std::size_t r = 0; r < chart.rows.size(); ++r) {
            const double y = top + static_cast<double>(r) * row_height + row_gap / 2;
            if (p % columns == 0) {
                out += svg_text(left - 10, y + (row_height - row_gap) / 2 + 4, "text-anchor=\"end\"",
                                fit(chart.rows[r], longest_label));
            }
            if (r < panel.values.size()) out += bars(chart, panel.values[r], left, y, scale);
        }
    }
    out += svg_text(margin + labels, height - 40, "class=\"faint\"", chart.axis);
    out += svg_text(margin, height - 14, "class=\"figure\"", chart.footer);
    return out + "</svg>\n";
}

bar_chart error_chart(const run_report& run, const std::string& source) {
    const std::vector<summary_row> summary = summarise(run);
    const auto percent = [](const std::optional<double>& share) -> std::optional<double> {
        return share ? std::optional<double>(100 * *share) : std::nullopt;
    };
    const bool layers =
        std::any_of(summary.begin(), summary.end(), [](const summary_row& row) { return row.output.has_value(); });
    bar_chart chart;
    chart.title = "Quantisation error by format";
    chart.subtitle = source;
    chart.axis = "relative error, percent (Frobenius norm of the error over that of the original; shorter is better)";
    chart.unit = "%";
    chart.series = {"the tensor itself"};
    if (layers) {
        chart.series.emplace_back("layer output, weights quantised");
        chart.series.emplace_back("layer output, weights and activations quantised");
    }
    for (const summary_row& row : summary) chart.rows.push_back(fmt::format("{} ({:.3g} bits)", row.name, row.bits));
    const auto figures = [&](double error, const std::optional<double>& output, const std::optional<double>& both) {
        std::vector<std::optional<double>> out{percent(error)};
        if (layers) out.insert(out.end(), {percent(output), percent(both)});
        return out;
    };
    if (run.tensors.size() <= most_panels) {
        for (const tensor_report& tensor : run.tensors) {
            bar_chart::panel panel{tensor.name, fmt::format("{} {}", tensor.dtype, shape_text(tensor.shape)), {}};
            for (const measurement& row : tensor.formats) {
                panel.values.push_back(figures(row.stats.relative_error, row.output, row.output_both));
            }
            chart.panels.push_back(std::move(panel));
        }
    } else {
        bar_chart::panel panel{fmt::format("all {} tensors", run.tensors.size()), "all values taken together", {}};
        for (const summary_row& row : summary)
            panel.values.push_back(figures(row.relative_error, row.output, row.output_both));
        chart.panels.push_back(std::move(panel));
    }
    chart.footer = "made by compare_formats of the lowbit library";
    return chart;
}

}  // namespace compare_formats
