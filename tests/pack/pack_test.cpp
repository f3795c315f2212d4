// SPDX-License-Identifier: Apache-2.0
#include <lowbit/pack/pack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/thread_pool.hpp>

namespace {

template <class F>
class pack_of : public testing::Test {};
using formats = testing::Types<lowbit::hif4, lowbit::hif8, lowbit::mxfp4, lowbit::nvfp4, lowbit::m2xfp_activation,
                               lowbit::m2xfp_weight, lowbit::mxint8, lowbit::int8_block>;
TYPED_TEST_SUITE(pack_of, formats, );

// Any bytes are blocks, also in the tail of a row.
template <class F>
lowbit::quantized_matrix<F> random_matrix(std::size_t rows, std::size_t cols) {
    std::vector<typename F::block> blocks(rows * ((cols + F::block_size - 1) / F::block_size));
    std::mt19937 engine(static_cast<std::uint32_t>(rows * 131 + cols));
    for (auto& block : blocks) {
        std::uint8_t bytes[sizeof(block)];
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
        std::memcpy(static_cast<void*>(&block), bytes, sizeof(block));
    }
    std::vector<float> scales;
    if (F::has_tensor_scale) {
        for (std::size_t i = 0; i < rows; ++i) scales.push_back(0.5F + static_cast<float>(i));
    }
    return lowbit::quantized_matrix<F>::from_blocks(rows, cols, blocks, scales);
}

TYPED_TEST(pack_of, case47_comes_back_byte_for_byte) {
    for (const std::size_t rows : {0U, 1U, 15U, 16U, 17U, 31U, 32U, 33U, 70U}) {
        for (const std::size_t cols : {0U, 1U, 15U, 16U, 17U, 31U, 33U, 63U, 64U, 65U, 127U, 192U, 321U}) {
            const auto q = random_matrix<TypeParam>(rows, cols);
            const auto packed = lowbit::pack(q);
            ASSERT_EQ(packed.rows(), rows);
            ASSERT_EQ(packed.cols(), cols);
            ASSERT_EQ(packed.bytes().size(), lowbit::packed_matrix<TypeParam>::size_bytes(rows, cols));
            ASSERT_TRUE(lowbit::unpack(packed) == q) << rows << " x " << cols;
            ASSERT_TRUE(lowbit::unpack(packed.clone()) == q);
        }
    }
}

TYPED_TEST(pack_of, case47_padding_does_not_depend_on_stale_memory) {
    for (const std::size_t rows : {1U, 17U, 33U}) {
        for (const std::size_t cols : {1U, 33U, 65U}) {
            const auto q = random_matrix<TypeParam>(rows, cols);
            const auto packed = lowbit::pack(q);
            // Freed memory of the same size, full of 0xFF, is what the second result is likely to get.
            { const lowbit::aligned_buffer<std::uint8_t> stale(packed.bytes().size(), 0xFF); }
            const auto again = lowbit::pack(q);
            EXPECT_TRUE(std::ranges::equal(packed.bytes(), again.bytes())) << rows << " x " << cols;
        }
    }
}

TYPED_TEST(pack_of, case60_threads_and_floats_give_the_same_bytes) {
    const std::size_t rows = 100, cols = 200;
    std::vector<float> values(rows * cols);
    std::mt19937 engine(3);
    for (float& value : values) value = static_cast<float>(static_cast<int>(engine() % 2001) - 1000) * 0.01F;
    const lowbit::matrix_view<const float> view(values.data(), rows, cols);
    const auto serial = lowbit::pack(lowbit::quantize<TypeParam>(view));
    lowbit::thread_pool pool(3);
    lowbit::quantize_options<TypeParam> options;
    options.executor = pool;
    const auto parallel = lowbit::pack<TypeParam>(view, options);
    ASSERT_EQ(serial.bytes().size(), parallel.bytes().size());
    EXPECT_EQ(std::memcmp(serial.bytes().data(), parallel.bytes().data(), serial.bytes().size()), 0);
    EXPECT_TRUE(lowbit::unpack(parallel, pool) == lowbit::unpack(serial));
}

TYPED_TEST(pack_of, case79_costs_at_most_a_third_of_a_bit_more) {
    const auto packed = lowbit::pack(random_matrix<TypeParam>(256, 512));
    EXPECT_LE(packed.bits_per_value(), TypeParam::bits_per_value + 0.1);
    const auto odd = lowbit::pack(random_matrix<TypeParam>(224, 1000));
    EXPECT_LE(odd.bits_per_value(), TypeParam::bits_per_value + 0.3);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed.panel(1)) % 64, 0U);
    // 33 rows take the storage of 64.
    EXPECT_GT(lowbit::pack(random_matrix<TypeParam>(33, 64)).bits_per_value(), 1.9 * TypeParam::bits_per_value);
}

TEST(pack_layout, a_packed_matrix_of_another_layout_is_refused) {
    auto packed = lowbit::pack(random_matrix<lowbit::mxfp4>(8, 64));
    lowbit::kernel::panel_layout other;
    other.columns = 48;
    lowbit::detail::packed_matrix_access<lowbit::mxfp4>::set_layout(packed, other);
    try {
        static_cast<void>(lowbit::unpack(packed));
        FAIL() << "no error";
    } catch (const lowbit::error& error) {
        EXPECT_NE(std::string(error.what()).find("lowbit::unpack"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("48"), std::string::npos) << error.what();
    }
}

TEST(pack_layout, case50_sizes_do_not_wrap) {
    const std::size_t huge = SIZE_MAX / 4 + 1;
    EXPECT_THROW(static_cast<void>(lowbit::packed_matrix<lowbit::hif4>::size_bytes(huge, huge)), lowbit::error);
    EXPECT_THROW(static_cast<void>(lowbit::packed_matrix<lowbit::hif8>::size_bytes(1, ~std::size_t{0})), lowbit::error);
    // A product of 0, were it to wrap.
    EXPECT_THROW(static_cast<void>(lowbit::packed_matrix<lowbit::hif8>::size_bytes(huge, SIZE_MAX / 4096 + 1)),
                 lowbit::error);
}

}  // namespace
