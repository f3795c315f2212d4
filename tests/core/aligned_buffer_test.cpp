// SPDX-License-Identifier: Apache-2.0
// Alignment, ownership, sizes that overflow and allocations that fail.
#include <lowbit/core/aligned_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>

#include "support/sanitizer.hpp"

namespace lowbit::test {
namespace {

template <class T>
void expect_aligned(std::size_t count) {
    aligned_buffer<T> buffer(count);
    ASSERT_EQ(buffer.size(), count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    for (std::size_t i = 0; i < count; ++i) buffer[i] = static_cast<T>(i % 100);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(buffer[i], static_cast<T>(i % 100));
}

TEST(aligned_buffer, is_aligned_to_64_bytes) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{1000}, std::size_t{100000}}) {
        expect_aligned<float>(count);
        expect_aligned<std::uint8_t>(count);
        expect_aligned<double>(count);
    }
}

TEST(aligned_buffer, empty) {
    aligned_buffer<float> none, zero(0);
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(zero.data(), nullptr);
    EXPECT_TRUE(none.empty() && zero.empty());
    EXPECT_EQ(none.begin(), none.end());
    EXPECT_EQ(none.span().size(), 0U);
}

TEST(aligned_buffer, fills_when_asked) {
    const aligned_buffer<int> sevens(100, 7);
    EXPECT_EQ(std::accumulate(sevens.begin(), sevens.end(), 0), 700);
    EXPECT_EQ(sevens.span().back(), 7);
}

TEST(aligned_buffer, moves_and_does_not_copy) {
    static_assert(!std::is_copy_constructible_v<aligned_buffer<int>> &&
                  !std::is_copy_assignable_v<aligned_buffer<int>>);
    static_assert(std::is_nothrow_move_constructible_v<aligned_buffer<int>> &&
                  std::is_nothrow_move_assignable_v<aligned_buffer<int>>);
    aligned_buffer<int> a(5, 1), b(9, 2);
    const int* at = a.data();
    aligned_buffer<int> c(std::move(a));
    EXPECT_EQ(c.data(), at);
    EXPECT_EQ(c.size(), 5U);
    b = std::move(c);
    EXPECT_EQ(b.data(), at);
    EXPECT_EQ(b[4], 1);
    aligned_buffer<int>& same = b;
    b = std::move(same);
    EXPECT_EQ(b.size(), 5U);
    a.swap(b);
    EXPECT_EQ(a.data(), at);
    EXPECT_TRUE(b.empty());
}

TEST(aligned_buffer, case50_a_size_that_overflows_is_an_error) {
    constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
    EXPECT_THROW(aligned_buffer<double>{largest / 4}, error);
    EXPECT_THROW(aligned_buffer<float>{largest}, error);
    EXPECT_THROW(aligned_buffer<std::uint8_t>{largest / 2 + 1}, error);
    EXPECT_THROW(aligned_buffer<double>{largest / 8 + 2}, error);  // 8 bytes, were sizes to wrap
    try {
        aligned_buffer<double> buffer(largest / 4);
        FAIL();
    } catch (const error& caught) {
        EXPECT_EQ(
            std::string(caught.what()),
            "lowbit::aligned_buffer: count 4611686018427387903 of elements of 8 bytes exceeds the largest object, "
            "9223372036854775807 bytes");
    }
}

TEST(aligned_buffer, a_failed_allocation_is_bad_alloc) {
    if (failed_allocation_ends_program) GTEST_SKIP() << "the sanitizer stops at huge allocations";
    EXPECT_THROW(aligned_buffer<std::uint8_t>{std::size_t{1} << 62U}, std::bad_alloc);
}

}  // namespace
}  // namespace lowbit::test
