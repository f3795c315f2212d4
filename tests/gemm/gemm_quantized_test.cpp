// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/gemm_quantized.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <lowbit/convert/quantize.hpp>
#include <lowbit/core/thread_pool.hpp>

#include "gemm_testing.hpp"
#include "support/matrix_testing.hpp"

namespace {

using namespace lowbit;

class gemm_quantized_on : public test::on_each_isa {};
LOWBIT_TEST_ON_EACH_ISA(gemm_quantized_on);

matrix_view<const float> view(const std::vector<float>& values, std::size_t rows, std::size_t cols) {
    return {values.data(), rows, cols};
}

// quantize of the float result.
template <class F, class A, class B>
quantized_matrix<F> expected(isa which, matrix_view<const float> a, const B& b, const gemm_options& options,
                             const quantized_output<F>& output, const detail::blocking& blocks = {}) {
    std::vector<float> c(a.rows() * b.rows(), quiet_nan);
    detail::gemm_float_rows<A>(a, b, matrix_view<float>(c.data(), a.rows(), b.rows()), options, {}, {which, blocks});
    quantize_options<F> how;
    how.format = output.format;
    how.tensor_scale = {tensor_scale_kind::given, output.tensor_scale};
    return quantize<F>(view(c, a.rows(), b.rows()), how);
}

template <class F, class A, class W>
void expect_quantized(isa which, std::size_t m, std::size_t n, std::size_t k, gemm_options options = {},
                      const quantized_output<F>& output = {}, const detail::blocking& blocks = {}) {
    const auto x = test::mixed_values<float>(m * k, m + k), w = test::mixed_values<float>(n * k, n + 3 * k, false);
    const auto packed = pack<W>(view(w, n, k));
    const auto wanted = expected<F, A>(which, view(x, m, k), packed, options, output, blocks);
    const std::string what = std::string(A::name) + " x " + std::string(W::name) + " to " + std::string(F::name) +
                             ", " + std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
    EXPECT_EQ((detail::gemm_quantized_float_rows<F, A>(view(x, m, k), packed, options, output, {}, {which, blocks})),
              wanted)
        << what;
    EXPECT_EQ(
        detail::gemm_quantized_blocks<F>(quantize<A>(view(x, m, k), {.tensor_scale = {tensor_scale_kind::row, 1}}),
                                         packed, options, output, {which, blocks}),
        wanted)
        << what;
    thread_pool pool(1 + (m + n + k) % 4);
    options.executor = pool;
    EXPECT_EQ((detail::gemm_quantized_float_rows<F, A>(view(x, m, k), packed, options, output, {}, {which, blocks})),
              wanted)
        << what << ", " << pool.concurrency() << " threads";
}

// Few rows, many rows; columns that end in the middle of a block, of a panel, of a pair of panels.
template <class F, class A, class W>
void expect_shapes(isa which) {
    for (const auto& [m, n, k] : std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>{
             {1, 1, 32}, {1, 130, 100}, {3, 64, 64}, {5, 33, 40}, {17, 97, 33}, {40, 65, 70}, {67, 200, 130}}) {
        expect_quantized<F, A, W>(which, m, n, k);
    }
}

TEST_P(gemm_quantized_on, every_format_gets_the_bytes_of_quantize) {
    for_each_format([&]<class F>(std::type_identity<F>) { expect_shapes<F, mxint8, mxfp4>(GetParam()); });
}

TEST_P(gemm_quantized_on, every_engine_feeds_it) {
    expect_shapes<hif4, hif4, hif4>(GetParam());
    expect_shapes<hif4, hif8, mxfp4>(GetParam());
    expect_shapes<nvfp4, nvfp4, hif8>(GetParam());
    expect_shapes<hif4, int8_block, nvfp4>(GetParam());
    expect_shapes<mxint8, mxint8, mxint8>(GetParam());
}

TEST_P(gemm_quantized_on, any_block_sizes) {
    for (const detail::blocking& blocks :
         {detail::blocking{7, 32, 64, 64}, detail::blocking{16, 96, 64, 128}, detail::blocking{8, 0, 128, 0}}) {
        expect_quantized<hif4, mxint8, mxfp4>(GetParam(), 30, 300, 200, {}, {}, blocks);
        expect_quantized<mxint8, mxfp4, hif4>(GetParam(), 30, 300, 200, {}, {}, blocks);
        expect_quantized<hif4, hif8, hif8>(GetParam(), 30, 300, 200, {}, {}, blocks);
    }
}

TEST_P(gemm_quantized_on, every_option_of_the_epilogue) {
    const std::size_t m = 29, n = 150;
    const auto bias = test::mixed_values<float>(n, 8, false), residual = test::mixed_values<float>(m * n, 9);
    gemm_options options;
    options.alpha = 0.75F;
    options.bias = bias;
    options.residual = view(residual, m, n);
    const auto halve = [](std::size_t, std::size_t, std::span<float> values) {
        for (float& value : values) value *= 0.5F;
    };
    options.function = halve;
    for (const activation kind : {activation::none, activation::relu, activation::gelu, activation::silu}) {
        options.activation = kind;
        expect_quantized<hif4, mxint8, hif4>(GetParam(), m, n, 100, options);
        expect_quantized<int8_block, mxfp4, mxfp4>(GetParam(), m, n, 100, options);
        expect_quantized<nvfp4, nvfp4, nvfp4>(GetParam(), m, n, 100, options, {{}, 0.0125F});
    }
    for (const float alpha : {0.0F, -0.0F}) {  // no product
        options.alpha = alpha;
        expect_quantized<hif4, mxint8, hif4>(GetParam(), m, n, 100, options);
    }
    options.alpha = 1;
    expect_quantized<hif4, mxint8, hif4>(GetParam(), m, n, 0, options);
}

TEST_P(gemm_quantized_on, every_option_of_the_format) {
    for_each_format([&]<class F>(std::type_identity<F>) {
        for (const auto& format : test::all_options<F>()) {
            expect_quantized<F, mxint8, mxfp4>(GetParam(), 9, 100, 64, {}, {format, 0.37F});
        }
    });
}

TEST(gemm_quantized, takes_weights_that_are_not_packed_and_16_bit_activations) {
    const auto x = test::mixed_values<bfloat16>(5 * 96, 1);
    const auto w = test::mixed_values<float>(70 * 96, 2, false);
    std::vector<float> wide;
    for (const bfloat16 value : x) wide.push_back(value.to_float());
    const auto q = quantize<mxfp4>(view(w, 70, 96));
    const auto wanted = expected<mxint8, mxfp4>(active_isa(), view(wide, 5, 96), q, {}, {});
    EXPECT_EQ(gemm_quantized<mxint8>(matrix_view<const bfloat16>(x.data(), 5, 96), q), wanted);
    EXPECT_EQ((gemm_quantized<mxint8, mxfp4>(view(wide, 5, 96), pack(q))), wanted);
    EXPECT_EQ(gemm_quantized<mxint8>(quantize<mxfp4>(view(wide, 5, 96)), pack(q)), wanted);
}

TEST(gemm_quantized, nothing_is_a_matrix_too) {
    const std::vector<float> x(64, 1.0F);
    const auto empty = gemm_quantized<hif4>(view(x, 0, 64), pack<mxfp4>(view(x, 1, 64)));
    EXPECT_EQ(empty.rows(), 0U);
    EXPECT_EQ(empty.cols(), 1U);
    EXPECT_EQ(gemm_quantized<hif4>(view(x, 1, 64), pack<mxfp4>(view(x, 0, 64))).cols(), 0U);
}

TEST(gemm_quantized, errors_name_function_and_numbers) {
    const std::vector<float> x(4 * 64, 1.0F);
    const auto packed = pack<mxfp4>(view(x, 4, 64));
    const auto text_of = [&](const auto& call) {
        try {
            call();
        } catch (const error& problem) {
            return std::string(problem.what());
        }
        return std::string();
    };
    EXPECT_EQ(text_of([&] { static_cast<void>(gemm_quantized<hif4>(view(x, 8, 32), packed)); }),
              "lowbit::gemm_quantized: cols 32 of input 'a' do not match cols 64 of input 'b'");
    EXPECT_EQ(text_of([&] { static_cast<void>(gemm_quantized<hif4>(view(x, 4, 64), packed, {.beta = 0.5F})); }),
              "lowbit::gemm_quantized: option 'beta' is 0.5, but there is no old 'c' to add");
    EXPECT_EQ(text_of([&] {
                  static_cast<void>(gemm_quantized<nvfp4>(view(x, 4, 64), packed, {}, {{}, 0.0F}));
              }),
              "lowbit::gemm_quantized: option 'output.tensor_scale' is 0, but must be finite and > 0");
    EXPECT_EQ(
        text_of([&] { static_cast<void>(gemm_quantized<hif4>(view(x, 4, 64), packed, {.residual = view(x, 2, 4)})); }),
        "lowbit::gemm_quantized: rows 2 of option 'residual' do not match rows 4 of the result");
}

}  // namespace
