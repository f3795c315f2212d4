// SPDX-License-Identifier: Apache-2.0
// What a run of compare_formats finds out; the reports turn it into text, JSON, CSV and pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lowbit/metrics/error_stats.hpp>

namespace support {}

namespace compare_formats {

using namespace support;  // what this program shares with others goes by its short name

/// One tensor in one format.
struct measurement {
    std::string format;                 ///< "mxfp4"
    std::string rule;                   ///< "ceil"; "" for the default of the format
    bool ranked = true;                 ///< takes part in the choice of the best
    double bits = 0;                    ///< real bits a value, padded tails and tensor scales included
    lowbit::error_stats stats;          ///< of the tensor itself
    std::optional<double> output;       ///< relative error of x w^T, only w quantised
    std::optional<double> output_both;  ///< the same, both quantised

    std::string name() const { return rule.empty() ? format : format + " " + rule; }
};

/// One tensor in all formats asked for.
struct tensor_report {
    std::string name;
    std::string dtype;
    std::vector<std::size_t> shape;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::string input;  ///< name of the activations, or ""
    std::size_t input_rows = 0;
    double energy = 0;  ///< sum of squares
    double sigma = 0;
    double kurtosis = 0;
    double peak = 0;  ///< max |x| / sigma
    std::uint64_t nonfinite = 0;
    std::vector<measurement> formats;
};

struct skipped_tensor {
    std::string name;
    std::string reason;
};

struct run_report {
    std::vector<tensor_report> tensors;
    std::vector<skipped_tensor> skipped;
    bool interrupted = false;
};

/// One format over all tensors.
struct summary_row {
    std::string name;
    bool ranked = true;
    std::size_t tensors = 0;
    double bits = 0;           ///< over all values
    double mean_sqnr_db = 0;   ///< mean over tensors
    double worst_sqnr_db = 0;  ///< of the tensor that suffers most
    std::string worst_tensor;
    double relative_error = 0;  ///< root of all squared errors over all squared values
    double lowest_error = 0;    ///< smallest and largest relative error of a tensor
    double highest_error = 0;
    std::optional<double> output;  ///< means over the layers with activations
    std::optional<double> output_both;
    std::size_t wins = 0;  ///< tensors where it has the least error among the ranked formats
};

/// Formats are ranked against each other up to this size: hif8 takes nearly twice the bits of the others.
inline constexpr double most_ranked_bits = 6;

/// Index of the ranked measurement with the least relative error.
std::optional<std::size_t> best_format(const tensor_report& report);

/// One row a format, in the order of the first tensor.
std::vector<summary_row> summarise(const run_report& run);

}  // namespace compare_formats
