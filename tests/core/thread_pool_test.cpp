// SPDX-License-Identifier: Apache-2.0
#include <lowbit/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include <lowbit/core/executor.hpp>

#include "support/executor_contract.hpp"

namespace {

using lowbit::executor;
using lowbit::thread_pool;

static_assert(lowbit::parallel_pool<thread_pool>);
static_assert(!std::is_copy_constructible_v<thread_pool> && !std::is_move_constructible_v<thread_pool>);

TEST(thread_pool, keeps_the_contract_of_executor) {
    for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
        thread_pool pool(threads);
        EXPECT_EQ(pool.concurrency(), threads);
        lowbit::test::check_contract(pool);
    }
}

TEST(thread_pool, zero_asks_the_machine) { EXPECT_GE(thread_pool().concurrency(), 1U); }

TEST(thread_pool, starts_and_stops_unused) {
    for (int i = 0; i < 50; ++i) thread_pool pool(4);
}

TEST(thread_pool, uses_its_threads_and_no_others) {
    thread_pool pool(3);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    for (int round = 0; round < 20; ++round) {
        pool.for_each(64, [&](std::size_t) {
            const int now = inside.fetch_add(1) + 1;
            int seen = most.load();
            while (seen < now && !most.compare_exchange_weak(seen, now)) {
            }
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            inside.fetch_sub(1);
        });
    }
    EXPECT_GE(most.load(), 2);
    EXPECT_LE(most.load(), 3);
}

TEST(thread_pool, a_nested_loop_runs_serially_without_executor_too) {
    thread_pool pool(4);
    std::atomic<int> calls{0};
    pool.for_each(16, [&](std::size_t) {
        const std::thread::id me = std::this_thread::get_id();
        pool.for_each(8, [&](std::size_t) {
            if (std::this_thread::get_id() == me) calls.fetch_add(1);
        });
    });
    EXPECT_EQ(calls.load(), 16 * 8);
}

TEST(thread_pool, callers_from_several_threads_all_finish) {
    thread_pool pool(3);
    std::atomic<std::size_t> sum{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t) {
        callers.emplace_back([&] {
            for (int round = 0; round < 300; ++round) pool.for_each(20, [&](std::size_t i) { sum.fetch_add(i); });
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(sum.load(), 4U * 300U * 190U);
}

TEST(thread_pool, works_after_sleeping) {
    thread_pool pool(2);
    for (int round = 0; round < 5; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than workers watch
        lowbit::test::check_every_index_once(pool);
    }
}

TEST(thread_pool, many_short_loops) {
    thread_pool pool(2);
    std::atomic<std::size_t> calls{0};
    for (int round = 0; round < 20000; ++round) pool.for_each(3, [&](std::size_t) { calls.fetch_add(1); });
    EXPECT_EQ(calls.load(), 60000U);
}

}  // namespace
