// SPDX-License-Identifier: Apache-2.0
// Pieces are made beforehand, belong to one body at a time and come back however a body ends.
#include <lowbit/core/scratch_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <lowbit/core/thread_pool.hpp>

namespace lowbit::test {
namespace {

TEST(scratch_pool, makes_its_pieces_at_once) {
    int made = 0;
    detail::scratch_pool pool(3, [&made] { return ++made; });
    EXPECT_EQ(made, 3);
    for (int i = 0; i < 5; ++i) {
        pool.use([](int& piece) { EXPECT_EQ(piece, 1); });
    }
    EXPECT_EQ(made, 3);
}

TEST(scratch_pool, bodies_within_each_other_have_different_pieces_and_those_in_excess_new_ones) {
    int made = 0;
    detail::scratch_pool pool(2, [&made] { return ++made; });
    pool.use([&](int& first) {
        pool.use([&](int& second) {
            EXPECT_EQ(first + second, 3);
            pool.use([&](int& third) { EXPECT_EQ(third, 3); });
            pool.use([&](int& fourth) { EXPECT_EQ(fourth, 4); });
        });
    });
    pool.use([](int& piece) { EXPECT_EQ(piece, 1); });
    EXPECT_EQ(made, 4);
}

TEST(scratch_pool, a_body_that_throws_gives_its_piece_back) {
    int made = 0;
    detail::scratch_pool pool(1, [&made] { return ++made; });
    EXPECT_THROW(pool.use([](int&) { throw std::runtime_error("body"); }), std::runtime_error);
    pool.use([](int& piece) { EXPECT_EQ(piece, 1); });
    EXPECT_EQ(made, 1);
}

TEST(scratch_pool, threads_never_share_a_piece) {
    struct piece {
        std::vector<int> users = std::vector<int>(1, 0);
    };
    thread_pool threads(4);
    std::atomic<int> made{0}, shared{0};
    detail::scratch_pool pool(threads.concurrency(), [&made] {
        ++made;
        return piece{};
    });
    threads.for_each(20000, [&](std::size_t) {
        pool.use([&](piece& mine) {
            if (++mine.users[0] != 1) ++shared;
            --mine.users[0];
        });
    });
    EXPECT_EQ(made, 4);
    EXPECT_EQ(shared, 0);
}

}  // namespace
}  // namespace lowbit::test
