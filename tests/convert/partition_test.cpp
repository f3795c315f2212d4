// SPDX-License-Identifier: Apache-2.0
#include <lowbit/convert/partition.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace {

using lowbit::detail::matrix_part;
using lowbit::detail::matrix_partition;

TEST(partition, covers_every_element_once) {
    for (const std::size_t rows : {1U, 2U, 3U, 17U, 300U, 1000U}) {
        for (const std::size_t cols : {1U, 5U, 1023U, 1024U, 1025U, 40000U}) {
            if (rows * cols > 2000000) continue;
            for (const std::size_t threads : {1U, 2U, 3U, 64U}) {
                for (const std::size_t granule_rows : {1U, 256U}) {
                    const std::size_t granule_cols = granule_rows == 1 ? matrix_partition::granule : 32;
                    const matrix_partition parts(rows, cols, threads, granule_rows, granule_cols);
                    std::vector<int> seen(rows * cols);
                    for (std::size_t i = 0; i < parts.size(); ++i) {
                        const matrix_part part = parts[i];
                        ASSERT_EQ(part.first_col % granule_cols, 0U);
                        ASSERT_EQ(part.first_row % granule_rows, 0U);
                        for (std::size_t r = part.first_row; r < part.last_row; ++r) {
                            for (std::size_t c = part.first_col; c < part.last_col; ++c) ++seen[r * cols + c];
                        }
                    }
                    ASSERT_EQ(seen, std::vector<int>(rows * cols, 1)) << rows << " x " << cols << ", " << threads;
                }
            }
        }
    }
}

TEST(partition, one_thread_gets_one_part) {
    EXPECT_EQ(matrix_partition(5000, 5000, 1).size(), 1U);
    EXPECT_EQ(matrix_partition(10, 10, 8).size(), 1U);  // too little to share
    EXPECT_EQ(matrix_partition(0, 10, 8).size(), 0U);
    EXPECT_EQ(matrix_partition(10, 0, 8).size(), 0U);
}

TEST(partition, few_long_rows_are_cut) {
    EXPECT_GE(matrix_partition(1, 10000000, 8).size(), 64U);
    EXPECT_GE(matrix_partition(3, 1000000, 8).size(), 24U);
    EXPECT_GE(matrix_partition(4096, 4096, 8).size(), 64U);
}

TEST(partition, case51_shapes_past_2_31_elements) {
    const std::size_t rows = 70000;
    const std::size_t cols = 40000;
    const matrix_partition parts(rows, cols, 16);
    const matrix_part last = parts[parts.size() - 1];
    EXPECT_EQ(last.last_row, rows);
    EXPECT_EQ(last.last_col, cols);
    const matrix_partition row(1, std::size_t{1} << 40, 16);
    EXPECT_EQ(row[row.size() - 1].last_col, std::size_t{1} << 40);
}

}  // namespace
