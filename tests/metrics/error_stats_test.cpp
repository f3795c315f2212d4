// SPDX-License-Identifier: Apache-2.0
#include <lowbit/metrics/error_stats.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/core/thread_pool.hpp>

namespace {

using lowbit::error_stats;
using lowbit::matrix_view;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float inf_value = std::numeric_limits<float>::infinity();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
matrix_view<const T> row(const std::vector<T>& values) {
    return {values.data(), 1, values.size()};
}

error_stats compare_rows(const std::vector<float>& reference, const std::vector<float>& restored) {
    return lowbit::compare(row(reference), row(restored));
}

std::vector<float> wavy(std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = std::sin(static_cast<float>(i * i % 1009)) * static_cast<float>(i % 17);
    return out;
}

TEST(error_stats, known_figures) {
    const error_stats got = compare_rows({3, -4, 0, 0.5F, 1}, {3, -5, 0, 0, -1});
    EXPECT_EQ(got.count, 5U);
    EXPECT_EQ(got.exact, 2U);
    EXPECT_EQ(got.flushed, 1U);
    EXPECT_EQ(got.sign_changed, 1U);
    EXPECT_EQ(got.saturated, 0U);
    EXPECT_FALSE(got.failed());
    EXPECT_DOUBLE_EQ(got.mse, (1 + 0.25 + 4) / 5);
    EXPECT_DOUBLE_EQ(got.relative_error, std::sqrt(5.25 / 26.25));
    EXPECT_DOUBLE_EQ(got.sqnr_db, 10 * std::log10(26.25 / 5.25));
    EXPECT_DOUBLE_EQ(got.cosine, (9 + 20 - 1) / std::sqrt(26.25 * 35.0));
    EXPECT_EQ(got.max_abs, 2);
}

TEST(error_stats, case78_a_common_factor_shows) {
    const std::vector<float> x = wavy(1000);
    std::vector<float> twice = x;
    for (float& value : twice) value *= 2;
    const error_stats got = compare_rows(x, twice);
    EXPECT_DOUBLE_EQ(got.relative_error, 1.0);
    EXPECT_DOUBLE_EQ(got.cosine, 1.0);
    EXPECT_NEAR(got.sqnr_db, 0.0, 1e-12);
}

TEST(error_stats, case78_all_nan_fails_whichever_way_it_is_asked) {
    const error_stats got = compare_rows(wavy(100), std::vector<float>(100, nan_value));
    EXPECT_TRUE(got.failed());
    EXPECT_EQ(got.nan, 100U);
    for (const double figure : {got.mse, got.relative_error, got.max_abs}) {
        EXPECT_TRUE(figure > 1e300);
        EXPECT_FALSE(figure <= 1e300);
    }
    EXPECT_TRUE(got.sqnr_db < -1e300);
    EXPECT_FALSE(got.cosine > 0.0);
}

TEST(error_stats, case78_zeros_are_an_error_of_one) {
    const error_stats got = compare_rows(wavy(100), std::vector<float>(100, 0.0F));
    EXPECT_DOUBLE_EQ(got.relative_error, 1.0);
    EXPECT_EQ(got.sqnr_db, 0.0);
    EXPECT_EQ(got.cosine, 0.0);
    EXPECT_EQ(got.flushed + got.exact, 100U);
}

TEST(error_stats, case78_an_all_zero_reference_divides_by_nothing) {
    const error_stats same = compare_rows({0, -0.0F, 0}, {0, 0, -0.0F});
    EXPECT_EQ(same.exact, 3U);
    EXPECT_EQ(same.mse, 0);
    EXPECT_EQ(same.relative_error, 0);
    EXPECT_EQ(same.sqnr_db, infinity);
    EXPECT_EQ(same.cosine, 1);
    const error_stats other = compare_rows({0, 0}, {0, 1});
    EXPECT_EQ(other.mse, 0.5);
    EXPECT_EQ(other.relative_error, infinity);
    EXPECT_EQ(other.sqnr_db, -infinity);
    EXPECT_EQ(other.cosine, 0);
    EXPECT_FALSE(other.failed());
}

TEST(error_stats, empty_matrices_agree) {
    const error_stats got =
        lowbit::compare(matrix_view<const float>(nullptr, 7, 0), matrix_view<const double>(nullptr, 7, 0));
    EXPECT_EQ(got.count, 0U);
    EXPECT_EQ(got.mse, 0);
    EXPECT_EQ(got.sqnr_db, infinity);
}

TEST(error_stats, values_that_are_not_finite) {
    const error_stats kept = compare_rows({1, nan_value, inf_value, 2}, {1, nan_value, nan_value, 2});
    EXPECT_FALSE(kept.failed());
    EXPECT_EQ(kept.nonfinite_reference, 2U);
    EXPECT_EQ(kept.exact, 2U);
    EXPECT_EQ(kept.mse, 0);
    const error_stats hidden = compare_rows({1, nan_value}, {1, 6});
    EXPECT_EQ(hidden.hidden, 1U);
    EXPECT_TRUE(hidden.failed());
    const error_stats overflowed = compare_rows({1, 60000}, {1, inf_value});
    EXPECT_EQ(overflowed.infinite, 1U);
    EXPECT_TRUE(overflowed.failed());
    EXPECT_EQ(overflowed.relative_error, infinity);
    const error_stats nothing = compare_rows({nan_value}, {nan_value});
    EXPECT_FALSE(nothing.failed());
    EXPECT_EQ(nothing.mse, 0);
}

TEST(error_stats, extremes_of_float_stay_in_range) {
    const float big = (std::numeric_limits<float>::max)();
    const float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_DOUBLE_EQ(compare_rows({big, big}, {big, -big}).relative_error, std::sqrt(2.0));
    const error_stats got = compare_rows({tiny, tiny}, {0, tiny});
    EXPECT_EQ(got.flushed, 1U);
    EXPECT_EQ(got.exact, 1U);
    EXPECT_DOUBLE_EQ(got.relative_error, std::sqrt(0.5));
    EXPECT_DOUBLE_EQ(got.max_abs, static_cast<double>(tiny));
}

TEST(error_stats, sums_are_compensated) {
    // 2^53 and then ones: a plain double sum would lose every one of them
    std::vector<double> reference(100001, 1.0);
    reference[0] = 0x1p26 * 1.4142135623730951;
    const std::vector<double> zeros(reference.size(), 0.0);
    const error_stats got = lowbit::compare(row(reference), row(zeros));
    const double first = reference[0] * reference[0];
    EXPECT_DOUBLE_EQ(got.mse, (first + 100000.0) / 100001.0);
}

TEST(error_stats, shapes_must_match) {
    const std::vector<float> x(12);
    const auto text_of = [&](std::size_t rows, std::size_t cols) -> std::string {
        try {
            static_cast<void>(lowbit::compare(matrix_view<const float>(x.data(), 3, 4),
                                              matrix_view<const float>(x.data(), rows, cols)));
        } catch (const lowbit::error& problem) {
            return problem.what();
        }
        return "";
    };
    EXPECT_EQ(text_of(2, 4), "lowbit::compare: rows 2 of 'restored' do not match rows 3 of 'reference'");
    EXPECT_EQ(text_of(3, 2), "lowbit::compare: cols 2 of 'restored' do not match cols 4 of 'reference'");
    EXPECT_EQ(text_of(3, 4), "");
}

TEST(error_stats, every_format_gives_what_its_restored_values_give) {
    const std::vector<float> data = wavy(5 * 151);
    const matrix_view<const float> x(data.data(), 5, 149, 151);
    lowbit::thread_pool pool(2);
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        const lowbit::quantized_matrix<F> q = lowbit::quantize<F>(x);
        std::vector<float> restored(5 * 149);
        const matrix_view<float> back(restored.data(), 5, 149);
        lowbit::dequantize(q, back);
        const error_stats want = lowbit::compare(x, back);
        const error_stats got = lowbit::compare(x, q);
        EXPECT_EQ(got.count, 745U) << F::name;
        EXPECT_EQ(got.mse, want.mse) << F::name;
        EXPECT_EQ(got.cosine, want.cosine) << F::name;
        EXPECT_EQ(got.exact, want.exact) << F::name;
        EXPECT_EQ(got.flushed, want.flushed) << F::name;
        EXPECT_EQ(lowbit::compare(x, q, pool).mse, got.mse) << F::name;
        EXPECT_GT(got.sqnr_db, 14.0) << F::name;
        EXPECT_LT(got.sqnr_db, 50.0) << F::name;
    });
}

