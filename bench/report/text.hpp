// SPDX-License-Identifier: Apache-2.0
// The report for the terminal, at most 100 columns wide, in parts that are printed as they are finished.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace bench_report {

/// What the report is about, and the machine.
std::string head_text(const report& run);

/// The errors of one tensor in all formats.
std::string tensor_table(const tensor_report& tensor);

/// The errors over all tensors, and what was skipped.
std::string summary_table(const report& run);

/// Heads and lines of the two tables of speeds.
std::string codec_head(bool quick);
std::string codec_line(const speed_row& row);
std::string product_head(bool quick);
std::string product_line(const speed_row& row);

/// What moved against an older report.
std::string against_text(const comparison& against);

/// Which figures a run is about.
struct legend_parts {
    bool errors = true;
    bool layers = true;
    bool speeds = true;
    bool against = false;
};

/// The definition of each of them.
std::string legend_text(const legend_parts& parts);

/// `text` in lines of at most `width` columns, all but the first behind `indent` spaces.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

/// Figures as people read them: "21.56", "8.39 %", "exact", "lost".
std::string decibel(double value);
std::string percent(double share);
/// A figure by the unit of its definition.
std::string figure_text(const std::string& key, double value);

}  // namespace bench_report
