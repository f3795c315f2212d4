// SPDX-License-Identifier: Apache-2.0
// The machine's memory ceilings, measured in the process that measures the library: read, fill and copy.
//
// Reading is probed over 512 MiB, so that no cache flatters it; fill and copy over as many bytes as the row that they
// judge writes. Each probe is the best of several passes, taken right before the row. g++ -O2 makes a scalar loop of
// std::fill: these use full-width stores.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <lowbit/arch/isa.hpp>
#include <lowbit/arch/target.hpp>
#include <lowbit/core/aligned_buffer.hpp>

namespace lowbit::bench {

namespace baseline {
#include "memory_probe.inl"
}  // namespace baseline

#if LOWBIT_X86
LOWBIT_TARGET_BEGIN_AVX2
namespace avx2 {
# include "memory_probe.inl"
}  // namespace avx2
LOWBIT_TARGET_END
LOWBIT_TARGET_BEGIN_AVX512VNNI
namespace avx512 {
# include "memory_probe.inl"
}  // namespace avx512
LOWBIT_TARGET_END
#endif

/// The probes for the widest registers of this machine.
struct memory_probes {
    std::uint64_t (*read)(const void*, std::size_t) = &baseline::read_all;
    void (*fill)(void*, std::size_t, std::uint64_t) = &baseline::fill_all;
    void (*copy)(void*, const void*, std::size_t) = &baseline::copy_all;
};

inline memory_probes probes() {
#if LOWBIT_X86
    const arch::cpu_features features = arch::features_of(arch::read_cpu());
    if (features.avx512vnni) return {&avx512::read_all, &avx512::fill_all, &avx512::copy_all};
    if (features.avx2) return {&avx2::read_all, &avx2::fill_all, &avx2::copy_all};
#endif
    return {};
}

/// Bytes per second of the best of `passes` runs of a body that moves `bytes`.
template <class Body>
double best_rate(std::size_t bytes, int passes, Body&& body) {
    double best = 0;
    for (int pass = 0; pass < passes; ++pass) {
        const auto begin = std::chrono::steady_clock::now();
        body();
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        best = (std::max)(best, static_cast<double>(bytes) / elapsed.count());
    }
    return best;
}

inline constexpr std::size_t read_probe_bytes = std::size_t{512} << 20;

/// 512 MiB that have been written to.
inline aligned_buffer<std::uint64_t>& probe_memory() {
    static aligned_buffer<std::uint64_t> memory = [] {
        aligned_buffer<std::uint64_t> fresh(read_probe_bytes / sizeof(std::uint64_t));
        probes().fill(fresh.data(), read_probe_bytes, 1);
        return fresh;
    }();
    return memory;
}

/// Read bandwidth, bytes per second.
inline double read_ceiling() {
    const auto& memory = probe_memory();
    return best_rate(read_probe_bytes, 3, [&] {
        const std::uint64_t result = probes().read(memory.data(), read_probe_bytes);
        asm volatile("" : : "r"(result));  // the reads are not left out
    });
}

/// Bytes written per second by filling `out` over and over.
inline double fill_ceiling(void* out, std::size_t bytes) {
    return best_rate(bytes, 5, [&] { probes().fill(out, bytes, 2); });
}

/// Bytes read plus bytes written per second.
inline double copy_ceiling(void* to, const void* from, std::size_t bytes) {
    return best_rate(2 * bytes, 5, [&] { probes().copy(to, from, bytes); });
}

}  // namespace lowbit::bench
