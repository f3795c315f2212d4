// SPDX-License-Identifier: Apache-2.0
// What a report holds: errors by tensor and format, speeds by format, and where all of it was measured. The writers
// (text, JSON, CSV, HTML) know nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench_report {

struct environment {
    std::string cpu;
    std::string isa;  ///< the row of kernels in use: "avx512vbmi"
    std::size_t cores = 0;
    std::string system;
    std::string compiler;
    std::string flags;
    std::string lowbit;  ///< version
    std::string commit;
    std::string date;  ///< UTC, ISO 8601
};

/// One tensor in one format. Errors are relative; figures may be infinite (see lowbit::error_stats).
struct accuracy {
    std::string format;
    std::string rule;  ///< "" for the default of the format
    double bits = 0;   ///< stored bits a value: scales, padded tails and tensor scales included
    double sqnr_db = 0;
    double error = 0;
    double max_error = 0;
    std::optional<double> input_sqnr_db;  ///< of the activations
    std::optional<double> w4a4;           ///< errors of the layer's output
    std::optional<double> w4a8;
    std::optional<double> weight_only;

    std::string name() const { return rule.empty() ? format : format + " " + rule; }
};

struct tensor_report {
    std::string name;
    std::string dtype;
    std::vector<std::size_t> shape;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::string input;  ///< name of the activations, or ""
    std::size_t input_rows = 0;
    double energy = 0;  ///< sum of squares of the finite values
    std::vector<accuracy> formats;
};

/// One speed: the median of its samples, their quartiles, and the machine's ceiling found next to them.
struct rate {
    std::string key;  ///< one of speed_measures()
    double value = 0;
    double low = 0;   ///< first quartile
    double high = 0;  ///< third quartile
    std::size_t samples = 0;
    double ceiling = 0;  ///< in the unit of value; 0 where this machine has no probe for it
    std::string ceiling_kind;
    std::vector<double> all;  ///< the samples, while measuring

    std::optional<double> fraction() const {
        return ceiling > 0 ? std::optional<double>(value / ceiling) : std::nullopt;
    }
};

struct speed_row {
    std::string format;
    std::string rule;
    std::vector<rate> rates;

    std::string name() const { return rule.empty() ? format : format + " " + rule; }
    const rate* find(const std::string& key) const;
};

struct skipped_tensor {
    std::string name;
    std::string reason;
};

/// One format over all tensors: figures of definitions() with the same keys.
struct summary_row {
    std::string format;
    std::string rule;
    std::size_t tensors = 0;
    double bits = 0;                      ///< over all values
    double sqnr_db = 0;                   ///< mean over tensors
    double error = 0;                     ///< root of all squared errors over all squared values
    std::optional<double> input_sqnr_db;  ///< means over layers
    std::optional<double> w4a4;
    std::optional<double> w4a8;
    std::optional<double> weight_only;
    double worst_sqnr_db = 0;
    std::string worst_tensor;

    std::string name() const { return rule.empty() ? format : format + " " + rule; }
};

/// What moved against an older report.
struct change {
    std::string where;  ///< "" for the figures over all tensors and the speeds, or a tensor's name
    std::string format;
    std::string rule;
    std::string key;
    double before = 0;
    double after = 0;
    double noise = 0;  ///< the relative difference that counts as none
    bool better = false;
};

struct comparison {
    std::string file;
    environment older;
    std::vector<std::string> warnings;  ///< what makes the two hard to compare: another machine, another input
    std::size_t compared = 0;           ///< figures found in both
    std::vector<change> changes;

    const change* find(const std::string& format, const std::string& rule, const std::string& key,
                       const std::string& where = "") const;
};

struct report {
    environment machine;
    std::string source;
    std::string a8_format;  ///< of the activations in W4A8
    bool quick = false;     ///< speeds measured on small matrices
    bool complete = true;
    std::vector<tensor_report> tensors;
    std::vector<speed_row> speeds;
    std::vector<skipped_tensor> skipped;
    std::optional<comparison> against;
};

/// One row a format, in the order of the first tensor.
std::vector<summary_row> summarise(const report& run);

/// The formats of a report in order, those with speeds only included: (format, rule).
std::vector<std::pair<std::string, std::string>> rows_of(const report& run);

}  // namespace bench_report
