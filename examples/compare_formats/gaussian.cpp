// SPDX-License-Identifier: Apache-2.0
#include "gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report_text.hpp"
#include "support/text.hpp"

namespace compare_formats {
namespace {

/// Figures to compare with: the paper's own as one number, ranges over several phases of sigma (recomputed by the
/// authors of the specification this library follows).
const std::map<std::string, std::pair<double, double>>& published() {
    static const std::map<std::string, std::pair<double, double>> figures{
        {"nvfp4 no_tensor_scale", {1.32, 1.32}},

        {"mxfp4", {1.89, 1.89}},
        {"nvfp4", {1.31, 1.32}},
        {"nvfp4 division", {1.31, 1.32}},
        {"nvfp4 four_over_six", {1.09, 1.10}},
        {"mxfp4 ceil", {2.70, 3.01}},
        {"mxfp4 rceil", {1.93, 2.03}},
        {"mxfp4 even", {1.82, 1.85}},
        {"mxfp4 uos", {1.80, 1.84}},
        {"mxfp4 oas", {1.81, 1.84}},
        {"m2xfp_activation", {1.20, 1.31}},
        {"m2xfp_weight", {0.93, 0.96}},
    };
    return figures;
}

void compare_with_published(gaussian_row& row) {
    const auto found = published().find(row.name);
    if (found == published().end()) return;
    const auto [low, high] = found->second;
    row.published = low == high ? fmt::format("{:.2f}", low) : fmt::format("{:.2f}..{:.2f}", low, high);
    row.published_value = (low + high) / 2;
    const double nearest = std::clamp(row.ratio, low, high);
    row.deviation = row.ratio / nearest - 1;
}

}  // namespace

lowbit::tensor make_gaussian_matrix(int x, std::uint64_t seed) {
    return make_gaussian(1024, 1024, 0.01 * std::ldexp(1.0, x), seed + static_cast<std::uint64_t>(x) * 1000003U);
}

std::string gaussian_name(int x) { return fmt::format("sigma = 0.01 * 2^{}", x); }

std::vector<gaussian_row> gaussian_rows(const run_report& run) {
    if (run.tensors.size() != gaussian_matrices) return {};
    const auto& names = run.tensors.front().formats;
    const auto base =
        std::find_if(names.begin(), names.end(), [](const measurement& row) { return row.name() == "hif4"; });
    if (base == names.end()) return {};
    const auto reference = static_cast<std::size_t>(base - names.begin());
    std::vector<gaussian_row> rows;
    for (std::size_t f = 0; f < names.size(); ++f) {
        std::vector<double> ratio;
        for (const tensor_report& tensor : run.tensors) {
            if (tensor.formats.size() != names.size()) return {};
            ratio.push_back(tensor.formats[f].stats.mse / tensor.formats[reference].stats.mse);
        }
        const auto first = ratio.begin() + gaussian_first;
        const auto last = ratio.begin() + gaussian_last + 1;
        gaussian_row row;
        row.name = names[f].name();
        row.bits = names[f].bits;
        for (auto each = first; each != last; ++each) row.ratio += *each / static_cast<double>(last - first);
        row.low = *std::min_element(first, last);
        row.high = *std::max_element(first, last);
        row.below = ratio.front();
        row.above = ratio.back();
        compare_with_published(row);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string gaussian_table(const run_report& run) {
    const std::vector<gaussian_row> rows = gaussian_rows(run);
    if (rows.empty()) {
        return "\nThe table of ratios needs all 18 matrices and hif4 among the formats.\n" + summary_table(run);
    }
    std::string out = fmt::format(
        "\nMean squared error on Gaussian matrices of 1024 x 1024, sigma = 0.01 * 2^x, relative to hif4\n\n"
        "  {:<24}{:>7}{:>12}{:>18}{:>8}{:>8}{:>12}\n",
        "format", "bits", "x = 4..16", "least..most", "x = 0", "x = 17", "published");
    for (const gaussian_row& row : rows) {
        out += fmt::format("  {:<24}{:>7.3f}{:>12.4f}{:>18}{:>8.3f}{:>8.3f}{:>12}", row.name, row.bits, row.ratio,
                           fmt::format("{:.4f}..{:.4f}", row.low, row.high), row.below, row.above, row.published);
        out += '\n';
    }
    double energy = 0;
    for (int x = gaussian_first; x <= gaussian_last; ++x) {
        const tensor_report& tensor = run.tensors[static_cast<std::size_t>(x)];
        for (const measurement& row : tensor.formats) {
            if (row.name() == "hif4") energy += row.stats.mse / (tensor.sigma * tensor.sigma);
        }
    }
    out += fmt::format("\nhif4 itself: mean squared error {:.4e} sigma^2 (published 6.881e-03)\n",
                       energy / (gaussian_last - gaussian_first + 1));
    double worst = 0;
    for (const gaussian_row& row : rows) worst = std::max(worst, std::fabs(row.deviation));
    out += "Published: HiF4 : NVFP4 : MXFP4 = 1 : 1.32 : 1.89, nvfp4 without tensor scale (arXiv 2602.11287,\n";
    out += fmt::format("figure 3); ranges: over several phases of sigma. Largest deviation {:.2f} %\n", 100 * worst);
    return without_trailing_spaces(out);
}

bar_chart gaussian_chart(const run_report& run) {
    bar_chart chart;
    chart.title = "Mean squared error on Gaussian data, relative to hif4";
    chart.subtitle = "18 matrices of 1024 x 1024, sigma = 0.01 * 2^x; the test of the HiFloat4 paper, figure 3";
    chart.axis = "mean squared error / mean squared error of hif4, mean over x = 4..16 (shorter is better)";
    chart.series = {"measured", "published (middle of a range)"};
    chart.panels.push_back({"", "", {}});
    for (const gaussian_row& row : gaussian_rows(run)) {
        chart.rows.push_back(row.name);
        chart.panels[0].values.push_back({row.ratio, row.published_value});
    }
    chart.footer = "made by compare_formats of the lowbit library";
    return chart;
}

}  // namespace compare_formats