TEST(error_stats, threads_do_not_change_a_bit) {
    const std::vector<float> x = wavy(1U << 18U);
    std::vector<float> y = x;
    for (float& value : y) value = std::round(value * 4) / 4;
    const matrix_view<const float> a(x.data(), 1U << 9U, 1U << 9U);
    const matrix_view<const float> b(y.data(), 1U << 9U, 1U << 9U);
    lowbit::thread_pool pool(3);
    EXPECT_EQ(lowbit::compare(a, b).mse, lowbit::compare(a, b, pool).mse);
    EXPECT_EQ(lowbit::compare(a, b).cosine, lowbit::compare(a, b, pool).cosine);
}

template <class F>
std::uint64_t saturated(std::vector<float> values, const typename F::options& options = {}) {
    values.resize(F::block_size);
    const matrix_view<const float> x(values.data(), 1, values.size());
    return lowbit::compare(x, lowbit::quantize<F>(x, {.format = options})).saturated;
}

TEST(error_stats, case81_recoding_is_called_exact_only_where_it_is) {
    // MXFP4 blocks with scales 2^0 and 2^-17 in one matrix: NVFP4 cannot hold both under one tensor scale
    std::vector<float> values(64);
    for (std::size_t i = 0; i < 32; ++i) {
        values[i] = static_cast<float>(i % 7) - 3;
        values[32 + i] = values[i] * 0x1p-17F;
    }
    const matrix_view<const float> x(values.data(), 1, 64);
    const lowbit::quantized_matrix<lowbit::mxfp4> q = lowbit::quantize<lowbit::mxfp4>(x);
    EXPECT_EQ(lowbit::compare(x, q).exact, 64U);
    const error_stats got = lowbit::compare(x, lowbit::quantize<lowbit::nvfp4>(x));
    EXPECT_LT(got.exact, 64U);
}

