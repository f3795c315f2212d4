// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "charts.hpp"
#include "definitions.hpp"
#include "environment.hpp"
#include "support/svg.hpp"
#include "support/text.hpp"
#include "text.hpp"

namespace bench_report {
namespace {

using support::escaped;

const char* const style = R"(
  * { box-sizing: border-box; }
  body { margin: 0 auto; padding: 24px; max-width: 1240px; background: var(--paper); color: var(--ink);
    font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
  h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 32px 0 8px; }
  p { margin: 4px 0; } .faint, small { color: var(--faint); }
  .scroll { overflow-x: auto; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13.5px; }
  th, td { padding: 4px 8px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
  th { vertical-align: bottom; } th.left, td.left { text-align: left; }
  tbody tr:hover { background: var(--line); }
  th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid var(--s0); }
  th button::after { content: " \2195"; color: var(--faint); font-weight: 400; }
  th[aria-sort="ascending"] button::after { content: " \2191"; color: var(--ink); }
  th[aria-sort="descending"] button::after { content: " \2193"; color: var(--ink); }
  td small { display: block; font-size: 12px; }
  .better { color: var(--s2); font-weight: 600; } .worse { color: var(--s4); font-weight: 600; }
  svg { display: block; width: 100%; max-width: 980px; height: auto; margin: 8px 0; }
  dt { font-weight: 600; margin-top: 8px; } dd { margin: 0 0 0 20px; max-width: 900px; }
)";

// No '<' and no '&' below: the file is XML, too.
const char* const script = R"(
document.querySelectorAll("th button").forEach(function (button) {
  button.addEventListener("click", function () {
    var head = button.parentNode, body = head.closest("table").tBodies[0], rows = Array.from(body.rows);
    var column = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending";
    Array.from(head.parentNode.cells).forEach(function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    function key(row) { return row.cells[column].getAttribute("data-v"); }
    rows.sort(function (a, b) {
      var x = key(a), y = key(b), order;
      if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0);
      order = head.getAttribute("data-text") ? x.localeCompare(y) : Number(x) - Number(y);
      return down ? -order : order;
    });
    rows.forEach(function (row) { body.appendChild(row); });
  });
});
)";

/// A head cell that sorts its column; its text is explained where the pointer rests.
std::string head_cell(const std::string& title, const std::string& unit, const std::string& explanation, bool is_text) {
    return fmt::format("<th scope=\"col\" title=\"{}\"{}><button type=\"button\">{}</button>{}</th>",
                       escaped(explanation), is_text ? " class=\"left\" data-text=\"1\"" : "", escaped(title),
                       unit.empty() ? "" : "<br/><small>" + escaped(unit) + "</small>");
}

std::string head_cell(const std::string& key) {
    const definition& d = definition_of(key);
    return head_cell(d.title, d.unit == "relative" || d.unit == "absolute" ? "" : d.unit, d.text, false);
}

std::string text_cell(const std::string& text) {
    return fmt::format("<td class=\"left\" data-v=\"{0}\">{0}</td>", escaped(text));
}

/// The change of a figure, as a line below it.
std::string change_note(const report& run, const std::string& format, const std::string& rule, const std::string& key,
                        const std::string& where) {
    if (!run.against) return "";
    const change* const moved = run.against->find(format, rule, key, where);
    if (moved == nullptr) return "";
    return fmt::format("<small class=\"{}\">{} was {}</small>", moved->better ? "better" : "worse",
                       moved->after > moved->before ? "&#9650;" : "&#9660;", figure_text(key, moved->before));
}

std::string sort_value(double value) {
    return std::isinf(value) ? (value > 0 ? "1e999" : "-1e999") : fmt::format("{:.9g}", value);
}

/// A figure, or an empty place.
std::string figure_cell(const report& run, const std::string& format, const std::string& rule, const std::string& key,
                        const std::optional<double>& value, const std::string& where = "") {
    if (!value) return "<td class=\"faint\">-</td>";
    return fmt::format("<td data-v=\"{}\">{}{}</td>", sort_value(*value), figure_text(key, *value),
                       change_note(run, format, rule, key, where));
}

std::string speed_cell(const report& run, const speed_row& row, const std::string& key) {
    const rate* const one = row.find(key);
    if (one == nullptr) return "<td class=\"faint\">-</td>";
    const std::string share = one->fraction() ? fmt::format("<small>{:.0f} % of {}</small>", 100 * *one->fraction(),
                                                            figure_text(key, one->ceiling))
                                              : std::string();
    return fmt::format("<td data-v=\"{:.9g}\" title=\"quartiles {} and {}, {} samples\">{}{}{}</td>", one->value,
                       figure_text(key, one->low), figure_text(key, one->high), one->samples,
                       figure_text(key, one->value), share, change_note(run, row.format, row.rule, key, ""));
}

