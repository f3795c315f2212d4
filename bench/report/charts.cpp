// SPDX-License-Identifier: Apache-2.0
#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "definitions.hpp"
#include "environment.hpp"
#include "support/svg.hpp"
#include "support/text.hpp"
#include "text.hpp"

namespace bench_report {
namespace {

using support::fit;
using support::svg_line;
using support::svg_text;
using support::tick_step;

constexpr double margin = 24;
constexpr double inner = chart_width - 2 * margin;
constexpr double letter = 6.9;  // mean width of one at 12 px
constexpr std::size_t caption_columns = 150;
constexpr double caption_line = 15;

/// The formats of a report in order; each has a colour and a shape.
class format_marks {
  public:
    explicit format_marks(const report& run) {
        for (const auto& [format, rule] : rows_of(run)) {
            if (std::find(formats_.begin(), formats_.end(), format) == formats_.end()) formats_.push_back(format);
        }
    }

    std::size_t index(const std::string& format) const {
        return static_cast<std::size_t>(std::find(formats_.begin(), formats_.end(), format) - formats_.begin());
    }

    /// The mark of a format around (x, y): full for its default, hollow for its rules.
    std::string mark(const std::string& format, bool hollow, double x, double y, const std::string& title) const {
        const std::size_t i = index(format);
        const std::string style =
            hollow ? fmt::format("class=\"m{} hollow\"", i % 8) : fmt::format("class=\"m{}\"", i % 8);
        std::string shape;
        switch (i % 4) {
            case 0: shape = fmt::format("<circle {} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\">", style, x, y); break;
            case 1: shape = path(style, x, y, "-4,-4 4,-4 4,4 -4,4"); break;
            case 2: shape = path(style, x, y, "0,-5.5 5,4 -5,4"); break;
            default: shape = path(style, x, y, "0,-5.5 5.5,0 0,5.5 -5.5,0"); break;
        }
        const std::string end = i % 4 == 0 ? "circle" : "polygon";
        return fmt::format("{}<title>{}</title></{}>\n", shape, support::escaped(title), end);
    }

    /// The legend in a line from (x, y).
    std::string legend(double x, double y, bool with_rules) const {
        std::string out;
        for (const std::string& format : formats_) {
            out += mark(format, false, x + 6, y - 4, format) + svg_text(x + 16, y, "", format);
            x += 40 + 6.6 * static_cast<double>(format.size());
        }
        if (with_rules) out += svg_text(x, y, "class=\"faint\"", "hollow: other rules of the format");
        return out;
    }

  private:
    static std::string path(const std::string& style, double x, double y, const char* points) {
        return fmt::format("<polygon {} transform=\"translate({:.1f} {:.1f})\" points=\"{}\">", style, x, y, points);
    }

    std::vector<std::string> formats_;
};

bool has_rules(const report& run) {
    const auto rows = rows_of(run);
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.second.empty(); });
}

/// Lines of small text from y on.
std::string caption(const std::string& text, double y, double& height) {
    std::string out;
    const std::string all = wrapped(text, caption_columns, 0);
    for (std::size_t begin = 0; begin <= all.size();) {
        const std::size_t end = std::min(all.find('\n', begin), all.size());
        out += svg_text(margin, y, "class=\"faint\"", all.substr(begin, end - begin));
        y += caption_line;
        begin = end + 1;
    }
    height = y;
    return out;
}

std::string head(const std::string& title) { return svg_text(margin, 30, "class=\"title\"", title); }

struct point {
    std::string format;
    std::string rule;
    double bits;
    double error;

    std::string name() const { return rule.empty() ? format : format + " " + rule; }
};

