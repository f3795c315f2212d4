// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/weight_only.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/reference.hpp>

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

/// Blocks with codes that are mostly +0 or -0 (the one zero, or NaN, of HiF8) and small scales; what stands behind the
/// end of a row has the largest magnitude, and in one row a scale that makes Inf of it.
template <class F>
lowbit::quantized_matrix<F> zeros_of_both_signs(std::size_t rows, std::size_t cols, std::uint32_t seed) {
    const std::size_t per_row = lowbit::divide_up(cols, F::block_size);
    std::vector<typename F::block> blocks(rows * per_row);
    std::mt19937 engine(seed);
    for (std::size_t n = 0; n < blocks.size(); ++n) {
        if constexpr (!lowbit::lane_traits<F>::integer) {
            constexpr std::uint8_t codes[4] = {0x00, 0x00, 0x01, 0x81};
            blocks[n] = F::from_bits(codes[engine() >> 9U & 3U]);
        } else if constexpr (!lowbit::table_lanes<F>) {  // one zero, but a negative scale makes it -0
            for (auto& code : blocks[n].codes) code = static_cast<std::int8_t>(engine() % 3) - 1;
            if constexpr (lowbit::byte_scales<F>) {
                blocks[n].scale = 1;
            } else {
                blocks[n].scale = {0, 0, 0, static_cast<std::uint8_t>(n % 2 == 0 ? 0x81 : 0x01)};
            }
        } else {
            std::uint8_t bytes[sizeof(blocks[n])];
            for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine() >> 5U & 0x88U);
            const std::size_t first = sizeof(bytes) - F::block_size / 2, valid = cols - n % per_row * F::block_size;
            bytes[first] = static_cast<std::uint8_t>(bytes[first] | 0x01U);
            for (std::size_t i = valid; i < F::block_size; ++i) {
                bytes[first + i / 2] = static_cast<std::uint8_t>(bytes[first + i / 2] | 0x07U << (4 * (i % 2)));
            }
            bytes[0] = n / per_row % 7 == 3 ? 0xFE : 0x01;
            std::memcpy(static_cast<void*>(&blocks[n]), bytes, sizeof(bytes));
        }
    }
    return lowbit::quantized_matrix<F>::from_blocks(rows, cols, blocks);
}

/// Values whose products underflow to a zero of either sign, and those that then must not change it.
std::vector<float> values_that_underflow(std::size_t rows, std::size_t cols, std::uint32_t seed) {
    std::vector<float> x(rows * cols);
    std::mt19937 engine(seed);
    constexpr float choice[8] = {-0x1p-148F, -0x1p-148F, 0x1p-148F, 1, 1, 0, -0.0F, 1};
    for (float& value : x) value = choice[engine() >> 9U & 7U];
    return x;
}

// -0 in B is -0: a sum that underflowed to -0 stays -0. What stands behind the end of a row counts nothing.
TEST_P(weight_only, zeros_of_weights_keep_their_sign) {
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        std::size_t negative = 0;
        for (const std::size_t m : {1U, 2U, 3U, 4U, 9U, 30U}) {
            for (const std::size_t k : {1U, 2U, 5U, 16U, 17U, 31U, 70U}) {
                const auto x = values_that_underflow(m, k, 3);
                const auto q = zeros_of_both_signs<F>(140, k, 4);
                const auto wanted = defined(x, m, k, q);
                std::vector<float> got(m * 140, -7.0F);
                const auto check = [&](const auto& b, const char* what) {
                    lowbit::detail::gemm_plain_rows(matrix_view<const float>(x.data(), m, k), b,
                                                    matrix_view<float>(got.data(), m, 140), {}, {GetParam()});
                    for (std::size_t i = 0; i < got.size(); ++i) {
                        ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i]))
                            << F::name << " " << what << " " << m << " x 140 x " << k << " at " << i;
                        negative += to_bits(got[i]) == 0x80000000U ? 1U : 0U;
                    }
                };
                check(lowbit::pack(q), "packed");
                check(q, "quantised");
            }
        }
        EXPECT_GT(negative, 100U) << F::name;
    });
}

