// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/nvfp4.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/block_oracle.hpp"
#include "support/block_testing.hpp"

using namespace lowbit;
using namespace lowbit::test;

namespace {

constexpr nvfp4_options division{.order = nvfp4_order::division};
constexpr nvfp4_options four_over_six{.four_over_six = true};
constexpr nvfp4_options all_options[] = {{}, division, four_over_six};

constexpr encode_context context_of(const nvfp4_scales& scales) { return {scales.tensor_scale, scales.encode_scale}; }

float amax_of(const std::vector<float>& data) {
    float amax = 0;
    for (const float value : data) {
        amax = (std::max)(amax, std::fabs(value));
    }
    return amax;
}

/// A tensor there and back.
struct tensor_result {
    nvfp4_scales scales;
    std::vector<std::uint8_t> bytes;
    std::vector<float> decoded;
};

tensor_result through(const std::vector<float>& data, const nvfp4_options& options) {
    tensor_result result;
    result.scales = nvfp4::scales_from_amax(amax_of(data), options);
    result.bytes = encode_all<nvfp4>(data, options, context_of(result.scales));
    result.decoded = decode_all<nvfp4>(result.bytes, result.scales.tensor_scale);
    return result;
}

// Worked blocks in constant expressions.
constexpr auto worked = to_bytes<nvfp4>(encode<nvfp4>(values<nvfp4>({6, -3, 0.5F, -0.0F}), division));
static_assert(worked[0] == 0x38 && worked[1] == 0xD7 && worked[2] == 0x81);
static_assert(encode<nvfp4>(values<nvfp4>({6, -3, 0.5F, -0.0F})).scale == 0x38);
static_assert(nvfp4::scales_from_amax(2688).tensor_scale == 1 && nvfp4::scales_from_amax(0).encode_scale == 1);
static_assert(encode<nvfp4>(values<nvfp4>({4}), four_over_six).codes[0] == 6);  // scale 1, exactly 4

TEST(nvfp4, decodes_every_byte_pattern) {
    for (const float tensor_scale : {1.0F, 0.0390625F, 3.7e-5F, 1e30F, 0x1p-126F, 0x1.8p-149F, FLT_MAX}) {
        for (unsigned scale = 0; scale < 256; ++scale) {
            nvfp4::block block{static_cast<std::uint8_t>(scale), {}};
            for (std::size_t shift = 0; shift < 16; ++shift) {
                for (std::size_t i = 0; i < 16; ++i) {
                    set_nibble(block.codes, i, static_cast<std::uint8_t>((i + shift) % 16));
                }
                const auto got = decode<nvfp4>(block, tensor_scale);
                for (std::size_t i = 0; i < 16; ++i) {
                    const double exact = e2m1_value(get_nibble(block.codes, i)) * e4m3_value(scale);
                    const float wanted = std::isnan(exact) ? quiet_nan : static_cast<float>(exact) * tensor_scale;
                    ASSERT_EQ(to_bits(got[i]), to_bits(wanted)) << scale << ' ' << tensor_scale;
                }
            }
        }
    }
}

TEST(nvfp4, case06_signed_zero_survives) {
    for (const auto& options : all_options) {
        const auto got = round_trip<nvfp4>(values<nvfp4>({-0.0F, 1, 0, -1e-9F}), options);
        EXPECT_EQ(to_bits(got[0]), 0x80000000U);
        EXPECT_EQ(to_bits(got[2]), 0U);
        EXPECT_EQ(to_bits(got[3]), 0x80000000U);
        // Under a zero scale too: 2^-12 / 6 is below half of the smallest E4M3.
        const auto block = encode<nvfp4>(values<nvfp4>({-0x1p-12F, -0.0F, 0x1p-13F}), options);
        EXPECT_EQ(block.scale, 0);
        EXPECT_EQ(block.codes[0], 0x88);
        EXPECT_EQ(block.codes[1], 0x00);
    }
}

TEST(nvfp4, case09_nan_scale_bytes_make_nan_of_zero_codes_too) {
    for (const int byte : {0x7F, 0xFF}) {
        const nvfp4::block block{static_cast<std::uint8_t>(byte), {0x10, 0x32, 0x54, 0x76}};
        for (const float value : decode<nvfp4>(block)) {
            EXPECT_EQ(to_bits(value), quiet_nan_bits);
        }
    }
}

TEST(nvfp4, case10_the_sign_bit_of_a_scale_byte_is_ignored) {
    const nvfp4::block block{0xB8, {0xF7}};
    EXPECT_EQ(decode<nvfp4>(block)[0], 6.0F);
    EXPECT_EQ(decode<nvfp4>(block)[1], -6.0F);
    EXPECT_EQ(decode<nvfp4>({0x7E, {0x02}})[0], 448.0F);
    EXPECT_EQ(decode<nvfp4>({0xFE, {0x02}})[0], 448.0F);
}

TEST(nvfp4, case23_all_zero_tensors) {
    for (const auto& options : all_options) {
        for (const float zero : {0.0F, -0.0F}) {
            for (const std::size_t blocks : {1U, 2U, 4U}) {
                const auto result = through(std::vector<float>(16 * blocks, zero), options);
                EXPECT_EQ(result.scales, (nvfp4_scales{1, 1}));
                for (std::size_t i = 0; i < result.bytes.size(); ++i) {
                    EXPECT_EQ(result.bytes[i], i % 9 == 0 || !std::signbit(zero) ? 0 : 0x88);
                }
                for (const float value : result.decoded) {
                    EXPECT_EQ(to_bits(value), to_bits(zero));
                }
            }
        }
    }
}

TEST(nvfp4, case24_a_zero_block_in_a_tiny_tensor) {
    for (const auto& options : all_options) {
        std::vector<float> data(32, 0.0F);
        std::fill(data.begin() + 16, data.end(), 1e-3F);
        const auto result = through(data, options);
        EXPECT_EQ(result.bytes[0], 0);
        EXPECT_NE(result.bytes[9], 0x7F);
        for (std::size_t i = 0; i < 16; ++i) {
            EXPECT_EQ(result.decoded[i], 0.0F);
            EXPECT_NEAR(result.decoded[16 + i], 1e-3, 1e-3 / 6);
        }
    }
}

TEST(nvfp4, case25_block_scales_above_448_saturate) {
    for (const auto& options : all_options) {
        const auto block = encode<nvfp4>(values<nvfp4>({3000, -3000}), options, {1, 1});
        EXPECT_EQ(block.scale, 0x7E);
        EXPECT_EQ(block.codes[0], 0xF7);
        EXPECT_EQ(decode<nvfp4>(block)[0], 2688.0F);
        EXPECT_EQ(
            encode<nvfp4>(values<nvfp4>({FLT_MAX}), options, context_of(nvfp4::scales_from_tensor_scale(0x1p-149F)))
                .scale,
            0x7E);
    }
}

TEST(nvfp4, case27_tiny_tensors_do_not_overflow_the_reciprocal) {
    for (const auto& options : all_options) {
        for (const float tiny : {1e-36F, 1e-37F, 1e-40F, 0x1p-149F}) {
            const auto result = through(std::vector<float>(32, tiny), options);
            EXPECT_TRUE(is_finite(result.scales.encode_scale));
            EXPECT_GE(result.scales.tensor_scale, 0x1p-126F);
            const bool in_range = tiny >= 2688 * 0x1p-126F;
            for (const float value : result.decoded) {
                EXPECT_LE(value, 1.2F * tiny);
                EXPECT_GE(value, in_range ? tiny * 5 / 6 : 0.0F);
            }
        }
    }
}

TEST(nvfp4, case29_block_scales_round_to_even) {
    for (const auto& options : {nvfp4_options{}, division}) {
        const auto tie = encode<nvfp4>(values<nvfp4>({102}), options);
        EXPECT_EQ(tie.scale, 0x58);
        EXPECT_EQ(tie.codes[0], 7);
        EXPECT_EQ(decode<nvfp4>(tie)[0], 96.0F);
        EXPECT_EQ(encode<nvfp4>(values<nvfp4>({103}), options).scale, 0x59);
    }
}

TEST(nvfp4, case31_each_block_has_its_own_maximum) {
    std::vector<float> data;
    for (int pair = 0; pair < 3; ++pair) {
        data.insert(data.end(), 16, 0.5F);
        data.insert(data.end(), 16, 100.0F);
    }
    for (const auto& options : all_options) {
        const auto result = through(data, options);
        for (std::size_t i = 0; i < data.size(); ++i) {
            EXPECT_NE(result.bytes[0], result.bytes[9]);
            EXPECT_NEAR(result.decoded[i], data[i], data[i] / 6);
        }
    }
    for (std::size_t lane = 0; lane < 16; ++lane) {  // every lane reaches the maximum
        values_of<nvfp4> source{};
        source[lane] = -6;
        EXPECT_EQ(encode<nvfp4>(source).scale, 0x38);
    }
}

TEST(nvfp4, case32_element_times_scale_comes_first) {
    const float tensor_scale = 10.5F / 2688.0F;
    const nvfp4::block block{0x3E, {0x03}};  // 1.75, code 3
    EXPECT_EQ(decode<nvfp4>(block, tensor_scale)[0], 1.5F * 1.75F * tensor_scale);
    int differ = 0;  // the other order is another function
    for (int i = 0; i < 1000; ++i) {
        const float scale = tensor_scale * (1 + static_cast<float>(i) * 0x1p-23F);
        for (unsigned code = 0; code < 8; ++code) {
            const nvfp4::block each{0x3F, {static_cast<std::uint8_t>(code)}};
            const auto element = static_cast<float>(e2m1_value(code));
            ASSERT_EQ(decode<nvfp4>(each, scale)[0], element * 1.875F * scale);
            differ += element * 1.875F * scale != element * (1.875F * scale) ? 1 : 0;
        }
    }
    EXPECT_GT(differ, 0);
}

TEST(nvfp4, case43_even_elements_take_the_low_nibble) {
    EXPECT_EQ(encode<nvfp4>(values<nvfp4>({0.5F, 6})).codes[0], 0x71);
}

TEST(nvfp4, tensor_scales) {
    EXPECT_EQ(nvfp4::scales_from_amax(2688), (nvfp4_scales{1, 1}));
    EXPECT_EQ(nvfp4::scales_from_amax(1536, four_over_six), (nvfp4_scales{1, 1}));
    EXPECT_EQ(nvfp4::scales_from_amax(10.5F), (nvfp4_scales{10.5F / 2688.0F, 2688.0F / 10.5F}));
    EXPECT_EQ(nvfp4::scales_from_amax(FLT_MAX).tensor_scale, FLT_MAX / 2688.0F);
    EXPECT_EQ(nvfp4::scales_from_amax(0x1p-149F), (nvfp4_scales{0x1p-126F, 0x1p126F}));
    EXPECT_EQ(nvfp4::scales_from_amax(0x1p-149F, four_over_six), (nvfp4_scales{0x1p-126F, 0x1p126F}));
    EXPECT_EQ(nvfp4::scales_from_amax(-0.0F), (nvfp4_scales{1, 1}));
    EXPECT_EQ(nvfp4::scales_from_tensor_scale(0.25F), (nvfp4_scales{0.25F, 4}));
    EXPECT_EQ(nvfp4::scales_from_tensor_scale(0x1p-149F), (nvfp4_scales{0x1p-149F, FLT_MAX}));
}

/// The float32 steps of the definition, written as plain expressions of the test's own.
nvfp4::block by_definition(const values_of<nvfp4>& x, const nvfp4_options& options, const nvfp4_scales& scales) {
    volatile float vmax = 0;
    for (const float value : x) {
        vmax = (std::max)(static_cast<float>(vmax), std::fabs(value));
    }
    volatile float wanted_scale = 0;
    if (options.order == nvfp4_order::division) {
        volatile float sixth = vmax / 6.0F;
        wanted_scale = sixth / scales.tensor_scale;
    } else {
        volatile float factor = scales.encode_scale * (1.0F / 6.0F);
        wanted_scale = vmax * factor;
    }
    const float s = e4m3::from_float((std::min)(static_cast<float>(wanted_scale), 448.0F)).to_float();
    nvfp4::block block{e4m3::from_float(s).bits(), {}};
    volatile float inverse = 1.0F / scales.encode_scale;
    volatile float product = s * inverse;
    volatile float reciprocal = 1.0F / product;
    for (std::size_t i = 0; i < 16; ++i) {
        const float magnitude = std::fabs(x[i]);
        volatile float scaled = 0;
        if (s != 0 && options.order == nvfp4_order::division) {
            volatile float quotient = magnitude / s;
            scaled = quotient / scales.tensor_scale;
        } else if (s != 0) {
            scaled = magnitude * (std::min)(static_cast<float>(reciprocal), FLT_MAX);
        }
        unsigned code = e2m1::from_float((std::min)(static_cast<float>(scaled), 6.0F)).bits();
        set_nibble(block.codes, i, static_cast<std::uint8_t>(code | (std::signbit(x[i]) ? 8U : 0U)));
    }
    return block;
}

TEST(nvfp4, both_orders_round_where_the_definition_says) {
    block_source source(4);
    std::mt19937 engine(5);
    values_of<nvfp4> x{};
    for (int trial = 0; trial < 20000; ++trial) {
        source.fill(x);
        const auto bits = static_cast<std::uint32_t>(engine());
        const float amax = amax_of({x.begin(), x.end()});
        const nvfp4_scales scales = trial % 2 == 0
                                        ? nvfp4::scales_from_amax(amax)
                                        : nvfp4::scales_from_tensor_scale(float_from_bits(bits % 0x7F7FFFFFU + 1U));
        for (const auto& options : {nvfp4_options{}, division}) {
            ASSERT_EQ(to_bytes<nvfp4>(encode<nvfp4>(x, options, context_of(scales))),
                      to_bytes<nvfp4>(by_definition(x, options, scales)))
                << "trial " << trial;
        }
    }
}

double block_error(const values_of<nvfp4>& x, const values_of<nvfp4>& decoded) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = static_cast<double>(x[i]) - static_cast<double>(decoded[i]);
        sum += difference * difference;
    }
    return sum;
}

