// SPDX-License-Identifier: Apache-2.0
// The formats and their rules by name: each format of the library's registry, and the ways in which it can be encoded.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/options.hpp>

namespace support {

/// A rule's name, "" for the default options of the format, and its options.
template <class F>
using named_rule = std::pair<std::string, lowbit::quantize_options<F>>;

/// All rules of format F, the default first.
template <class F>
std::vector<named_rule<F>> rules_of() {
    std::vector<named_rule<F>> out;
    const auto add = [&out](const char* name, const lowbit::quantize_options<F>& options) {
        out.emplace_back(name, options);
    };
    add("", {});
    if constexpr (std::is_same_v<F, lowbit::hif4>) {
        add("reference", {.format = {.rounding = lowbit::hif4_rounding::reference}});
        add("ascend_a6", {.format = {.rounding = lowbit::hif4_rounding::ascend_a6}});
    } else if constexpr (std::is_same_v<F, lowbit::hif8>) {
        add("nearest_even", {.format = {.rounding = lowbit::hif8_rounding::nearest_even}});
        add("hybrid", {.format = {.rounding = lowbit::hif8_rounding::hybrid}});
        add("toward_zero", {.format = {.rounding = lowbit::hif8_rounding::toward_zero}});
        add("saturate", {.format = {.overflow = lowbit::overflow::saturate}});
    } else if constexpr (std::is_same_v<F, lowbit::mxfp4>) {
        using rule = lowbit::mxfp4_scale_rule;
        add("ceil", {.format = {.scale_rule = rule::ceil}});
        add("rceil", {.format = {.scale_rule = rule::rceil}});
        add("even", {.format = {.scale_rule = rule::even}});
        add("oas", {.format = {.scale_rule = rule::oas}});
        add("uos", {.format = {.scale_rule = rule::uos}});
        add("search", {.format = {.scale_rule = rule::search}});
    } else if constexpr (std::is_same_v<F, lowbit::nvfp4>) {
        add("no_tensor_scale", {.tensor_scale = {.kind = lowbit::tensor_scale_kind::none}});
        add("row_scale", {.tensor_scale = {.kind = lowbit::tensor_scale_kind::row}});
        add("division", {.format = {.order = lowbit::nvfp4_order::division}});
        add("four_over_six", {.format = {.four_over_six = true}});
    }
    return out;
}

/// What the activations of a layer are quantised to when its weights are in F.
template <class F>
using input_format = std::conditional_t<std::is_same_v<F, lowbit::m2xfp_weight>, lowbit::m2xfp_activation, F>;

/// Names of all formats, in the order of the registry.
std::vector<std::string> format_names();

/// Names of the rules of a format, without the default.
std::vector<std::string> rule_names(const std::string& format);

/// Which formats and rules a run is about.
struct rule_choice {
    std::vector<std::string> formats;  ///< empty: all
    std::vector<std::string> rules;    ///< besides the defaults; "all": every rule

    /// Throws std::invalid_argument for a name that fits nothing.
    void check() const;
    bool takes(const std::string& format, const std::string& rule) const;
};

}  // namespace support
