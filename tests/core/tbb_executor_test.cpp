// SPDX-License-Identifier: Apache-2.0
// requires: tbb
#include <gtest/gtest.h>

#if defined(LOWBIT_TEST_HAS_TBB)

# include <tbb/global_control.h>

# include <lowbit/core/tbb_executor.hpp>

# include "support/executor_contract.hpp"

namespace {

using lowbit::tbb_executor;

static_assert(lowbit::parallel_pool<tbb_executor>);

TEST(tbb_executor, keeps_the_contract_of_executor) {
    tbb_executor pool;
    EXPECT_EQ(pool.concurrency(), static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
    lowbit::test::check_contract(pool);
}

TEST(tbb_executor, runs_in_a_given_arena) {
    const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 3);
    tbb::task_arena arena(3);
    tbb_executor pool(arena);
    EXPECT_EQ(pool.concurrency(), 3U);
    lowbit::test::check_contract(pool);
    std::atomic<int> outside{0};
    pool.for_each(100, [&](std::size_t) {
        if (tbb::this_task_arena::max_concurrency() != 3) outside.fetch_add(1);
    });
    EXPECT_EQ(outside.load(), 0);
}

}  // namespace

#else

TEST(tbb_executor, not_tested_without_tbb) { GTEST_SKIP() << "oneTBB was not found"; }

#endif
