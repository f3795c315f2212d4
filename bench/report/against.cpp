// SPDX-License-Identifier: Apache-2.0
#include "against.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "definitions.hpp"

namespace bench_report {
namespace {

constexpr double exact_tolerance = 1e-6;  // of figures without noise: what printing and libm may do
constexpr double least_speed_noise = 0.05;
constexpr double spread_factor = 2;

template <class Row>
const Row* find_row(const std::vector<Row>& rows, const Row& like) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row& row) { return row.format == like.format && row.rule == like.rule; });
    return found == rows.end() ? nullptr : &*found;
}

/// Collects the changes of one row.
class row_changes {
  public:
    row_changes(comparison& out, std::string where, std::string format, std::string rule)
        : out_(out), where_(std::move(where)), format_(std::move(format)), rule_(std::move(rule)) {}

    /// A figure without noise.
    void exact(const std::string& key, const std::optional<double>& before, const std::optional<double>& after) {
        if (!before || !after) return;
        ++out_.compared;
        if (*before == *after) return;
        const double size = std::max(std::fabs(*before), std::fabs(*after));
        if (std::isfinite(size) && std::fabs(*after - *before) <= exact_tolerance * size) return;
        add(key, *before, *after, exact_tolerance);
    }

    void speed(const rate& before, const rate& after) {
        ++out_.compared;
        if (!(before.value > 0 && after.value > 0)) return;
        const auto half_spread = [](const rate& r) { return (r.high - r.low) / 2 / r.value; };
        const double noise = std::max(least_speed_noise, spread_factor * (half_spread(before) + half_spread(after)));
        const double moved = after.value / before.value - 1;
        if (std::fabs(moved) <= noise) return;
        if (before.fraction() && after.fraction()) {
            // A machine that is slower for a while slows its ceiling down, too.
            const double share = *after.fraction() / *before.fraction() - 1;
            if (std::fabs(share) <= noise || (share > 0) != (moved > 0)) return;
        }
        add(after.key, before.value, after.value, noise);
    }

  private:
    void add(const std::string& key, double before, double after, double noise) {
        out_.changes.push_back({.where = where_,
                                .format = format_,
                                .rule = rule_,
                                .key = key,
                                .before = before,
                                .after = after,
                                .noise = noise,
                                .better = definition_of(key).more_is_better == (after > before)});
    }

    comparison& out_;
    std::string where_, format_, rule_;
};

template <class Row>
void compare_errors(const Row& before, const Row& after, row_changes& changes) {
    changes.exact("bits", before.bits, after.bits);
    changes.exact("sqnr_db", before.sqnr_db, after.sqnr_db);
    changes.exact("error", before.error, after.error);
    changes.exact("input_sqnr_db", before.input_sqnr_db, after.input_sqnr_db);
    changes.exact("w4a4", before.w4a4, after.w4a4);
    changes.exact("w4a8", before.w4a8, after.w4a8);
    changes.exact("weight_only", before.weight_only, after.weight_only);
}

std::vector<std::string> warnings_of(const report& older, const report& newer) {
    std::vector<std::string> out;
    const auto differ = [&](const char* what, const std::string& before, const std::string& after) {
        if (before != after) out.push_back(fmt::format("{} differs: '{}' then, '{}' now", what, before, after));
    };
    differ("the CPU", older.machine.cpu, newer.machine.cpu);
    differ("the instruction set", older.machine.isa, newer.machine.isa);
    differ("the compiler", older.machine.compiler, newer.machine.compiler);
    differ("the set of compiler flags", older.machine.flags, newer.machine.flags);
    differ("the 8-bit format of W4A8", older.a8_format, newer.a8_format);
    if (older.quick != newer.quick) out.emplace_back("one of the two was made with --quick");
    const auto names = [](const report& run) {
        std::string text;
        for (const tensor_report& tensor : run.tensors) text += tensor.name + "\n";
        return text;
    };
    if (names(older) != names(newer))
        out.emplace_back("the tensors differ, and with them the figures over all of them");
    return out;
}

}  // namespace

comparison compare_reports(const report& older, const std::string& file, const report& newer) {
    comparison out;
    out.file = file;
    out.older = older.machine;
    out.warnings = warnings_of(older, newer);
    const std::vector<summary_row> before = summarise(older);
    for (const summary_row& row : summarise(newer)) {
        const summary_row* same = find_row(before, row);
        if (same == nullptr) continue;
        row_changes changes(out, "", row.format, row.rule);
        compare_errors(*same, row, changes);
    }
    for (const speed_row& row : newer.speeds) {
        const speed_row* same = find_row(older.speeds, row);
        if (same == nullptr) continue;
        row_changes changes(out, "", row.format, row.rule);
        for (const rate& now : row.rates) {
            if (const rate* then = same->find(now.key)) changes.speed(*then, now);
        }
    }
    for (const tensor_report& tensor : newer.tensors) {
        const auto then = std::find_if(older.tensors.begin(), older.tensors.end(),
                                       [&](const tensor_report& each) { return each.name == tensor.name; });
        if (then == older.tensors.end()) continue;
        for (const accuracy& row : tensor.formats) {
            const accuracy* same = find_row(then->formats, row);
            if (same == nullptr) continue;
            row_changes changes(out, tensor.name, row.format, row.rule);
            compare_errors(*same, row, changes);
            changes.exact("max_error", same->max_error, row.max_error);
        }
    }
    return out;
}

}  // namespace bench_report
