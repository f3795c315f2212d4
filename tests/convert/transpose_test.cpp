// SPDX-License-Identifier: Apache-2.0
#include <lowbit/convert/transpose.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/core/thread_pool.hpp>

#include "support/fp_environments.hpp"
#include "support/guarded_buffer.hpp"
#include "support/matrix_testing.hpp"

namespace {

using namespace lowbit;
using namespace lowbit::test;

template <class T>
std::vector<T> transposed(matrix_view<const T> source) {
    std::vector<T> result;
    for (std::size_t c = 0; c < source.cols(); ++c) {
        for (std::size_t r = 0; r < source.rows(); ++r) result.push_back(source(r, c));
    }
    return result;
}

template <class F, class T>
void check(std::size_t rows, std::size_t cols, std::size_t stride, const executor& executor = {}) {
    const std::vector<T> values = mixed_values<T>(rows * stride, rows * 31 + cols);
    const matrix_view<const T> view(values.data(), rows, cols, stride);
    const std::vector<T> turned = transposed(view);
    const matrix_view<const T> turned_view(turned.data(), cols, rows);
    for (const auto& options : all_options<F>()) {
        for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
            const auto q =
                quantize_transposed<F>(view, {.format = options, .tensor_scale = scale, .executor = executor});
            ASSERT_EQ(q.row_scales(), F::has_tensor_scale && scale.kind == tensor_scale_kind::row);
            ASSERT_TRUE(matches(q, cols, rows, reference_quantize<F>(turned_view, options, scale)))
                << rows << " x " << cols << ", stride " << stride;
        }
    }
}

template <class F>
class quantize_transposed_to : public ::testing::Test {};
using formats = ::testing::Types<hif4, hif8, mxfp4, nvfp4, m2xfp_activation, m2xfp_weight, mxint8, int8_block>;
TYPED_TEST_SUITE(quantize_transposed_to, formats);

TYPED_TEST(quantize_transposed_to, equals_quantize_of_the_transpose) {
    check<TypeParam, float>(130, 37, 41);
    check<TypeParam, bfloat16>(130, 37, 37);
    check<TypeParam, float16>(67, 70, 71);
    // More than one band of 256 rows.
    check<TypeParam, float>(600, 3, 3);
    check<TypeParam, bfloat16>(515, 33, 33);
}

// Every height up to two blocks and widths around the tile's: remainders of 4 in both directions.
TYPED_TEST(quantize_transposed_to, every_tail) {
    using F = TypeParam;
    for (std::size_t rows = 1; rows <= 2 * F::block_size + 1; ++rows) {
        for (const std::size_t cols : {1U, 2U, 5U, 31U, 32U, 33U}) {
            const std::vector<float> values = mixed_values<float>(rows * cols, rows);
            const matrix_view<const float> view(values.data(), rows, cols);
            const std::vector<float> turned = transposed(view);
            ASSERT_EQ(quantize_transposed<F>(view), quantize<F>(matrix_view<const float>(turned.data(), cols, rows)))
                << rows << " x " << cols;
        }
    }
}

// Tiles of 64, panels of 256 rows and 1024 columns, and what is left of them, on every instruction set.
TYPED_TEST(quantize_transposed_to, equals_quantize_of_the_transpose_on_every_instruction_set) {
    using F = TypeParam;
    for (const auto& [rows, cols, stride] : {std::array<std::size_t, 3>{64, 64, 64},
                                             {256, 1024, 1027},
                                             {257, 65, 66},
                                             {320, 1090, 1090},
                                             {576, 130, 131},
                                             {95, 129, 129}}) {
        const std::vector<float> values = mixed_values<float>(rows * stride, rows + cols);
        const matrix_view<const float> view(values.data(), rows, cols, stride);
        const std::vector<float> turned = transposed(view);
        const matrix_view<const float> turned_view(turned.data(), cols, rows);
        for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
            const quantize_options<F> options{.tensor_scale = scale};
            const auto expected = quantize<F>(turned_view, options);
            for (const isa which : kernel::available()) {
                if (which == isa::scalar && rows * cols > 40000) continue;  // minutes, for some formats
                const detail::row_codec<F> codec{kernel::codec<F>(which), which};
                ASSERT_EQ(detail::quantize_transposed(view, options, codec), expected)
                    << rows << " x " << cols << " on " << to_string(which);
            }
        }
    }
}

