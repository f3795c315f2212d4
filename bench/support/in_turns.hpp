// SPDX-License-Identifier: Apache-2.0
// The speed of several threads over that of one, measured in turns: both see the same minutes of a machine whose clock
// and whose neighbours change.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace lowbit::bench {

/// Median time of one() over that of several(), in nine turns of `calls` calls each.
template <class One, class Several>
double speed_over_one(std::size_t calls, const One& one, const Several& several) {
    const auto seconds = [&](const auto& work) {
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < calls; ++i) work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    std::array<double, 9> of_one{}, of_several{};
    for (std::size_t turn = 0; turn < of_one.size(); ++turn) {
        of_one[turn] = seconds(one);
        of_several[turn] = seconds(several);
    }
    std::sort(of_one.begin(), of_one.end());
    std::sort(of_several.begin(), of_several.end());
    return of_one[of_one.size() / 2] / of_several[of_several.size() / 2];
}

}  // namespace lowbit::bench
