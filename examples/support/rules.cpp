// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace support {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

std::vector<std::string> format_names() {
    std::vector<std::string> out;
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) { out.emplace_back(F::name); });
    return out;
}

std::vector<std::string> rule_names(const std::string& format) {
    std::vector<std::string> out;
    lowbit::visit_format(format, [&]<class F>(std::type_identity<F>) {
        for (const auto& [name, options] : rules_of<F>()) {
            if (!name.empty()) out.push_back(name);
        }
    });
    return out;
}

void rule_choice::check() const {
    const std::vector<std::string> names = format_names();
    std::vector<std::string> known;
    for (const std::string& name : formats) {
        if (!contains(names, name)) {
            throw std::invalid_argument(
                fmt::format("--formats '{}': the formats are {}", name, fmt::join(names, ", ")));
        }
    }
    for (const std::string& name : formats.empty() ? names : formats) {
        for (std::string& rule : rule_names(name)) known.push_back(std::move(rule));
    }
    // The default rules run in any case; naming one is no mistake.
    const std::vector<std::string> defaults{"floor", "amct", "transformer_engine", "ties_away", "matrix"};
    for (const std::string& name : rules) {
        if (name != "all" && !contains(defaults, name) && !contains(known, name)) {
            throw std::invalid_argument(
                fmt::format("--rules '{}': the rules of these formats are {}", name, fmt::join(known, ", ")));
        }
    }
}

bool rule_choice::takes(const std::string& format, const std::string& rule) const {
    if (!formats.empty() && !contains(formats, format)) return false;
    return rule.empty() || contains(rules, "all") || contains(rules, rule);
}

}  // namespace support