TYPED_TEST(quantize_transposed_to, case63_reads_nothing_outside) {
    using F = TypeParam;
    for (const flush_with flush : {flush_with::end, flush_with::begin}) {
        for (const std::size_t cols : {1U, 3U, 4U, 33U, 50U}) {
            for (const std::size_t rows : {1U, 3U, 4U, 65U}) {
                guarded_buffer<float> source(rows * cols, flush);
                const std::vector<float> values = mixed_values<float>(rows * cols, 9);
                std::memcpy(source.data(), values.data(), values.size() * sizeof(float));
                const auto q = quantize_transposed<F>(matrix_view<const float>(source.data(), rows, cols));
                EXPECT_EQ(q, quantize_transposed<F>(matrix_view<const float>(values.data(), rows, cols)));
            }
        }
    }
}

TYPED_TEST(quantize_transposed_to, case60_threads_change_nothing) {
    for (const std::size_t threads : {2U, 3U, 8U}) {
        thread_pool pool(threads);
        check<TypeParam, float>(700, 90, 90, pool);
        check<TypeParam, float>(5000, 5, 5, pool);
        check<TypeParam, bfloat16>(40, 3000, 3000, pool);
    }
}

TYPED_TEST(quantize_transposed_to, the_callers_floating_point_environment_changes_nothing) {
    using F = TypeParam;
    const std::vector<float> values = mixed_values<float>(300 * 70, 11);
    const matrix_view<const float> view(values.data(), 300, 70);
    for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
        const quantize_options<F> options{.tensor_scale = scale};
        const auto expected = quantize_transposed<F>(view, options);
        for (int which = 1; which < caller_environments; ++which) {
            foreign_workers workers(which);
            const quantize_options<F> threaded{.tensor_scale = scale, .executor = workers};
            const caller_environment environment(which);
            const bool same =
                quantize_transposed<F>(view, options) == expected && quantize_transposed<F>(view, threaded) == expected;
            const bool restored = environment.unchanged() && workers.restored();
            ASSERT_TRUE(same && restored) << which;
        }
    }
}

TYPED_TEST(quantize_transposed_to, empty_matrices) {
    using F = TypeParam;
    for (const tensor_scale_options& scale : all_tensor_scales<F>()) {
        const quantize_options<F> options{.tensor_scale = scale};
        const auto no_values = quantize_transposed<F>(matrix_view<const float>(nullptr, 0, 7), options);
        EXPECT_EQ(no_values.rows(), 7U);
        EXPECT_EQ(no_values.cols(), 0U);
        EXPECT_EQ(no_values, quantize<F>(matrix_view<const float>(nullptr, 7, 0), options));
        EXPECT_EQ(quantize_transposed<F>(matrix_view<const float>(nullptr, 7, 0), options).rows(), 0U);
    }
}

TEST(quantize_transposed, case50_refusals_name_the_function) {
    EXPECT_EQ(error_text([] {
                  const float value = 1;
                  (void)quantize_transposed<nvfp4>(matrix_view<const float>(&value, 1, 1),
                                                   {.tensor_scale = {tensor_scale_kind::given, -1}});
              }),
              "lowbit::quantize_transposed: option 'tensor_scale.value' is -1, but must be finite and > 0");
    const float value = 1;
    EXPECT_EQ(
        error_text([&] { (void)quantize_transposed<hif4>(matrix_view<const float>(&value, 1, std::size_t{1} << 60)); }),
        "lowbit::quantize_transposed: rows 1152921504606846976 x cols 1 exceed the limit of 9223372036854775807 "
        "bytes or values");
}

}  // namespace
