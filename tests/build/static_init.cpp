// SPDX-License-Identifier: Apache-2.0
// Case 75: the library works in a constructor that runs before main, and its first calls may come from many threads.
#include <cstdio>
#include <thread>
#include <vector>

#include "part.hpp"

namespace {

part_result first_use() {
    constexpr int threads = 16;
    std::vector<part_result> results(threads);
    std::vector<std::thread> workers;
    workers.reserve(threads);
    for (part_result& result : results) workers.emplace_back([&result] { result = run_static_init(); });
    for (std::thread& worker : workers) worker.join();
    for (const part_result& result : results) {
        if (!(result == results.front())) return {};
    }
    return results.front();
}

const part_result before_main = first_use();

}  // namespace

int main() {
    const bool same = !before_main.numbers.empty() && before_main == run_static_init();
    std::printf("%s\n", same ? "same" : "DIFFERENT");
    return same ? 0 : 1;
}
