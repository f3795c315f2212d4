// SPDX-License-Identifier: Apache-2.0
// NaN, Inf, zeros and the ends of float32, for every block format and option: one rule each, every lane position.
#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <vector>

#include <lowbit/block/hif4.hpp>
#include <lowbit/block/m2xfp.hpp>
#include <lowbit/block/mxfp4.hpp>
#include <lowbit/block/nvfp4.hpp>

#include "support/block_testing.hpp"

using namespace lowbit;
using namespace lowbit::test;

namespace {

template <class F>
std::vector<typename F::options> options_of() {
    return {{}};
}
template <>
std::vector<mxfp4_options> options_of<mxfp4>() {
    using enum mxfp4_scale_rule;
    return {{floor}, {ceil}, {rceil}, {even}, {oas}, {uos}, {search}};
}
template <>
std::vector<nvfp4_options> options_of<nvfp4>() {
    return {{}, {.order = nvfp4_order::division}, {.four_over_six = true}};
}
template <>
std::vector<hif4_options> options_of<hif4>() {
    return {{hif4_rounding::amct}, {hif4_rounding::reference}, {hif4_rounding::ascend_a6}};
}

template <class F>
constexpr std::uint8_t nan_scale = std::is_same_v<F, nvfp4> ? 0x7F : 0xFF;

template <class F>
class special_values : public testing::Test {};

using formats = testing::Types<mxfp4, nvfp4, hif4, m2xfp_activation, m2xfp_weight>;
TYPED_TEST_SUITE(special_values, formats);

const float poisons[] = {INFINITY,
                         -INFINITY,
                         quiet_nan,
                         float_from_bits(0xFFC00000U),
                         float_from_bits(0x7F800001U),
                         float_from_bits(0xFFFFFFFFU)};

TYPED_TEST(special_values, case21_nan_and_infinity_poison_the_block_from_every_lane) {
    using F = TypeParam;
    block_source source(10);
    for (int kind = 0; kind < 12; ++kind) {
        values_of<F> x{};
        source.fill(x);
        for (const auto& options : options_of<F>()) {
            for (std::size_t lane = 0; lane < F::block_size; ++lane) {
                auto replaced = x;
                replaced[lane] = 0.0F;
                auto wanted = encode<F>(replaced, options);
                wanted.scale = nan_scale<F>;
                for (const float poison : poisons) {
                    auto poisoned = x;
                    poisoned[lane] = poison;
                    const auto got = encode<F>(poisoned, options);
                    ASSERT_EQ(to_bytes<F>(got), to_bytes<F>(wanted)) << F::name << " lane " << lane;
                    for (const float value : decode<F>(got)) {
                        ASSERT_EQ(to_bits(value), quiet_nan_bits);
                    }
                }
            }
        }
    }
}

TYPED_TEST(special_values, case21_a_block_of_nothing_else) {
    using F = TypeParam;
    for (const auto& options : options_of<F>()) {
        auto wanted = encode<F>(values_of<F>{}, options);
        wanted.scale = nan_scale<F>;
        for (const float poison : poisons) {
            EXPECT_EQ(to_bytes<F>(encode<F>(filled<F>(poison), options)), to_bytes<F>(wanted));
        }
    }
}

TYPED_TEST(special_values, case23_zero_blocks_take_the_smallest_scale) {
    using F = TypeParam;
    for (const auto& options : options_of<F>()) {
        for (const float zero : {0.0F, -0.0F}) {
            const auto block = encode<F>(filled<F>(zero), options);
            EXPECT_EQ(block.scale, 0);
            const bool keeps_sign = !std::is_same_v<F, hif4> && std::signbit(zero);
            for (const std::uint8_t byte : block.codes) {
                EXPECT_EQ(byte, keeps_sign ? 0x88 : 0x00);
            }
            for (const float value : decode<F>(block)) {
                EXPECT_EQ(to_bits(value), keeps_sign ? 0x80000000U : 0U);
            }
        }
    }
}

TYPED_TEST(special_values, the_sign_of_small_negatives_survives) {
    using F = TypeParam;
    for (const auto& options : options_of<F>()) {
        auto x = filled<F>(-0x1p-149F);
        x[0] = 1;
        const auto got = round_trip<F>(x, options);
        for (std::size_t i = 1; i < x.size(); ++i) {
            EXPECT_EQ(to_bits(got[i]), 0x80000000U) << F::name;
        }
    }
}

TYPED_TEST(special_values, finite_data_stays_finite) {
    using F = TypeParam;
    block_source source(11);
    values_of<F> x{};
    for (int trial = 0; trial < 3000; ++trial) {
        source.fill(x);
        if (trial % 3 == 0) {
            for (float& value : x) {
                int exponent = 0;
                const float fraction = std::frexp(value, &exponent);
                value = std::ldexp(fraction, 128 - trial % 2);
            }
        }
        float amax = 0;
        for (const float value : x) {
            amax = (std::max)(amax, std::fabs(value));
        }
        for (const auto& options : options_of<F>()) {
            encode_context context;
            if constexpr (std::is_same_v<F, nvfp4>) {
                const auto scales = nvfp4::scales_from_amax(amax, options);
                context = {scales.tensor_scale, scales.encode_scale};
            }
            const auto block = encode<F>(x, options, context);
            ASSERT_NE(block.scale, nan_scale<F>);
            for (const float value : decode<F>(block, context.tensor_scale)) {
                ASSERT_TRUE(is_finite(value)) << F::name << ' ' << amax;
            }
        }
    }
}

// Every byte pattern decodes, to finite values, Inf or the library's NaN.
TYPED_TEST(special_values, decoding_never_makes_another_nan) {
    using F = TypeParam;
    std::mt19937 engine(12);
    for (int trial = 0; trial < 20000; ++trial) {
        bytes_of<F> bytes{};
        for (auto& byte : bytes) {
            byte = static_cast<std::uint8_t>(engine());
        }
        bytes[0] = static_cast<std::uint8_t>(trial);
        const auto block = from_bytes<F>(bytes);
        const bool poisoned = std::is_same_v<F, nvfp4> ? (bytes[0] & 0x7F) == 0x7F : bytes[0] == 0xFF;
        for (const float value : decode<F>(block)) {
            ASSERT_EQ(to_bits(value) == quiet_nan_bits, poisoned);
            ASSERT_EQ(is_nan(value), poisoned);
        }
    }
}

}  // namespace
