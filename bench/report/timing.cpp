// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <lowbit/arch/isa.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/huge_pages.hpp>

#include "bench/support/dot_probe.hpp"
#include "bench/support/memory_probe.hpp"
#include "bench/support/random_data.hpp"
#include "support/progress.hpp"

#if LOWBIT_X86
# include <emmintrin.h>
#endif

namespace bench_report {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t least_samples = 3;
constexpr std::size_t most_samples = 40;
constexpr double long_run = 2;            // seconds after which fewer samples have to do, the first run too
constexpr double probe_interval = 0.125;  // the machine's speed changes within a row

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

#if LOWBIT_X86
/// Writes `bytes`, a multiple of 64, past the caches.
[[gnu::noinline]] void stream_all(float* out, std::size_t bytes) {
    const __m128i value = _mm_set1_epi32(2);
    for (std::size_t i = 0; i < bytes / sizeof(float); i += 16) {
        for (std::size_t part = 0; part < 16; part += 4) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + part), value);
        }
    }
    _mm_sfence();
}
#endif

/// Value at a fraction of the way through sorted samples, between two of them in proportion.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void evaluate(rate& out) {
    std::sort(out.all.begin(), out.all.end());
    out.value = quantile(out.all, 0.5);
    out.low = quantile(out.all, 0.25);
    out.high = quantile(out.all, 0.75);
    out.samples = out.all.size();
}

}  // namespace

ceiling read_ceiling() {
    static const lowbit::aligned_buffer<std::uint64_t> memory = [] {
        lowbit::aligned_buffer<std::uint64_t> fresh(lowbit::bench::read_probe_bytes / sizeof(std::uint64_t));
        lowbit::detail::advise_huge_pages(fresh.data(), lowbit::bench::read_probe_bytes);
        lowbit::bench::probes().fill(fresh.data(), lowbit::bench::read_probe_bytes, 1);
        return fresh;
    }();
    const double rate = lowbit::bench::best_rate(lowbit::bench::read_probe_bytes, 2, [] {
        const std::uint64_t result = lowbit::bench::probes().read(memory.data(), lowbit::bench::read_probe_bytes);
        asm volatile("" : : "r"(result));  // the reads are not left out
    });
    return {rate / 1e9, "read"};
}

ceiling fill_ceiling(float* out, std::size_t bytes) {
    double rate = lowbit::bench::fill_ceiling(out, bytes);
#if LOWBIT_X86
    rate = std::max(rate, lowbit::bench::best_rate(bytes, 5, [&] { stream_all(out, bytes); }));
#endif
    return {rate / 1e9, "fill"};
}

ceiling dot_ceiling() { return {lowbit::bench::dot_ceiling(lowbit::active_isa()) / 1e9, "dot"}; }

ceiling fma_ceiling() { return {lowbit::bench::fma_ceiling(lowbit::active_isa()) / 1e9, "fma"}; }

ceiling smaller(const ceiling& a, const ceiling& b) {
    if (a.value <= 0 || b.value <= 0) return a.value > 0 ? a : b;
    return a.value < b.value ? a : b;
}

lowbit::aligned_buffer<float> zeros(std::size_t count) {
    lowbit::aligned_buffer<float> out(count);
    lowbit::detail::advise_huge_pages(out.data(), count * sizeof(float));
    std::fill(out.begin(), out.end(), 0.0F);
    return out;
}

const lowbit::aligned_buffer<float>& normal_values(std::size_t rows, std::size_t cols) {
    static std::map<std::pair<std::size_t, std::size_t>, lowbit::aligned_buffer<float>> made;
    const auto found = made.find({rows, cols});
    if (found != made.end()) return found->second;
    lowbit::aligned_buffer<float>& fresh = made.emplace(std::pair(rows, cols), zeros(rows * cols)).first->second;
    lowbit::bench::fill_normal(fresh.data(), rows, cols);
    return fresh;
}

rate measure(const std::string& key, double work, double seconds, const std::function<void()>& body,
             const std::function<ceiling()>& probe) {
    rate out;
    out.key = key;
    const auto look = [&] {
        const ceiling now = probe();
        if (now.value < out.ceiling) return;
        out.ceiling = now.value;
        out.ceiling_kind = now.kind;
    };
    const clock::time_point first = clock::now();
    body();
    double spent = seconds_since(first);
    look();
    std::vector<double> rates;
    if (spent >= long_run) rates.push_back(work / spent);
    clock::time_point probed = clock::now();
    while (spent < long_run && (rates.size() < least_samples || (spent < seconds && rates.size() < most_samples))) {
        const clock::time_point begin = clock::now();
        body();
        const double elapsed = seconds_since(begin);
        rates.push_back(work / elapsed);
        spent += elapsed;
        if (support::stop_requested()) break;
        if (seconds_since(probed) > probe_interval) {
            look();
            probed = clock::now();
        }
    }
    out.all = rates;
    evaluate(out);
    return out;
}

void add_samples(std::vector<rate>& rates, const rate& fresh) {
    const auto known =
        std::find_if(rates.begin(), rates.end(), [&](const rate& each) { return each.key == fresh.key; });
    if (known == rates.end()) {
        rates.push_back(fresh);
        return;
    }
    known->all.insert(known->all.end(), fresh.all.begin(), fresh.all.end());
    if (fresh.ceiling > known->ceiling) {
        known->ceiling = fresh.ceiling;
        known->ceiling_kind = fresh.ceiling_kind;
    }
    evaluate(*known);
}

}  // namespace bench_report
