// SPDX-License-Identifier: Apache-2.0
// Samples of a speed, and the machine's ceilings next to them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "results.hpp"

namespace bench_report {

/// The shapes and the time that speeds are measured with.
struct speed_sizes {
    std::size_t rows = 512;              ///< M of gemm
    std::size_t columns = 4096;          ///< N of gemm, rows of quantise
    std::size_t depth = 4096;            ///< K of all
    std::size_t decode_columns = 32768;  ///< N at M = 1
    double seconds = 0.4;                ///< of samples of one speed

    static speed_sizes quick() { return {64, 512, 1024, 2048, 0.02}; }
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

/// Runs `body`, which does `work` (10^9 of its unit), once unmeasured and then until there are five samples and
/// `seconds` are over, `probe` before, now and then between, and behind. Stops early after a sample where the user asks
/// for it.
rate measure(const std::string& key, double work, double seconds, const std::function<void()>& body,
             const std::function<ceiling()>& probe);

}  // namespace bench_report
