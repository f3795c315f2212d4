// SPDX-License-Identifier: Apache-2.0
#include "report_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <lowbit/core/config.hpp>

#include "support/json.hpp"
#include "support/text.hpp"

namespace compare_formats {
namespace {

using json = nlohmann::ordered_json;

using support::csv_number;
using support::json_number;

json of(const measurement& row, bool layer) {
    json out{{"format", row.format},
             {"rule", row.rule},
             {"bits_per_value", row.bits},
             {"sqnr_db", json_number(row.stats.sqnr_db)},
             {"relative_error", json_number(row.stats.relative_error)},
             {"mse", json_number(row.stats.mse)},
             {"max_error", json_number(row.stats.max_abs)},
             {"cosine", row.stats.cosine},
             {"exact", row.stats.exact},
             {"flushed", row.stats.flushed},
             {"saturated", row.stats.saturated},
             {"sign_changed", row.stats.sign_changed},
             {"became_nan", row.stats.nan},
             {"became_inf", row.stats.infinite}};
    if (layer) {
        out["output_error_weights"] = json_number(row.output);
        out["output_error_both"] = json_number(row.output_both);
    }
    return out;
}

}  // namespace

std::string to_json(const run_report& run) {
    json out{{"tool", "compare_formats"},
             {"lowbit", fmt::format("{}.{}.{}", LOWBIT_VERSION_MAJOR, LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH)},
             {"complete", !run.interrupted},
             {"tensors", json::array()},
             {"summary", json::array()},
             {"skipped", json::array()}};
    for (const tensor_report& tensor : run.tensors) {
        const bool layer = !tensor.input.empty();
        json one{{"name", tensor.name},
                 {"dtype", tensor.dtype},
                 {"shape", tensor.shape},
                 {"rows", tensor.rows},
                 {"k", tensor.cols},
                 {"sigma", tensor.sigma},
                 {"max_over_sigma", tensor.peak},
                 {"kurtosis", tensor.kurtosis},
                 {"nonfinite", tensor.nonfinite},
                 {"formats", json::array()}};
        if (layer) one["input"] = {{"name", tensor.input}, {"rows", tensor.input_rows}};
        for (const measurement& row : tensor.formats) one["formats"].push_back(of(row, layer));
        out["tensors"].push_back(std::move(one));
    }
    for (const summary_row& row : summarise(run)) {
        out["summary"].push_back({{"format", row.name},
                                  {"tensors", row.tensors},
                                  {"bits_per_value", row.bits},
                                  {"mean_sqnr_db", json_number(row.mean_sqnr_db)},
                                  {"worst_sqnr_db", json_number(row.worst_sqnr_db)},
                                  {"worst_tensor", row.worst_tensor},
                                  {"relative_error", json_number(row.relative_error)},
                                  {"output_error_weights", json_number(row.output)},
                                  {"output_error_both", json_number(row.output_both)},
                                  {"best_of", row.wins}});
    }
    for (const skipped_tensor& each : run.skipped)
        out["skipped"].push_back({{"name", each.name}, {"reason", each.reason}});
    // a name may hold bytes that are no UTF-8 (a file name): replace them rather than fail at the end of a long run
    return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_csv(const run_report& run) {
    std::string out =
        "tensor,dtype,shape,input,format,rule,bits_per_value,sqnr_db,relative_error,mse,max_error,cosine,count,exact,"
        "flushed,saturated,sign_changed,became_nan,became_inf,output_error_weights,output_error_both\n";
    for (const tensor_report& tensor : run.tensors) {
        for (const measurement& row : tensor.formats) {
            const lowbit::error_stats& s = row.stats;
            out +=
                fmt::format("{},{},{},{},{},{},{:.6g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{},{},{},{},{},{}\n",
                            csv_field(tensor.name), csv_field(tensor.dtype), fmt::join(tensor.shape, "x"),
                            csv_field(tensor.input), row.format, row.rule, row.bits, s.sqnr_db, s.relative_error, s.mse,
                            s.max_abs, s.cosine, s.count, s.exact, s.flushed, s.saturated, s.sign_changed, s.nan,
                            s.infinite, csv_number(row.output), csv_number(row.output_both));
        }
    }
    return out;
}

}  // namespace compare_formats
