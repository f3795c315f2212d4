// SPDX-License-Identifier: Apache-2.0
#include <lowbit/convert/tensor_scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/core/thread_pool.hpp>

#include "support/matrix_testing.hpp"

namespace {

using namespace lowbit;
using namespace lowbit::test;

quantized_matrix<nvfp4> quantized(const std::vector<float>& values, const quantize_options<nvfp4>& options = {}) {
    return quantize<nvfp4>(matrix_view<const float>(values.data(), 1, values.size()), options);
}

std::vector<float> round_trip_of(const std::vector<float>& values, const quantize_options<nvfp4>& options = {}) {
    std::vector<float> out(values.size());
    dequantize(quantized(values, options), matrix_view<float>(out.data(), 1, out.size()));
    return out;
}

std::vector<quantize_options<nvfp4>> orders() {
    return {{.format = {nvfp4_order::transformer_engine, false}},
            {.format = {nvfp4_order::division, false}},
            {.format = {nvfp4_order::division, true}}};
}

TEST(tensor_scale, case23_an_all_zero_tensor_takes_one) {
    for (const auto& options : orders()) {
        for (const std::size_t count : {16U, 17U, 64U}) {
            for (const float zero : {0.0F, -0.0F}) {
                const auto q = quantized(std::vector<float>(count, zero), options);
                EXPECT_EQ(q.tensor_scale(), 1.0F);
                for (const nvfp4::block& block : q.blocks()) EXPECT_EQ(block.scale, 0);
                for (const float value : round_trip_of(std::vector<float>(count, zero), options)) {
                    EXPECT_EQ(to_bits(value), to_bits(zero));
                }
            }
        }
    }
}

TEST(tensor_scale, case24_a_zero_block_in_a_tiny_tensor) {
    std::vector<float> values(32, 1e-3F);
    std::fill_n(values.begin(), 16, 0.0F);
    for (const auto& options : orders()) {
        const auto q = quantized(values, options);
        for (const nvfp4::block& block : q.blocks()) EXPECT_NE(block.scale & 0x7F, 0x7F);
        const std::vector<float> out = round_trip_of(values, options);
        for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(to_bits(out[i]), 0U);
        for (std::size_t i = 16; i < 32; ++i) EXPECT_NEAR(out[i], 1e-3F, 1e-3F / 6);
    }
}

TEST(tensor_scale, case25_block_scales_saturate) {
    for (auto options : orders()) {
        options.tensor_scale = {tensor_scale_kind::given, 1.0F};
        std::vector<float> values(16, 1.0F);
        values[5] = 3000.0F;
        if (options.format.four_over_six) continue;
        const auto q = quantized(values, options);
        EXPECT_EQ(q.blocks()[0].scale, 0x7E);
        EXPECT_EQ(q.blocks()[0].codes[2] >> 4U, 7);
        EXPECT_EQ(round_trip_of(values, options)[5], 2688.0F);
        options.tensor_scale = {tensor_scale_kind::none, 99.0F};
        EXPECT_EQ(quantized(values, options), q);
    }
}

TEST(tensor_scale, case27_tiny_tensors_do_not_overflow_the_reciprocal) {
    for (const auto& options : orders()) {
        for (const float tiny : {4e-35F, 1e-36F, 1e-40F, 1e-45F}) {
            std::vector<float> values(32, tiny);
            std::fill(values.begin() + 16, values.end(), tiny / 4);  // a reciprocal of Inf gives it the same scale
            const auto q = quantized(values, options);
            EXPECT_TRUE(is_finite(q.tensor_scale()));
            EXPECT_GE(q.tensor_scale(), 0x1p-126F);
            for (const nvfp4::block& block : q.blocks()) EXPECT_NE(block.scale & 0x7F, 0x7F);
            const std::vector<float> out = round_trip_of(values, options);
            for (std::size_t i = 0; i < out.size(); ++i) {
                EXPECT_TRUE(is_finite(out[i]));
                EXPECT_LE(out[i], 1.2F * values[i]);
                if (tiny >= 0x1p-126F * 2688) {
                    EXPECT_NEAR(out[i], values[i], values[i] / 6);
                }
            }
        }
    }
}

TEST(tensor_scale, case31_each_block_has_its_own_maximum) {
    std::vector<float> values;
    for (int pair = 0; pair < 3; ++pair) {
        values.insert(values.end(), 16, 0.5F);
        values.insert(values.end(), 16, 100.0F);
    }
    for (const auto& options : orders()) {
        const auto q = quantized(values, options);
        const std::vector<float> out = round_trip_of(values, options);
        for (std::size_t pair = 0; pair < 3; ++pair) {
            EXPECT_NE(q.blocks()[2 * pair].scale, q.blocks()[2 * pair + 1].scale);
        }
        for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(out[i], values[i], values[i] / 6);
    }
}

// NaN and Inf are ignored wherever they stand; the others' maximum counts wherever it stands.
TEST(tensor_scale, amax_is_of_finite_values_in_every_position) {
    for (std::size_t place = 0; place < 70; ++place) {
        for (const std::uint32_t special : {0x7FC00000U, 0xFFC00001U, 0x7F800000U, 0xFF800000U}) {
            std::vector<float> values(70, 0.25F);
            values[place] = float_from_bits(special);
            values[(place + 1) % 70] = -7.0F;
            EXPECT_EQ(quantized(values).tensor_scale(), 7.0F / 2688.0F) << place;
        }
    }
    EXPECT_EQ(quantized(std::vector<float>(20, quiet_nan)).tensor_scale(), 1.0F);
}

TEST(tensor_scale, row_scales_are_those_of_each_row) {
    const std::vector<float> values = mixed_values<float>(5 * 40, 2);
    const matrix_view<const float> view(values.data(), 5, 40);
    const auto q = quantize<nvfp4>(view, {.tensor_scale = {.kind = tensor_scale_kind::row}});
    ASSERT_TRUE(q.row_scales());
    for (std::size_t r = 0; r < 5; ++r) {
        const auto row = quantize<nvfp4>(matrix_view<const float>(view.row(r), 1, 40));
        EXPECT_EQ(row, q.slice_rows(r, 1));
    }
}

TEST(tensor_scale, a_given_scale_is_checked_before_anything_else) {
    const std::vector<float> values(16, 1.0F);
    const auto text = [&](float scale) {
        return error_text([&] { (void)quantized(values, {.tensor_scale = {tensor_scale_kind::given, scale}}); });
    };
    const std::string name = "lowbit::quantize: option 'tensor_scale.value' is ";
    EXPECT_EQ(text(0.0F), name + "0, but must be finite and > 0");
    EXPECT_EQ(text(-0.0F), name + "-0, but must be finite and > 0");
    EXPECT_EQ(text(-0.5F), name + "-0.5, but must be finite and > 0");
    EXPECT_EQ(text(quiet_nan), name + "NaN, but must be finite and > 0");
    EXPECT_EQ(text(std::numeric_limits<float>::infinity()), name + "inf, but must be finite and > 0");
    EXPECT_EQ(text(std::numeric_limits<float>::denorm_min()), "no error");
    EXPECT_EQ(text((std::numeric_limits<float>::max)()), "no error");
}

TEST(tensor_scale, formats_without_one_ignore_the_option) {
    const std::vector<float> values(32, 1.0F);
    const matrix_view<const float> view(values.data(), 1, 32);
    const auto q = quantize<mxfp4>(view, {.tensor_scale = {tensor_scale_kind::given, -1.0F}});
    EXPECT_EQ(q, quantize<mxfp4>(view));
}

}  // namespace
