// SPDX-License-Identifier: Apache-2.0
// C = A B^T from float activations (their quantising is timed) and packed weights: M = 512, N = K = 4096.
//
//   gemm/A x B/ISA              one thread
//   gemm/A x B/ISA/threads:2    a pool of two; of_one: its speed over that of one thread, measured in turns
//   OpenBLAS/sgemm, oneDNN/int8, oneDNN/float    the same shape, where CMake finds the libraries
//
// Columns: GMAC/s; of_peak = fraction of the instruction set's own ceiling: int8 dot product (AVX-512: vpdpbusd; AVX2:
// vpmaddubsw and vpaddw), or float FMA for hif8. Rows of amx are set against vpdpbusd too, so that they compare;
// of_tiles = fraction of the tile unit's int8 peak, 0 elsewhere (bfloat16 tiles, which formats of groups 16 and 32 use,
// reach half of it). The ceiling is probed before each iteration for a millisecond and the best probe counts, so that a
// machine that slows down for a while slows down both.
//
// bench_gemm --benchmark_repetitions=5 --benchmark_report_aggregates_only=true [--benchmark_filter=...]
// OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are unset at start: on some machines they are there and slow OpenBLAS down. An
// OpenBLAS that does not know the processor is told to use its AVX-512 kernels; LOWBIT_BENCH_OPENBLAS=Haswell asks for
// its AVX2 kernels, which the avx2 rows compare with. The row's name says which kernels ran.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/gemm.hpp>

#include "support/dot_probe.hpp"
#include "support/in_turns.hpp"
#include "support/random_data.hpp"

#if LOWBIT_BENCH_OPENBLAS
# include <cblas.h>
extern "C" void openblas_set_num_threads(int);
extern "C" char* openblas_get_corename(void);
#endif
#if LOWBIT_BENCH_ONEDNN
# include <oneapi/dnnl/dnnl.hpp>
#endif

namespace lowbit::bench {
namespace {

constexpr std::size_t rows = 512, columns = 4096, depth = 4096;
constexpr double products = static_cast<double>(rows) * columns * depth;

const aligned_buffer<float>& activations() {
    static const aligned_buffer<float> data = normal_matrix(rows, depth, 2);
    return data;
}
const aligned_buffer<float>& weights() {
    static const aligned_buffer<float> data = normal_matrix(columns, depth, 1);
    return data;
}
template <class F>
const packed_matrix<F>& packed() {
    static const packed_matrix<F> made = pack<F>(matrix_view<const float>(weights().data(), columns, depth));
    return made;
}

void report(benchmark::State& state, double ceiling, double tiles = 0) {
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["GMAC/s"] = benchmark::Counter(products / 1e9, rate);
    if (ceiling > 0) state.counters["of_peak"] = benchmark::Counter(products / ceiling, rate);
    // In each row, as the CSV reporter wants it.
    state.counters["of_tiles"] = tiles > 0 ? benchmark::Counter(products / tiles, rate) : benchmark::Counter(0);
    state.counters["of_one"] = 1;
}

template <class A, class B>
void run(benchmark::State& state, isa which, std::size_t threads) {
    const packed_matrix<B>& w = packed<B>();
    aligned_buffer<float> y(rows * columns, 0.0F);
    const bool integer = integer_lanes<A> && integer_lanes<B>;
    thread_pool pool(threads);
    gemm_options options;
    if (threads > 1) options.executor = pool;
    const auto multiply = [&](const gemm_options& with) {
        detail::gemm_float_rows<A>(matrix_view<const float>(activations().data(), rows, depth), w,
                                   matrix_view<float>(y.data(), rows, columns), with, {}, {which});
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
    };
    double ceiling = 0, tiles = 0;
    for (auto _ : state) {
        state.PauseTiming();
        ceiling = (std::max)(ceiling, integer ? dot_ceiling(which) : fma_ceiling(which));
        if (integer) tiles = (std::max)(tiles, tile_ceiling(which));
        state.ResumeTiming();
        multiply(options);
    }
    report(state, ceiling * static_cast<double>(threads), tiles * static_cast<double>(threads));
    if (threads == 1) return;
    state.counters["of_one"] = speed_over_one(
        1, [&] { multiply({}); }, [&] { multiply(options); });
}

template <class A, class B>
void add(isa which, std::size_t threads = 1) {
    std::string name =
        "gemm/" + std::string(A::name) + " x " + std::string(B::name) + "/" + std::string(to_string(which));
    if (threads > 1) name += "/threads:" + std::to_string(threads);
    benchmark::RegisterBenchmark(name.c_str(), run<A, B>, which, threads)->Unit(benchmark::kMillisecond)->UseRealTime();
}

#if LOWBIT_BENCH_OPENBLAS
void openblas(benchmark::State& state) {
    openblas_set_num_threads(1);
    std::vector<float> y(rows * columns);
    for (auto _ : state) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, depth, 1.0F, activations().data(), depth,
                    weights().data(), depth, 0.0F, y.data(), columns);
        benchmark::DoNotOptimize(y.data());
    }
    report(state, fma_ceiling(active_isa()));
}
#endif

