// SPDX-License-Identifier: Apache-2.0
// Products that run out of memory, at each of their allocations: std::bad_alloc comes out, C and the operands keep
// every bit, nothing leaks, the threads live on.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/gemm_quantized.hpp>
#include <lowbit/gemm/weight_only.hpp>

#include "gemm/gemm_testing.hpp"
#include "support/failing_allocator.hpp"

namespace lowbit::test {
namespace {

std::vector<float> values(std::size_t count, std::uint32_t seed) {
    std::vector<float> out(count);
    std::mt19937 engine(seed);
    for (float& value : out) value = (static_cast<float>(engine() >> 8U) - 8388608.0F) * 0x1p-22F;
    return out;
}

/// C before and after: its old values and those of a product that worked.
struct output {
    std::vector<float> old;
    std::vector<float> now;
    matrix_view<float> view;

    output(std::size_t rows, std::size_t cols)
        : old(values(rows * (cols + 3), 7)), now(old), view(now.data(), rows, cols, cols + 3) {}

    void restore() { std::memcpy(now.data(), old.data(), old.size() * sizeof(float)); }
    void expect_untouched(const std::string& place) {
        ASSERT_TRUE(same_bits(now, old)) << place << ": C was written to";
    }
};

/// multiply(c, options) at each of its allocations, serial and on two threads, with and without a layer's options.
template <class Multiply>
void product_fails_cleanly(const std::string& what, std::size_t m, std::size_t n, const Multiply& multiply) {
    const std::vector<float> bias = values(n, 8), residual = values(m * n, 9);
    thread_pool pool(2);
    for (const bool layer : {false, true}) {
        for (const bool threads : {false, true}) {
            gemm_options options;
            if (threads) options.executor = pool;
            if (layer) {
                options.alpha = 0.5F;
                options.beta = 2.0F;
                options.bias = bias;
                options.activation = activation::gelu;
                options.residual = {residual.data(), m, n};
            }
            output c(m, n);
            fails_cleanly(
                what + (layer ? ", a layer" : "") + (threads ? ", two threads" : ""), [&] { c.restore(); },
                [&] { multiply(c.view, options); }, [&](const std::string& place) { c.expect_untouched(place); });
        }
    }
}

class a_failed_allocation_on : public on_each_isa {};
LOWBIT_TEST_ON_EACH_ISA(a_failed_allocation_on);

/// Quantised and float activations against packed and quantised weights, in all the loops: few rows, A's block whole,
/// A cut along K, sums in C.
template <class A, class B>
void expect_clean(isa which, bool sliced) {
    const std::size_t n = 70, k = 160;
    const auto weights = random_operand<B>(n, k, 2, scales::tame, B::has_tensor_scale);
    const auto packed = pack(weights);
    const auto kept = packed.clone();
    for (const std::size_t m : {std::size_t{3}, std::size_t{40}}) {
        const std::vector<float> x = values(m * k, 3);
        const std::vector<float> x_kept = x;
        const auto a = quantize<A>(const_view_of(x, m, k));
        const auto a_kept = a;
        std::vector<detail::blocking> blocks = {{}};
        if (m > 8) {
            blocks.push_back({16, 32, 64, sliced ? std::size_t{64} : std::size_t{0}});
        }
        for (const detail::blocking& sizes : blocks) {
            const std::string what = std::string(A::name) + " x " + std::string(B::name) + ", " + std::to_string(m) +
                                     " rows" + (sizes == detail::blocking{} ? "" : ", small blocks");
            product_fails_cleanly(what + ", floats", m, n, [&](const auto& c, const auto& options) {
                detail::gemm_float_rows<A>(const_view_of(x, m, k), packed, c, options, typename A::options{},
                                           {which, sizes});
            });
            product_fails_cleanly(what + ", blocks", m, n, [&](const auto& c, const auto& options) {
                detail::gemm_blocks(a, packed, c, options, {which, sizes});
            });
            product_fails_cleanly(what + ", weights not packed", m, n, [&](const auto& c, const auto& options) {
                detail::gemm_blocks(a, weights, c, options, {which, sizes});
            });
        }
        EXPECT_EQ(a, a_kept);
        EXPECT_TRUE(same_bits(x, x_kept));
    }
    EXPECT_EQ(std::memcmp(packed.bytes().data(), kept.bytes().data(), kept.bytes().size()), 0);
    EXPECT_EQ(unpack(packed), weights);
}

TEST_P(a_failed_allocation_on, products_of_integer_lanes) {
    expect_clean<hif4, hif4>(GetParam(), false);
    expect_clean<nvfp4, nvfp4>(GetParam(), true);
}

TEST_P(a_failed_allocation_on, products_with_8_bit_formats) {
    expect_clean<mxint8, hif4>(GetParam(), true);
    expect_clean<int8_block, mxint8>(GetParam(), false);
}

TEST_P(a_failed_allocation_on, products_of_float_lanes) { expect_clean<hif8, hif4>(GetParam(), true); }

// Scales out of the fast kernels' range take other ways, which need scratch of their own.
TEST_P(a_failed_allocation_on, products_of_any_scales) {
    const std::size_t m = 40, n = 70, k = 160;
    const auto a = random_operand<mxfp4>(m, k, 1, scales::any);
    const auto packed = pack(random_operand<mxfp4>(n, k, 2, scales::any));
    for (const std::size_t ka : {std::size_t{0}, std::size_t{64}}) {
        product_fails_cleanly("any scales", m, n, [&](const auto& c, const auto& options) {
            detail::gemm_blocks(a, packed, c, options, {GetParam(), {16, 32, 64, ka}});
        });
    }
}

TEST_P(a_failed_allocation_on, products_weight_only) {
    const std::size_t n = 70, k = 160;
    const auto packed = pack(random_operand<nvfp4>(n, k, 2, scales::tame, true));
    for (const std::size_t m : {std::size_t{1}, std::size_t{5}, std::size_t{40}}) {
        const std::vector<float> x = values(m * k, 3);
        product_fails_cleanly("weight only", m, n, [&](const auto& c, const auto& options) {
            detail::gemm_plain_rows(const_view_of(x, m, k), packed, c, options,
                                    {GetParam(), {m > 8 ? std::size_t{16} : std::size_t{0}, 0, 0, 0}});
        });
    }
}

// The public calls, on the instruction set of the process.
TEST(a_failed_allocation, in_the_public_calls) {
    const std::size_t m = 20, n = 70, k = 160;
    const std::vector<float> x = values(m * k, 3);
    const matrix_view<const float> a = const_view_of(x, m, k);
    const auto weights = random_operand<hif4>(n, k, 2, scales::tame);
    const auto packed = pack(weights);
    product_fails_cleanly("gemm", m, n, [&](const auto& c, const auto& options) { gemm(a, packed, c, options); });
    product_fails_cleanly("gemm_weight_only", m, n,
                          [&](const auto& c, const auto& options) { gemm_weight_only(a, packed, c, options); });
    std::vector<bfloat16> narrow(m * n, bfloat16::from_float(3.0F));
    const auto before = narrow;
    fails_cleanly(
        "gemm to bfloat16", [&] { narrow = before; },
        [&] { gemm(a, packed, matrix_view<bfloat16>(narrow.data(), m, n), {.beta = 1}); },
        [&](const std::string& place) { ASSERT_TRUE(narrow == before) << place; });
}

// There is no output to spoil; what was there before is left alone, and the operands too.
TEST(a_failed_allocation, in_gemm_quantized) {
    const std::size_t n = 70, k = 160;
    const auto packed = pack(random_operand<hif4>(n, k, 2, scales::tame));
    thread_pool pool(2);
    for (const std::size_t m : {std::size_t{3}, std::size_t{40}}) {
        const std::vector<float> x = values(m * k, 3), bias = values(n, 8);
        const gemm_options options{.bias = bias, .executor = pool, .activation = activation::relu};
        auto result = gemm_quantized<hif4>(const_view_of(x, m, k), packed, options);
        const auto expected = result;
        fails_cleanly(
            "gemm_quantized to hif4", [&] { result = gemm_quantized<hif4>(const_view_of(x, m, k), packed, options); },
            [&](const std::string& place) { ASSERT_EQ(result, expected) << place; });
        auto bytes = gemm_quantized<mxint8, mxint8>(const_view_of(x, m, k), packed, options);
        const auto expected_bytes = bytes;
        fails_cleanly(
            "gemm_quantized to mxint8",
            [&] { bytes = gemm_quantized<mxint8, mxint8>(const_view_of(x, m, k), packed, options); },
            [&](const std::string& place) { ASSERT_EQ(bytes, expected_bytes) << place; });
    }
}

}  // namespace
}  // namespace lowbit::test