// The same in gemm, where HiF8 on one side makes floats of both. Its least magnitude is 2^-22: only the scales of 8
// bits make products that underflow.
TEST_P(weight_only, zeros_beside_hif8_keep_their_sign) {
    const auto check = [&]<class F>(std::type_identity<F>) {
        using lowbit::hif8;
        std::size_t negative = 0;
        for (const std::size_t k : {1U, 2U, 5U, 31U, 32U, 70U}) {
            std::vector<hif8> codes(40 * k);
            std::mt19937 engine(5);
            constexpr std::uint8_t choice[8] = {0x81, 0x81, 0x01, 0x08, 0x08, 0x00, 0x00, 0x08};
            for (hif8& code : codes) code = hif8::from_bits(choice[engine() >> 9U & 7U]);
            const auto small = lowbit::quantized_matrix<hif8>::from_blocks(40, k, codes);
            auto blocks = zeros_of_both_signs<F>(40, k, 6);
            std::vector<typename F::block> least(blocks.blocks().begin(), blocks.blocks().end());
            for (auto& block : least) block.scale = 0;
            const auto zeros = lowbit::quantized_matrix<F>::from_blocks(40, k, least);
            const auto expect = [&](const auto& a, const auto& b, std::size_t m) {
                std::vector<float> wanted(m * 40), got(m * 40);
                lowbit::reference_gemm(a, b, matrix_view<float>(wanted.data(), m, 40));
                lowbit::detail::gemm_blocks(a, lowbit::pack(b), matrix_view<float>(got.data(), m, 40), {},
                                            {GetParam()});
                for (std::size_t i = 0; i < got.size(); ++i) {
                    ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i])) << F::name << " " << m << " x 40 x " << k;
                    negative += to_bits(got[i]) == 0x80000000U ? 1U : 0U;
                }
            };
            for (const std::size_t m : {1U, 2U, 4U, 40U}) {
                expect(small.slice_rows(0, m), zeros, m);
                expect(zeros.slice_rows(0, m), small, m);
            }
        }
        EXPECT_GT(negative, 100U) << F::name;
    };
    check(std::type_identity<lowbit::mxfp4>{});
    check(std::type_identity<lowbit::m2xfp_weight>{});
    check(std::type_identity<lowbit::m2xfp_activation>{});
}

TEST_P(weight_only, case60_any_number_of_threads) {
    lowbit::thread_pool pool(3);
    expect_contract<lowbit::hif4>(GetParam(), 1, 700, 70, lowbit::executor(pool));
    expect_contract<lowbit::hif8>(GetParam(), 2, 700, 70, lowbit::executor(pool));
    // More sets of panels than tasks, which some of them take two of.
    expect_contract<lowbit::hif4>(GetParam(), 1, 6800, 8, lowbit::executor(pool));
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

// HiF8 on either side takes the same kernels behind gemm. K that is worked off in several parts, panels that fill no
// set.
TEST_P(weight_only, hif8_products_with_few_rows_equal_those_with_many) {
    constexpr std::size_t most = 40, n = 200, k = 700;
    const auto x = values(most, k, 7), w = values(n, k, 8);
    const auto check = [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
        const auto packed = lowbit::pack<B>(matrix_view<const float>(w.data(), n, k));
        std::vector<float> all(most * n), few(16 * n);
        lowbit::detail::gemm_float_rows<A>(matrix_view<const float>(x.data(), most, k), packed,
                                           matrix_view<float>(all.data(), most, n), {}, {}, {isa::scalar});
        for (const std::size_t m : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U}) {
            lowbit::detail::gemm_float_rows<A>(matrix_view<const float>(x.data(), m, k), packed,
                                               matrix_view<float>(few.data(), m, n), {}, {}, {GetParam()});
            for (std::size_t i = 0; i < m * n; ++i) ASSERT_EQ(to_bits(few[i]), to_bits(all[i])) << m << " at " << i;
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

// Each message begins with the function that was called.
TEST(weight_only_gemm, wrong_arguments_are_named) {
    const auto x = values(2, 64, 1), w = values(33, 64, 2);
    const auto packed = lowbit::pack<lowbit::nvfp4>(matrix_view<const float>(w.data(), 33, 64));
    std::vector<float> c(200), bias(32, 1.0F), other(200);
    const auto message = [&](std::size_t k, const matrix_view<float>& out, const lowbit::gemm_options& options = {}) {
        try {
            lowbit::gemm_weight_only(matrix_view<const float>(x.data(), 2, k, 64), packed, out, options);
        } catch (const lowbit::error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const std::string name = "lowbit::gemm_weight_only: ";
    EXPECT_EQ(message(63, {c.data(), 2, 33}), name + "cols 63 of input 'a' do not match cols 64 of input 'b'");
    EXPECT_EQ(message(64, {c.data(), 3, 33}), name + "rows 3 of output 'c' do not match rows 2 of input 'a'");
    EXPECT_EQ(message(64, {c.data(), 2, 32}), name + "cols 32 of output 'c' do not match rows 33 of input 'b'");
    EXPECT_EQ(message(64, {c.data(), 2, 33}, {.bias = bias}),
              name + "option 'bias' has 32 values, but output 'c' has cols 33");
    EXPECT_EQ(message(64, {c.data(), 2, 33}, {.residual = {other.data(), 1, 33}}),
              name + "rows 1 of option 'residual' do not match rows 2 of output 'c'");
    EXPECT_EQ(message(64, {c.data(), 2, 33}, {.residual = {c.data() + 1, 2, 33}}),
              name + "output 'c' (2 rows of 132 bytes) overlaps option 'residual' (2 rows of 132 bytes)");
}

INSTANTIATE_TEST_SUITE_P(every_isa, weight_only, testing::ValuesIn(lowbit::arch::all_isas),
                         [](const testing::TestParamInfo<isa>& row) { return std::string(to_string(row.param)); });

}  // namespace