TEST(nvfp4, four_over_six_is_never_worse_than_six) {
    std::mt19937 engine(6);
    std::normal_distribution<float> normal;
    values_of<nvfp4> x{};
    int fours = 0;
    for (int trial = 0; trial < 5000; ++trial) {
        for (float& value : x) {
            value = normal(engine);
        }
        const encode_context context = context_of(nvfp4::scales_from_amax(6, four_over_six));
        const auto six = encode<nvfp4>(x, division, context);
        const auto chosen = encode<nvfp4>(x, four_over_six, context);
        fours += chosen == six ? 0 : 1;
        ASSERT_LE(block_error(x, decode<nvfp4>(chosen, context.tensor_scale)),
                  block_error(x, decode<nvfp4>(six, context.tensor_scale)) * (1 + 1e-5));
    }
    EXPECT_GT(fours, 1000);
    // A tie keeps six: 6 * 1 and 4 * 1.5 are the same value.
    EXPECT_EQ(encode<nvfp4>(values<nvfp4>({6}), four_over_six).scale, 0x38);
    // A candidate past FLT_MAX loses: 918 / 6 rounds up to 160, and 6 * 160 * tensor_scale is too large; 4 * 224 is
    // not.
    const float tensor_scale = FLT_MAX / 918.0F;
    const auto context = context_of(nvfp4::scales_from_tensor_scale(tensor_scale));
    EXPECT_TRUE(is_inf(decode<nvfp4>(encode<nvfp4>(values<nvfp4>({FLT_MAX}), division, context), tensor_scale)[0]));
    const auto block = encode<nvfp4>(values<nvfp4>({FLT_MAX}), four_over_six, context);
    EXPECT_TRUE(is_finite(decode<nvfp4>(block, tensor_scale)[0]));
}

TEST(nvfp4, every_value_takes_the_nearest_code_of_its_scale) {
    block_source source(7);
    values_of<nvfp4> x{};
    for (int trial = 0; trial < 20000; ++trial) {
        source.fill(x);
        for (const auto& options : {nvfp4_options{}, division}) {
            const auto scales = nvfp4::scales_from_amax(amax_of({x.begin(), x.end()}));
            const auto block = encode<nvfp4>(x, options, context_of(scales));
            const double step = e4m3_value(block.scale) * static_cast<double>(scales.tensor_scale);
            if (options == nvfp4_options{} && step < 0x1p-126) {
                continue;  // the reciprocal is cut at FLT_MAX
            }
            for (std::size_t i = 0; i < 16 && step > 0; ++i) {
                const double scaled = std::fabs(static_cast<double>(x[i])) / step;
                const double got = std::fabs(e2m1_value(get_nibble(block.codes, i)));
                ASSERT_LE(std::fabs(got - scaled), distance_to_e2m1(scaled) + 4e-6) << x[i] << ' ' << step;
            }
        }
    }
}

}  // namespace
