// SPDX-License-Identifier: Apache-2.0
// Quantising and dequantising: GB/s of floats for each format, option and instruction set, and the fraction of the
// machine's ceiling, measured right before the row in the same process.
//
//   quantize/FORMAT[:OPTION]/ISA      64 MiB of floats, 4096 x 4096, random; against reading 512 MiB
//   dequantize/FORMAT/ISA             64 MiB of floats out; against a fill of the same output with full-width stores
//   lower/FORMAT/ISA                  to the int8 lanes of the matrix product, against reading
//   quantize/hif8:hybrid/TYPE/ISA     from bfloat16 or float16, counted as floats; against reading
//   quantize_transposed/FORMAT/ISA    what quantize_transposed does (its result is made, too), of the same matrix;
//                                     `row_wise` and `of_rows`: what quantize does, measured in turns with it
//   matrix_quantize, matrix_dequantize/FORMAT     the public functions, with the instruction set in use
//
// bench_codec --benchmark_repetitions=5 --benchmark_report_aggregates_only=true [--benchmark_filter=...]
// LOWBIT_BENCH_HUGE_PAGES=1 in the environment asks for huge pages for the floats (the default is what malloc gives).

#include <sys/mman.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/block/registry.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/convert/transpose.hpp>
#include <lowbit/kernel/table.hpp>

#include "support/memory_probe.hpp"
#include "support/random_data.hpp"

