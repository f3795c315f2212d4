// SPDX-License-Identifier: Apache-2.0
// Data for benchmarks: like the weights of a network, never zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <lowbit/core/aligned_buffer.hpp>

namespace lowbit::bench {

/// Fills `out` with normal values whose scale differs from row to row. Values repeat after some 64 thousand, scaled
/// anew.
inline void fill_normal(float* out, std::size_t rows, std::size_t cols, std::uint32_t seed = 1) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, 0.02F);
    std::vector<float> pool(65521);  // a prime, so that rows are not copies of each other
    for (float& x : pool) x = normal(generator);
    std::size_t next = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const float scale = 0.5F + static_cast<float>(r % 97) / 64.0F;
        for (std::size_t c = 0; c < cols; ++c) {
            out[r * cols + c] = pool[next] * scale;
            next = next + 1 == pool.size() ? 0 : next + 1;
        }
    }
}

inline aligned_buffer<float> normal_matrix(std::size_t rows, std::size_t cols, std::uint32_t seed = 1) {
    aligned_buffer<float> data(rows * cols);
    fill_normal(data.data(), rows, cols, seed);
    return data;
}

}  // namespace lowbit::bench
