// SPDX-License-Identifier: Apache-2.0
// The report as pictures: SVG that follows the reader's light or dark colour scheme.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace bench_report {

/// A picture of chart_width by `height`, drawn from the origin with the classes of support/svg.hpp.
struct chart {
    std::string title;
    std::string body;
    double height = 0;
};

inline constexpr double chart_width = 980;

/// Error against bits, error by tensor, speed against ceiling; those for which there are figures.
std::vector<chart> charts_of(const report& run);

/// One chart as an element of a page that has the styles.
std::string inline_svg(const chart& one);

/// All charts below each other as a file, with the machine in its foot.
std::string svg_file(const report& run);

}  // namespace bench_report
