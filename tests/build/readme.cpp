// SPDX-License-Identifier: Apache-2.0
// Compiles and runs the C++ of README.md, cut out by CMake, on the variables that its text speaks of.

#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/lowbit.hpp>

namespace {

constexpr std::size_t m = 3, n = 96, k = 128;

std::vector<float> numbers(std::size_t count, float step) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = step * static_cast<float>(i % 13) - 1.0F;
    return values;
}

/// The API at a glance. True if the results are what the comments of the text say.
bool api_at_a_glance() {
    std::vector<float> weight_values = numbers(n * k, 0.25F), activation_values = numbers(m * k, 0.125F);
    std::vector<float> restored_values(n * k), y_values(m * n), out_values(m * n);
    const std::vector<float> bias(n, 1.0F);
    const std::array<float, 64> values64 = {1.0F};
    float* const weights = weight_values.data();
    float* const activations = activation_values.data();
    float* const restored = restored_values.data();
    float* const y = y_values.data();
    const lowbit::matrix_view<float> out(out_values.data(), m, n);
    lowbit::thread_pool pool(2);
    lowbit::write_npy("w.npy", lowbit::matrix_view<const float>(weights, n, k));
#include "readme_1.inc"
    return q.bits_per_value() == 4.5 && e.sqnr_db > 15 &&
           compare(w, matrix_view<const float>(restored, n, k)).mse == e.mse && y_values != std::vector<float>(m * n) &&
           out_values != y_values && h.to_float() == 1.5F && compare(t.view(), w).exact == n * k && unpack(same) == q &&
           r.rows() == n && block == hif4::encode(values64);
}

/// Layers: 8-bit activations, quantised outputs.
bool layers() {
    using namespace lowbit;
    const std::vector<float> up_values = numbers(n * k, 0.25F), down_values = numbers(k * n, 0.125F);
    const std::vector<float> x_values = numbers(m * k, 0.0625F), b(n, 0.5F);
    std::vector<float> y_values(m * k), out_values(m * n);
    const matrix_view<const float> w_up(up_values.data(), n, k), w_down(down_values.data(), k, n);
    const matrix_view<const float> x(x_values.data(), m, k);
    const matrix_view<float> y(y_values.data(), m, k), out(out_values.data(), m, n);
#include "readme_2.inc"
    return hidden.rows() == m && hidden.cols() == n && y_values != std::vector<float>(m * k) &&
           out_values != std::vector<float>(m * n);
}

}  // namespace

int main() {
    const bool right = api_at_a_glance() && layers();
    if (!right) std::puts("the C++ of README.md does not do what it says");
    return right ? 0 : 1;
}
