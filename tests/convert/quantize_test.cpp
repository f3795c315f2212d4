// SPDX-License-Identifier: Apache-2.0
#include <lowbit/convert/quantize.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/core/thread_pool.hpp>

#include "support/fp_environments.hpp"
#include "support/guarded_buffer.hpp"
#include "support/matrix_testing.hpp"

namespace {

using namespace lowbit;
using namespace lowbit::test;

template <class F>
class quantize_to : public ::testing::Test {};
using formats = ::testing::Types<hif4, hif8, mxfp4, nvfp4, m2xfp_activation, m2xfp_weight, mxint8, int8_block>;
TYPED_TEST_SUITE(quantize_to, formats);

template <class F, class T>
void check_all_options(std::size_t rows, std::size_t cols, std::size_t stride) {
    const std::vector<T> values = mixed_values<T>(rows * stride, rows + cols);
    const matrix_view<const T> view(values.data(), rows, cols, stride);
    for (const auto& options : all_options<F>()) {
        for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
            const auto q = quantize<F>(view, {.format = options, .tensor_scale = scale});
            EXPECT_TRUE(matches(q, rows, cols, reference_quantize<F>(view, options, scale)))
                << rows << " x " << cols << ", stride " << stride;
            EXPECT_EQ(q.row_scales(), F::has_tensor_scale && scale.kind == tensor_scale_kind::row);
        }
    }
}

TYPED_TEST(quantize_to, equals_the_block_codec_for_every_option_and_type) {
    check_all_options<TypeParam, float>(7, 200, 211);
    check_all_options<TypeParam, bfloat16>(7, 200, 200);
    check_all_options<TypeParam, float16>(7, 200, 203);
    // More than a tile of 1024 values, and a tail.
    check_all_options<TypeParam, float>(2, 2085, 2085);
    check_all_options<TypeParam, bfloat16>(2, 2085, 2085);
    check_all_options<TypeParam, float16>(2, 2085, 2090);
}

// Every tail; both ends of the input against a page that must not be touched; case 45: odd counts.
TYPED_TEST(quantize_to, case63_case45_reads_nothing_outside_of_any_tail) {
    using F = TypeParam;
    const auto check = []<class T>(std::type_identity<T>, flush_with flush) {
        for (std::size_t cols = 1; cols <= 2 * F::block_size + 1; ++cols) {
            guarded_buffer<T> source(cols, flush);
            const std::vector<T> values = mixed_values<T>(cols, cols);
            std::memcpy(source.data(), values.data(), cols * sizeof(T));
            const matrix_view<const T> view(source.data(), 1, cols);
            EXPECT_TRUE(matches(quantize<F>(view), 1, cols, reference_quantize<F>(view, {}))) << cols;
        }
    };
    for (const flush_with flush : {flush_with::end, flush_with::begin}) {
        check(std::type_identity<float>{}, flush);
        check(std::type_identity<bfloat16>{}, flush);
        check(std::type_identity<float16>{}, flush);
    }
}

// The gap between cols and stride is never read: it holds NaN here, and the last row ends at a guard page.
TYPED_TEST(quantize_to, strides_skip_the_gap) {
    using F = TypeParam;
    const std::size_t rows = 5;
    const std::size_t cols = F::block_size + 3;
    const std::size_t stride = cols + 9;
    guarded_buffer<float> source((rows - 1) * stride + cols);
    const std::vector<float> values = mixed_values<float>(rows * cols, 5, false);
    for (float& each : source) each = quiet_nan;
    for (std::size_t r = 0; r < rows; ++r)
        std::memcpy(source.data() + r * stride, &values[r * cols], cols * sizeof(float));
    const matrix_view<const float> strided(source.data(), rows, cols, stride);
    EXPECT_EQ(quantize<F>(strided), quantize<F>(matrix_view<const float>(values.data(), rows, cols)));
}

