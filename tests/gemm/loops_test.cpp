// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/loops.hpp>

#include <cstddef>

#include <gtest/gtest.h>

namespace {

using lowbit::detail::share_of_panels;

TEST(share_of_panels, runs_cover_all_panels_once_in_whole_steps) {
    for (const std::size_t panels : {1U, 2U, 7U, 32U, 128U, 1001U}) {
        for (const std::size_t step : {1U, 2U}) {
            const std::size_t units = (panels + step - 1) / step;
            for (const std::size_t runs : {std::size_t{1}, std::size_t{2}, std::size_t{5}, units}) {
                std::size_t next = 0;
                for (std::size_t run = 0; run < runs; ++run) {
                    const auto [first, last] = share_of_panels(panels, step, run, runs);
                    ASSERT_EQ(first, next) << panels << " panels, step " << step << ", run " << run << " of " << runs;
                    ASSERT_LE(first, last);
                    ASSERT_TRUE(last % step == 0 || last == panels);
                    next = last;
                }
                ASSERT_EQ(next, panels);
            }
        }
    }
}

TEST(share_of_panels, the_last_of_many_runs_hold_little) {
    constexpr std::size_t panels = 4096, runs = 32;
    for (std::size_t run = 0; run < runs; ++run) {
        const auto [first, last] = share_of_panels(panels, 1, run, runs);
        EXPECT_LE(last - first, (run < runs - 4 ? 8 : 1) * panels / runs / 4);
    }
}

}  // namespace
