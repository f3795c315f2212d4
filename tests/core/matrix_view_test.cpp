// SPDX-License-Identifier: Apache-2.0
#include <lowbit/core/matrix_view.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/core/float16.hpp>

namespace {

using lowbit::matrix_view;
using lowbit::detail::overlaps;

template <class T>
std::string refusal(T* data, std::size_t rows, std::size_t cols, std::size_t stride) {
    try {
        const matrix_view<T> view(data, rows, cols, stride);
    } catch (const lowbit::error& caught) {
        return caught.what();
    }
    return "accepted";
}

TEST(matrix_view, addresses_rows_through_the_stride) {
    std::vector<float> values(50);
    const matrix_view<float> view(values.data(), 5, 7, 10);
    EXPECT_EQ(view.rows(), 5U);
    EXPECT_EQ(view.cols(), 7U);
    EXPECT_EQ(view.stride(), 10U);
    EXPECT_EQ(view.row(3), values.data() + 30);
    EXPECT_EQ(&view(4, 6), values.data() + 46);
    EXPECT_EQ(matrix_view<float>(values.data(), 5, 7).stride(), 7U);
    const matrix_view<const float> constant = view;
    EXPECT_EQ(constant.row(1), values.data() + 10);
    static_assert(!std::is_convertible_v<matrix_view<const float>, matrix_view<float>>);
    static_assert(!std::is_convertible_v<matrix_view<float>, matrix_view<const double>>);
}

TEST(matrix_view, may_be_empty) {
    EXPECT_TRUE(matrix_view<float>().empty());
    EXPECT_TRUE(matrix_view<float>(nullptr, 0, 0).empty());
    EXPECT_TRUE(matrix_view<float>(nullptr, 5, 0).empty());
    EXPECT_TRUE(matrix_view<float>(nullptr, 0, 7).empty());
    EXPECT_EQ(matrix_view<float>(nullptr, 5, 0).row(4), nullptr);
}

TEST(matrix_view, is_constexpr) {
    static constexpr float values[6] = {0, 1, 2, 3, 4, 5};
    constexpr matrix_view<const float> view(values, 2, 3);
    static_assert(view(1, 2) == 5);
}

TEST(matrix_view, refuses_by_name_and_number) {
    float value = 0;
    EXPECT_EQ(refusal(&value, 3, 4, 3), "lowbit::matrix_view: stride 3 is less than cols 4");
    EXPECT_EQ(refusal<float>(nullptr, 3, 4, 4), "lowbit::matrix_view: data is null, but rows 3 x cols 4 is not empty");
    EXPECT_EQ(refusal<float>(nullptr, 3, 0, 0), "accepted");
    auto* const odd = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(&value) + 1);
    EXPECT_EQ(refusal(odd, 1, 1, 1), "lowbit::matrix_view: data lies 1 bytes past an address that is aligned to 4");
}

TEST(matrix_view, case50_size_arithmetic_does_not_wrap) {
    float value = 0;
    const std::size_t big = std::size_t{1} << 33;
    EXPECT_EQ(refusal(&value, big, big, big),
              "lowbit::matrix_view: rows 8589934592 with stride 8589934592 and cols 8589934592 exceed the limit of "
              "2305843009213693951 elements");
    EXPECT_EQ(refusal(&value, 1, std::size_t{1} << 63, std::size_t{1} << 63),
              "lowbit::matrix_view: rows 1 with stride 9223372036854775808 and cols 9223372036854775808 exceed the "
              "limit of 2305843009213693951 elements");
    // (rows - 1) * stride is 0, were it to wrap.
    EXPECT_NE(refusal(&value, (std::size_t{1} << 32) + 1, 1, std::size_t{1} << 32), "accepted");
    EXPECT_EQ(refusal(&value, 3, 1, (std::size_t{1} << 63) - 1).substr(0, 34), "lowbit::matrix_view: rows 3 with s");
    EXPECT_EQ(refusal(&value, 1, 1, ~std::size_t{0}), "accepted");  // one row: its stride is never used
}

TEST(matrix_view, case51_offsets_are_64_bit) {
    float value = 0;
    for (const std::size_t stride : {40000U, 70000U}) {  // 2.8e9 and 4.9e9 elements: past int, and past unsigned
        const matrix_view<float> view(&value, 70001, 1, stride);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.row(70000)) - reinterpret_cast<std::uintptr_t>(&value),
                  std::uintptr_t{4} * 70000 * stride);
    }
}

// Every pair of small strided views against a map of bytes.
TEST(matrix_view, overlap_is_exact_for_equal_strides) {
    alignas(8) float buffer[64] = {};
    const std::size_t stride = 8;
    for (std::size_t offset = 0; offset < 24; ++offset) {
        for (std::size_t rows_a = 1; rows_a <= 3; ++rows_a) {
            for (std::size_t rows_b = 1; rows_b <= 3; ++rows_b) {
                for (std::size_t cols_a = 1; cols_a <= 8; ++cols_a) {
                    for (std::size_t cols_b = 1; cols_b <= 8; ++cols_b) {
                        bool used[64] = {};
                        for (std::size_t i = 0; i < rows_a * stride; ++i) used[i] = i % stride < cols_a;
                        bool expected = false;
                        for (std::size_t r = 0; r < rows_b; ++r) {
                            for (std::size_t c = 0; c < cols_b; ++c) expected |= used[offset + r * stride + c];
                        }
                        const matrix_view<float> a(buffer, rows_a, cols_a, stride);
                        const matrix_view<const float> b(buffer + offset, rows_b, cols_b, stride);
                        ASSERT_EQ(overlaps(a, b), expected) << offset << " " << rows_a << cols_a << rows_b << cols_b;
                        ASSERT_EQ(overlaps(b, a), expected) << offset << " " << rows_a << cols_a << rows_b << cols_b;
                    }
                }
            }
        }
    }
}

TEST(matrix_view, overlap_of_empty_and_of_unequal_strides) {
    float buffer[64] = {};
    const matrix_view<float> all(buffer, 8, 8);
    EXPECT_FALSE(overlaps(all, matrix_view<float>(buffer, 0, 8)));
    EXPECT_FALSE(overlaps(matrix_view<float>(), all));
    EXPECT_TRUE(overlaps(all, matrix_view<float>(buffer + 63, 1, 1)));
    EXPECT_TRUE(overlaps(matrix_view<float>(buffer, 4, 2, 8), matrix_view<float>(buffer + 4, 2, 3, 5)));
    EXPECT_FALSE(overlaps(matrix_view<float>(buffer, 4, 2, 8), matrix_view<float>(buffer + 26, 2, 3, 5)));
    EXPECT_TRUE(overlaps(lowbit::detail::byte_rows_of(all), lowbit::detail::byte_rows_of(buffer + 10, 1)));
}

}  // namespace