// Case 47: what was in memory before makes no difference; tails are filled up with zeros.
TYPED_TEST(quantize_to, case47_tails_do_not_depend_on_stale_memory) {
    using F = TypeParam;
    const std::size_t cols = 33;
    const std::vector<float> values = mixed_values<float>(4 * cols, 47, false);
    for (int round = 0; round < 4; ++round) {
        // Freed memory of the same size, full of 0xFF, is what the result is likely to get.
        { const aligned_buffer<std::uint8_t> stale(quantized_matrix<F>::size_bytes(4, cols), 0xFF); }
        const matrix_view<const float> view(values.data(), 4, cols);
        EXPECT_TRUE(matches(quantize<F>(view), 4, cols, reference_quantize<F>(view, {})));
    }
}

TYPED_TEST(quantize_to, case64_any_float_address) {
    using F = TypeParam;
    std::vector<float> buffer(2 * 130 + 16);
    const std::vector<float> values = mixed_values<float>(2 * 130, 64);
    const auto expected = quantize<F>(matrix_view<const float>(values.data(), 2, 130));
    for (std::size_t shift = 0; shift < 16; ++shift) {
        std::memcpy(buffer.data() + shift, values.data(), values.size() * sizeof(float));
        EXPECT_EQ(quantize<F>(matrix_view<const float>(buffer.data() + shift, 2, 130)), expected) << shift;
    }
}

TYPED_TEST(quantize_to, empty_matrices_have_shape_and_nothing_else) {
    using F = TypeParam;
    thread_pool pool(2);
    for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
        for (const executor& executor : {lowbit::executor(), lowbit::executor(pool)}) {
            const quantize_options<F> options{.tensor_scale = scale, .executor = executor};
            const auto no_rows = quantize<F>(matrix_view<const float>(nullptr, 0, 100), options);
            EXPECT_EQ(no_rows.rows(), 0U);
            EXPECT_EQ(no_rows.cols(), 100U);
            const auto no_cols = quantize<F>(matrix_view<const float>(nullptr, 3, 0), options);
            EXPECT_EQ(no_cols.rows(), 3U);
            EXPECT_EQ(no_cols.cols(), 0U);
            EXPECT_EQ(no_cols.bytes().size(), 0U);
            const float given = scale.kind == tensor_scale_kind::given ? scale.value : 1.0F;
            EXPECT_EQ(no_cols.tensor_scale(2), F::has_tensor_scale ? given : 1.0F);
        }
    }
}

// The caller's rounding mode, FTZ and DAZ change no byte and are the same afterwards; in worker threads too.
TYPED_TEST(quantize_to, the_callers_floating_point_environment_changes_nothing) {
    using F = TypeParam;
    const std::size_t rows = 40;
    const std::size_t cols = 1000;
    std::vector<float> values = mixed_values<float>(rows * cols, 3);
    for (std::size_t i = 0; i < 4 * cols; ++i)
        values[i] = float_from_bits(to_bits(values[i]) & 0x807FFFFFU);  // subnormal
    const std::vector<float16> narrow = mixed_values<float16>(rows * cols, 4);
    const matrix_view<const float> view(values.data(), rows, cols);
    const matrix_view<const float16> narrow_view(narrow.data(), rows, cols);
    for (const auto& options : all_options<F>()) {
        for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
            const quantize_options<F> serial{.format = options, .tensor_scale = scale};
            const auto expected = quantize<F>(view, serial);
            const auto expected_narrow = quantize<F>(narrow_view, serial);
            for (int which = 1; which < caller_environments; ++which) {
                foreign_workers workers(which);
                const quantize_options<F> threaded{.format = options, .tensor_scale = scale, .executor = workers};
                const caller_environment environment(which);
                const bool same = quantize<F>(view, serial) == expected && quantize<F>(view, threaded) == expected &&
                                  quantize<F>(narrow_view, threaded) == expected_narrow;
                const bool restored = environment.unchanged() && workers.restored();
                ASSERT_TRUE(same) << "environment " << which;
                ASSERT_TRUE(restored) << "environment " << which;
            }
        }
    }
}

