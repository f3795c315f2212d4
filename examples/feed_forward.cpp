// SPDX-License-Identifier: Apache-2.0
// feed_forward: a transformer's feed-forward network, y = relu(x up^T) down^T, with weights in every format and
// activations in the weights' format, in mxint8 (W4A8), and as they are. The hidden values leave the first product
// quantised: no float matrix lies between the two. Prints the error of y and the rows a second. (The model's biases
// were not recorded; float32 of the same weights without biases is the reference.)
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <string_view>
#include <type_traits>
#include <vector>

#include <lowbit/io/safetensors.hpp>
#include <lowbit/lowbit.hpp>

namespace {
using floats = lowbit::matrix_view<const float>;

struct network {
    floats x, up, down;
    std::vector<float> hidden, y;  // in float32: plain loops, summed in double
};

std::vector<float> exact_layer(floats x, floats w, bool relu) {
    std::vector<float> y(x.rows() * w.rows());
    for (std::size_t i = 0; i < x.rows(); ++i) {
        for (std::size_t j = 0; j < w.rows(); ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < x.cols(); ++k)
                sum += static_cast<double>(x(i, k)) * static_cast<double>(w(j, k));
            y[i * w.rows() + j] = relu && sum < 0 ? 0.0F : static_cast<float>(sum);
        }
    }
    return y;
}

/// Calls run(y) some times; prints the error of what it wrote and the speed of the fastest call.
template <class Run>
void report(const network& net, std::string_view weights, double bits, std::string_view activations, const Run& run) {
    std::vector<float> y(net.y.size());
    const lowbit::matrix_view<float> out(y.data(), net.x.rows(), net.down.rows());
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        run(out);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        best = elapsed.count() < best ? elapsed.count() : best;
    }
    const lowbit::error_stats error = lowbit::compare(floats(net.y.data(), out.rows(), out.cols()), out);
    fmt::print("  {:14} {:6.3f} {:17} SQNR {:6.2f} dB  cosine {:.5f} {:9.0f} rows/s\n", weights, bits, activations,
               error.sqnr_db, error.cosine, static_cast<double>(out.rows()) / best);
}

/// Weights in F, activations and hidden values in A.
template <class F, class A>
void run_quantised(const network& net, const lowbit::packed_matrix<F>& up, const lowbit::packed_matrix<F>& down) {
    lowbit::quantized_output<A> output;
    if constexpr (A::has_tensor_scale) {  // calibrated: the largest hidden value that was ever seen
        float largest = 0;
        for (const float value : net.hidden) largest = value > largest ? value : largest;
        output.tensor_scale = A::scales_from_amax(largest).tensor_scale;
    }
    report(net, F::name, up.bits_per_value(), A::name, [&](lowbit::matrix_view<float> y) {
        const lowbit::quantized_matrix<A> hidden =
            lowbit::gemm_quantized<A, A>(net.x, up, {.activation = lowbit::activation::relu}, output);
        lowbit::gemm(hidden, down, y);
    });
}

template <class F>
void run_format(const network& net) {
    using own = lowbit::activation_format_t<F>;
    const lowbit::packed_matrix<F> up = lowbit::pack<F>(net.up), down = lowbit::pack<F>(net.down);
    run_quantised<F, own>(net, up, down);
    if constexpr (!std::is_same_v<own, lowbit::mxint8>) run_quantised<F, lowbit::mxint8>(net, up, down);
    report(net, F::name, up.bits_per_value(), "float32", [&](lowbit::matrix_view<float> y) {
        std::vector<float> hidden(net.hidden.size());
        const lowbit::matrix_view<float> h(hidden.data(), net.x.rows(), net.up.rows());
        lowbit::gemm_weight_only(net.x, up, h, {.activation = lowbit::activation::relu});
        lowbit::gemm_weight_only(h, down, y);
    });
}

}  // namespace

int main(int argc, char** argv) {
    try {
        lowbit::safetensors_model first(argc > 2 ? argv[1] : LOWBIT_EXAMPLE_DATA "/feed_forward.safetensors");
        lowbit::safetensors_model second(argc > 2 ? argv[2] : LOWBIT_EXAMPLE_DATA "/layers.safetensors");
        const lowbit::tensor x = first.read("layer1.ffn_up.input"), up = first.read("layer1.ffn_up.weight");
        const lowbit::tensor down = second.read("layer1.ffn_down.weight");
        network net{x.view(), up.view(), down.view(), {}, {}};
        net.hidden = exact_layer(net.x, net.up, true);
        net.y = exact_layer(floats(net.hidden.data(), net.x.rows(), net.up.rows()), net.down, false);
        fmt::print("{} rows of {} values, {} hidden, {} out; on {}\n", net.x.rows(), net.x.cols(), net.up.rows(),
                   net.down.rows(), lowbit::to_string(lowbit::active_isa()));
        fmt::print("  weights          bits activations\n");
        lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
            if constexpr (!std::is_same_v<F, lowbit::m2xfp_activation>) run_format<F>(net);  // no format for weights
        });
    } catch (const std::exception& problem) {
        fmt::print(stderr, "feed_forward: {}\n", problem.what());
        return 1;
    }
    return 0;
}