/// Names beside the points of one cluster, apart from each other, each with a line to its point: on the right where
/// there is room up to `right`, else on the left.
std::string labels(std::vector<point> cluster, double top, double bottom, double right,
                   const std::function<double(const point&)>& x, const std::function<double(const point&)>& y) {
    constexpr double gap = 14;
    constexpr double distance = 24;
    std::size_t longest = 0;
    for (const point& p : cluster) longest = std::max(longest, p.name().size());
    const bool on_right = x(cluster.back()) + distance + letter * static_cast<double>(longest) < right;
    const double at = on_right ? x(cluster.back()) + distance : x(cluster.front()) - distance;
    const double side = on_right ? 1 : -1;
    std::sort(cluster.begin(), cluster.end(), [&](const point& a, const point& b) { return y(a) < y(b); });
    // Runs of names that would overlap stand around the middle of their points.
    struct name_run {
        double sum;  // of the heights of its points
        double count;
        double first() const { return sum / count - (count - 1) * gap / 2; }
    };
    std::vector<name_run> runs;
    for (const point& p : cluster) {
        runs.push_back({y(p), 1});
        while (runs.size() > 1 &&
               runs.back().first() < runs[runs.size() - 2].first() + runs[runs.size() - 2].count * gap) {
            const name_run last = runs.back();
            runs.pop_back();
            runs.back().sum += last.sum;
            runs.back().count += last.count;
        }
    }
    std::vector<double> places;
    for (const name_run& each : runs) {
        for (double i = 0; i < each.count; i += 1) {
            places.push_back(std::max(each.first() + i * gap, places.empty() ? top : places.back() + gap));
        }
    }
    double limit = bottom;
    for (std::size_t i = places.size(); i-- > 0;) {
        places[i] = std::min(places[i], limit);
        limit = places[i] - gap;
    }
    std::string out;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        out += svg_line("grid", x(cluster[i]) + side * 6, y(cluster[i]), at - side * 4, places[i]);
        out += svg_text(at, places[i] + 4, on_right ? "" : "text-anchor=\"end\"", cluster[i].name());
    }
    return out;
}

/// Marks of error over bits in a field at (left, top).
std::string scatter(const format_marks& marks, const std::vector<point>& points, const std::string& title, double left,
                    double top, double width, double height) {
    double lowest = 100, highest = 0, largest = 0;
    for (const point& p : points) {
        lowest = std::min(lowest, p.bits);
        highest = std::max(highest, p.bits);
        largest = std::max(largest, p.error);
    }
    if (largest <= 0) largest = 0.01;
    std::size_t longest = 0;
    for (const point& p : points) {
        if (p.bits > highest - 2) longest = std::max(longest, p.name().size());
    }
    const double first = std::floor(lowest);
    const double room = 40 + letter * static_cast<double>(longest);  // right of the last point, for its name
    const double last =
        std::max(highest, first + 1) + room * (std::max(highest, first + 1) - first) / (width - 60 - room);
    const double step = 100 * tick_step(largest, 6) / 100;
    const double most = step * std::ceil(largest / step * (1 - 1e-9));
    const auto x_at = [&](double bits) { return left + 44 + (bits - first) / (last - first) * (width - 60); };
    const auto y_at = [&](double error) { return top + height - error / most * height; };
    const std::function<double(const point&)> x = [&](const point& p) { return x_at(p.bits); };
    const std::function<double(const point&)> y = [&](const point& p) { return y_at(p.error); };

    std::string out = svg_text(left, top - 16, "class=\"panel\"", title);
    for (int i = 0; i * step <= most * (1 + 1e-9); ++i) {
        const double line = y_at(i * step);
        out += svg_line(i == 0 ? "axis" : "grid", left + 44, line, left + width, line);
        out +=
            svg_text(left + 38, line + 4, "class=\"faint\" text-anchor=\"end\"", fmt::format("{:g} %", 100 * i * step));
    }
    for (double bits = first; bits <= last; bits += 1) {
        out += svg_line("axis", x_at(bits), top + height, x_at(bits), top + height + 4);
        out += svg_text(x_at(bits), top + height + 17, "class=\"faint\" text-anchor=\"middle\"",
                        fmt::format("{:g}", bits));
    }
    std::vector<point> sorted = points;
    std::sort(sorted.begin(), sorted.end(), [](const point& a, const point& b) { return a.bits < b.bits; });
    for (std::size_t begin = 0; begin < sorted.size();) {
        std::size_t end = begin + 1;
        // One cluster: points so close, or so placed that a name would cover the next mark.
        const auto joins = [&](const point& next) {
            return x(next) - x(sorted[end - 1]) < 40 ||
                   std::any_of(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                               sorted.begin() + static_cast<std::ptrdiff_t>(end), [&](const point& p) {
                                   return std::fabs(y(p) - y(next)) < 14 &&
                                          x(next) - x(p) < 30 + letter * static_cast<double>(p.name().size());
                               });
        };
        while (end < sorted.size() && joins(sorted[end])) ++end;
        const std::vector<point> cluster(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                                         sorted.begin() + static_cast<std::ptrdiff_t>(end));
        out += labels(cluster, top + 4, top + height - 6, left + width, x, y);
        begin = end;
    }
    for (const point& p : sorted) {
        out += marks.mark(p.format, !p.rule.empty(), x(p), y(p),
                          fmt::format("{}: {:.3f} bits, {}", p.name(), p.bits, percent(p.error)));
    }
    return out;
}