// Case 60 for conversion: threads and chunks change no byte.
TYPED_TEST(quantize_to, case60_threads_change_nothing) {
    using F = TypeParam;
    const struct { std::size_t rows, cols; } shapes[] = {{257, 1000}, {1, 200001}, {3, 70000}, {5000, 3}};
    for (const auto& shape : shapes) {
        const std::vector<float> values = mixed_values<float>(shape.rows * shape.cols, 60);
        const matrix_view<const float> view(values.data(), shape.rows, shape.cols);
        for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
            const auto format = all_options<F>().back();  // stochastic, four over six, search
            const auto expected = quantize<F>(view, {.format = format, .tensor_scale = scale});
            for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
                thread_pool pool(threads);
                const quantize_options<F> options{.format = format, .tensor_scale = scale, .executor = pool};
                for (int run = 0; run < 3; ++run) {
                    ASSERT_EQ(quantize<F>(view, options), expected) << threads << " threads, cols " << shape.cols;
                }
            }
        }
    }
}

TEST(quantize, case46_blocks_do_not_straddle_rows) {
    std::vector<float> values(66, 0.0F);
    values[32] = 1e-3F;
    std::fill(values.begin() + 33, values.end(), 100.0F);
    const auto q = quantize<mxfp4>(matrix_view<const float>(values.data(), 2, 33));
    EXPECT_EQ(q.blocks().size(), 4U);
    EXPECT_EQ(q.row(0)[1].scale, 115);
    float decoded[32];
    mxfp4::decode(q.row(0)[1], decoded);
    EXPECT_EQ(decoded[0], 0.0009765625F);
}

TEST(quantize, case66_stochastic_rounding_is_keyed_by_seed_and_element) {
    const std::size_t rows = 64;
    const std::size_t cols = 1024;
    const std::vector<float> values(rows * cols, 1.03F);  // between 1 and 1.125, which have neighbouring codes
    const matrix_view<const float> view(values.data(), rows, cols);
    quantize_options<hif8> options{.format = {.rounding = hif8_rounding::stochastic, .seed = 1}};
    const auto first = quantize<hif8>(view, options);
    EXPECT_EQ(quantize<hif8>(view, options), first);
    thread_pool pool(4);
    options.executor = pool;
    EXPECT_EQ(quantize<hif8>(view, options), first);
    options.format.seed = 2;
    EXPECT_NE(quantize<hif8>(view, options), first);
    // A part of the matrix alone: the index counts within the matrix that is quantised.
    EXPECT_EQ(quantize<hif8>(matrix_view<const float>(values.data(), 1, cols),
                             {.format = {hif8_rounding::stochastic, overflow::infinity, 1}}),
              first.slice_rows(0, 1));
    // Neighbours, in a row and in a column, are not correlated; 0.24 of the codes round up.
    double up = 0, pairs = 0, column_pairs = 0;
    const auto is_up = [&](std::size_t r, std::size_t c) { return first.row(r)[c].bits() == 0x09 ? 1.0 : 0.0; };
    for (std::size_t r = 0; r + 1 < rows; ++r) {
        for (std::size_t c = 0; c + 1 < cols; ++c) {
            up += is_up(r, c);
            pairs += is_up(r, c) * is_up(r, c + 1);
            column_pairs += is_up(r, c) * is_up(r + 1, c);
        }
    }
    const double count = double(rows - 1) * double(cols - 1);
    EXPECT_NEAR(up / count, 0.24, 0.01);
    EXPECT_NEAR(pairs / count, 0.24 * 0.24, 0.01);
    EXPECT_NEAR(column_pairs / count, 0.24 * 0.24, 0.01);
}

// Case 67: no combination of format, options, element type and layout succeeds with an empty result.
TYPED_TEST(quantize_to, case67_no_combination_returns_zeros) {
    using F = TypeParam;
    const auto check = []<class T>(std::type_identity<T>) {
        const std::vector<T> values(3 * 70, narrowed_to<T>(1.5F));
        for (const auto& options : all_options<F>()) {
            for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
                const auto q = quantize<F>(matrix_view<const T>(values.data(), 3, 69, 70),
                                           {.format = options, .tensor_scale = scale});
                const std::vector<float> decoded = reference_dequantize(q);
                for (const float value : decoded) ASSERT_GT(value, 0.0F);
            }
        }
    };
    check(std::type_identity<float>{});
    check(std::type_identity<bfloat16>{});
    check(std::type_identity<float16>{});
}

