// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/weight_only.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/core/thread_pool.hpp>

namespace {

using lowbit::isa;
using lowbit::matrix_view;
using lowbit::to_bits;

class weight_only : public testing::TestWithParam<isa> {
  protected:
    void SetUp() override {
        if (!lowbit::arch::available().contains(GetParam())) GTEST_SKIP() << "not supported here";
    }
};

std::vector<float> values(std::size_t rows, std::size_t cols, std::uint32_t seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(rows * cols);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = normal(engine) * std::ldexp(1.0F, static_cast<int>(i / 16 % 19) - 9);
    }
    return x;
}

/// The contract in plain loops: decoded values without tensor scale, one fma each, in ascending order.
template <class F>
std::vector<float> defined(const std::vector<float>& x, std::size_t m, std::size_t k,
                           const lowbit::quantized_matrix<F>& q) {
    std::vector<float> c(m * q.rows());
    for (std::size_t j = 0; j < q.rows(); ++j) {
        std::vector<float> w(q.blocks_per_row() * F::block_size);
        for (std::size_t n = 0; n < q.blocks_per_row(); ++n) {
            F::decode(q.row(j)[n], std::span<float, F::block_size>(w.data() + n * F::block_size, F::block_size), 1.0F);
        }
        for (std::size_t i = 0; i < m; ++i) {
            float acc = 0;
            for (std::size_t e = 0; e < k; ++e) acc = std::fma(x[i * k + e], w[e], acc);
            const float y = std::fma(q.tensor_scale(j), acc, -0.0F);
            c[i * q.rows() + j] = lowbit::is_nan(y) ? lowbit::quiet_nan : y;
        }
    }
    return c;
}

template <class F>
void expect_contract(isa which, std::size_t m, std::size_t n, std::size_t k, const lowbit::executor& executor = {}) {
    auto x = values(m, k, 1);
    auto w = values(n, k, 2);
    if (n > 3 && k > 20) w[3 * k + 19] = lowbit::quiet_nan;
    if (n > 4) std::fill_n(w.begin() + static_cast<std::ptrdiff_t>(4 * k), k, 0x1p-120F);
    if (m > 1) x[k] = lowbit::float_from_bits(lowbit::infinity_bits);
    const auto q = lowbit::quantize<F>(matrix_view<const float>(w.data(), n, k));
    const auto wanted = defined(x, m, k, q);
    std::vector<float> got(m * n, -7.0F);
    lowbit::gemm_options options;
    options.executor = executor;
    lowbit::detail::gemm_plain_rows(matrix_view<const float>(x.data(), m, k), lowbit::pack(q),
                                    matrix_view<float>(got.data(), m, n), options, {which});
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i]))
            << F::name << " " << m << " x " << n << " x " << k << " at " << i;
    }
    lowbit::detail::gemm_plain_rows(matrix_view<const float>(x.data(), m, k), q, matrix_view<float>(got.data(), m, n),
                                    options, {which});
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i])) << "general path";
}

TEST_P(weight_only, every_format_keeps_the_contract) {
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        for (const std::size_t m : {1U, 2U, 4U, 5U, 9U}) {
            for (const std::size_t k : {1U, 15U, 64U, 100U, 129U, 200U}) expect_contract<F>(GetParam(), m, 37, k);
        }
        expect_contract<F>(GetParam(), 1, 1, 33);
        expect_contract<F>(GetParam(), 3, 64, 64);
    });
}

TEST_P(weight_only, case60_any_number_of_threads) {
    lowbit::thread_pool pool(3);
    expect_contract<lowbit::hif4>(GetParam(), 1, 700, 70, lowbit::executor(pool));
    expect_contract<lowbit::hif8>(GetParam(), 2, 700, 70, lowbit::executor(pool));
}

TEST_P(weight_only, activations_of_16_bits_are_widened) {
    const auto wide = values(3, 90, 5), w = values(40, 90, 6);
    const auto packed = lowbit::pack<lowbit::mxfp4>(matrix_view<const float>(w.data(), 40, 90));
    const auto check = [&]<class T>(std::type_identity<T>) {
        std::vector<T> narrow;
        std::vector<float> widened, got(120), wanted(120);
        for (const float x : wide) {
            narrow.push_back(T::from_float(x));
            widened.push_back(narrow.back().to_float());
        }
        lowbit::detail::gemm_plain_rows(matrix_view<const T>(narrow.data(), 3, 90), packed,
                                        matrix_view<float>(got.data(), 3, 40), {}, {GetParam()});
        lowbit::detail::gemm_plain_rows(matrix_view<const float>(widened.data(), 3, 90), packed,
                                        matrix_view<float>(wanted.data(), 3, 40), {}, {GetParam()});
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i]));
    };
    check(std::type_identity<lowbit::bfloat16>{});
    check(std::type_identity<lowbit::float16>{});
}

// HiF8 on either side takes the same kernels behind gemm.
TEST_P(weight_only, hif8_products_with_few_rows_equal_those_with_many) {
    const auto x = values(40, 150, 7), w = values(50, 150, 8);
    const auto check = [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
        const auto packed = lowbit::pack<B>(matrix_view<const float>(w.data(), 50, 150));
        std::vector<float> all(40 * 50), few(4 * 50);
        lowbit::detail::gemm_float_rows<A>(matrix_view<const float>(x.data(), 40, 150), packed,
                                           matrix_view<float>(all.data(), 40, 50), {}, {}, {isa::scalar});
        for (const std::size_t m : {1U, 2U, 3U, 4U}) {
            lowbit::detail::gemm_float_rows<A>(matrix_view<const float>(x.data(), m, 150), packed,
                                               matrix_view<float>(few.data(), m, 50), {}, {}, {GetParam()});
            for (std::size_t i = 0; i < m * 50; ++i) ASSERT_EQ(to_bits(few[i]), to_bits(all[i])) << m << " at " << i;
        }
    };
    check(std::type_identity<lowbit::hif8>{}, std::type_identity<lowbit::hif8>{});
    check(std::type_identity<lowbit::nvfp4>{}, std::type_identity<lowbit::hif8>{});
    check(std::type_identity<lowbit::hif8>{}, std::type_identity<lowbit::m2xfp_weight>{});
}

TEST(weight_only_gemm, takes_what_gemm_takes) {
    const auto x = values(2, 64, 1), w = values(33, 64, 2);
    const auto packed = lowbit::pack<lowbit::nvfp4>(matrix_view<const float>(w.data(), 33, 64));
    std::vector<float> c(66), bias(33, 1.0F);
    lowbit::gemm_weight_only(matrix_view<const float>(x.data(), 2, 64), packed, matrix_view<float>(c.data(), 2, 33),
                             {.alpha = 0, .bias = bias});
    for (const float value : c) EXPECT_EQ(value, 1.0F);
    EXPECT_THROW(lowbit::gemm_weight_only(matrix_view<const float>(x.data(), 2, 63, 64), packed,
                                          matrix_view<float>(c.data(), 2, 33)),
                 lowbit::error);
}

INSTANTIATE_TEST_SUITE_P(every_isa, weight_only, testing::ValuesIn(lowbit::arch::all_isas),
                         [](const testing::TestParamInfo<isa>& row) { return std::string(to_string(row.param)); });

}  // namespace