chart bits_chart(const report& run, const format_marks& marks) {
    std::vector<point> weights, outputs;
    std::string lost;
    const auto add = [&](std::vector<point>& to, const summary_row& row, const std::optional<double>& error) {
        if (!error) return;
        if (!std::isfinite(*error)) {
            if (lost.find(row.name()) == std::string::npos) lost += (lost.empty() ? "" : ", ") + row.name();
            return;
        }
        to.push_back({row.format, row.rule, row.bits, *error});
    };
    for (const summary_row& row : summarise(run)) {
        add(weights, row, row.error);
        add(outputs, row, row.w4a4);
    }
    const std::size_t most = std::max(weights.size(), outputs.size());
    const double height = std::max(280.0, 14 * static_cast<double>(most) + 20);
    chart out{"Error against bits", head("Error against bits"), 0};
    const double top = 78;
    const double width = outputs.empty() ? inner : (inner - 36) / 2;
    out.body += scatter(marks, weights, "the weights themselves (error)", margin, top, width, height);
    if (!outputs.empty()) {
        out.body += scatter(marks, outputs, "output of the layer (W4A4)", margin + width + 36, top, width, height);
    }
    std::string text =
        "Across: stored bits a value, scales and padding included. Up: relative error over all tensors; "
        "lower is better. " +
        definition_of("error").text;
    if (!outputs.empty()) text += " " + definition_of("w4a4").text;
    if (!lost.empty()) text += " Not shown, since values were lost: " + lost + ".";
    out.body += caption(text, top + height + 40, out.height);
    return out;
}

constexpr std::size_t most_tensors = 40;

/// The tensors that are drawn: those with the largest errors, in the order of the report.
std::vector<const tensor_report*> drawn_tensors(const report& run) {
    std::vector<const tensor_report*> all;
    for (const tensor_report& tensor : run.tensors) all.push_back(&tensor);
    if (all.size() <= most_tensors) return all;
    const auto worst = [](const tensor_report* tensor) {
        double most = 0;
        for (const accuracy& one : tensor->formats) most = std::max(most, one.error);
        return most;
    };
    std::vector<const tensor_report*> sorted = all;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const tensor_report* a, const tensor_report* b) { return worst(a) > worst(b); });
    sorted.resize(most_tensors);
    std::erase_if(all, [&](const tensor_report* tensor) {
        return std::find(sorted.begin(), sorted.end(), tensor) == sorted.end();
    });
    return all;
}

