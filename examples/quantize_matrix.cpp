// SPDX-License-Identifier: Apache-2.0
// Quantises a matrix of your own, looks at the error, and gets floats back. Copy this.
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include <lowbit/lowbit.hpp>

int main() {
    const std::size_t rows = 256;
    const std::size_t cols = 1000;  // any number: the last block of a row is filled up with zeros

    std::vector<float> weights(rows * cols);  // yours; bfloat16 and float16 work as well
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 0.02F);
    for (float& weight : weights) weight = normal(random);

    // A view: data, rows, cols and, if rows are apart, their distance. Nothing is copied.
    const lowbit::matrix_view<const float> view(weights.data(), rows, cols);

    // Blocks lie along the columns of each row. Other formats: hif8 mxfp4 nvfp4 m2xfp_activation m2xfp_weight mxint8
    // int8_block.
    const lowbit::quantized_matrix<lowbit::hif4> packed = lowbit::quantize<lowbit::hif4>(view);

    std::vector<float> restored(rows * cols);
    lowbit::dequantize(packed, lowbit::matrix_view<float>(restored.data(), rows, cols));

    const lowbit::error_stats error = lowbit::compare(view, packed);
    std::printf("%zu bytes of floats became %zu bytes, %.3f bits a value\n", weights.size() * sizeof(float),
                packed.bytes().size(), packed.bits_per_value());
    std::printf("signal to noise %.2f dB, largest error %.5f\n", error.sqnr_db, error.max_abs);
    std::printf("the first value was %.6f and is %.6f\n", static_cast<double>(weights[0]),
                static_cast<double>(restored[0]));
}
