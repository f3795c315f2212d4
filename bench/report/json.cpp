// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include <lowbit/core/error.hpp>

#include "definitions.hpp"
#include "support/json.hpp"

namespace bench_report {
namespace {

using json = nlohmann::ordered_json;

using support::json_number;

double to_double(const json& value) {
    if (!value.is_string()) return value.get<double>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto text = value.get<std::string>();
    if (text == "inf") return infinity;
    if (text == "-inf") return -infinity;
    throw std::domain_error("'" + text + "' is no number");
}
double to_double(const json& object, const char* key) { return to_double(object.at(key)); }
std::optional<double> to_optional(const json& object, const char* key) {
    return object.at(key).is_null() ? std::nullopt : std::optional<double>(to_double(object, key));
}
std::string text_of(const json& object, const char* key) { return object.at(key).get<std::string>(); }

json of(const environment& machine) {
    return {{"cpu", machine.cpu},       {"isa", machine.isa},           {"cores", machine.cores},
            {"system", machine.system}, {"compiler", machine.compiler}, {"flags", machine.flags},
            {"lowbit", machine.lowbit}, {"commit", machine.commit},     {"date", machine.date}};
}
environment environment_of(const json& o) {
    return {.cpu = text_of(o, "cpu"),
            .isa = text_of(o, "isa"),
            .cores = o.at("cores").get<std::size_t>(),
            .system = text_of(o, "system"),
            .compiler = text_of(o, "compiler"),
            .flags = text_of(o, "flags"),
            .lowbit = text_of(o, "lowbit"),
            .commit = text_of(o, "commit"),
            .date = text_of(o, "date")};
}

json of(const accuracy& one) {
    return {{"format", one.format},
            {"rule", one.rule},
            {"bits", one.bits},
            {"sqnr_db", json_number(one.sqnr_db)},
            {"error", json_number(one.error)},
            {"max_error", json_number(one.max_error)},
            {"input_sqnr_db", json_number(one.input_sqnr_db)},
            {"w4a4", json_number(one.w4a4)},
            {"w4a8", json_number(one.w4a8)},
            {"weight_only", json_number(one.weight_only)}};
}
accuracy accuracy_of(const json& o) {
    return {.format = text_of(o, "format"),
            .rule = text_of(o, "rule"),
            .bits = to_double(o, "bits"),
            .sqnr_db = to_double(o, "sqnr_db"),
            .error = to_double(o, "error"),
            .max_error = to_double(o, "max_error"),
            .input_sqnr_db = to_optional(o, "input_sqnr_db"),
            .w4a4 = to_optional(o, "w4a4"),
            .w4a8 = to_optional(o, "w4a8"),
            .weight_only = to_optional(o, "weight_only")};
}

json of(const tensor_report& tensor) {
    json out{{"name", tensor.name},
             {"dtype", tensor.dtype},
             {"shape", tensor.shape},
             {"rows", tensor.rows},
             {"k", tensor.cols},
             {"input", tensor.input},
             {"input_rows", tensor.input_rows},
             {"energy", json_number(tensor.energy)},
             {"formats", json::array()}};
    for (const accuracy& one : tensor.formats) out["formats"].push_back(of(one));
    return out;
}
tensor_report tensor_of(const json& o) {
    tensor_report out{.name = text_of(o, "name"),
                      .dtype = text_of(o, "dtype"),
                      .shape = o.at("shape").get<std::vector<std::size_t>>(),
                      .rows = o.at("rows").get<std::size_t>(),
                      .cols = o.at("k").get<std::size_t>(),
                      .input = text_of(o, "input"),
                      .input_rows = o.at("input_rows").get<std::size_t>(),
                      .energy = to_double(o, "energy"),
                      .formats = {}};
    for (const json& one : o.at("formats")) out.formats.push_back(accuracy_of(one));
    return out;
}

json of(const speed_row& row) {
    json out{{"format", row.format}, {"rule", row.rule}, {"rates", json::array()}};
    for (const rate& one : row.rates) {
        const bool known = one.ceiling > 0;
        out["rates"].push_back({{"key", one.key},
                                {"unit", definition_of(one.key).unit},
                                {"value", one.value},
                                {"low", one.low},
                                {"high", one.high},
                                {"samples", one.samples},
                                {"ceiling", known ? json(one.ceiling) : json(nullptr)},
                                {"ceiling_kind", known ? json(one.ceiling_kind) : json(nullptr)},
                                {"fraction", json_number(one.fraction())}});
    }
    return out;
}
speed_row speed_of(const json& o) {
    speed_row out{.format = text_of(o, "format"), .rule = text_of(o, "rule"), .rates = {}};
    for (const json& one : o.at("rates")) {
        rate r;
        r.key = text_of(one, "key");
        r.value = to_double(one, "value");
        r.low = to_double(one, "low");
        r.high = to_double(one, "high");
        r.samples = one.at("samples").get<std::size_t>();
        const std::vector<definition>& all = speed_measures();
        if (std::none_of(all.begin(), all.end(), [&](const definition& d) { return d.key == r.key; })) {
            throw std::domain_error("no speed is called '" + r.key + "'");
        }
        r.ceiling = to_optional(one, "ceiling").value_or(0);
        if (r.ceiling > 0) r.ceiling_kind = text_of(one, "ceiling_kind");
        out.rates.push_back(std::move(r));
    }
    return out;
}

json of(const summary_row& row) {
    return {{"format", row.format},
            {"rule", row.rule},
            {"tensors", row.tensors},
            {"bits", row.bits},
            {"sqnr_db", json_number(row.sqnr_db)},
            {"error", json_number(row.error)},
            {"input_sqnr_db", json_number(row.input_sqnr_db)},
            {"w4a4", json_number(row.w4a4)},
            {"w4a8", json_number(row.w4a8)},
            {"weight_only", json_number(row.weight_only)},
            {"worst_sqnr_db", json_number(row.worst_sqnr_db)},
            {"worst_tensor", row.worst_tensor}};
}

json of(const comparison& against) {
    json out{{"file", against.file},
             {"environment", of(against.older)},
             {"warnings", against.warnings},
             {"compared", against.compared},
             {"moved", json::array()}};
    for (const change& one : against.changes) {
        out["moved"].push_back({{"tensor", one.where},
                                {"format", one.format},
                                {"rule", one.rule},
                                {"key", one.key},
                                {"before", json_number(one.before)},
                                {"after", json_number(one.after)},
                                {"noise", one.noise},
                                {"better", one.better}});
    }
    return out;
}

json definitions() {
    json out = json::object();
    for (const auto* list : {&accuracy_measures(), &speed_measures(), &other_definitions()}) {
        for (const definition& d : *list) out[d.key] = d.text;
    }
    return out;
}

}  // namespace

std::string to_json(const report& run) {
    json out{{"schema", json_schema},        {"environment", of(run.machine)},
             {"source", run.source},         {"a8_format", run.a8_format},
             {"quick", run.quick},           {"complete", run.complete},
             {"definitions", definitions()}, {"summary", json::array()},
             {"speeds", json::array()},      {"tensors", json::array()},
             {"skipped", json::array()},     {"against", run.against ? of(*run.against) : json(nullptr)}};
    for (const summary_row& row : summarise(run)) out["summary"].push_back(of(row));
    for (const speed_row& row : run.speeds) out["speeds"].push_back(of(row));
    for (const tensor_report& tensor : run.tensors) out["tensors"].push_back(of(tensor));
    for (const skipped_tensor& each : run.skipped) {
        out["skipped"].push_back({{"name", each.name}, {"reason", each.reason}});
    }
    // a name may hold bytes that are no UTF-8 (a file name): replace them rather than fail at the end of a long run
    return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

report read_json(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw lowbit::io_error(fmt::format("'{}': cannot open", path));
    try {
        const json in = json::parse(file);
        if (!in.is_object() || in.value("schema", "") != json_schema) {
            throw std::domain_error(fmt::format("its schema is not {}", json_schema));
        }
        report out;
        out.machine = environment_of(in.at("environment"));
        out.source = text_of(in, "source");
        out.a8_format = text_of(in, "a8_format");
        out.quick = in.at("quick").get<bool>();
        out.complete = in.at("complete").get<bool>();
        for (const json& tensor : in.at("tensors")) out.tensors.push_back(tensor_of(tensor));
        for (const json& row : in.at("speeds")) out.speeds.push_back(speed_of(row));
        for (const json& each : in.at("skipped"))
            out.skipped.push_back({text_of(each, "name"), text_of(each, "reason")});
        return out;
    } catch (const std::exception& problem) {
        throw lowbit::io_error(fmt::format("'{}': not a report of bench_report: {}", path, problem.what()));
    }
}

}  // namespace bench_report
