// SPDX-License-Identifier: Apache-2.0
// Products as layers: activation, the caller's function and residual in the epilogue of gemm.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <lowbit/gemm/activation.hpp>
#include <lowbit/gemm/gemm.hpp>

namespace {

using lowbit::activation;
using lowbit::gemm_options;
using lowbit::isa;
using lowbit::matrix_view;
using lowbit::mxfp4;
using lowbit::to_bits;

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(count);
    for (float& value : x) value = normal(engine);
    return x;
}

// One layer of m x n x k with a NaN and an Inf in what is added to its product.
struct layer {
    std::size_t m, n, k;
    std::vector<float> x = random_values(m * k, 1), bias = random_values(n, 3), residual = random_values(m * n, 4),
                       old = random_values(m * n, 5);
    lowbit::packed_matrix<mxfp4> weights;

    layer(std::size_t rows, std::size_t columns, std::size_t depth) : m(rows), n(columns), k(depth) {
        const auto w = random_values(n * k, 2);
        weights = lowbit::pack<mxfp4>(matrix_view<const float>(w.data(), n, k));
        bias[0] = lowbit::float_from_bits(lowbit::infinity_bits);
        residual[0] = lowbit::float_from_bits(0xFF800000U);  // Inf - Inf
        residual[n - 1] = lowbit::float_from_bits(0xFFC12345U);
    }

    template <class T = float>
    std::vector<T> run(const gemm_options& options, isa which) const {
        std::vector<T> c(m * n);
        for (std::size_t i = 0; i < c.size(); ++i) {
            if constexpr (std::is_same_v<T, float>) {
                c[i] = old[i];
            } else {
                c[i] = T::from_float(old[i]);
            }
        }
        lowbit::detail::gemm_float_rows<mxfp4>(matrix_view<const float>(x.data(), m, k), weights,
                                               matrix_view<T>(c.data(), m, n), options, {}, {which});
        return c;
    }
};

float canonical(float x) { return lowbit::is_nan(x) ? lowbit::quiet_nan : x; }

class layers : public testing::TestWithParam<isa> {
  protected:
    void SetUp() override {
        if (!lowbit::arch::available().contains(GetParam())) GTEST_SKIP() << "not supported here";
    }
};

TEST_P(layers, every_step_in_the_order_of_the_contract) {
    for (const std::size_t m : {1U, 3U, 33U}) {
        const layer layer(m, 71, 100);
        gemm_options plain;
        plain.alpha = 0.5F;
        plain.beta = 0.25F;
        plain.bias = layer.bias;
        const auto y = layer.run(plain, GetParam());
        const auto function = [&](std::size_t row, std::size_t column, std::span<float> values) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = std::fma(values[i], 2.0F, static_cast<float>(row * 100 + column + i));
            }
        };
        for (const activation kind :
             {activation::none, activation::relu, activation::gelu, activation::gelu_tanh, activation::silu}) {
            for (const bool calls : {false, true}) {
                for (const bool adds : {false, true}) {
                    gemm_options options = plain;
                    options.activation = kind;
                    if (calls) options.function = lowbit::epilogue_function(function);
                    if (adds) options.residual = matrix_view<const float>(layer.residual.data(), m, layer.n);
                    const auto got = layer.run(options, GetParam());
                    const auto narrow = layer.run<lowbit::bfloat16>({.activation = kind}, GetParam());
                    const auto wide = layer.run({.activation = kind}, GetParam());
                    for (std::size_t i = 0; i < got.size(); ++i) {
                        float wanted = lowbit::activate(kind, y[i]);
                        if (calls) {
                            wanted = std::fma(wanted, 2.0F, static_cast<float>(i / layer.n * 100 + i % layer.n));
                        }
                        if (adds) wanted += layer.residual[i];
                        ASSERT_EQ(to_bits(got[i]), to_bits(canonical(wanted)))
                            << i << " kind " << static_cast<int>(kind);
                        ASSERT_EQ(narrow[i].bits(), lowbit::bfloat16::from_float(wide[i]).bits());
                    }
                }
            }
        }
    }
}

TEST_P(layers, without_a_product_the_epilogue_still_runs) {
    const layer layer(2, 40, 32);
    gemm_options options;
    options.alpha = 0;
    options.bias = layer.bias;
    options.activation = activation::silu;
    const auto got = layer.run(options, GetParam());
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(to_bits(got[i]), to_bits(lowbit::activate(activation::silu, layer.bias[i % 40])));
    }
}

TEST_P(layers, the_residual_may_be_c_itself) {
    const layer layer(5, 33, 64);
    gemm_options options;
    options.residual = matrix_view<const float>(layer.old.data(), 5, 33);
    const auto wanted = layer.run(options, GetParam());
    std::vector<float> c = layer.old;
    options.residual = matrix_view<const float>(c.data(), 5, 33);
    lowbit::gemm(matrix_view<const float>(layer.x.data(), 5, 64), layer.weights, matrix_view<float>(c.data(), 5, 33),
                 options);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(to_bits(c[i]), to_bits(wanted[i]));
}

TEST(layer, a_residual_of_another_shape_or_in_the_way_is_refused) {
    const layer layer(4, 32, 32);
    std::vector<float> c(4 * 32 + 1, 7.0F);
    const auto failure = [&](const matrix_view<const float>& residual) -> std::string {
        try {
            gemm_options options;
            options.residual = residual;
            lowbit::gemm(matrix_view<const float>(layer.x.data(), 4, 32), layer.weights,
                         matrix_view<float>(c.data(), 4, 32), options);
        } catch (const lowbit::error& problem) {
            return problem.what();
        }
        return "";
    };
    EXPECT_EQ(failure({layer.residual.data(), 3, 32}),
              "lowbit::gemm: rows 3 of option 'residual' do not match rows 4 of output 'c'");
    EXPECT_EQ(failure({layer.residual.data(), 4, 31}),
              "lowbit::gemm: cols 31 of option 'residual' do not match cols 32 of output 'c'");
    EXPECT_NE(failure({c.data() + 1, 4, 32}).find("overlaps option 'residual'"), std::string::npos);
    for (const float value : c) EXPECT_EQ(value, 7.0F);
}

INSTANTIATE_TEST_SUITE_P(every_isa, layers, testing::ValuesIn(lowbit::arch::all_isas),
                         [](const testing::TestParamInfo<isa>& row) { return std::string(to_string(row.param)); });

}  // namespace