namespace lowbit::bench {
namespace {

constexpr std::size_t rows = 4096;
constexpr std::size_t cols = 4096;
constexpr std::size_t float_bytes = rows * cols * sizeof(float);

aligned_buffer<float>& source() {
    static aligned_buffer<float> data = [] {
        aligned_buffer<float> fresh(rows * cols);
        if (std::getenv("LOWBIT_BENCH_HUGE_PAGES") != nullptr) madvise(fresh.data(), float_bytes, MADV_HUGEPAGE);
        fill_normal(fresh.data(), rows, cols);
        return fresh;
    }();
    return data;
}

aligned_buffer<float>& output() {
    static aligned_buffer<float> data = [] {
        aligned_buffer<float> fresh(rows * cols);
        if (std::getenv("LOWBIT_BENCH_HUGE_PAGES") != nullptr) madvise(fresh.data(), float_bytes, MADV_HUGEPAGE);
        return fresh;
    }();
    return data;
}

/// An option of a format with its name in the report; the default has none.
template <class F>
using named_options = std::vector<std::pair<std::string, typename F::options>>;

template <class F>
named_options<F> options_of() {
    if constexpr (std::is_same_v<F, mxfp4>) {
        return {{"", {}}, {":rceil", {mxfp4_scale_rule::rceil}}, {":search", {mxfp4_scale_rule::search}}};
    } else if constexpr (std::is_same_v<F, nvfp4>) {
        return {
            {"", {}}, {":division", {nvfp4_order::division, false}}, {":four_over_six", {nvfp4_order::division, true}}};
    } else if constexpr (std::is_same_v<F, hif4>) {
        return {{"", {}}, {":reference", {hif4_rounding::reference}}, {":ascend_a6", {hif4_rounding::ascend_a6}}};
    } else if constexpr (std::is_same_v<F, hif8>) {
        return {{"", {}},
                {":nearest_even", {.rounding = hif8_rounding::nearest_even}},
                {":toward_zero", {.rounding = hif8_rounding::toward_zero}},
                {":hybrid", {.rounding = hif8_rounding::hybrid}},
                {":stochastic", {.rounding = hif8_rounding::stochastic, .seed = 1}}};
    } else {
        return {{"", {}}};
    }
}

/// A tensor scale that suits the data.
template <class F>
encode_context context_of() {
    encode_context context;
    if constexpr (F::has_tensor_scale) {
        const auto scales = F::scales_from_amax(kernel::rows(isa::scalar).amax(source().data(), rows * cols));
        context.tensor_scale = scales.tensor_scale;
        context.encode_scale = scales.encode_scale;
    }
    return context;
}

void report(benchmark::State& state, double ceiling) {
    using benchmark::Counter;
    state.counters["B/s"] = Counter(static_cast<double>(float_bytes), Counter::kIsIterationInvariantRate);
    state.counters["ceiling"] = ceiling;
    state.counters["fraction"] =
        Counter(static_cast<double>(float_bytes) / ceiling, Counter::kIsIterationInvariantRate);
}

template <class F>
using blocks_of = std::vector<typename F::block>;

template <class F>
void quantize_rows(benchmark::State& state, isa which, const typename F::options& options) {
    const auto& codec = kernel::codec<F>(which);
    const encode_context context = context_of<F>();
    constexpr std::size_t per_row = cols / F::block_size;
    blocks_of<F> blocks(rows * per_row);
    const arch::fp_guard guard;
    const double ceiling = read_ceiling();
    for (auto _ : state) {
        for (std::size_t r = 0; r < rows; ++r) {
            codec.encode_row(source().data() + r * cols, cols, blocks.data() + r * per_row, options, context);
        }
        benchmark::ClobberMemory();
    }
    report(state, ceiling);
}

template <class F>
void dequantize_rows(benchmark::State& state, isa which) {
    const auto& codec = kernel::codec<F>(which);
    const encode_context context = context_of<F>();
    constexpr std::size_t per_row = cols / F::block_size;
    blocks_of<F> blocks(rows * per_row);
    const arch::fp_guard guard;
    kernel::codec<F>().encode_row(source().data(), rows * cols, blocks.data(), {}, context);
    const double ceiling = fill_ceiling(output().data(), float_bytes);
    for (auto _ : state) {
        for (std::size_t r = 0; r < rows; ++r) {
            codec.decode_row(blocks.data() + r * per_row, cols, output().data() + r * cols, context.tensor_scale);
        }
        benchmark::ClobberMemory();
    }
    report(state, ceiling);
}

template <class F>
void lower_rows(benchmark::State& state, isa which) {
    const auto& codec = kernel::codec<F>(which);
    const encode_context context = context_of<F>();
    std::vector<kernel::lane_type<F>> lanes(cols);
    std::vector<float> scales(cols / F::block_size);
    const arch::fp_guard guard;
    const double ceiling = read_ceiling();
    for (auto _ : state) {
        for (std::size_t r = 0; r < rows; ++r) {
            codec.lower_row(source().data() + r * cols, cols, lanes.data(), scales.data(), {}, context);
        }
        benchmark::ClobberMemory();
    }
    report(state, ceiling);
}

/// Options with a given tensor scale: no pass for the maximum.
template <class F>
quantize_options<F> one_pass() {
    quantize_options<F> options;
    if constexpr (F::has_tensor_scale) {
        options.tensor_scale.kind = tensor_scale_kind::given;
        options.tensor_scale.value = context_of<F>().tensor_scale;
    }
    return options;
}

template <class F>
void matrix_quantize(benchmark::State& state) {
    const matrix_view<const float> x(source().data(), rows, cols);
    const quantize_options<F> options = one_pass<F>();
    const double ceiling = read_ceiling();
    for (auto _ : state) benchmark::DoNotOptimize(quantize<F>(x, options));
    report(state, ceiling);
}

template <class Body>
double seconds(Body&& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class F>
void quantize_columns(benchmark::State& state, isa which) {
    const detail::row_codec<F> codec{kernel::codec<F>(which), which};
    const matrix_view<const float> x(source().data(), rows, cols);
    const quantize_options<F> options = one_pass<F>();
    double by_rows = 0, by_columns = 0;
    for (auto _ : state) {
        by_rows += seconds([&] { benchmark::DoNotOptimize(detail::quantize(x, options, codec)); });
        const double mine = seconds([&] { benchmark::DoNotOptimize(detail::quantize_transposed(x, options, codec)); });
        by_columns += mine;
        state.SetIterationTime(mine);
    }
    const double total = static_cast<double>(float_bytes) * static_cast<double>(state.iterations());
    state.counters["B/s"] = total / by_columns;
    state.counters["row_wise"] = total / by_rows;
    state.counters["of_rows"] = by_rows / by_columns;
}

/// Hybrid rounding of a 16-bit source, through the row of the table.
template <class T>
void quantize_hybrid(benchmark::State& state, isa which) {
    const detail::row_codec<hif8> codec{kernel::codec<hif8>(which), which};
    const hif8::options options{.rounding = hif8_rounding::hybrid};
    aligned_buffer<T> x(rows * cols);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = T::from_float(source()[i]);
    blocks_of<hif8> blocks(rows * cols);
    const arch::fp_guard guard;
    const double ceiling = read_ceiling();
    for (auto _ : state) {
        for (std::size_t r = 0; r < rows; ++r) {
            codec.encode(x.data() + r * cols, cols, blocks.data() + r * cols, options, {});
        }
        benchmark::ClobberMemory();
    }
    report(state, ceiling);
}

template <class F>
void matrix_dequantize(benchmark::State& state) {
    const auto q = quantize<F>(matrix_view<const float>(source().data(), rows, cols));
    const matrix_view<float> out(output().data(), rows, cols);
    const double ceiling = fill_ceiling(output().data(), float_bytes);
    for (auto _ : state) {
        dequantize(q, out);
        benchmark::ClobberMemory();
    }
    report(state, ceiling);
}

template <class Body>
void add(const std::string& name, Body body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond)->MinTime(0.2);
}

template <class Body>
void add_manual(const std::string& name, Body body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond)->MinTime(0.2)->UseManualTime();
}

template <class F>
void add_format() {
    const std::string format(F::name);
    for (const isa which : kernel::available()) {
        const std::string end = "/" + std::string(to_string(which));
        for (const auto& [option, options] : options_of<F>()) {
            add("quantize/" + format + option + end,
                [which, chosen = options](benchmark::State& state) { quantize_rows<F>(state, which, chosen); });
        }
        add("dequantize/" + format + end, [which](benchmark::State& state) { dequantize_rows<F>(state, which); });
        add_manual("quantize_transposed/" + format + end,
                   [which](benchmark::State& state) { quantize_columns<F>(state, which); });
        if constexpr (std::is_same_v<F, hif8>) {
            add("quantize/hif8:hybrid/bfloat16" + end,
                [which](benchmark::State& state) { quantize_hybrid<bfloat16>(state, which); });
            add("quantize/hif8:hybrid/float16" + end,
                [which](benchmark::State& state) { quantize_hybrid<float16>(state, which); });
        }
        add("lower/" + format + end, [which](benchmark::State& state) { lower_rows<F>(state, which); });
    }
    add("matrix_quantize/" + format, [](benchmark::State& state) { matrix_quantize<F>(state); });
    add("matrix_dequantize/" + format, [](benchmark::State& state) { matrix_dequantize<F>(state); });
}

}  // namespace
}  // namespace lowbit::bench

int main(int argc, char** argv) {
    using namespace lowbit;
    benchmark::Initialize(&argc, argv);
    bench::add("copy_512MiB", [](benchmark::State& state) {
        auto& memory = bench::probe_memory();
        constexpr std::size_t half = bench::read_probe_bytes / 2;
        double rate = 0;
        for (auto _ : state) {
            rate = bench::copy_ceiling(memory.data() + half / sizeof(std::uint64_t), memory.data(), half);
        }
        state.counters["ceiling"] = rate;
    });
    for_each_format([]<class F>(std::type_identity<F>) { bench::add_format<F>(); });
    benchmark::AddCustomContext("lowbit isa", std::string(to_string(active_isa())));
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
