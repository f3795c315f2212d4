// SPDX-License-Identifier: Apache-2.0
#include <lowbit/core/executor.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "support/executor_contract.hpp"

namespace {

using lowbit::executor;
using lowbit::function_ref;

// Runs loops backwards on the calling thread and counts them.
struct backwards_pool {
    std::size_t threads = 4;
    int loops = 0;
    void for_each(std::size_t count, function_ref<void(std::size_t)> body) {
        ++loops;
        for (std::size_t i = count; i > 0; --i) body(i - 1);
    }
    std::size_t concurrency() const { return threads; }
};
static_assert(lowbit::parallel_pool<backwards_pool>);
static_assert(!lowbit::parallel_pool<int>);

TEST(executor, default_is_serial_and_ascending) {
    const executor serial;
    std::vector<std::size_t> order;
    serial.for_each(5, [&](std::size_t i) { order.push_back(i); });
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(serial.concurrency(), 1U);
    lowbit::test::check_contract(serial);
}

TEST(executor, refers_to_a_pool_of_the_callers) {
    backwards_pool pool;
    const struct { lowbit::executor executor; } options{.executor = pool};
    std::vector<std::size_t> order;
    options.executor.for_each(3, [&](std::size_t i) { order.push_back(i); });
    EXPECT_EQ(order, (std::vector<std::size_t>{2, 1, 0}));
    EXPECT_EQ(options.executor.concurrency(), 4U);
    EXPECT_EQ(pool.loops, 1);
    lowbit::test::check_contract(options.executor);
}

TEST(executor, asks_no_pool_for_one_body_or_one_thread) {
    backwards_pool pool;
    const executor reference(pool);
    int calls = 0;
    reference.for_each(0, [&](std::size_t) { ++calls; });
    reference.for_each(1, [&](std::size_t) { ++calls; });
    pool.threads = 1;
    reference.for_each(5, [&](std::size_t) { ++calls; });
    pool.threads = 0;
    reference.for_each(5, [&](std::size_t) { ++calls; });
    EXPECT_EQ(reference.concurrency(), 1U);
    EXPECT_EQ(calls, 11);
    EXPECT_EQ(pool.loops, 0);
}

TEST(executor, loops_in_bodies_are_serial_whatever_pool_they_name) {
    backwards_pool outer;
    backwards_pool inner;
    const executor outside(outer);
    const executor within(inner);
    outside.for_each(4, [&](std::size_t) {
        EXPECT_EQ(within.concurrency(), 1U);
        within.for_each(4, [](std::size_t) {});
    });
    EXPECT_EQ(inner.loops, 0);
    within.for_each(4, [](std::size_t) {});
    EXPECT_EQ(inner.loops, 1);
    EXPECT_THROW(outside.for_each(2, [](std::size_t) { throw std::runtime_error("x"); }), std::runtime_error);
    EXPECT_EQ(within.concurrency(), 4U) << "an exception left the mark of a body behind";
}

}  // namespace
