// SPDX-License-Identifier: Apache-2.0
#include <lowbit/matrix/quantized_matrix.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lowbit/block/registry.hpp>

#include "support/matrix_testing.hpp"
#include "support/sanitizer.hpp"

namespace {

using namespace lowbit;
using lowbit::test::error_text;

template <class F>
class quantized_matrix_of : public ::testing::Test {
  public:
    static std::vector<typename F::block> blocks(std::size_t count) {
        std::vector<typename F::block> result(count);
        auto* const bytes = reinterpret_cast<std::uint8_t*>(result.data());
        for (std::size_t i = 0; i < count * sizeof(typename F::block); ++i)
            bytes[i] = static_cast<std::uint8_t>(7 * i + 1);
        return result;
    }
};
using formats = ::testing::Types<hif4, hif8, mxfp4, nvfp4, m2xfp_activation, m2xfp_weight, mxint8, int8_block>;
TYPED_TEST_SUITE(quantized_matrix_of, formats);

TYPED_TEST(quantized_matrix_of, existing_blocks_keep_their_bytes) {
    using F = TypeParam;
    for (const std::size_t cols : {std::size_t{1}, F::block_size, F::block_size + 1, 3 * F::block_size}) {
        const std::size_t per_row = (cols + F::block_size - 1) / F::block_size;
        const auto blocks = this->blocks(5 * per_row);
        const auto q = quantized_matrix<F>::from_blocks(5, cols, blocks);
        EXPECT_EQ(q.rows(), 5U);
        EXPECT_EQ(q.cols(), cols);
        EXPECT_EQ(q.blocks_per_row(), per_row);
        EXPECT_EQ(q.blocks().size(), 5 * per_row);
        EXPECT_EQ(q.row(4).data(), q.blocks().data() + 4 * per_row);
        EXPECT_EQ(q.row(4).size(), per_row);
        EXPECT_EQ(q.bytes().size(), 5 * per_row * sizeof(typename F::block));
        EXPECT_EQ(q.bytes().size(), quantized_matrix<F>::size_bytes(5, cols));
        EXPECT_EQ(std::memcmp(q.bytes().data(), blocks.data(), q.bytes().size()), 0);
        EXPECT_FALSE(q.row_scales());
        EXPECT_EQ(q.tensor_scale(), 1.0F);
        EXPECT_EQ(q.tensor_scale(3), 1.0F);
    }
}

TYPED_TEST(quantized_matrix_of, is_a_value) {
    using F = TypeParam;
    static_assert(std::is_nothrow_move_constructible_v<quantized_matrix<F>>);
    static_assert(std::is_nothrow_move_assignable_v<quantized_matrix<F>>);
    const auto blocks = this->blocks(6);
    auto a = quantized_matrix<F>::from_blocks(3, 2 * F::block_size, blocks);
    auto b = a;
    EXPECT_EQ(a, b);
    EXPECT_NE(a.blocks().data(), b.blocks().data());
    const auto* const memory = b.blocks().data();
    auto c = std::move(b);
    EXPECT_EQ(c.blocks().data(), memory);
    EXPECT_EQ(c, a);
    EXPECT_EQ(b, quantized_matrix<F>());  // NOLINT(bugprone-use-after-move): stated
    b = c;
    EXPECT_EQ(b, a);
    b = std::move(c);
    EXPECT_EQ(b, a);
    auto& self = b;
    b = self;
    EXPECT_EQ(b, a);
    auto other = this->blocks(6);
    reinterpret_cast<std::uint8_t*>(other.data())[6 * sizeof(typename F::block) - 1] ^= 1U;
    EXPECT_NE(a, quantized_matrix<F>::from_blocks(3, 2 * F::block_size, other));
    EXPECT_NE(a, quantized_matrix<F>::from_blocks(6, F::block_size, blocks));
    if constexpr (F::block_size > 1) {
        EXPECT_NE(a, quantized_matrix<F>::from_blocks(3, 2 * F::block_size - 1, blocks));
    }
}

TYPED_TEST(quantized_matrix_of, may_be_empty) {
    using F = TypeParam;
    const quantized_matrix<F> none;
    EXPECT_EQ(none.rows() + none.cols() + none.blocks().size() + none.bytes().size(), 0U);
    const auto no_cols = quantized_matrix<F>::from_blocks(4, 0, {});
    EXPECT_EQ(no_cols.rows(), 4U);
    EXPECT_TRUE(no_cols.row(3).empty());
    EXPECT_EQ(no_cols.slice_rows(1, 2).rows(), 2U);
    const auto no_rows = quantized_matrix<F>::from_blocks(0, 100, {});
    EXPECT_EQ(no_rows.cols(), 100U);
    EXPECT_EQ(no_rows.bits_per_value(), F::bits_per_value);
    EXPECT_NE(no_cols, no_rows);
}

TYPED_TEST(quantized_matrix_of, slices_copy_rows) {
    using F = TypeParam;
    const auto blocks = this->blocks(10);
    const auto q = quantized_matrix<F>::from_blocks(5, 2 * F::block_size, blocks);
    EXPECT_EQ(q.slice_rows(0, 5), q);
    EXPECT_EQ(q.slice_rows(5, 0).rows(), 0U);
    const auto expected = quantized_matrix<F>::from_blocks(2, 2 * F::block_size,
                                                           std::span<const typename F::block>(blocks).subspan(6, 4));
    EXPECT_EQ(q.slice_rows(3, 2), expected);
    EXPECT_EQ(error_text([&] { (void)q.slice_rows(4, 2); }),
              "lowbit::quantized_matrix::slice_rows: first 4 and count 2 leave the rows 5 of the matrix");
    EXPECT_NE(error_text([&] { (void)q.slice_rows(1, ~std::size_t{0}); }), "no error");
    EXPECT_NE(error_text([&] { (void)q.slice_rows(6, 0); }), "no error");
}

TYPED_TEST(quantized_matrix_of, counts_of_blocks_are_checked) {
    using F = TypeParam;
    const auto blocks = this->blocks(7);
    const std::string cols = std::to_string(2 * F::block_size);
    EXPECT_EQ(error_text([&] { (void)quantized_matrix<F>::from_blocks(3, 2 * F::block_size, blocks); }),
              "lowbit::quantized_matrix::from_blocks: 'blocks' has 7 blocks, but rows 3 x cols " + cols + " need 6");
}

// What size_bytes says is what from_blocks demands, what bytes() holds and what slices add up to.
TYPED_TEST(quantized_matrix_of, case48_one_size_for_all) {
    using F = TypeParam;
    constexpr std::size_t cols = 2 * F::block_size + F::block_size / 2 + 1;
    for (const std::size_t rows : {1U, 5U, 127U, 128U, 129U}) {
        const std::size_t bytes = quantized_matrix<F>::size_bytes(rows, cols);
        ASSERT_EQ(bytes % sizeof(typename F::block), 0U);
        const std::size_t count = bytes / sizeof(typename F::block);
        const auto q = quantized_matrix<F>::from_blocks(rows, cols, this->blocks(count));
        EXPECT_EQ(q.bytes().size(), bytes);
        EXPECT_EQ(q.row(rows - 1).data() + q.row(rows - 1).size(), q.blocks().data() + count);
        EXPECT_EQ(q.slice_rows(0, 1).bytes().size() + q.slice_rows(1, rows - 1).bytes().size(), bytes);
        EXPECT_NE(error_text([&] { (void)quantized_matrix<F>::from_blocks(rows, cols, this->blocks(count - 1)); }),
                  "no error");
        EXPECT_NE(error_text([&] { (void)quantized_matrix<F>::from_blocks(rows, cols, this->blocks(count + 1)); }),
                  "no error");
    }
}

TYPED_TEST(quantized_matrix_of, case50_sizes_do_not_wrap) {
    using F = TypeParam;
    const std::size_t big = std::size_t{1} << 33;
    EXPECT_EQ(error_text([&] { (void)quantized_matrix<F>::size_bytes(big, big); }),
              "lowbit::quantized_matrix::size_bytes: rows 8589934592 x cols 8589934592 exceed the limit of "
              "9223372036854775807 bytes or values");
    EXPECT_EQ(error_text([&] { (void)quantized_matrix<F>::from_blocks(big, big, {}); }),
              "lowbit::quantized_matrix::from_blocks: rows 8589934592 x cols 8589934592 exceed the limit of "
              "9223372036854775807 bytes or values");
    EXPECT_NE(error_text([] { (void)quantized_matrix<F>::size_bytes(1, std::size_t{1} << 63); }), "no error");
    EXPECT_NE(error_text([] { (void)quantized_matrix<F>::size_bytes(std::size_t{1} << 63, 1); }), "no error");
    EXPECT_NE(error_text([] { (void)quantized_matrix<F>::size_bytes(~std::size_t{0}, ~std::size_t{0}); }), "no error");
    EXPECT_EQ(quantized_matrix<F>::size_bytes(std::size_t{1} << 63, 0), 0U);
    EXPECT_EQ(quantized_matrix<F>::size_bytes(0, ~std::size_t{0}), 0U);
}

TYPED_TEST(quantized_matrix_of, case51_sizes_past_2_31_elements) {
    using F = TypeParam;
    const std::size_t per_row = 40000 / F::block_size;
    static_assert(40000 % F::block_size == 0);
    for (const std::size_t rows : {std::size_t{70000}, std::size_t{1} << 33}) {
        EXPECT_EQ(quantized_matrix<F>::size_bytes(rows, 40000), rows * per_row * sizeof(typename F::block));
    }
}

TEST(quantized_matrix, case79_bits_per_value_count_tails_and_scales) {
    EXPECT_EQ(quantized_matrix<mxfp4>::from_blocks(1, 32, std::vector<mxfp4::block>(1)).bits_per_value(), 4.25);
    EXPECT_EQ(quantized_matrix<hif4>::from_blocks(2, 64, std::vector<hif4::block>(2)).bits_per_value(), 4.5);
    EXPECT_EQ(quantized_matrix<hif8>::from_blocks(2, 3, std::vector<hif8>(6)).bits_per_value(), 8.0);
    EXPECT_EQ(quantized_matrix<m2xfp_weight>::from_blocks(2, 32, std::vector<m2xfp_weight::block>(2)).bits_per_value(),
              4.5);
    // 33 values in two blocks of 17 bytes.
    EXPECT_EQ(quantized_matrix<mxfp4>::from_blocks(3, 33, std::vector<mxfp4::block>(6)).bits_per_value(), 272.0 / 33.0);
    // One float32 for the matrix, or for each row.
    const std::vector<nvfp4::block> blocks(8);
    EXPECT_EQ(quantized_matrix<nvfp4>::from_blocks(4, 32, blocks).bits_per_value(), 4.5 + 32.0 / 128.0);
    const std::vector<float> scales(4, 0.5F);
    EXPECT_EQ(quantized_matrix<nvfp4>::from_blocks(4, 32, blocks, scales).bits_per_value(), 4.5 + 1.0);
}

TEST(quantized_matrix, tensor_scales_are_kept_sliced_and_compared) {
    const std::vector<nvfp4::block> blocks(6);
    const std::vector<float> one = {0.25F};
    const std::vector<float> each = {0.25F, 0.5F, 2.0F};
    const auto whole = quantized_matrix<nvfp4>::from_blocks(3, 32, blocks, one);
    EXPECT_FALSE(whole.row_scales());
    EXPECT_EQ(whole.tensor_scale(), 0.25F);
    EXPECT_EQ(whole.tensor_scale(2), 0.25F);
    const auto rows = quantized_matrix<nvfp4>::from_blocks(3, 32, blocks, each);
    EXPECT_TRUE(rows.row_scales());
    EXPECT_EQ(rows.tensor_scale(1), 0.5F);
    EXPECT_EQ(error_text([&] { (void)rows.tensor_scale(); }),
              "lowbit::quantized_matrix::tensor_scale: the matrix has 3 row scales, not 1 tensor scale");
    EXPECT_NE(whole, rows);
    EXPECT_EQ(whole, quantized_matrix<nvfp4>::from_blocks(3, 32, blocks, std::vector<float>(3, 0.25F)));
    const auto tail = rows.slice_rows(1, 2);
    EXPECT_EQ(tail.tensor_scale(0), 0.5F);
    EXPECT_EQ(tail.tensor_scale(1), 2.0F);
    EXPECT_EQ(whole.slice_rows(1, 2).tensor_scale(), 0.25F);
    auto copy = rows;
    EXPECT_EQ(copy, rows);
    const auto moved = std::move(copy);
    EXPECT_EQ(moved, rows);
}

TEST(quantized_matrix, tensor_scales_are_checked) {
    const std::vector<nvfp4::block> blocks(6);
    const auto with = [&](const std::vector<float>& scales) {
        return error_text([&] { (void)quantized_matrix<nvfp4>::from_blocks(3, 32, blocks, scales); });
    };
    const std::string name = "lowbit::quantized_matrix::from_blocks: ";
    EXPECT_EQ(with({1, 2}), name + "'tensor_scales' has 2 values, but one or one a row (3) are expected");
    EXPECT_EQ(with({1, -2, 3}), name + "'tensor_scales' has -2 at index 1, but a tensor scale is finite and > 0");
    EXPECT_EQ(with({0}), name + "'tensor_scales' has 0 at index 0, but a tensor scale is finite and > 0");
    EXPECT_EQ(with({-0.0F}), name + "'tensor_scales' has -0 at index 0, but a tensor scale is finite and > 0");
    EXPECT_EQ(with({1, 1, quiet_nan}),
              name + "'tensor_scales' has NaN at index 2, but a tensor scale is finite and > 0");
    EXPECT_EQ(with({std::numeric_limits<float>::infinity()}),
              name + "'tensor_scales' has inf at index 0, but a tensor scale is finite and > 0");
    EXPECT_EQ(with({std::numeric_limits<float>::denorm_min()}), "no error");
    const std::vector<float> one = {1.0F};
    EXPECT_EQ(error_text([&] { (void)quantized_matrix<mxfp4>::from_blocks(1, 32, std::vector<mxfp4::block>(1), one); }),
              name + "'tensor_scales' has 1 values, but format mxfp4 has none");
}

TEST(quantized_matrix, a_failed_allocation_leaves_objects_as_they_were) {
    if (lowbit::test::failed_allocation_ends_program) GTEST_SKIP() << "the sanitizer stops at huge allocations";
    const std::vector<mxfp4::block> blocks(2);
    auto q = quantized_matrix<mxfp4>::from_blocks(2, 32, blocks);
    const auto before = q;
    const auto* const memory = q.blocks().data();
    // A size that the type allows and no machine has.
    using access = detail::quantized_matrix_access<mxfp4>;
    EXPECT_THROW(q = access::make(std::size_t{1} << 29, std::size_t{1} << 32, false), std::bad_alloc);
    EXPECT_EQ(q, before);
    EXPECT_EQ(q.blocks().data(), memory);
}

// Case 53: little-endian bytes in the order of the fields, the same in every build.
TEST(quantized_matrix, bytes_are_the_blocks_in_order) {
    mxfp4::block block{};
    block.scale = 0x7F;
    block.codes[0] = 0x71;
    const std::array<mxfp4::block, 2> blocks = {mxfp4::block{}, block};
    const auto q = quantized_matrix<mxfp4>::from_blocks(2, 2, blocks);
    EXPECT_EQ(q.bytes()[17], 0x7F);
    EXPECT_EQ(q.bytes()[18], 0x71);
}

}  // namespace
