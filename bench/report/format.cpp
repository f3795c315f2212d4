// SPDX-License-Identifier: Apache-2.0
// The measurements of one format, LOWBIT_REPORT_FORMAT: this file is compiled once for each entry of the registry, so
// that the products of a format are compiled apart from those of the others.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <lowbit/block/int8_block.hpp>
#include <lowbit/block/mxint8.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/weight_only.hpp>
#include <lowbit/metrics/error_stats.hpp>
#include <lowbit/pack/pack.hpp>

#include "candidate.hpp"

namespace bench_report {
namespace {

using F = lowbit::LOWBIT_REPORT_FORMAT;
using G = support::input_format<F>;
using rules = lowbit::quantize_options<F>;

constexpr bool for_weights = !std::is_same_v<F, lowbit::m2xfp_activation>;
/// Whether products of F with the integer lanes of A8 exist.
template <class A8>
constexpr bool has_product = lowbit::lane_traits<A8>::integer;

// What follows about products goes unused where F is no format for weights.

/// How a product quantises float activations under these rules: the same options, a tensor scale from each row.
lowbit::quantize_options<G> input_rules(const rules& chosen, const lowbit::executor& runner) {
    lowbit::quantize_options<G> out;
    if constexpr (std::is_same_v<F, G>) out.format = chosen.format;
    out.tensor_scale.kind = lowbit::tensor_scale_kind::row;
    out.executor = runner;
    return out;
}

lowbit::quantized_matrix<F> quantised(float_view x, rules chosen, const lowbit::executor& runner = {}) {
    chosen.executor = runner;
    return lowbit::quantize<F>(x, chosen);
}

/// Calls use(std::type_identity<A8>{}) for the format of this name.
template <class Use>
void visit_a8(const std::string& name, const Use& use) {
    if (name == lowbit::int8_block::name) {
        use(std::type_identity<lowbit::int8_block>{});
    } else {
        use(std::type_identity<lowbit::mxint8>{});
    }
}

/// x as it comes back from blocks of A8, one block after the other.
template <class A8>
std::vector<float> through_blocks(float_view x, const lowbit::executor& runner) {
    std::vector<float> out(x.rows() * x.cols());
    runner.for_each(x.rows(), [&](std::size_t i) {
        for (std::size_t k = 0; k < x.cols(); k += A8::block_size) {
            std::array<float, A8::block_size> values{};
            const std::size_t used = std::min(A8::block_size, x.cols() - k);
            std::copy_n(x.row(i) + k, used, values.begin());
            A8::decode(A8::encode(values), values);
            std::copy_n(values.begin(), used, out.begin() + static_cast<std::ptrdiff_t>(i * x.cols() + k));
        }
    });
    return out;
}

/// The relative error of a layer's output.
double output_error(const layer& recorded, const std::vector<float>& y, const lowbit::executor& runner) {
    const std::size_t rows = recorded.input.rows();
    const std::size_t cols = rows == 0 ? 0 : y.size() / rows;
    return lowbit::compare(lowbit::matrix_view<const double>(recorded.exact.data(), rows, cols),
                           lowbit::matrix_view<const float>(y.data(), rows, cols), runner)
        .relative_error;
}

[[maybe_unused]] void layer_errors(const lowbit::quantized_matrix<F>& weights, const rules& chosen,
                                   const layer& recorded, const lowbit::executor& runner, accuracy& out) {
    const lowbit::packed_matrix<F> packed = lowbit::pack(weights);
    const float_view x = recorded.input;
    std::vector<float> y(x.rows() * weights.rows());
    const lowbit::matrix_view<float> view(y.data(), x.rows(), weights.rows());
    const lowbit::gemm_options options{.executor = runner};

    const lowbit::quantize_options<G> same = input_rules(chosen, runner);
    out.input_sqnr_db = lowbit::compare(x, lowbit::quantize<G>(x, same), runner).sqnr_db;
    lowbit::gemm<G>(x, packed, view, options, same.format);
    out.w4a4 = output_error(recorded, y, runner);
    lowbit::gemm_weight_only(x, packed, view, options);
    out.weight_only = output_error(recorded, y, runner);
    visit_a8(recorded.a8_format, [&]<class A8>(std::type_identity<A8>) {
        if constexpr (has_product<A8>) {
            lowbit::gemm<A8>(x, packed, view, options);
        } else {
            const std::vector<float> restored = through_blocks<A8>(x, runner);
            lowbit::gemm_weight_only(float_view(restored.data(), x.rows(), x.cols()), packed, view, options);
        }
        out.w4a8 = output_error(recorded, y, runner);
    });
}

accuracy errors(const rules& chosen, float_view weights, const layer* recorded, const lowbit::executor& runner) {
    const lowbit::quantized_matrix<F> q = quantised(weights, chosen, runner);
    const lowbit::error_stats stats = lowbit::compare(weights, q, runner);
    accuracy out;
    out.bits = q.bits_per_value();
    out.sqnr_db = stats.sqnr_db;
    out.error = stats.relative_error;
    out.max_error = stats.max_abs;
    if constexpr (for_weights) {
        if (recorded != nullptr) layer_errors(q, chosen, *recorded, runner, out);
    } else if (recorded != nullptr) {
        out.input_sqnr_db =
            lowbit::compare(recorded->input, quantised(recorded->input, chosen, runner), runner).sqnr_db;
    }
    return out;
}

void codec_speeds(const rules& chosen, const speed_sizes& sizes, const rate_sink& sink) {
    const lowbit::aligned_buffer<float>& x = normal_values(sizes.columns, sizes.depth);
    const float_view view(x.data(), sizes.columns, sizes.depth);
    const std::size_t bytes = x.size() * sizeof(float);
    const double work = static_cast<double>(bytes) / 1e9;
    lowbit::quantized_matrix<F> q;
    sink(measure(
        "quantise", work, sizes.seconds, [&] { q = lowbit::quantize<F>(view, chosen); }, read_ceiling));
    lowbit::aligned_buffer<float> out = zeros(x.size());
    const lowbit::matrix_view<float> restored(out.data(), sizes.columns, sizes.depth);
    sink(measure(
        "dequantise", work, sizes.seconds, [&] { lowbit::dequantize(q, restored); },
        [&] { return fill_ceiling(out.data(), bytes); }));
}

/// Weights of `columns` rows that repeat the blocks of fewer: the time to make 32768 x 4096 floats is better spent.
lowbit::packed_matrix<F> packed_weights(const rules& chosen, std::size_t columns, const speed_sizes& sizes) {
    const std::size_t fewer = std::min(columns, std::size_t{1024});
    const lowbit::aligned_buffer<float>& w = normal_values(fewer, sizes.depth);
    const lowbit::quantized_matrix<F> part = quantised(float_view(w.data(), fewer, sizes.depth), chosen);
    std::vector<typename F::block> blocks;
    std::vector<float> scales;
    blocks.reserve(columns * part.blocks_per_row());
    for (std::size_t row = 0; row < columns; ++row) {
        const auto source = part.row(row % fewer);
        blocks.insert(blocks.end(), source.begin(), source.end());
        if (part.row_scales()) scales.push_back(part.tensor_scale(row % fewer));
    }
    if (F::has_tensor_scale && scales.empty()) scales.push_back(part.tensor_scale());
    return lowbit::pack(lowbit::quantized_matrix<F>::from_blocks(columns, sizes.depth, blocks, scales));
}

/// The products of `rows` rows of activations, W4A4, W4A8 and weights only, under names that begin with `prefix`.
[[maybe_unused]] void products(const std::string& prefix, std::size_t rows, std::size_t columns, bool decode,
                               const rules& chosen, const speed_sizes& sizes, const std::string& a8_format,
                               const rate_sink& sink) {
    const lowbit::packed_matrix<F> packed = packed_weights(chosen, columns, sizes);
    const lowbit::aligned_buffer<float>& x = normal_values(rows, sizes.depth);
    const float_view input(x.data(), rows, sizes.depth);
    lowbit::aligned_buffer<float> y = zeros(rows * columns);
    const lowbit::matrix_view<float> out(y.data(), rows, columns);
    const double work =
        static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(sizes.depth) / 1e9;

    const auto limit = [decode](bool integer) {
        const ceiling arithmetic = integer ? dot_ceiling() : fma_ceiling();
        if (!decode) return arithmetic;
        ceiling memory = read_ceiling();
        memory.value *= 8 / F::bits_per_value;
        return smaller(memory, arithmetic);
    };
    const bool integer = lowbit::lane_traits<F>::integer;
    sink(measure(
        prefix + "w4a4", work, sizes.seconds,
        [&] { lowbit::gemm<G>(input, packed, out, {}, input_rules(chosen, {}).format); },
        [&] { return limit(integer); }));
    visit_a8(a8_format, [&]<class A8>(std::type_identity<A8>) {
        if constexpr (has_product<A8>) {
            sink(measure(
                prefix + "w4a8", work, sizes.seconds, [&] { lowbit::gemm<A8>(input, packed, out); },
                [&] { return limit(integer); }));
        }
    });
    sink(measure(
        prefix + "weight_only", work, sizes.seconds, [&] { lowbit::gemm_weight_only(input, packed, out); },
        [&] { return limit(false); }));
}

std::vector<candidate> candidates() {
    std::vector<candidate> out;
    for (const auto& [rule, chosen] : support::rules_of<F>()) {
        candidate one;
        one.format = std::string(F::name);
        one.rule = rule;
        one.errors = [name = rule, options = chosen](float_view weights, const layer* recorded,
                                                     const lowbit::executor& runner) {
            accuracy result = errors(options, weights, recorded, runner);
            result.format = std::string(F::name);
            result.rule = name;
            return result;
        };
        one.codec_speeds = [options = chosen](const speed_sizes& sizes, const rate_sink& sink) {
            codec_speeds(options, sizes, sink);
        };
        if constexpr (for_weights) {
            one.product_speeds = [options = chosen](const speed_sizes& sizes, const std::string& a8_format,
                                                    const rate_sink& sink) {
                products("gemm_", sizes.rows, sizes.columns, false, options, sizes, a8_format, sink);
                products("decode_", 1, sizes.decode_columns, true, options, sizes, a8_format, sink);
            };
        }
        out.push_back(std::move(one));
    }
    return out;
}

[[maybe_unused]] const bool known = add_format(F::name, candidates);

}  // namespace
}  // namespace bench_report
