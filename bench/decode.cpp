// SPDX-License-Identifier: Apache-2.0
// Products with few rows: C = X W^T for M = 1 .. 16 rows of float activations, quantised on the way, and packed
// weights.
//
//   decode/FORMAT/M/ISA/memory    N = 32768, K = 4096: weights come from memory
//   decode/FORMAT/M/ISA/cache     N = 1024,  K = 4096: weights stay in the cache
//   decode/FORMAT/1/ISA/cache/threads:1, 2    N = 8192, K = 4096, by one and by two threads; of_one: the speed over
//   that
//                                 of one thread, measured in turns
//   weight_only/FORMAT/M/ISA/memory   the same with activations that are not quantised (gemm_weight_only)
//   sgemv/OpenBLAS, gemv/bfloat16 the same N and K = 4096 in float32 and bfloat16, M = 1
//
// Columns: Gweights = weights per second; of_read = the format's own bits per second over the read probe (512 MiB,
// taken right before the row); of_ceiling = max(memory time, compute time) / time, compute time by the probe of int8
// dot products (AVX2 and AVX-512), or of float FMA for HiF8 and weight_only. Pages: packed weights ask for huge pages,
// the probe's memory and the floats' too.
//
// bench_decode --benchmark_repetitions=5 --benchmark_report_aggregates_only=true [--benchmark_filter=...]

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>
#include <lowbit/core/huge_pages.hpp>
#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/weight_only.hpp>

#include "support/dot_probe.hpp"
#include "support/in_turns.hpp"
#include "support/memory_probe.hpp"
#include "support/random_data.hpp"

#if LOWBIT_BENCH_OPENBLAS
# include <cblas.h>
#endif
#if LOWBIT_X86
# include <immintrin.h>
#endif

namespace lowbit::bench {
namespace {

constexpr std::size_t depth = 4096;
constexpr std::size_t many = 32768;
constexpr std::size_t cached = 1024;
constexpr std::size_t shared_columns = 8192;  // of the rows with threads: 18 MB of 4-bit weights

const aligned_buffer<float>& weights() {
    static const aligned_buffer<float> data = [] {
        aligned_buffer<float> fresh(many * depth);
        detail::advise_huge_pages(fresh.data(), fresh.size() * sizeof(float));
        fill_normal(fresh.data(), many, depth);
        return fresh;
    }();
    return data;
}

template <class F>
const packed_matrix<F>& packed(std::size_t columns) {
    static std::map<std::size_t, packed_matrix<F>> made;
    const auto found = made.find(columns);
    if (found != made.end()) return found->second;
    return made.emplace(columns, pack<F>(matrix_view<const float>(weights().data(), columns, depth))).first->second;
}

void report(benchmark::State& state, std::size_t m, std::size_t n, double bits, double read, double products) {
    const double weight_count = static_cast<double>(n) * static_cast<double>(depth);
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    const double memory_time = weight_count * bits / 8 / read;
    const double compute_time = products > 0 ? weight_count * static_cast<double>(m) / products : 0;
    state.counters["Gweights"] = benchmark::Counter(weight_count / 1e9, rate);
    state.counters["of_read"] = benchmark::Counter(memory_time, rate);
    state.counters["of_one"] = 1;
    state.counters["of_ceiling"] = benchmark::Counter((std::max)(memory_time, compute_time), rate);
}

template <class F, class A = activation_format_t<F>>
void run(benchmark::State& state, isa which, std::size_t m, std::size_t n, std::size_t threads = 1) {
    const packed_matrix<F>& w = packed<F>(n);
    const aligned_buffer<float> x = normal_matrix(m, depth, 2);
    aligned_buffer<float> y(m * n, 0.0F);
    constexpr bool floats = !lane_traits<F>::integer || !lane_traits<A>::integer;
    const double read = read_ceiling(), products = floats ? fma_ceiling(which) : dot_ceiling(which);
    thread_pool pool(threads);
    gemm_options options;
    if (threads > 1) options.executor = pool;
    const auto multiply = [&](const gemm_options& with) {
        detail::gemm_float_rows<A>(matrix_view<const float>(x.data(), m, depth), w, matrix_view<float>(y.data(), m, n),
                                   with, {}, {which});
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
    };
    for (auto _ : state) {
        multiply(options);
    }
    report(state, m, n, F::bits_per_value, read, products);
    if (threads == 1) return;
    state.counters["of_one"] = speed_over_one(
        32, [&] { multiply({}); }, [&] { multiply(options); });
}

template <class F>
void run_weight_only(benchmark::State& state, isa which, std::size_t m, std::size_t n) {
    const packed_matrix<F>& w = packed<F>(n);
    const aligned_buffer<float> x = normal_matrix(m, depth, 2);
    aligned_buffer<float> y(m * n, 0.0F);
    const double read = read_ceiling(), products = fma_ceiling(which);
    for (auto _ : state) {
        detail::gemm_plain_rows(matrix_view<const float>(x.data(), m, depth), w, matrix_view<float>(y.data(), m, n), {},
                                {which});
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
    }
    report(state, m, n, F::bits_per_value, read, products);
}

#if LOWBIT_BENCH_OPENBLAS
void sgemv(benchmark::State& state) {
    const aligned_buffer<float> x = normal_matrix(1, depth, 2);
    aligned_buffer<float> y(many, 0.0F);
    openblas_set_num_threads(1);
    const double read = read_ceiling();
    for (auto _ : state) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(many), static_cast<int>(depth), 1.0F,
                    weights().data(), static_cast<int>(depth), x.data(), 1, 0.0F, y.data(), 1);
        benchmark::ClobberMemory();
    }
    report(state, 1, many, 32, read, 0);
}
#endif

