// SPDX-License-Identifier: Apache-2.0
// Every byte and value array of tests/data that concerns a block format, exactly.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include <lowbit/block/hif4.hpp>
#include <lowbit/block/m2xfp.hpp>
#include <lowbit/block/mxfp4.hpp>
#include <lowbit/block/nvfp4.hpp>

#include "support/block_testing.hpp"

using namespace lowbit;
using namespace lowbit::test;

namespace {

class golden_inputs : public testing::TestWithParam<std::string> {
  protected:
    golden_array<float> x = golden<float>("x_" + GetParam());
    std::string file(const std::string& name) const { return name + "_" + GetParam(); }
};

TEST_P(golden_inputs, mxfp4) {
    const auto bytes = encode_all<mxfp4>(x.values);
    expect_same_bytes(bytes, golden<std::uint8_t>(file("mxfp4")).values);
    expect_same_values(decode_all<mxfp4>(bytes), golden<float>(file("mxfp4_value")).values);
}

TEST_P(golden_inputs, hif4_amct) {
    expect_same_bytes(encode_all<hif4>(x.values), golden<std::uint8_t>(file("hif4_amct")).values);
}

TEST_P(golden_inputs, hif4_reference) {
    expect_same_values(decode_all<hif4>(encode_all<hif4>(x.values, {hif4_rounding::reference})),
                       golden<float>(file("hif4_reference_value")).values);
}

TEST_P(golden_inputs, nvfp4_division) {
    expect_same_bytes(encode_all<nvfp4>(x.values, {.order = nvfp4_order::division}),
                      golden<std::uint8_t>(file("nvfp4_div")).values);
}

TEST_P(golden_inputs, m2xfp_activation) {
    const auto bytes = encode_all<m2xfp_activation>(x.values);
    expect_same_bytes(bytes, golden<std::uint8_t>(file("m2xfp_activation")).values);
    expect_same_values(decode_all<m2xfp_activation>(bytes), golden<float>(file("m2xfp_activation_value")).values);
}

TEST_P(golden_inputs, m2xfp_weight) {
    const auto bytes = encode_all<m2xfp_weight>(x.values);
    expect_same_bytes(bytes, golden<std::uint8_t>(file("m2xfp_weight")).values);
    expect_same_values(decode_all<m2xfp_weight>(bytes), golden<float>(file("m2xfp_weight_value")).values);
}

INSTANTIATE_TEST_SUITE_P(golden, golden_inputs, testing::Values("f32", "bf16"),
                         [](const auto& each) { return each.param; });

TEST(golden, hif4_ascend_a6) {
    expect_same_bytes(encode_all<hif4>(golden<float>("x_bf16").values, {hif4_rounding::ascend_a6}),
                      golden<std::uint8_t>("hif4_ascend_a6_bf16").values);
}

TEST(golden, hif4_special_values) {
    expect_same_bytes(encode_all<hif4>(golden<float>("special_x").values),
                      golden<std::uint8_t>("special_hif4_amct").values);
}

TEST(golden, mxfp4_scale_rules) {
    const auto x = golden<float>("x_f32").values;
    using enum mxfp4_scale_rule;
    const std::pair<mxfp4_scale_rule, std::string> rules[] = {{ceil, "ceil"}, {rceil, "rceil"}, {even, "even"},
                                                              {oas, "oas"},   {uos, "uos"},     {search, "search"}};
    for (const auto& [rule, name] : rules) {
        SCOPED_TRACE(name);
        expect_same_bytes(encode_all<mxfp4>(x, {rule}), golden<std::uint8_t>("model_mxfp4_" + name).values);
    }
}

float amax_of(const std::vector<float>& values) {
    float amax = 0;
    for (const float value : values) {
        amax = (std::max)(amax, std::fabs(value));
    }
    return amax;
}

encode_context context_of(const nvfp4_scales& scales) { return {scales.tensor_scale, scales.encode_scale}; }

TEST(golden, nvfp4_two_level) {
    const auto x = golden<float>("nvfp4_tensor_x").values;
    const auto wanted = golden<float>("nvfp4_tensor_scales").values;  // amax, S_enc
    ASSERT_EQ(amax_of(x), wanted[0]);
    const auto scales = nvfp4::scales_from_amax(wanted[0]);
    EXPECT_EQ(scales.encode_scale, wanted[1]);
    EXPECT_EQ(scales.tensor_scale, wanted[0] / 2688.0F);
    expect_same_bytes(encode_all<nvfp4>(x, {}, context_of(scales)), golden<std::uint8_t>("nvfp4_tensor").values);
}

TEST(golden, nvfp4_four_over_six) {
    const auto x = golden<float>("nvfp4_tensor_x").values;
    const nvfp4_options options{.four_over_six = true};
    const auto scales = nvfp4::scales_from_amax(amax_of(x), options);
    EXPECT_EQ(scales.tensor_scale, golden<float>("model_nvfp4_four_over_six_scale").values[0]);
    expect_same_bytes(encode_all<nvfp4>(x, options, context_of(scales)),
                      golden<std::uint8_t>("model_nvfp4_four_over_six").values);
}

}  // namespace
