// SPDX-License-Identifier: Apache-2.0
// linear_layer: real layers y = x w^T, weights packed once, recorded inputs quantised on the way; prints the output's
// error and a product's time, against float32.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/io/safetensors.hpp>
#include <lowbit/lowbit.hpp>

namespace {
using floats = lowbit::matrix_view<const float>;

// Milliseconds of the fastest of several calls.
template <class Call>
double best_of(int repetitions, const Call& call) {
    double best = 1e9;
    for (int i = 0; i < repetitions; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
        best = elapsed.count() < best ? elapsed.count() : best;
    }
    return best;
}

/// The layer in float32: plain loops, summed in double.
std::vector<float> exact_layer(floats x, floats w) {
    std::vector<float> y(x.rows() * w.rows());
    for (std::size_t i = 0; i < x.rows(); ++i) {
        for (std::size_t j = 0; j < w.rows(); ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < x.cols(); ++k) sum += double(x(i, k)) * double(w(j, k));
            y[i * w.rows() + j] = static_cast<float>(sum);
        }
    }
    return y;
}

/// The layer with weights in format F and activations in its counterpart.
template <class F>
void run_layer(floats x, floats w, floats wanted) {
    const lowbit::packed_matrix<F> packed = lowbit::pack<F>(w);  // once, when the model is loaded
    std::vector<float> y(x.rows() * w.rows());
    const lowbit::matrix_view<float> out(y.data(), x.rows(), w.rows());
    const double time = best_of(20, [&] { lowbit::gemm(x, packed, out); });
    const lowbit::error_stats error = lowbit::compare(wanted, out);
    fmt::print("  {:16} {:16} {:5.2f} bits  SQNR {:6.2f} dB  cosine {:.5f}  {:7.3f} ms\n", F::name,
               lowbit::activation_format_t<F>::name, packed.bits_per_value(), error.sqnr_db, error.cosine, time);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        lowbit::safetensors_model model(argc > 1 ? argv[1] : LOWBIT_EXAMPLE_DATA "/layers.safetensors");
        for (const std::string layer : {"layer0.qkv", "layer1.attention_out", "layer1.ffn_down"}) {
            const lowbit::tensor weight = model.read(layer + ".weight"), input = model.read(layer + ".input");
            const floats w = weight.view(), x = input.view();
            std::vector<float> wanted;
            const double time = best_of(3, [&] { wanted = exact_layer(x, w); });
            fmt::print("{}: {} rows, {} x {}; float32 in plain loops {:.3f} ms\n", layer, x.rows(), w.rows(), w.cols(),
                       time);
            lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
                if constexpr (std::is_same_v<F, lowbit::m2xfp_activation>) return;  // no format for weights
                run_layer<F>(x, w, floats(wanted.data(), x.rows(), w.rows()));
            });
        }
    } catch (const std::exception& problem) {
        fmt::print(stderr, "linear_layer: {}\n", problem.what());
        return 1;
    }
    return 0;
}
