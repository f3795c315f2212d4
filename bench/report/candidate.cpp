// SPDX-License-Identifier: Apache-2.0
#include "candidate.hpp"

#include <map>
#include <utility>

namespace bench_report {

namespace {

using maker = std::vector<candidate> (*)();

std::map<std::string_view, maker>& makers() {
    static std::map<std::string_view, maker> all;
    return all;
}

}  // namespace

bool add_format(std::string_view format, maker make) { return makers().emplace(format, make).second; }

std::vector<candidate> select_candidates(const support::rule_choice& choice) {
    choice.check();
    std::vector<candidate> out;
    for (const std::string& format : support::format_names()) {
        for (candidate& each : makers().at(format)()) {
            if (choice.takes(each.format, each.rule)) out.push_back(std::move(each));
        }
    }
    return out;
}

}  // namespace bench_report
