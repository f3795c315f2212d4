// SPDX-License-Identifier: Apache-2.0
// What every pool behind lowbit::executor must do, as checks that the test of each adapter runs.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <lowbit/core/executor.hpp>

namespace lowbit::test {

/// Each index once, for counts around the number of threads and around chunk sizes.
inline void check_every_index_once(const executor& executor) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 63U, 64U, 65U, 1000U, 4097U}) {
        std::vector<std::atomic<int>> calls(count);
        executor.for_each(count, [&](std::size_t i) { calls.at(i).fetch_add(1); });
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(calls[i].load(), 1) << "index " << i << " of " << count;
    }
}

/// What bodies write is visible to the caller afterwards, loop after loop.
inline void check_results_visible(const executor& executor) {
    std::vector<std::size_t> values(997);
    for (std::size_t round = 0; round < 200; ++round) {
        executor.for_each(values.size(), [&](std::size_t i) { values[i] = i * round; });
        for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i * round);
    }
}

/// One exception reaches the caller, with its text, and the pool goes on working.
inline void check_exception_reaches_caller(const executor& executor) {
    for (const std::size_t bad : {0U, 1U, 50U, 99U}) {
        try {
            executor.for_each(100, [&](std::size_t i) {
                if (i == bad) throw std::runtime_error("index " + std::to_string(i));
            });
            FAIL() << "no exception for index " << bad;
        } catch (const std::runtime_error& caught) {
            EXPECT_EQ(caught.what(), "index " + std::to_string(bad));
        }
        check_every_index_once(executor);
    }
    EXPECT_THROW(executor.for_each(1000, [](std::size_t) { throw std::runtime_error("all"); }), std::runtime_error);
    check_every_index_once(executor);
}

/// A loop started in a body runs on that body's thread alone.
inline void check_nested_loops_are_serial(const executor& executor) {
    std::atomic<int> strangers{0};
    std::atomic<int> calls{0};
    executor.for_each(64, [&](std::size_t) {
        const std::thread::id me = std::this_thread::get_id();
        if (executor.concurrency() != 1 && executor.concurrency() != 0) strangers.fetch_add(1);
        executor.for_each(16, [&](std::size_t) {
            calls.fetch_add(1);
            if (std::this_thread::get_id() != me) strangers.fetch_add(1);
        });
    });
    EXPECT_EQ(calls.load(), 64 * 16);
    EXPECT_EQ(strangers.load(), 0);
}

inline void check_contract(const executor& executor) {
    check_every_index_once(executor);
    check_results_visible(executor);
    check_exception_reaches_caller(executor);
    check_nested_loops_are_serial(executor);
}

}  // namespace lowbit::test