/// y = W x with W in bfloat16, float32 sums: what a well-written loop without low-bit formats does.
#if LOWBIT_X86
[[gnu::target("avx512f,avx512vnni,fma")]] void multiply_bfloat16(const std::uint16_t* w, const float* even,
                                                                 const float* odd, float* y, std::size_t rows) {
    for (std::size_t r = 0; r < rows; ++r) {
        __m512 sums[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
        for (std::size_t k = 0; k < depth; k += 64) {
            const __m512i a = _mm512_loadu_si512(w + r * depth + k), b = _mm512_loadu_si512(w + r * depth + k + 32);
            const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000U));
            const std::size_t half = k / 2;
            sums[0] = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xFFFF, a, 16)),
                                      _mm512_loadu_ps(even + half), sums[0]);
            sums[1] =
                _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(a, upper)), _mm512_loadu_ps(odd + half), sums[1]);
            sums[2] = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xFFFF, b, 16)),
                                      _mm512_loadu_ps(even + half + 16), sums[2]);
            sums[3] = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(b, upper)), _mm512_loadu_ps(odd + half + 16),
                                      sums[3]);
        }
        float parts[16];
        _mm512_storeu_ps(parts, _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])));
        y[r] = std::accumulate(parts, parts + 16, 0.0F);
    }
}

void gemv_bfloat16(benchmark::State& state) {
    std::vector<float> even(depth / 2, 0.5F), odd(depth / 2, 0.25F);
    aligned_buffer<std::uint16_t> w(many * depth);
    detail::advise_huge_pages(w.data(), 2 * w.size());
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = bfloat16::from_float(weights()[i]).bits();
    aligned_buffer<float> y(many, 0.0F);
    const double read = read_ceiling();
    for (auto _ : state) {
        multiply_bfloat16(w.data(), even.data(), odd.data(), y.data(), many);
        benchmark::ClobberMemory();
    }
    report(state, 1, many, 16, read, 0);
}
#endif

/// 8-bit activations A, 4-bit weights F.
template <class A, class F>
void register_mixed(isa which) {
    for (const std::size_t m : {1U, 4U, 16U}) {
        const std::string name = "decode/" + std::string(A::name) + " x " + std::string(F::name) + "/" +
                                 std::to_string(m) + "/" + std::string(to_string(which)) + "/memory";
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run<F, A>(state, which, m, many); })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
    }
}

void register_all() {
    for (const isa which : kernel::available()) {
        register_mixed<mxint8, hif4>(which);
        register_mixed<mxint8, mxfp4>(which);
        register_mixed<mxint8, nvfp4>(which);
        register_mixed<mxint8, m2xfp_weight>(which);
        register_mixed<int8_block, mxfp4>(which);
        for_each_format([&]<class F>(std::type_identity<F>) {
            for (const std::size_t n : {many, cached}) {
                for (const std::size_t m : {1U, 2U, 4U, 8U, 16U}) {
                    const std::string name = "decode/" + std::string(F::name) + "/" + std::to_string(m) + "/" +
                                             std::string(to_string(which)) + (n == many ? "/memory" : "/cache");
                    benchmark::RegisterBenchmark(name.c_str(),
                                                 [=](benchmark::State& state) { run<F>(state, which, m, n); })
                        ->Unit(benchmark::kMillisecond)
                        ->UseRealTime();
                }
            }
            for (const std::size_t threads : {1U, 2U}) {
                const std::string name = "decode/" + std::string(F::name) + "/1/" + std::string(to_string(which)) +
                                         "/cache/threads:" + std::to_string(threads);
                benchmark::RegisterBenchmark(
                    name.c_str(), [=](benchmark::State& state) { run<F>(state, which, 1, shared_columns, threads); })
                    ->Unit(benchmark::kMillisecond)
                    ->UseRealTime();
            }
            for (const std::size_t m : {1U, 4U}) {
                const std::string name = "weight_only/" + std::string(F::name) + "/" + std::to_string(m) + "/" +
                                         std::string(to_string(which)) + "/memory";
                benchmark::RegisterBenchmark(
                    name.c_str(), [=](benchmark::State& state) { run_weight_only<F>(state, which, m, many); })
                    ->Unit(benchmark::kMillisecond)
                    ->UseRealTime();
            }
        });
    }
#if LOWBIT_BENCH_OPENBLAS
    benchmark::RegisterBenchmark("sgemv/OpenBLAS", &sgemv)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif
#if LOWBIT_X86
    if (arch::features_of(arch::read_cpu()).avx512vnni) {
        benchmark::RegisterBenchmark("gemv/bfloat16", &gemv_bfloat16)->Unit(benchmark::kMillisecond)->UseRealTime();
    }
#endif
}

}  // namespace
}  // namespace lowbit::bench

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    lowbit::detail::advise_huge_pages(lowbit::bench::probe_memory().data(), lowbit::bench::read_probe_bytes);
    lowbit::bench::register_all();
    benchmark::RunSpecifiedBenchmarks();
}
