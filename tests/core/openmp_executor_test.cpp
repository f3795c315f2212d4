// SPDX-License-Identifier: Apache-2.0
// requires: openmp
#include <gtest/gtest.h>

#if defined(_OPENMP)

# include <lowbit/core/openmp_executor.hpp>

# include <atomic>

# include "support/executor_contract.hpp"

namespace {

using lowbit::openmp_executor;

static_assert(lowbit::parallel_pool<openmp_executor>);

TEST(openmp_executor, keeps_the_contract_of_executor) {
    for (const int threads : {0, 1, 2, 3, 8}) {
        openmp_executor pool(threads);
        EXPECT_EQ(pool.concurrency(), static_cast<std::size_t>(threads > 0 ? threads : omp_get_max_threads()));
        lowbit::test::check_contract(pool);
    }
}

TEST(openmp_executor, is_serial_in_a_parallel_region) {
    const openmp_executor pool(4);
    std::atomic<int> strangers{0};
    std::atomic<int> calls{0};
# pragma omp parallel num_threads(2) default(none) shared(pool, strangers, calls)
    {
        const std::thread::id me = std::this_thread::get_id();
        if (omp_get_num_threads() > 1 && pool.concurrency() != 1) strangers.fetch_add(1);
        pool.for_each(8, [&](std::size_t) {
            calls.fetch_add(1);
            if (std::this_thread::get_id() != me) strangers.fetch_add(1);
        });
    }
    EXPECT_EQ(strangers.load(), 0);
    EXPECT_EQ(calls.load() % 8, 0);
}

TEST(openmp_executor, refuses_a_negative_number_of_threads) {
    try {
        lowbit::openmp_executor threads(-5);
        FAIL();
    } catch (const lowbit::error& caught) {
        EXPECT_EQ(std::string(caught.what()), "lowbit::openmp_executor: threads -5 are less than 0");
    }
}

}  // namespace

#else

TEST(openmp_executor, not_tested_without_openmp) { GTEST_SKIP() << "this compiler has no OpenMP here"; }

#endif
