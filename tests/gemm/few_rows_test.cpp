// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/few_rows.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/reference.hpp>

namespace {

using lowbit::isa;
using lowbit::matrix_view;
using lowbit::to_bits;

class few_rows : public testing::TestWithParam<isa> {
  protected:
    void SetUp() override {
        if (!lowbit::arch::available().contains(GetParam())) GTEST_SKIP() << "not supported here";
    }
};

// Values of widely different scales; every 7th block of A and B holds a NaN, some are zero.
std::vector<float> values(std::size_t rows, std::size_t cols, std::uint32_t seed, bool special) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(rows * cols);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) {
            float scale = std::ldexp(1.0F, static_cast<int>((i * 5 + j / 16 * 3) % 23) - 11);
            if (special && (i + j / 16) % 11 == 3) scale *= 0x1p-115F;
            if (special && (i + j / 16) % 13 == 5) scale = 0.0F;
            x[i * cols + j] = normal(engine) * scale;
        }
    }
    if (special && rows > 1 && cols > 40) x[cols + 39] = lowbit::quiet_nan;
    return x;
}

template <class A, class B>
void expect_reference(isa which, std::size_t m, std::size_t n, std::size_t k, const lowbit::executor& executor = {}) {
    const auto x = values(m, k, 1, true), w = values(n, k, 2, true);
    const auto q = lowbit::quantize<B>(matrix_view<const float>(w.data(), n, k));
    const auto packed = lowbit::pack(q);
    const matrix_view<const float> a(x.data(), m, k);
    std::vector<float> got(m * n, -7.0F), wanted(m * n, -7.0F);
    const matrix_view<float> c(got.data(), m, n);
    lowbit::detail::gemm_float_rows<A>(a, q, matrix_view<float>(wanted.data(), m, n), {}, {}, {isa::scalar});

    const lowbit::detail::float_rows<A, float> source(a, {}, {}, which);
    const lowbit::detail::packed_panels<B> panels(packed);
    const lowbit::gemm_options options;
    const auto kernels = lowbit::kernel::few_rows_kernels<A, B>(which, m);
    ASSERT_NE(kernels.kernel, nullptr);
    const lowbit::detail::epilogue<float> finish(c, options, *kernels.output, which);
    const bool done = lowbit::detail::run_few_rows(source, panels, kernels, finish, {m, n, k}, executor);
    ASSERT_TRUE(done);
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i]))
            << A::name << " x " << B::name << " " << m << " x " << n << " x " << k << " at " << i;
    }
}

template <class A, class B>
void expect_all_shapes(isa which) {
    for (const auto& [m, n, k] : std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>{{1, 1, 1},
                                                                                                {1, 32, 64},
                                                                                                {1, 33, 129},
                                                                                                {2, 31, 63},
                                                                                                {3, 65, 200},
                                                                                                {4, 16, 1000},
                                                                                                {5, 40, 33},
                                                                                                {8, 64, 192},
                                                                                                {9, 33, 15},
                                                                                                {16, 70, 160},
                                                                                                {17, 5, 97}}) {
        expect_reference<A, B>(which, m, n, k);
    }
}

TEST_P(few_rows, hif4) { expect_all_shapes<lowbit::hif4, lowbit::hif4>(GetParam()); }
TEST_P(few_rows, mxfp4) { expect_all_shapes<lowbit::mxfp4, lowbit::mxfp4>(GetParam()); }
TEST_P(few_rows, nvfp4) { expect_all_shapes<lowbit::nvfp4, lowbit::nvfp4>(GetParam()); }
TEST_P(few_rows, m2xfp_weight) { expect_all_shapes<lowbit::m2xfp_activation, lowbit::m2xfp_weight>(GetParam()); }
TEST_P(few_rows, m2xfp_activation) { expect_all_shapes<lowbit::m2xfp_weight, lowbit::m2xfp_activation>(GetParam()); }
TEST_P(few_rows, nvfp4_x_hif4) { expect_all_shapes<lowbit::nvfp4, lowbit::hif4>(GetParam()); }
TEST_P(few_rows, hif4_x_nvfp4) { expect_all_shapes<lowbit::hif4, lowbit::nvfp4>(GetParam()); }
TEST_P(few_rows, mxfp4_x_hif4) { expect_all_shapes<lowbit::mxfp4, lowbit::hif4>(GetParam()); }
TEST_P(few_rows, nvfp4_x_m2xfp_weight) { expect_all_shapes<lowbit::nvfp4, lowbit::m2xfp_weight>(GetParam()); }

TEST_P(few_rows, mxint8_x_mxfp4) { expect_all_shapes<lowbit::mxint8, lowbit::mxfp4>(GetParam()); }
TEST_P(few_rows, mxint8_x_nvfp4) { expect_all_shapes<lowbit::mxint8, lowbit::nvfp4>(GetParam()); }
TEST_P(few_rows, mxint8_x_hif4) { expect_all_shapes<lowbit::mxint8, lowbit::hif4>(GetParam()); }
TEST_P(few_rows, mxint8_x_m2xfp_weight) { expect_all_shapes<lowbit::mxint8, lowbit::m2xfp_weight>(GetParam()); }
TEST_P(few_rows, mxint8_x_m2xfp_activation) { expect_all_shapes<lowbit::mxint8, lowbit::m2xfp_activation>(GetParam()); }
TEST_P(few_rows, mxint8) { expect_all_shapes<lowbit::mxint8, lowbit::mxint8>(GetParam()); }
TEST_P(few_rows, int8_block) { expect_all_shapes<lowbit::int8_block, lowbit::int8_block>(GetParam()); }
TEST_P(few_rows, hif4_x_mxint8) { expect_all_shapes<lowbit::hif4, lowbit::mxint8>(GetParam()); }
TEST_P(few_rows, nvfp4_x_mxint8) { expect_all_shapes<lowbit::nvfp4, lowbit::mxint8>(GetParam()); }
TEST_P(few_rows, mxfp4_x_int8_block) { expect_all_shapes<lowbit::mxfp4, lowbit::int8_block>(GetParam()); }
TEST_P(few_rows, int8_block_x_mxfp4) { expect_all_shapes<lowbit::int8_block, lowbit::mxfp4>(GetParam()); }
TEST_P(few_rows, int8_block_x_nvfp4) { expect_all_shapes<lowbit::int8_block, lowbit::nvfp4>(GetParam()); }
TEST_P(few_rows, int8_block_x_hif4) { expect_all_shapes<lowbit::int8_block, lowbit::hif4>(GetParam()); }
TEST_P(few_rows, int8_block_x_m2xfp_weight) { expect_all_shapes<lowbit::int8_block, lowbit::m2xfp_weight>(GetParam()); }

TEST_P(few_rows, case60_any_number_of_threads) {
    lowbit::thread_pool pool(3);
    expect_reference<lowbit::mxfp4, lowbit::mxfp4>(GetParam(), 3, 1000, 96, lowbit::executor(pool));
    expect_reference<lowbit::hif4, lowbit::hif4>(GetParam(), 1, 500, 96, lowbit::executor(pool));
    // More panels than tasks, which some of them take two of.
    expect_reference<lowbit::hif4, lowbit::hif4>(GetParam(), 1, 1700, 64, lowbit::executor(pool));
}

INSTANTIATE_TEST_SUITE_P(every_isa, few_rows, testing::ValuesIn(lowbit::arch::all_isas),
                         [](const testing::TestParamInfo<isa>& row) { return std::string(to_string(row.param)); });

}  // namespace