#if LOWBIT_BENCH_ONEDNN
/// One matmul whose weights oneDNN may lay out as it likes, beforehand; the calling thread only where OpenMP obeys.
void onednn(benchmark::State& state, dnnl::memory::data_type a_type, dnnl::memory::data_type b_type,
            dnnl::memory::data_type c_type) {
    using dnnl::memory;
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    const memory::desc a({rows, depth}, a_type, memory::format_tag::ab),
        c({rows, columns}, c_type, memory::format_tag::ab);
    const memory::desc any({depth, columns}, b_type, memory::format_tag::any);
    const dnnl::matmul::desc desc(a, any, c);
    const dnnl::matmul::primitive_desc primitive(desc, engine);
    memory x(a, engine), w(primitive.weights_desc(), engine), y(c, engine);
    const auto fill = [](const memory& m, bool bytes) {
        auto* const data = static_cast<std::uint8_t*>(m.get_data_handle());
        const std::size_t size = m.get_desc().get_size();
        std::uint32_t seed = 1;
        if (bytes) {
            for (std::size_t i = 0; i < size; ++i)
                data[i] = static_cast<std::uint8_t>((seed = seed * 1664525U + 1013904223U) >> 25U);
        } else {
            fill_normal(reinterpret_cast<float*>(data), 1, size / 4);
        }
    };
    fill(x, a_type != memory::data_type::f32);
    fill(w, b_type != memory::data_type::f32);
    const dnnl::matmul matmul(primitive);
    for (auto _ : state) {
        matmul.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
        stream.wait();
    }
    report(state, a_type == memory::data_type::f32 ? fma_ceiling(active_isa()) : dot_ceiling(active_isa()));
}
#endif

void add_all() {
#if LOWBIT_BENCH_OPENBLAS
    const std::string peer = "OpenBLAS/sgemm/" + std::string(openblas_get_corename());
    benchmark::RegisterBenchmark(peer.c_str(), openblas)->Unit(benchmark::kMillisecond)->UseRealTime();
#endif
    for (const isa which : kernel::available()) {
        if (which == isa::scalar) continue;
        add<hif4, hif4>(which);
        add<mxfp4, mxfp4>(which);
        add<m2xfp_activation, m2xfp_weight>(which);
        add<nvfp4, nvfp4>(which);
        add<hif8, hif8>(which);
        add<hif4, nvfp4>(which);
        add<hif4, hif4>(which, 2);
        add<mxfp4, mxfp4>(which, 2);
        add<nvfp4, nvfp4>(which, 2);
        add<hif8, hif8>(which, 2);
    }
#if LOWBIT_BENCH_ONEDNN
    using type = dnnl::memory::data_type;
    benchmark::RegisterBenchmark("oneDNN/int8", onednn, type::u8, type::s8, type::s32)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    benchmark::RegisterBenchmark("oneDNN/float", onednn, type::f32, type::f32, type::f32)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
#endif
}

}  // namespace
}  // namespace lowbit::bench

int main(int argc, char** argv) {
    // Environment that the libraries read when they are loaded: set, then start anew, once.
    if (std::getenv("LOWBIT_BENCH_STARTED") == nullptr) {
        setenv("LOWBIT_BENCH_STARTED", "1", 1);
        setenv("OMP_NUM_THREADS", "1", 1);
        unsetenv("OPENBLAS_L2_SIZE");
        unsetenv("OPENBLAS_CORETYPE");
#if LOWBIT_BENCH_OPENBLAS && LOWBIT_X86
        // An OpenBLAS older than the processor takes its kernels for SSE3; give it those for AVX-512.
        if (const char* const core = std::getenv("LOWBIT_BENCH_OPENBLAS"); core != nullptr) {
            setenv("OPENBLAS_CORETYPE", core, 1);
        } else if (std::string_view(openblas_get_corename()) == "Prescott" &&
                   lowbit::arch::runs(lowbit::isa::avx512vnni, lowbit::arch::features_of(lowbit::arch::read_cpu()))) {
            setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
        }
#endif
        execv("/proc/self/exe", argv);
    }
    lowbit::bench::add_all();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
