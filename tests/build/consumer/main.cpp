// SPDX-License-Identifier: Apache-2.0
// What a user's first program does: quantise a matrix, restore it, look at the error.
#include <cstdio>
#include <vector>

#include <lowbit/lowbit.hpp>
#ifdef WITH_SAFETENSORS
# include <lowbit/io/safetensors.hpp>
#endif

int main() {
    constexpr std::size_t rows = 4;
    constexpr std::size_t cols = 100;
    std::vector<float> values(rows * cols);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) - 8.0f;

    const lowbit::matrix_view<const float> view(values.data(), rows, cols);
    const lowbit::quantized_matrix<lowbit::hif4> quantized = lowbit::quantize<lowbit::hif4>(view);
    std::vector<float> restored(values.size());
    lowbit::dequantize(quantized, lowbit::matrix_view<float>(restored.data(), rows, cols));
    const lowbit::error_stats stats = lowbit::compare(view, quantized);
    std::printf("lowbit %d.%d.%d: %.1f dB\n", LOWBIT_VERSION_MAJOR, LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH,
                stats.sqnr_db);
    return stats.sqnr_db > 15.0 ? 0 : 1;
}
