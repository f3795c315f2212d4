// SPDX-License-Identifier: Apache-2.0
#include "variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/metrics/error_stats.hpp>

namespace compare_formats {
namespace {

template <class F>
using options_of = lowbit::quantize_options<F>;

/// What the activations of a layer are quantised to when its weights are in F.
template <class F>
using input_format = std::conditional_t<std::is_same_v<F, lowbit::m2xfp_weight>, lowbit::m2xfp_activation, F>;

template <class F>
lowbit::quantized_matrix<F> quantise(float_view x, options_of<F> options, const lowbit::executor& runner) {
    options.executor = runner;
    return lowbit::quantize<F>(x, options);
}

template <class F>
void restore(const lowbit::quantized_matrix<F>& quantised, std::vector<float>& out, const lowbit::executor& runner) {
    out.resize(quantised.rows() * quantised.cols());
    lowbit::dequantize(quantised, lowbit::matrix_view<float>(out.data(), quantised.rows(), quantised.cols()),
                       {.executor = runner});
}

template <class F>
variant make(std::string rule, const options_of<F>& options = {}) {
    variant out;
    out.format = std::string(F::name);
    out.rule = std::move(rule);
    out.ranked = F::bits_per_value <= most_ranked_bits;
    out.measure = [options](float_view x, std::vector<float>* restored, const lowbit::executor& runner) {
        const lowbit::quantized_matrix<F> quantised = quantise<F>(x, options, runner);
        measurement result;
        result.bits = quantised.bits_per_value();
        result.stats = lowbit::compare(x, quantised, runner);
        if (restored != nullptr) restore(quantised, *restored, runner);
        return result;
    };
    if constexpr (!std::is_same_v<F, lowbit::m2xfp_activation>) {  // which is no format for weights
        using G = input_format<F>;
        options_of<G> same;
        if constexpr (std::is_same_v<F, G>) same = options;
        // as gemm does on the fly: a row's scale depends on no other row
        if (G::has_tensor_scale && same.tensor_scale.kind == lowbit::tensor_scale_kind::matrix) {
            same.tensor_scale.kind = lowbit::tensor_scale_kind::row;
        }
        out.restore_input = [same](float_view x, std::vector<float>& restored, const lowbit::executor& runner) {
            restore(quantise<G>(x, same, runner), restored, runner);
        };
    }
    return out;
}

template <class F>
void add_rules(std::vector<variant>&) {}

template <>
void add_rules<lowbit::hif4>(std::vector<variant>& out) {
    out.push_back(make<lowbit::hif4>("reference", {.format = {.rounding = lowbit::hif4_rounding::reference}}));
    out.push_back(make<lowbit::hif4>("ascend_a6", {.format = {.rounding = lowbit::hif4_rounding::ascend_a6}}));
}

template <>
void add_rules<lowbit::hif8>(std::vector<variant>& out) {
    out.push_back(make<lowbit::hif8>("nearest_even", {.format = {.rounding = lowbit::hif8_rounding::nearest_even}}));
    out.push_back(make<lowbit::hif8>("hybrid", {.format = {.rounding = lowbit::hif8_rounding::hybrid}}));
    out.push_back(make<lowbit::hif8>("toward_zero", {.format = {.rounding = lowbit::hif8_rounding::toward_zero}}));
    out.push_back(make<lowbit::hif8>("saturate", {.format = {.overflow = lowbit::overflow::saturate}}));
}

template <>
void add_rules<lowbit::mxfp4>(std::vector<variant>& out) {
    using rule = lowbit::mxfp4_scale_rule;
    const std::pair<const char*, rule> rules[] = {{"ceil", rule::ceil}, {"rceil", rule::rceil},
                                                  {"even", rule::even}, {"oas", rule::oas},
                                                  {"uos", rule::uos},   {"search", rule::search}};
    for (const auto& [name, value] : rules) out.push_back(make<lowbit::mxfp4>(name, {.format = {.scale_rule = value}}));
}

template <>
void add_rules<lowbit::nvfp4>(std::vector<variant>& out) {
    using lowbit::nvfp4;
    using lowbit::tensor_scale_kind;
    constexpr auto division = lowbit::nvfp4_order::division;
    out.push_back(make<nvfp4>("no_tensor_scale", {.tensor_scale = {.kind = tensor_scale_kind::none}}));
    out.push_back(make<nvfp4>("row_scale", {.tensor_scale = {.kind = tensor_scale_kind::row}}));
    out.push_back(make<nvfp4>("division", {.format = {.order = division}}));
    out.push_back(make<nvfp4>("four_over_six", {.format = {.four_over_six = true}}));
}

std::vector<variant> all_variants() {
    std::vector<variant> out;
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        out.push_back(make<F>(""));
        add_rules<F>(out);
    });
    return out;
}

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
    for (const variant& each : all_variants()) {
        if (each.format == format && !each.rule.empty()) out.push_back(each.rule);
    }
    return out;
}

std::vector<variant> select_variants(const std::vector<std::string>& formats, const std::vector<std::string>& rules) {
    const std::vector<std::string> names = format_names();
    for (const std::string& name : formats) {
        if (!contains(names, name)) {
            throw std::invalid_argument(
                fmt::format("--formats '{}': the formats are {}", name, fmt::join(names, ", ")));
        }
    }
    std::vector<variant> out;
    std::vector<std::string> known;
    for (variant& each : all_variants()) {
        if (!formats.empty() && !contains(formats, each.format)) continue;
        if (!each.rule.empty()) known.push_back(each.rule);
        if (each.rule.empty() || contains(rules, "all") || contains(rules, each.rule)) out.push_back(std::move(each));
    }
    // The default rules run in any case; naming one is no mistake.
    const std::vector<std::string> defaults{"floor", "amct", "transformer_engine", "ties_away", "matrix"};
    for (const std::string& name : rules) {
        if (name != "all" && !contains(defaults, name) && !contains(known, name)) {
            throw std::invalid_argument(
                fmt::format("--rules '{}': the rules of these formats are {}", name, fmt::join(known, ", ")));
        }
    }
    return out;
}

}  // namespace compare_formats