/// One row of marks a tensor, in a field at (left, top).
std::string strips(const format_marks& marks, const std::vector<const tensor_report*>& tensors,
                   const std::function<std::optional<double>(const accuracy&)>& figure, const std::string& title,
                   double left, double top, double width, double row_height) {
    double largest = 0;
    for (const tensor_report* tensor : tensors) {
        for (const accuracy& one : tensor->formats) {
            const std::optional<double> error = figure(one);
            if (error && std::isfinite(*error)) largest = std::max(largest, *error);
        }
    }
    if (largest <= 0) largest = 0.01;
    const double bottom = top + row_height * static_cast<double>(tensors.size());
    const double step = 100 * tick_step(largest, 5) / 100;
    const double most = step * std::ceil(largest / step * (1 - 1e-9));
    const auto x = [&](double error) { return left + error / most * (width - 14); };
    std::string out = svg_text(left, top - 12, "class=\"panel\"", title);
    for (int i = 0; i * step <= most * (1 + 1e-9); ++i) {
        out += svg_line(i == 0 ? "axis" : "grid", x(i * step), top, x(i * step), bottom);
        out += svg_text(x(i * step), bottom + 16, "class=\"faint\" text-anchor=\"middle\"",
                        fmt::format("{:g} %", 100 * i * step));
    }
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        const double y = top + row_height * (static_cast<double>(t) + 0.5);
        out += svg_line("grid", left, y, left + width - 14, y);
        for (const accuracy& one : tensors[t]->formats) {
            const std::optional<double> error = figure(one);
            if (!error || !std::isfinite(*error)) continue;
            out += marks.mark(one.format, !one.rule.empty(), x(*error), y,
                              fmt::format("{}, {}: {}", tensors[t]->name, one.name(), percent(*error)));
        }
    }
    return out;
}

chart tensor_chart(const report& run, const format_marks& marks) {
    const std::vector<const tensor_report*> tensors = drawn_tensors(run);
    const bool layers = std::any_of(tensors.begin(), tensors.end(), [](const auto* t) { return !t->input.empty(); });
    constexpr double row_height = 26;
    constexpr double top = 96;
    std::size_t longest = 8;
    for (const tensor_report* tensor : tensors)
        longest = std::max(longest, std::min(tensor->name.size(), std::size_t{34}));
    const double names = 14 + letter * static_cast<double>(longest);
    const double width = layers ? (inner - names - 30) / 2 : inner - names;
    chart out{"Error by tensor", head("Error by tensor"), 0};
    out.body += marks.legend(margin, 58, has_rules(run));
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        out.body += svg_text(margin + names - 10, top + row_height * (static_cast<double>(t) + 0.5) + 4,
                             "text-anchor=\"end\"", fit(tensors[t]->name, 34));
    }
    out.body += strips(
        marks, tensors, [](const accuracy& one) { return std::optional<double>(one.error); },
        "the weights themselves (error)", margin + names, top, width, row_height);
    if (layers) {
        out.body += strips(
            marks, tensors, [](const accuracy& one) { return one.w4a4; }, "output of the layer (W4A4)",
            margin + names + width + 30, top, width, row_height);
    }
    std::string text = "Relative error, a mark a format; further left is better.";
    if (tensors.size() < run.tensors.size()) {
        text += fmt::format(" The {} of {} tensors with the largest errors.", tensors.size(), run.tensors.size());
    }
    out.body += caption(text, top + row_height * static_cast<double>(tensors.size()) + 42, out.height);
    return out;
}

/// Bars of one speed: full to its value, an outline to its ceiling.
std::string bars(const format_marks& marks, const report& run, const definition& measure, double left, double top,
                 double width, double names) {
    constexpr double row_height = 17;
    constexpr double figures = 128;
    double largest = 0;
    for (const speed_row& row : run.speeds) {
        if (const rate* one = row.find(measure.key)) largest = std::max({largest, one->value, one->ceiling});
    }
    const double scale = (width - names - figures) / largest;
    std::string out = svg_text(left, top - 10, "class=\"panel\"", fmt::format("{}, {}", measure.title, measure.unit));
    double y = top;
    for (const speed_row& row : run.speeds) {
        const rate* const one = row.find(measure.key);
        if (one == nullptr) continue;
        const double x = left + names;
        out += svg_text(x - 8, y + 11, "text-anchor=\"end\"", fit(row.name(), 22));
        const std::string ceiling_words = one->ceiling > 0
                                              ? fmt::format("; ceiling {} ({})", figure_text(measure.key, one->ceiling),
                                                            ceiling_text(one->ceiling_kind))
                                              : std::string();
        out += fmt::format(
            "<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"11\"><title>{}</title></rect>\n",
            marks.index(row.format) % 8, x, y + 2, std::max(one->value * scale, 0.5),
            support::escaped(fmt::format("{}: {} {}, quartiles {} and {}, {} samples{}", row.name(),
                                         figure_text(measure.key, one->value), measure.unit,
                                         figure_text(measure.key, one->low), figure_text(measure.key, one->high),
                                         one->samples, ceiling_words)));
        if (one->ceiling > 0) {
            out += fmt::format("<rect class=\"outline\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\"/>\n",
                               x, y + 1, one->ceiling * scale);
        }
        const double end = x + std::max(one->value, one->ceiling) * scale;
        out += svg_text(end + 6, y + 11, "class=\"figure\"",
                        one->ceiling > 0 ? fmt::format("{} = {:.0f} % of {}", figure_text(measure.key, one->value),
                                                       100 * *one->fraction(), figure_text(measure.key, one->ceiling))
                                         : figure_text(measure.key, one->value));
        y += row_height;
    }
    return out;
}

