// SPDX-License-Identifier: Apache-2.0
// The test of the HiFloat4 paper: mean squared error on Gaussian matrices, relative to HiF4.
//
// 18 matrices of 1024 x 1024 with mean 0 and sigma = 0.01 * 2^x, x = 0..17. The paper (arXiv 2602.11287, section III-A,
// figure 3) reports HiF4 : NVFP4 : MXFP4 = 1 : 1.32 : 1.89, NVFP4 without a tensor scale where its range suffices,
// which is x = 4..16: below, its E4M3 block scales underflow, above they saturate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report_svg.hpp"
#include "results.hpp"
#include "support/synthetic.hpp"

namespace compare_formats {

inline constexpr int gaussian_matrices = 18;
inline constexpr int gaussian_first = 4;  ///< first and last x where nvfp4 without a tensor scale is in range
inline constexpr int gaussian_last = 16;

lowbit::tensor make_gaussian_matrix(int x, std::uint64_t seed);
std::string gaussian_name(int x);

/// One format of the test.
struct gaussian_row {
    std::string name;
    double bits = 0;
    double ratio = 0;  ///< mean over x = first..last of mse / mse of hif4
    double low = 0;    ///< smallest and largest of them
    double high = 0;
    double below = 0;                       ///< at x = 0
    double above = 0;                       ///< at x = 17
    std::optional<double> published_value;  ///< the figure, or the middle of the range
    std::string published;                  ///< figure or range out of the literature, or ""
    double deviation = 0;                   ///< from the published figure, 0.01 = 1 %; 0 inside a range
};

/// Needs a run over all 18 matrices in which hif4 takes part; otherwise empty.
std::vector<gaussian_row> gaussian_rows(const run_report& run);

/// The table, in the order of the formats.
std::string gaussian_table(const run_report& run);

/// The ratios as a picture.
bar_chart gaussian_chart(const run_report& run);

}  // namespace compare_formats
