// SPDX-License-Identifier: Apache-2.0
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/core/thread_pool.hpp>

#include "support/fp_environments.hpp"
#include "support/guarded_buffer.hpp"
#include "support/matrix_testing.hpp"

namespace {

using namespace lowbit;
using namespace lowbit::test;

// Blocks of any bytes: every pattern decodes.
template <class F>
quantized_matrix<F> random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<typename F::block> blocks(quantized_matrix<F>::size_bytes(rows, cols) / sizeof(typename F::block));
    auto* const bytes = reinterpret_cast<std::uint8_t*>(blocks.data());
    for (std::size_t i = 0; i < blocks.size() * sizeof(typename F::block); ++i)
        bytes[i] = static_cast<std::uint8_t>(random());
    std::vector<float> scales;
    for (std::size_t r = 0; F::has_tensor_scale && r < rows; ++r) {
        scales.push_back(
            std::ldexp(1.0F + static_cast<float>(random() % 1024) / 1024.0F, static_cast<int>(random() % 40) - 20));
    }
    return quantized_matrix<F>::from_blocks(rows, cols, blocks, scales);
}

template <class F>
class dequantize_from : public ::testing::Test {};
using formats = ::testing::Types<hif4, hif8, mxfp4, nvfp4, m2xfp_activation, m2xfp_weight, mxint8, int8_block>;
TYPED_TEST_SUITE(dequantize_from, formats);

// `fill` between cols and stride must still be there afterwards.
template <class F, class T>
void check_values(const quantized_matrix<F>& q, std::size_t stride, const dequantize_options& options = {}) {
    const T fill = T(narrowed_to<T>(-77.0F));
    std::vector<T> out(q.rows() * stride, fill);
    dequantize(q, matrix_view<T>(out.data(), q.rows(), q.cols(), stride), options);
    const std::vector<float> expected = reference_dequantize(q);
    for (std::size_t r = 0; r < q.rows(); ++r) {
        for (std::size_t c = 0; c < stride; ++c) {
            const T wanted = c < q.cols() ? narrowed_to<T>(expected[r * q.cols() + c]) : fill;
            ASSERT_EQ(bits_of(out[r * stride + c]), bits_of(wanted)) << "row " << r << ", column " << c;
        }
    }
}

TYPED_TEST(dequantize_from, equals_the_block_codec_bit_for_bit_and_leaves_the_gap) {
    for (const std::size_t cols : {1U, 15U, 33U, 64U, 200U, 2085U}) {
        const auto q = random_matrix<TypeParam>(6, cols, cols);
        check_values<TypeParam, float>(q, cols + 5);
        check_values<TypeParam, bfloat16>(q, cols + 1);
        check_values<TypeParam, float16>(q, cols);
    }
}

TYPED_TEST(dequantize_from, case63_case45_writes_nothing_outside_of_any_tail) {
    using F = TypeParam;
    const auto check = []<class T>(std::type_identity<T>, flush_with flush) {
        for (std::size_t cols = 1; cols <= 2 * F::block_size + 1; ++cols) {
            const auto q = random_matrix<F>(1, cols, cols);
            guarded_buffer<T> out(cols, flush);
            dequantize(q, matrix_view<T>(out.data(), 1, cols));
            EXPECT_TRUE(out.slack_untouched()) << cols;
            const std::vector<float> expected = reference_dequantize(q);
            for (std::size_t c = 0; c < cols; ++c) ASSERT_EQ(bits_of(out[c]), bits_of(narrowed_to<T>(expected[c])));
        }
    };
    for (const flush_with flush : {flush_with::end, flush_with::begin}) {
        check(std::type_identity<float>{}, flush);
        check(std::type_identity<bfloat16>{}, flush);
        check(std::type_identity<float16>{}, flush);
    }
}

// Case 64: output at any float address; the packed side has alignment 1 by type.
TYPED_TEST(dequantize_from, case64_any_float_address) {
    using F = TypeParam;
    static_assert(alignof(typename F::block) == 1);
    const auto q = random_matrix<F>(2, 130, 64);
    const std::vector<float> expected = reference_dequantize(q);
    std::vector<float> buffer(2 * 130 + 16);
    for (std::size_t shift = 0; shift < 16; ++shift) {
        dequantize(q, matrix_view<float>(buffer.data() + shift, 2, 130));
        EXPECT_EQ(std::memcmp(buffer.data() + shift, expected.data(), expected.size() * sizeof(float)), 0) << shift;
    }
}