TEST(error_stats, case79_bits_count_tails_and_tensor_scales) {
    const std::vector<float> values(70, 1.0F);
    const matrix_view<const float> x(values.data(), 2, 35);
    EXPECT_DOUBLE_EQ(lowbit::quantize<lowbit::mxfp4>(x).bits_per_value(), 2 * 2 * 17 * 8 / 70.0);
    EXPECT_DOUBLE_EQ(lowbit::quantize<lowbit::nvfp4>(x).bits_per_value(), (2 * 3 * 9 * 8 + 32) / 70.0);
    EXPECT_DOUBLE_EQ(lowbit::quantize<lowbit::hif4>(x).bits_per_value(), 2 * 36 * 8 / 70.0);
    EXPECT_DOUBLE_EQ(lowbit::quantize<lowbit::hif8>(x).bits_per_value(), 8.0);
}

TEST(error_stats, saturated_values_are_those_past_the_block_s_largest) {
    EXPECT_EQ(saturated<lowbit::mxfp4>({6, -6, 5.9F}), 0U);
    EXPECT_EQ(saturated<lowbit::mxfp4>({6.001F, -7.9F, 6}), 2U);
    EXPECT_EQ(saturated<lowbit::mxfp4>({6.001F, -7.9F, 6}, {.scale_rule = lowbit::mxfp4_scale_rule::ceil}), 0U);
    // m2xfp_activation: the first of the largest codes of each 8 reaches 7, the others 6
    EXPECT_EQ(saturated<lowbit::m2xfp_activation>({1, 6.9F, 6.5F, 6}), 1U);
    EXPECT_EQ(saturated<lowbit::m2xfp_activation>({1, 7.5F, 0, 0, 0, 0, 0, 0, 6.9F}), 1U);
    EXPECT_EQ(saturated<lowbit::hif4>({7, 4, 3.5F}), 0U);
    EXPECT_EQ(saturated<lowbit::hif4>({1e6F, 344064}), 1U);
    EXPECT_EQ(saturated<lowbit::hif8>({40000}), 1U);
    EXPECT_EQ(saturated<lowbit::hif8>({32768}), 0U);
    EXPECT_EQ(saturated<lowbit::hif8>({1e6F}, {.overflow = lowbit::overflow::saturate}), 1U);
    EXPECT_EQ(saturated<lowbit::hif8>({1e6F}), 0U);  // Inf: counted as infinite
}

}  // namespace