TEST(quantize, an_exception_of_the_executor_reaches_the_caller) {
    struct broken_pool {
        void for_each(std::size_t, function_ref<void(std::size_t)>) { throw std::runtime_error("pool is closed"); }
        std::size_t concurrency() const { return 2; }
    } pool;
    const std::vector<float> values(1000000, 1.0F);
    EXPECT_THROW((void)quantize<mxfp4>(matrix_view<const float>(values.data(), 1000, 1000), {.executor = pool}),
                 std::runtime_error);
}

TEST(quantize, case50_refuses_what_cannot_exist) {
    EXPECT_EQ(error_text([] { (void)quantize<mxfp4>(matrix_view<const float>(nullptr, 0, ~std::size_t{0})); }),
              "no error");
    EXPECT_EQ(error_text([] { (void)quantize<mxfp4>(matrix_view<const float>(nullptr, ~std::size_t{0}, 0)); }),
              "no error");
    // A view that may exist, whose blocks of 36 bytes a row may not: refused before a value is read.
    const float value = 1;
    constexpr std::size_t rows = SIZE_MAX / 16 + 1;
    EXPECT_EQ(error_text([&] { (void)quantize<hif4>(matrix_view<const float>(&value, rows, 1)); }),
              "lowbit::quantize: rows " + std::to_string(rows) + " x cols 1 exceed the limit of " +
                  std::to_string(PTRDIFF_MAX) + " bytes or values");
}

TEST(quantize, row_results_do_not_depend_on_other_rows_with_row_scales) {
    const std::vector<float> values = mixed_values<float>(10 * 100, 8);
    const quantize_options<nvfp4> options{.tensor_scale = {.kind = tensor_scale_kind::row}};
    const auto all = quantize<nvfp4>(matrix_view<const float>(values.data(), 10, 100), options);
    for (std::size_t r = 0; r < 10; ++r) {
        EXPECT_EQ(quantize<nvfp4>(matrix_view<const float>(values.data() + r * 100, 1, 100), options),
                  all.slice_rows(r, 1));
    }
}

template <class T>
void check_hybrid_rounding_of_all() {
    std::vector<T> values(65536);
    for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = T::from_bits(static_cast<std::uint16_t>(i));
    const matrix_view<const T> view(values.data(), 64, 1024);
    for (const overflow mode : {overflow::infinity, overflow::saturate}) {
        const quantize_options<hif8> options{.format = {.rounding = hif8_rounding::hybrid, .overflow = mode}};
        for (const isa which : kernel::available()) {
            const detail::row_codec<hif8> codec{kernel::codec<hif8>(which), which};
            const auto q = detail::quantize(view, options, codec);
            for (std::size_t r = 0; r < view.rows(); ++r) {
                for (std::size_t c = 0; c < view.cols(); ++c) {
                    hif8 expected;
                    if constexpr (std::is_same_v<T, bfloat16>) {
                        expected = hif8::from_bfloat16(view(r, c), hif8_rounding::hybrid, mode);
                    } else {
                        expected = hif8::from_float16(view(r, c), hif8_rounding::hybrid, mode);
                    }
                    ASSERT_EQ(q.row(r)[c].bits(), expected.bits()) << to_string(which) << ", " << view(r, c).bits();
                }
            }
        }
    }
}

// Its rule for 16-bit sources looks at their own last bit: all values, on every instruction set.
TEST(quantize_hif8, hybrid_rounding_of_all_bfloat16) { check_hybrid_rounding_of_all<bfloat16>(); }
TEST(quantize_hif8, hybrid_rounding_of_all_float16) { check_hybrid_rounding_of_all<float16>(); }

}  // namespace