TYPED_TEST(dequantize_from, case60_threads_change_nothing) {
    for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
        thread_pool pool(threads);
        check_values<TypeParam, float>(random_matrix<TypeParam>(300, 301, 1), 302, {pool});
        check_values<TypeParam, bfloat16>(random_matrix<TypeParam>(2, 70001, 2), 70001, {.executor = pool});
    }
}

TYPED_TEST(dequantize_from, the_callers_floating_point_environment_changes_nothing) {
    using F = TypeParam;
    const auto q = random_matrix<F>(70, 1000, 7);
    const std::vector<float> expected = reference_dequantize(q);
    std::vector<float16> expected_narrow(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected_narrow[i] = float16::from_float(expected[i]);
    for (int which = 1; which < caller_environments; ++which) {
        foreign_workers workers(which);
        std::vector<float> out(expected.size());
        std::vector<float16> narrow(expected.size());
        bool restored = false;
        {
            const caller_environment environment(which);
            dequantize(q, matrix_view<float>(out.data(), 70, 1000));
            dequantize(q, matrix_view<float16>(narrow.data(), 70, 1000), {workers});
            restored = environment.unchanged() && workers.restored();
        }
        EXPECT_TRUE(restored);
        EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0) << which;
        EXPECT_EQ(std::memcmp(narrow.data(), expected_narrow.data(), narrow.size() * sizeof(float16)), 0) << which;
    }
}

TYPED_TEST(dequantize_from, empty_matrices) {
    using F = TypeParam;
    dequantize(quantized_matrix<F>(), matrix_view<float>());
    dequantize(quantized_matrix<F>::from_blocks(0, 9, {}), matrix_view<float>(nullptr, 0, 9));
    dequantize(quantized_matrix<F>::from_blocks(9, 0, {}), matrix_view<bfloat16>(nullptr, 9, 0));
}

TYPED_TEST(dequantize_from, shapes_are_checked_before_anything_is_written) {
    const auto q = random_matrix<TypeParam>(4, 64, 1);
    std::vector<float> out(1000, 5.0F);
    const auto text = [&](std::size_t rows, std::size_t cols) {
        return error_text([&] { dequantize(q, matrix_view<float>(out.data(), rows, cols)); });
    };
    EXPECT_EQ(text(3, 64), "lowbit::dequantize: rows 3 of output 'out' do not match rows 4 of input 'q'");
    EXPECT_EQ(text(4, 65), "lowbit::dequantize: cols 65 of output 'out' do not match cols 64 of input 'q'");
    EXPECT_EQ(out, std::vector<float>(1000, 5.0F));
}

TYPED_TEST(dequantize_from, case59_output_over_the_packed_data_is_refused) {
    using F = TypeParam;
    const auto q = random_matrix<F>(4, 64, 1);
    const auto before = q;
    auto* const packed = const_cast<std::uint8_t*>(q.bytes().data());
    const std::string size = std::to_string(q.bytes().size());
    const auto text = [&](void* at) {
        return error_text([&] { dequantize(q, matrix_view<float>(static_cast<float*>(at), 4, 64)); });
    };
    const std::string expected =
        "lowbit::dequantize: output 'out' (4 x 64) overlaps the blocks of input 'q' (" + size + " bytes)";
    EXPECT_EQ(text(packed), expected);
    EXPECT_EQ(text(packed + q.bytes().size() / 4 * 4 - 4), expected);
    EXPECT_EQ(text(packed - 4 * 64 * 4 + 4), expected);
    EXPECT_EQ(q, before);
}