std::string begin_table(const std::string& cells) {
    return "<div class=\"scroll\"><table>\n<thead><tr>" + cells + "</tr></thead>\n<tbody>\n";
}
constexpr const char* end_table = "</tbody></table></div>\n";

/// Which speeds the run holds, in order.
std::vector<std::string> speed_keys(const report& run) {
    std::vector<std::string> out;
    for (const definition& d : speed_measures()) {
        const auto has = [&](const speed_row& row) { return row.find(d.key) != nullptr; };
        if (std::any_of(run.speeds.begin(), run.speeds.end(), has)) out.push_back(d.key);
    }
    return out;
}

bool has_layers(const report& run) {
    return std::any_of(run.tensors.begin(), run.tensors.end(), [](const tensor_report& t) { return !t.input.empty(); });
}

/// The keys and figures of errors, of a summary or a tensor.
template <class Row>
std::vector<std::pair<std::string, std::optional<double>>> figures_of(const Row& row, bool layers) {
    std::vector<std::pair<std::string, std::optional<double>>> out{
        {"bits", row.bits}, {"sqnr_db", row.sqnr_db}, {"error", row.error}};
    if (layers) {
        out.emplace_back("input_sqnr_db", row.input_sqnr_db);
        out.emplace_back("w4a4", row.w4a4);
        out.emplace_back("w4a8", row.w4a8);
        out.emplace_back("weight_only", row.weight_only);
    }
    return out;
}

std::string name_head() {
    return head_cell("format", "", "The format, and its rule where it is not the default.", true);
}

std::string error_rows(const report& run) {
    const bool layers = has_layers(run);
    std::string cells = name_head();
    for (const auto& [key, value] : figures_of(summary_row{}, layers)) cells += head_cell(key);
    if (run.tensors.size() > 1) {
        cells += head_cell("least SQNR", "dB", "Of the tensor that suffers most.", false) +
                 head_cell("of", "", "The tensor that suffers most.", true);
    }
    std::string out = begin_table(cells);
    for (const summary_row& row : summarise(run)) {
        out += "<tr>" + text_cell(row.name());
        for (const auto& [key, value] : figures_of(row, layers)) {
            out += figure_cell(run, row.format, row.rule, key, value);
        }
        if (run.tensors.size() > 1) {
            out += fmt::format("<td data-v=\"{}\">{}</td>", sort_value(row.worst_sqnr_db), decibel(row.worst_sqnr_db)) +
                   text_cell(support::fit(row.worst_tensor, 34));
        }
        out += "</tr>\n";
    }
    return out + end_table;
}

std::string speed_rows(const report& run) {
    const std::vector<std::string> keys = speed_keys(run);
    std::string cells = name_head();
    for (const std::string& key : keys) cells += head_cell(key);
    std::string out = begin_table(cells);
    for (const speed_row& row : run.speeds) {
        out += "<tr>" + text_cell(row.name());
        for (const std::string& key : keys) out += speed_cell(run, row, key);
        out += "</tr>\n";
    }
    return out + end_table;
}

std::string tensor_rows(const report& run) {
    const bool layers = has_layers(run);
    std::string cells =
        head_cell("tensor", "", "The name in the file.", true) + head_cell("format", "", "Format and rule.", true);
    for (const auto& [key, value] : figures_of(accuracy{}, layers)) cells += head_cell(key);
    cells += head_cell("max_error");
    std::string out = begin_table(cells);
    for (const tensor_report& tensor : run.tensors) {
        for (const accuracy& one : tensor.formats) {
            out += fmt::format("<tr><td class=\"left\" data-v=\"{0}\" title=\"{1} {2}\">{0}</td>", escaped(tensor.name),
                               escaped(tensor.dtype), support::shape_text(tensor.shape));
            out += text_cell(one.name());
            for (const auto& [key, value] : figures_of(one, layers)) {
                out += figure_cell(run, one.format, one.rule, key, value, tensor.name);
            }
            out += figure_cell(run, one.format, one.rule, "max_error", one.max_error, tensor.name) + "</tr>\n";
        }
    }
    return out + end_table;
}

