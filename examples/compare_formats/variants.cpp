// SPDX-License-Identifier: Apache-2.0
#include "variants.hpp"

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

}  // namespace

std::vector<variant> select_variants(const rule_choice& choice) {
    choice.check();
    std::vector<variant> out;
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        for (const auto& [rule, options] : rules_of<F>()) {
            if (choice.takes(std::string(F::name), rule)) out.push_back(make<F>(rule, options));
        }
    });
    return out;
}

}  // namespace compare_formats