TEST(dequantize, case59_output_over_the_row_scales_is_refused) {
    const auto q = random_matrix<nvfp4>(4, 16, 1);
    const auto scales = detail::quantized_matrix_access<nvfp4>::row_scales(q);
    // The output ends in the scales or begins there: whichever does not touch the blocks, too.
    auto* const at = const_cast<float*>(scales.data());
    const bool blocks_first = std::less<const void*>()(q.bytes().data(), at);
    EXPECT_EQ(error_text([&] { dequantize(q, matrix_view<float>(blocks_first ? at + 3 : at - 60, 4, 16)); }),
              "lowbit::dequantize: output 'out' (4 x 16) overlaps the row scales of input 'q' (16 bytes)");
}

TEST(dequantize, case52_half_and_bfloat16_output_at_the_extremes) {
    const auto decoded = [](std::uint8_t scale, std::uint8_t code) {
        mxfp4::block block{};
        block.scale = scale;
        block.codes[0] = code;
        return quantized_matrix<mxfp4>::from_blocks(1, 1, std::span<const mxfp4::block>(&block, 1));
    };
    const auto half = [&](std::uint8_t scale, std::uint8_t code) {
        float16 out{};
        dequantize(decoded(scale, code), matrix_view<float16>(&out, 1, 1));
        return out.bits();
    };
    const auto brain = [&](std::uint8_t scale, std::uint8_t code) {
        bfloat16 out{};
        dequantize(decoded(scale, code), matrix_view<bfloat16>(&out, 1, 1));
        return out.bits();
    };
    EXPECT_EQ(half(107, 2), 0x0010);  // 2^-20
    EXPECT_EQ(half(103, 2), 0x0001);  // 2^-24
    EXPECT_EQ(half(150, 2), 0x7C00);  // 2^23: Inf
    EXPECT_EQ(half(150, 10), 0xFC00);
    EXPECT_EQ(brain(150, 2), 0x4B00);
    EXPECT_EQ(brain(0, 1), 0x0020);  // 2^-128
    EXPECT_EQ(brain(0, 9), 0x8020);
    EXPECT_EQ(half(0, 8), 0x8000);  // -0 survives
    EXPECT_EQ(half(255, 0), 0x7E00);
    EXPECT_EQ(brain(255, 0), 0x7FC0);
}

// From 32 MiB on the output is written past the caches: the same floats, nothing beyond the columns.
TEST(dequantize, large_outputs_hold_the_same_floats) {
    constexpr std::size_t rows = 2049, cols = 4097, stride = cols + 3;
    static_assert(rows * cols >= detail::past_cache_floats);
    const auto values = mixed_values<float>(rows * 64, 3);
    std::vector<float> x(rows * cols);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = values[i % values.size()];
    const auto q = quantize<mxfp4>(matrix_view<const float>(x.data(), rows, cols));
    std::vector<float> out(rows * stride, 7.0F);
    dequantize(q, matrix_view<float>(out.data(), rows, cols, stride));
    std::array<float, 32> expected{};
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t b = 0; b < q.blocks_per_row(); ++b) {
            mxfp4::decode(q.row(r)[b], expected);
            for (std::size_t i = 0; i < 32 && 32 * b + i < cols; ++i) {
                ASSERT_EQ(to_bits(out[r * stride + 32 * b + i]), to_bits(expected[i])) << r << ", " << 32 * b + i;
            }
        }
        for (std::size_t c = cols; c < stride; ++c) ASSERT_EQ(out[r * stride + c], 7.0F);
    }
}

TEST(dequantize, case51_more_than_2_31_elements) {
#if defined(LOWBIT_EXHAUSTIVE_TESTS)
    const std::size_t count = (std::size_t{1} << 31) + 64;
    std::vector<hif8> codes(count, hif8::from_float(1.0F));
    codes[count - 1] = hif8::from_float(-3.0F);
    const auto q = quantized_matrix<hif8>::from_blocks(1, count, codes);
    std::vector<bfloat16> out(count);
    dequantize(q, matrix_view<bfloat16>(out.data(), 1, count));
    EXPECT_EQ(out[count - 1].to_float(), -3.0F);
    EXPECT_EQ(out[count - 2].to_float(), 1.0F);
    EXPECT_EQ(out[std::size_t{1} << 31].to_float(), 1.0F);
#else
    GTEST_SKIP() << "needs 9 GiB; LOWBIT_EXHAUSTIVE_TESTS turns it on";
#endif
}

}  // namespace
