// SPDX-License-Identifier: Apache-2.0
// A bar chart as one self-contained SVG file that follows the reader's light or dark colour scheme.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results.hpp"

namespace compare_formats {

/// Horizontal bars: one group a row, one bar a series, side by side for each panel, one scale for all.
struct bar_chart {
    struct panel {
        std::string title;
        std::string subtitle;
        std::vector<std::vector<std::optional<double>>> values;  ///< [row][series]; infinite: drawn as "lost"
    };
    std::string title;
    std::string subtitle;
    std::string axis;                 ///< what the bars measure, with its unit
    std::string unit;                 ///< put behind each figure
    std::vector<std::string> series;  ///< at most three
    std::vector<std::string> rows;
    std::vector<panel> panels;
    std::string footer;
};

std::string to_svg(const bar_chart& chart);

/// The relative errors of a run: a panel a tensor for up to six, else one over all tensors.
bar_chart error_chart(const run_report& run, const std::string& source);

}  // namespace compare_formats
