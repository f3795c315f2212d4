// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include <fmt/format.h>

#include <optional>

#include "definitions.hpp"
#include "support/text.hpp"

namespace bench_report {
namespace {

using support::csv_field;
using support::csv_number;

/// Lines that differ in their figures only.
class lines {
  public:
    lines(const environment& machine, std::string& out)
        : out_(out),
          end_(fmt::format("{},{},{},{},{},{}", csv_field(machine.cpu), csv_field(machine.isa),
                           csv_field(machine.compiler), csv_field(machine.flags), csv_field(machine.commit),
                           csv_field(machine.date))) {}

    void add(const std::string& tensor, const std::string& format, const std::string& rule, const std::string& key,
             const std::optional<double>& value, const rate* speed = nullptr) {
        if (!value) return;
        out_ += fmt::format("{},{},{},{},{},{}", csv_field(tensor), format, rule, key, definition_of(key).unit,
                            csv_number(value));
        if (speed != nullptr) {
            const bool known = speed->ceiling > 0;
            out_ += fmt::format(",{},{},{},{},{},{}", csv_number(speed->low), csv_number(speed->high), speed->samples,
                                known ? csv_number(speed->ceiling) : "", speed->ceiling_kind,
                                csv_number(speed->fraction()));
        } else {
            out_ += ",,,,,,";
        }
        out_ += "," + end_ + "\n";
    }

    template <class Row>
    void add_errors(const std::string& tensor, const Row& row) {
        const auto one = [&](const char* key, const std::optional<double>& value) {
            add(tensor, row.format, row.rule, key, value);
        };
        one("bits", row.bits);
        one("sqnr_db", row.sqnr_db);
        one("error", row.error);
        one("input_sqnr_db", row.input_sqnr_db);
        one("w4a4", row.w4a4);
        one("w4a8", row.w4a8);
        one("weight_only", row.weight_only);
    }

  private:
    std::string& out_;
    std::string end_;
};

}  // namespace

std::string to_csv(const report& run) {
    std::string out =
        "tensor,format,rule,key,unit,value,low,high,samples,ceiling,ceiling_kind,fraction,cpu,isa,compiler,flags,"
        "commit,"
        "date\n";
    lines all(run.machine, out);
    for (const summary_row& row : summarise(run)) all.add_errors("", row);
    for (const speed_row& row : run.speeds) {
        for (const rate& one : row.rates) all.add("", row.format, row.rule, one.key, one.value, &one);
    }
    for (const tensor_report& tensor : run.tensors) {
        for (const accuracy& row : tensor.formats) {
            all.add_errors(tensor.name, row);
            all.add(tensor.name, row.format, row.rule, "max_error", row.max_error);
        }
    }
    return out;
}

}  // namespace bench_report
