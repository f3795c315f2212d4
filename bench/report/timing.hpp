// SPDX-License-Identifier: Apache-2.0
// Samples of a speed, and the machine's ceilings next to them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <lowbit/core/aligned_buffer.hpp>

#include "results.hpp"

namespace bench_report {

/// The shapes and the time that speeds are measured with.
struct speed_sizes {
    std::size_t rows = 512;              ///< M of gemm
    std::size_t columns = 4096;          ///< N of gemm, rows of quantise
    std::size_t depth = 4096;            ///< K of all
    std::size_t decode_columns = 32768;  ///< N at M = 1
    double seconds = 0.15;               ///< of samples of one speed in a round
    std::size_t rounds = 3;              ///< through all formats: a disturbance hits some samples of many speeds,
                                         ///< not all of one

    static speed_sizes quick() { return {64, 512, 1024, 2048, 0.02, 1}; }
};

struct ceiling {
    double value = 0;  ///< 0: no probe
    std::string kind;
};

/// Probes of this machine, in the instruction set in use: GB/s and GMAC/s.
ceiling read_ceiling();
ceiling fill_ceiling(float* out, std::size_t bytes);
ceiling dot_ceiling();
ceiling fma_ceiling();

/// The smaller one; one that has no probe counts as infinite.
ceiling smaller(const ceiling& a, const ceiling& b);

/// Zeros, in huge pages where the system has them: what pages a process happens to get must not decide a speed.
lowbit::aligned_buffer<float> zeros(std::size_t count);

/// Normal values whose scale differs from row to row, made once for a shape; pages as above.
const lowbit::aligned_buffer<float>& normal_values(std::size_t rows, std::size_t cols);

/// Runs `body`, which does `work` (10^9 of its unit), once unmeasured and then until there are three samples and
/// `seconds` are over, `probe` before and now and then between. Stops early after a sample where the user asks for it,
/// or where runs take seconds.
rate measure(const std::string& key, double work, double seconds, const std::function<void()>& body,
             const std::function<ceiling()>& probe);

/// Adds what a round measured to the rate of the same key, or as a rate of its own.
void add_samples(std::vector<rate>& rates, const rate& fresh);

}  // namespace bench_report
