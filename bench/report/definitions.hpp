// SPDX-License-Identifier: Apache-2.0
// The figures of a report: name, unit and definition of each. Every output takes its texts from here.
#pragma once

#include <string>
#include <vector>

namespace bench_report {

struct definition {
    std::string key;    ///< as in JSON and CSV
    std::string title;  ///< of a column
    std::string unit;
    bool more_is_better = false;
    std::string text;  ///< the definition: complete sentences
};

/// Figures of a tensor and of all tensors: bits, sqnr_db, error, ...
const std::vector<definition>& accuracy_measures();

/// Speeds: quantise, dequantise, gemm_*, decode_*.
const std::vector<definition>& speed_measures();

/// What ceilings, fractions and changes mean.
const std::vector<definition>& other_definitions();

/// The definition of `key`, which exists.
const definition& definition_of(const std::string& key);

/// The words of a ceiling's kind: "read" -> "reading memory".
std::string ceiling_text(const std::string& kind);

}  // namespace bench_report
