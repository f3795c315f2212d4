// SPDX-License-Identifier: Apache-2.0
// Every byte and value array of tests/data that concerns a block format, exactly.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include <lowbit/block/hif4.hpp>
#include <lowbit/block/mxfp4.hpp>

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

}  // namespace