chart speed_chart(const report& run, const format_marks& marks) {
    chart out{"Speed against ceiling", head("Speed against ceiling"), 0};
    std::size_t longest = 8;
    for (const speed_row& row : run.speeds) longest = std::max(longest, std::min(row.name().size(), std::size_t{22}));
    const double names = 14 + letter * static_cast<double>(longest);
    const double width = (inner - 20) / 2;
    double top = 74;
    bool right = false;
    std::size_t tallest = 0;
    for (const definition& measure : speed_measures()) {
        const auto has = [&](const speed_row& row) { return row.find(measure.key) != nullptr; };
        const auto rows = static_cast<std::size_t>(std::count_if(run.speeds.begin(), run.speeds.end(), has));
        if (rows == 0) continue;
        out.body += bars(marks, run, measure, right ? margin + width + 20 : margin, top, width, names);
        tallest = std::max(tallest, rows);
        if (right) {
            top += 17 * static_cast<double>(tallest) + 40;
            tallest = 0;
        }
        right = !right;
    }
    if (right) top += 17 * static_cast<double>(tallest) + 40;
    std::string text =
        fmt::format(
            "Bar: the speed; outline: the ceiling found next to it in the same run; longer is better. {}"
            "Float activations, quantised on the way where they are (W4A8: to {}); their quantising counts. ",
            run.quick ? ""
                      : "Quantise, dequantise: 4096 x 4096 floats; M 512: N = K = 4096; M 1: N = 32768, K = "
                        "4096, packed weights. ",
            run.a8_format) +
        definition_of("speed").text + " " + definition_of("ceiling").text;
    if (run.quick) text = "Measured with --quick: not to be quoted. " + text;
    out.body += caption(text, top - 4, out.height);
    return out;
}

}  // namespace

std::vector<chart> charts_of(const report& run) {
    const format_marks marks(run);
    std::vector<chart> out;
    if (!run.tensors.empty()) {
        out.push_back(bits_chart(run, marks));
        out.push_back(tensor_chart(run, marks));
    }
    if (!run.speeds.empty()) out.push_back(speed_chart(run, marks));
    return out;
}

std::string inline_svg(const chart& one) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
        "aria-label=\"{}\">\n{}</svg>\n",
        chart_width, one.height, support::escaped(one.title), one.body);
}

std::string svg_file(const report& run) {
    std::string body;
    double y = 0;
    for (const chart& one : charts_of(run)) {
        body += fmt::format("<g transform=\"translate(0 {:g})\">\n{}</g>\n", y, one.body);
        y += one.height + 12;
    }
    double height = y;
    body += caption(fmt::format("{}. {}. Data: {}. Made by bench_report of the lowbit library.",
                                machine_line(run.machine), build_line(run.machine), run.source),
                    y + 10, height);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
        "role=\"img\">\n<title>Low-bit formats against each other</title>\n<style>\n{2}{3}</style>\n"
        "<rect width=\"{0:g}\" height=\"{1:g}\" style=\"fill: var(--paper)\"/>\n{4}</svg>\n",
        chart_width, height + 6, support::colour_rules("svg"), support::class_rules(), body);
}

}  // namespace bench_report
