// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace bench_report {
namespace {

using row_name = std::pair<std::string, std::string>;

/// A mean of the figures that exist.
struct mean_of {
    double sum = 0;
    std::size_t count = 0;

    void add(const std::optional<double>& figure) {
        if (!figure) return;
        sum += *figure;
        ++count;
    }
    std::optional<double> value() const {
        return count == 0 ? std::nullopt : std::optional<double>(sum / static_cast<double>(count));
    }
};

struct totals {
    double bits = 0;
    double values = 0;
    double noise = 0;
    double energy = 0;
    mean_of sqnr, input_sqnr, w4a4, w4a8, weight_only;
};

}  // namespace

const rate* speed_row::find(const std::string& key) const {
    const auto found = std::find_if(rates.begin(), rates.end(), [&](const rate& each) { return each.key == key; });
    return found == rates.end() ? nullptr : &*found;
}

const change* comparison::find(const std::string& format, const std::string& rule, const std::string& key,
                               const std::string& where) const {
    const auto found = std::find_if(changes.begin(), changes.end(), [&](const change& each) {
        return each.format == format && each.rule == rule && each.key == key && each.where == where;
    });
    return found == changes.end() ? nullptr : &*found;
}

std::vector<summary_row> summarise(const report& run) {
    std::vector<summary_row> rows;
    std::vector<totals> sums;
    std::map<row_name, std::size_t> place;
    for (const tensor_report& tensor : run.tensors) {
        const double values = static_cast<double>(tensor.rows) * static_cast<double>(tensor.cols);
        for (const accuracy& one : tensor.formats) {
            const auto [found, fresh] = place.emplace(row_name(one.format, one.rule), rows.size());
            if (fresh) {
                rows.emplace_back();
                rows.back().format = one.format;
                rows.back().rule = one.rule;
                sums.emplace_back();
            }
            summary_row& row = rows[found->second];
            totals& sum = sums[found->second];
            sum.bits += one.bits * values;
            sum.values += values;
            sum.noise += one.error == 0 ? 0 : one.error * one.error * tensor.energy;
            sum.energy += tensor.energy;
            sum.sqnr.add(one.sqnr_db);
            sum.input_sqnr.add(one.input_sqnr_db);
            sum.w4a4.add(one.w4a4);
            sum.w4a8.add(one.w4a8);
            sum.weight_only.add(one.weight_only);
            if (row.tensors == 0 || one.sqnr_db < row.worst_sqnr_db) {
                row.worst_sqnr_db = one.sqnr_db;
                row.worst_tensor = tensor.name;
            }
            ++row.tensors;
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const totals& sum = sums[i];
        rows[i].bits = sum.values > 0 ? sum.bits / sum.values : 0;
        rows[i].sqnr_db = *sum.sqnr.value();
        rows[i].error = sum.noise <= 0    ? 0
                        : sum.energy <= 0 ? std::numeric_limits<double>::infinity()
                                          : std::sqrt(sum.noise / sum.energy);
        rows[i].input_sqnr_db = sum.input_sqnr.value();
        rows[i].w4a4 = sum.w4a4.value();
        rows[i].w4a8 = sum.w4a8.value();
        rows[i].weight_only = sum.weight_only.value();
    }
    return rows;
}

std::vector<row_name> rows_of(const report& run) {
    std::vector<row_name> out;
    const auto add = [&](const std::string& format, const std::string& rule) {
        const row_name name(format, rule);
        if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    };
    for (const tensor_report& tensor : run.tensors) {
        for (const accuracy& one : tensor.formats) add(one.format, one.rule);
    }
    for (const speed_row& row : run.speeds) add(row.format, row.rule);
    return out;
}

}  // namespace bench_report