std::string against_section(const comparison& against) {
    const auto better = static_cast<std::size_t>(
        std::count_if(against.changes.begin(), against.changes.end(), [](const change& c) { return c.better; }));
    std::string out = fmt::format(
        "<h2>Against an older report</h2>\n<p>{}: {}, commit {}, {}.</p>\n<p>{} figures in both: {} better, {} worse, "
        "{} within noise.</p>\n",
        escaped(against.file), escaped(against.older.date), escaped(against.older.commit), escaped(against.older.cpu),
        against.compared, better, against.changes.size() - better, against.compared - against.changes.size());
    for (const std::string& warning : against.warnings) {
        out += fmt::format("<p class=\"worse\">Note: {}.</p>\n", escaped(warning));
    }
    if (against.changes.empty()) return out;
    out += begin_table(head_cell("format", "", "Format and rule.", true) +
                       head_cell("tensor", "", "Empty: all tensors, or a speed.", true) +
                       head_cell("figure", "", "Which one moved.", true) + head_cell("then", "", "", false) +
                       head_cell("now", "", "", false) + head_cell("change", "%", "Now over then, less 1.", false));
    for (const change& one : against.changes) {
        const double relative = one.before == 0 ? 0 : 100 * (one.after / one.before - 1);
        out += "<tr>" + text_cell(one.rule.empty() ? one.format : one.format + " " + one.rule) + text_cell(one.where) +
               text_cell(definition_of(one.key).title);
        out += fmt::format("<td data-v=\"{}\">{}</td><td data-v=\"{}\">{}</td>", sort_value(one.before),
                           figure_text(one.key, one.before), sort_value(one.after), figure_text(one.key, one.after));
        out += fmt::format("<td class=\"{}\" data-v=\"{:.6g}\">{:+.3g}</td></tr>\n", one.better ? "better" : "worse",
                           std::isfinite(relative) ? relative : 0, std::isfinite(relative) ? relative : 0);
    }
    return out + end_table;
}

std::string legend(const report& run) {
    std::string out = "<h2 id=\"definitions\">What each figure is</h2>\n<dl>\n";
    const auto add = [&](const definition& d) {
        out += fmt::format("<dt>{}{}</dt><dd>{}</dd>\n", escaped(d.title),
                           d.unit.empty() ? "" : " <small>(" + escaped(d.unit) + ")</small>", escaped(d.text));
    };
    if (!run.tensors.empty()) std::for_each(accuracy_measures().begin(), accuracy_measures().end(), add);
    for (const std::string& key : speed_keys(run)) add(definition_of(key));
    for (const definition& d : other_definitions()) {
        if (d.key == "moved" ? run.against.has_value() : !run.speeds.empty()) add(d);
    }
    return out + "</dl>\n";
}

}  // namespace

std::string to_html(const report& run) {
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
        "charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>Low-bit formats against each other</title>\n";
    out +=
        "<style>\n" + support::colour_rules(":root") + support::class_rules() + style + "</style>\n</head>\n<body>\n";
    out += "<h1>Low-bit formats against each other</h1>\n";
    out += fmt::format("<p>{}</p>\n", escaped(run.source));
    out += fmt::format("<p class=\"faint\">{}<br/>{}<br/>{}</p>\n", escaped(machine_line(run.machine)),
                       escaped(build_line(run.machine)), escaped(run.machine.system));
    out += fmt::format(
        "<p class=\"faint\">8-bit activations of W4A8: {}. Speeds: one thread. Each figure is defined "
        "<a href=\"#definitions\" style=\"color: var(--s0)\">below</a>; a click on a head sorts.</p>\n",
        escaped(run.a8_format));
    if (!run.complete) out += "<p class=\"worse\">Stopped before the end: what was finished is shown.</p>\n";
    if (run.quick) out += "<p class=\"worse\">Speeds were measured with --quick: not to be quoted.</p>\n";
    for (const skipped_tensor& each : run.skipped) {
        out += fmt::format("<p class=\"faint\">Skipped: {}: {}</p>\n", escaped(each.name), escaped(each.reason));
    }
    if (!run.tensors.empty()) {
        out +=
            fmt::format("<h2>Bits and errors{}</h2>\n",
                        run.tensors.size() > 1 ? fmt::format(" over {} tensors", run.tensors.size()) : std::string());
        out += error_rows(run);
    }
    if (!run.speeds.empty()) out += "<h2>Speeds, and the share of the ceiling</h2>\n" + speed_rows(run);
    if (run.against) out += against_section(*run.against);
    for (const chart& one : charts_of(run)) out += inline_svg(one);
    if (!run.tensors.empty()) {
        out += "<h2>Errors by tensor</h2>\n" + tensor_rows(run);
    }
    out += legend(run);
    return out + "<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace bench_report
