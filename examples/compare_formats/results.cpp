// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace compare_formats {
namespace {

struct totals {
    double bits = 0;
    double values = 0;
    double noise = 0;
    double energy = 0;
    double sqnr = 0;
    double output = 0;
    double output_both = 0;
    std::size_t layers = 0;
};

double mean(double sum, std::size_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

void add(const tensor_report& tensor, const measurement& result, summary_row& row, totals& sum) {
    const auto values = static_cast<double>(result.stats.count);
    sum.bits += result.bits * values;
    sum.values += values;
    sum.noise += result.stats.mse * static_cast<double>(result.stats.count - result.stats.nonfinite_reference);
    sum.energy += tensor.energy;
    sum.sqnr += result.stats.sqnr_db;
    if (row.tensors == 0 || result.stats.sqnr_db < row.worst_sqnr_db) {
        row.worst_sqnr_db = result.stats.sqnr_db;
        row.worst_tensor = tensor.name;
    }
    row.lowest_error =
        row.tensors == 0 ? result.stats.relative_error : std::min(row.lowest_error, result.stats.relative_error);
    row.highest_error = std::max(row.highest_error, result.stats.relative_error);
    ++row.tensors;
    if (result.output && result.output_both) {
        ++sum.layers;
        sum.output += *result.output;
        sum.output_both += *result.output_both;
    }
}

}  // namespace

std::optional<std::size_t> best_format(const tensor_report& report) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < report.formats.size(); ++i) {
        if (!report.formats[i].ranked || !std::isfinite(report.formats[i].stats.relative_error)) continue;
        if (!best || report.formats[i].stats.relative_error < report.formats[*best].stats.relative_error) best = i;
    }
    return best;
}

std::vector<summary_row> summarise(const run_report& run) {
    std::vector<summary_row> rows;
    std::vector<totals> sums;
    std::map<std::string, std::size_t> place;
    for (const tensor_report& tensor : run.tensors) {
        const std::optional<std::size_t> best = best_format(tensor);
        for (std::size_t i = 0; i < tensor.formats.size(); ++i) {
            const measurement& result = tensor.formats[i];
            const auto [found, fresh] = place.emplace(result.name(), rows.size());
            if (fresh) {
                rows.push_back({});
                rows.back().name = result.name();
                rows.back().ranked = result.ranked;
                sums.push_back({});
            }
            add(tensor, result, rows[found->second], sums[found->second]);
            if (best && *best == i) ++rows[found->second].wins;
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const totals& sum = sums[i];
        rows[i].bits = sum.values > 0 ? sum.bits / sum.values : 0;
        rows[i].mean_sqnr_db = mean(sum.sqnr, rows[i].tensors);
        rows[i].relative_error = sum.noise <= 0    ? 0
                                 : sum.energy <= 0 ? std::numeric_limits<double>::infinity()
                                                   : std::sqrt(sum.noise / sum.energy);
        if (sum.layers != 0) {
            rows[i].output = mean(sum.output, sum.layers);
            rows[i].output_both = mean(sum.output_both, sum.layers);
        }
    }
    return rows;
}

}  // namespace compare_formats
