// SPDX-License-Identifier: Apache-2.0
#include <lowbit/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/pack/pack.hpp>

#include "gemm_testing.hpp"
#include "support/fp_environments.hpp"
#include "support/guarded_buffer.hpp"

namespace {

using namespace lowbit;
using test::scales;

class gemm_on : public test::on_each_isa {};
LOWBIT_TEST_ON_EACH_ISA(gemm_on);

// Five pairs stand for all where formats do not matter: each group size, 16-bit and 32-bit sums, widened products under
// scales that are any float, and float lanes.
template <class Visitor>
void for_some_pairs(Visitor visitor) {
    visitor.template operator()<hif4, hif4>();
    visitor.template operator()<m2xfp_activation, m2xfp_weight>();
    visitor.template operator()<mxfp4, nvfp4>();
    visitor.template operator()<int8_block, m2xfp_weight>();
    visitor.template operator()<hif8, mxfp4>();
}

std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = normal(engine);
    return values;
}

TEST_P(gemm_on, case54_beta_zero_does_not_read_c) {
    for_some_pairs([&]<class A, class B>() {
        for (const auto& [m, n, k] : {std::array<std::size_t, 3>{1, 1, 1}, {17, 9, 33}, {9, 40, 70}}) {
            const auto a = test::random_operand<A>(m, k, 1, scales::tame);
            const auto b = test::random_operand<B>(n, k, 2, scales::tame);
            for (const float beta : {0.0F, -0.0F}) {
                gemm_options options;
                options.beta = beta;
                const std::vector<float> nan(m * n, quiet_nan), zero(m * n, 0.0F);
                EXPECT_TRUE(test::same_bits(test::product(GetParam(), a, b, options, {}, nan),
                                            test::product(GetParam(), a, b, options, {}, zero)));
            }
        }
    });
}

TEST_P(gemm_on, case55_empty_sums_and_shapes) {
    for_some_pairs([&]<class A, class B>() {
        const auto a0 = test::random_operand<A>(3, 0, 1, scales::tame);
        const auto b0 = test::random_operand<B>(5, 0, 2, scales::tame);
        gemm_options options;
        options.beta = 10;
        const std::vector<float> ones(15, 1.0F);
        for (const float value : test::product(GetParam(), a0, b0, options, {}, ones)) EXPECT_EQ(value, 10.0F);
        options.beta = 0;
        for (const float value : test::product(GetParam(), a0, b0, options)) EXPECT_EQ(to_bits(value), 0U);
        EXPECT_TRUE(test::product(GetParam(), test::random_operand<A>(0, 64, 1, scales::tame),
                                  test::random_operand<B>(5, 64, 1, scales::tame))
                        .empty());
        EXPECT_TRUE(test::product(GetParam(), test::random_operand<A>(5, 64, 1, scales::tame),
                                  test::random_operand<B>(0, 64, 1, scales::tame))
                        .empty());
    });
}

TEST_P(gemm_on, case55_alpha_zero_reads_neither_a_nor_b) {
    for_some_pairs([&]<class A, class B>() {
        const auto a = test::random_operand<A>(6, 129, 1, scales::any);  // with NaN
        const auto b = test::random_operand<B>(37, 129, 2, scales::any);
        const std::vector<float> old = random_floats(6 * 37, 3), bias = random_floats(37, 4);
        gemm_options options;
        options.alpha = 0;
        options.beta = 3;
        EXPECT_TRUE(
            test::same_bits(test::product(GetParam(), a, b, options, {}, old), test::reference(a, b, options, old)));
        for (std::size_t i = 0; i < old.size(); ++i) {
            EXPECT_EQ(test::product(GetParam(), a, b, options, {}, old)[i], 3 * old[i]);
            break;
        }
        options.bias = bias;
        options.beta = 0;
        const std::vector<float> c = test::product(GetParam(), a, b, options);
        for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(to_bits(c[i]), to_bits(bias[i % 37]));
    });
}

TEST_P(gemm_on, alpha_beta_bias_and_tensor_scales_in_their_order) {
    for_some_pairs([&]<class A, class B>() {
        const std::size_t m = 13, n = 45, k = 130;
        const auto a = test::random_operand<A>(m, k, 1, scales::tame, true);
        const auto b = test::random_operand<B>(n, k, 2, scales::tame, true);
        const std::vector<float> old = random_floats(m * n, 3), bias = random_floats(n, 4);
        for (const float alpha : {1.0F, 0.3F, -2.5F, quiet_nan}) {
            for (const float beta : {0.0F, 1.0F, 0.7F}) {
                for (const bool with_bias : {false, true}) {
                    gemm_options options;
                    options.alpha = alpha;
                    options.beta = beta;
                    if (with_bias) options.bias = bias;
                    ASSERT_TRUE(test::same_bits(test::product(GetParam(), a, b, options, {}, old),
                                                test::reference(a, b, options, old)))
                        << A::name << " x " << B::name << ", alpha " << alpha << ", beta " << beta;
                }
            }
        }
    });
}

TEST_P(gemm_on, case58_strides_leave_what_lies_between_alone) {
    const std::size_t m = 11, n = 37, k = 70, lda = k + 5, ldc = n + 3;
    const std::vector<float> x = random_floats(m * lda, 1), w = random_floats(n * k, 2);
    const auto b = pack<hif4>(test::const_view_of(w, n, k));
    std::vector<float> dense(m * k), c(m * ldc, -77.0F), wanted(m * n);
    for (std::size_t i = 0; i < m; ++i)
        std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * lda), k,
                    dense.begin() + static_cast<std::ptrdiff_t>(i * k));
    detail::gemm_float_rows<hif4>(matrix_view<const float>(x.data(), m, k, lda), b,
                                  matrix_view<float>(c.data(), m, n, ldc), {}, {}, {GetParam()});
    reference_gemm(quantize<hif4>(test::const_view_of(dense, m, k)), quantize<hif4>(test::const_view_of(w, n, k)),
                   test::view_of(wanted, m, n));
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < ldc; ++j) {
            ASSERT_EQ(to_bits(c[i * ldc + j]), j < n ? to_bits(wanted[i * n + j]) : to_bits(-77.0F));
        }
    }
}

TEST_P(gemm_on, case60_any_number_of_threads_any_run) {
    for_some_pairs([&]<class A, class B>() {
        // The second has more panels than two or three threads have tasks: some tasks take two of them.
        for (const auto& [m, n, k] : {std::array<std::size_t, 3>{57, 129, 1000}, {9, 1700, 64}}) {
            const auto a = test::random_operand<A>(m, k, 1, scales::tame);
            const auto b = test::random_operand<B>(n, k, 2, scales::tame);
            const std::vector<float> serial = test::product(GetParam(), a, b);
            for (const std::size_t threads : {1U, 2U, 3U, 4U, 8U}) {
                thread_pool pool(threads);
                gemm_options options;
                options.executor = pool;
                for (int run = 0; run < 3; ++run) {
                    ASSERT_TRUE(test::same_bits(test::product(GetParam(), a, b, options), serial))
                        << threads << " threads, n " << n;
                }
            }
        }
    });
}

// Rounding mode, FTZ and DAZ of the caller and of the workers: for few rows, and for each way through large products.
TEST_P(gemm_on, case19_environments_of_caller_and_workers_change_nothing) {
    for_some_pairs([&]<class A, class B>() {
        for (const auto& [m, blocks] : {std::pair{std::size_t{1}, detail::blocking{}},
                                        {6, {}},
                                        {45, {}},
                                        {45, {8, 32, 64, 0}},
                                        {45, {8, 32, 64, 64}}}) {
            const std::size_t n = 131, k = 333;
            const auto a = test::random_operand<A>(m, k, 1, scales::tame, true);
            const auto b = test::random_operand<B>(n, k, 2, scales::tame, true);
            const std::vector<float> bias = random_floats(n, 3);
            gemm_options options;
            options.alpha = 0.3F;
            options.bias = bias;
            const std::vector<float> wanted = test::product(GetParam(), a, b, options, blocks);
            for (int which = 1; which < test::caller_environments; ++which) {
                test::foreign_workers workers(which);
                gemm_options threaded = options;
                threaded.executor = workers;
                const test::caller_environment environment(which);
                const bool same = test::same_bits(test::product(GetParam(), a, b, options, blocks), wanted) &&
                                  test::same_bits(test::product(GetParam(), a, b, threaded, blocks), wanted);
                const bool restored = environment.unchanged() && workers.restored();
                ASSERT_TRUE(same && restored) << m << " rows, environment " << which;
            }
        }
    });
    // The scales of rows that are quantised on the way.
    const std::vector<float> x = random_floats(40 * 200, 1), w = random_floats(50 * 200, 2);
    const auto b = pack<nvfp4>(test::const_view_of(w, 50, 200));
    std::vector<float> wanted(40 * 50), c(40 * 50);
    detail::gemm_float_rows<nvfp4>(test::const_view_of(x, 40, 200), b, test::view_of(wanted, 40, 50), {}, {},
                                   {GetParam()});
    for (int which = 1; which < test::caller_environments; ++which) {
        test::foreign_workers workers(which);
        gemm_options threaded;
        threaded.executor = workers;
        const test::caller_environment environment(which);
        detail::gemm_float_rows<nvfp4>(test::const_view_of(x, 40, 200), b, test::view_of(c, 40, 50), threaded, {},
                                       {GetParam()});
        ASSERT_TRUE(test::same_bits(c, wanted)) << which;
    }
}

TEST_P(gemm_on, any_block_sizes) {
    for_some_pairs([&]<class A, class B>() {
        const std::size_t m = 45, n = 131, k = 333;
        const auto a = test::random_operand<A>(m, k, 1, scales::tame);
        const auto b = test::random_operand<B>(n, k, 2, scales::tame);
        const std::vector<float> wanted = test::reference(a, b);
        thread_pool pool(2);
        for (const detail::blocking& blocks : {detail::blocking{8, 32, 64, 0},
                                               {8, 32, 64, 64},
                                               {16, 64, 64, 128},
                                               {24, 96, 128, 0},
                                               {1, 1, 1, 1},
                                               {1000, 1000, 1024, 1024}}) {
            gemm_options options;
            EXPECT_TRUE(test::same_bits(test::product(GetParam(), a, b, options, blocks), wanted))
                << A::name << ", mc " << blocks.mc << ", kc " << blocks.kc << ", ka " << blocks.ka;
            options.executor = pool;
            EXPECT_TRUE(test::same_bits(test::product(GetParam(), a, b, options, blocks), wanted));
        }
    });
}

// Row 1 of A has one NaN scale over zero codes, row 20 of B too: their row and column are the canonical NaN, nothing
// else.
TEST_P(gemm_on, case61_a_nan_scale_reaches_its_row_and_column_only) {
    const std::size_t m = 9, n = 40, k = 160;
    const auto poison = [&]<class F>(std::type_identity<F>, std::size_t rows, std::size_t row) {
        auto clean = test::random_operand<F>(rows, k, static_cast<std::uint32_t>(rows), scales::tame);
        std::vector<typename F::block> blocks(clean.blocks().begin(), clean.blocks().end());
        typename F::block& block = blocks[row * clean.blocks_per_row() + 1];
        block = {};
        block.scale = F::has_tensor_scale ? 0x7F : 0xFF;
        return quantized_matrix<F>::from_blocks(rows, k, blocks);
    };
    const auto check = [&]<class A, class B>(std::type_identity<A> fa, std::type_identity<B> fb) {
        const std::vector<float> c = test::product(GetParam(), poison(fa, m, 1), poison(fb, n, 20));
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                if (i == 1 || j == 20) {
                    ASSERT_EQ(to_bits(c[i * n + j]), quiet_nan_bits);
                } else {
                    ASSERT_TRUE(is_finite(c[i * n + j])) << A::name << " x " << B::name << " at " << i << ", " << j;
                }
            }
        }
    };
    check(std::type_identity<hif4>{}, std::type_identity<hif4>{});
    check(std::type_identity<mxfp4>{}, std::type_identity<mxfp4>{});
    check(std::type_identity<nvfp4>{}, std::type_identity<nvfp4>{});
    check(std::type_identity<m2xfp_activation>{}, std::type_identity<m2xfp_weight>{});
    check(std::type_identity<hif4>{}, std::type_identity<nvfp4>{});
}

// Inf in the activations poisons its block and with it one row of C.
TEST_P(gemm_on, case21_infinity_and_nan_in_activations_poison_their_row) {
    const std::size_t m = 7, n = 33, k = 128;
    std::vector<float> x = random_floats(m * k, 1);
    const std::vector<float> w = random_floats(n * k, 2);
    x[3 * k + 77] = float_from_bits(infinity_bits);
    x[5 * k] = quiet_nan;
    for_some_pairs([&]<class A, class B>() {
        if constexpr (lane_traits<A>::integer) {
            const auto b = pack<B>(test::const_view_of(w, n, k));
            std::vector<float> c(m * n);
            detail::gemm_float_rows<A>(test::const_view_of(x, m, k), b, test::view_of(c, m, n), {}, {}, {GetParam()});
            for (std::size_t i = 0; i < m * n; ++i) {
                if (i / n == 3 || i / n == 5) {
                    ASSERT_EQ(to_bits(c[i]), quiet_nan_bits);
                } else {
                    ASSERT_TRUE(is_finite(c[i]));
                }
            }
        }
    });
}

// Float operands and C end at (and begin at) pages that nobody may touch.
TEST_P(gemm_on, case63_nothing_outside_is_touched) {
    for_some_pairs([&]<class A, class B>() {
        for (const test::flush_with flush : {test::flush_with::end, test::flush_with::begin}) {
            for (const auto& [m, n, k] :
                 {std::array<std::size_t, 3>{1, 1, 1}, {5, 33, 65}, {9, 31, 127}, {17, 70, 33}}) {
                test::guarded_buffer<float> x(m * k, flush), c(m * n, flush), bias(n, flush);
                const std::vector<float> values = random_floats(m * k, 1), w = random_floats(n * k, 2);
                std::copy(values.begin(), values.end(), x.begin());
                std::fill(bias.begin(), bias.end(), 1.0F);
                gemm_options options;
                options.bias = bias.span();
                const auto b = pack<B>(test::const_view_of(w, n, k));
                detail::gemm_float_rows<A>(matrix_view<const float>(x.data(), m, k), b,
                                           matrix_view<float>(c.data(), m, n), options, {}, {GetParam()});
                EXPECT_TRUE(c.slack_untouched() && x.slack_untouched());
                quantize_options<A> by_row;
                by_row.tensor_scale.kind = tensor_scale_kind::row;
                const auto a = quantize<A>(matrix_view<const float>(x.data(), m, k), by_row);
                const std::vector<float> wanted = test::reference(a, unpack(b), options);
                EXPECT_TRUE(test::same_bits(std::vector<float>(c.begin(), c.end()), wanted));
            }
        }
    });
}

// Values chosen so that every sum is an exact integer.
TEST_P(gemm_on, case57_exact_integers) {
    const float grid[] = {0, 1, 2, 3, 4, 6, -1, -2, -6, 6};
    for (const auto& [m, n, k] :
         {std::array<std::size_t, 3>{17, 33, 129}, {33, 17, 63}, {8, 31, 128}, {1, 16, 17}, {90, 33, 40}}) {
        std::vector<float> x(m * k), w(n * k), c(m * n);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % k % 16 == 0 ? 6.0F : grid[i * 7 % 10];
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = i % k % 16 == 0 ? -6.0F : grid[i * 3 % 10];
        const auto b = pack<mxfp4>(test::const_view_of(w, n, k));
        detail::gemm_float_rows<mxfp4>(test::const_view_of(x, m, k), b, test::view_of(c, m, n), {}, {}, {GetParam()});
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                float sum = 0;
                for (std::size_t e = 0; e < k; ++e) sum += x[i * k + e] * w[j * k + e];
                ASSERT_EQ(c[i * n + j], sum);
            }
        }
    }
}

template <class T>
std::vector<T> narrowed(const std::vector<float>& values) {
    std::vector<T> out;
    for (const float value : values) out.push_back(T::from_float(value));
    return out;
}

// 16-bit activations are widened, 16-bit results rounded once; weights may be quantised but not packed.
template <class T>
void expect_16_bit(isa which) {
    const std::size_t m = 9, n = 37, k = 1100;
    const std::vector<T> x = narrowed<T>(random_floats(m * k, 1)), old = narrowed<T>(random_floats(m * n, 5));
    const std::vector<float> w = random_floats(n * k, 2);
    std::vector<float> wide(m * k), wide_old(m * n);
    for (std::size_t i = 0; i < x.size(); ++i) wide[i] = x[i].to_float();
    for (std::size_t i = 0; i < old.size(); ++i) wide_old[i] = old[i].to_float();
    const auto b = quantize<m2xfp_weight>(test::const_view_of(w, n, k));
    gemm_options options;
    options.beta = 0.5F;
    std::vector<T> c = old;
    detail::gemm_float_rows<m2xfp_activation>(matrix_view<const T>(x.data(), m, k), b, matrix_view<T>(c.data(), m, n),
                                              options, {}, {which});
    const auto a = quantize<m2xfp_activation>(test::const_view_of(wide, m, k));
    const std::vector<float> wanted = test::reference(a, b, options, wide_old);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i].bits(), T::from_float(wanted[i]).bits());
}
TEST_P(gemm_on, bfloat16_operands) { expect_16_bit<bfloat16>(GetParam()); }
TEST_P(gemm_on, float16_operands) { expect_16_bit<float16>(GetParam()); }

// Blocks of zeros have the least scale there is, which is out of some kernels' range.
TEST_P(gemm_on, blocks_of_zeros_beside_others) {
    const auto check = [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
        const std::size_t m = 40, n = 70, k = 200;
        std::vector<float> x = random_floats(m * k, 1), w = random_floats(n * k, 2);
        for (std::size_t i = 0; i < m * k; ++i) x[i] = i / 32 % 3 == 0 ? 0.0F : x[i];
        for (std::size_t i = 0; i < n * k; ++i) w[i] = i / 64 % 17 == 0 ? 0.0F : w[i];
        const auto a = quantize<A>(test::const_view_of(x, m, k));
        const auto b = quantize<B>(test::const_view_of(w, n, k));
        EXPECT_TRUE(test::same_bits(test::product(GetParam(), a, b), test::reference(a, b)))
            << A::name << " x " << B::name;
    };
    check(std::type_identity<mxint8>{}, std::type_identity<mxfp4>{});
    check(std::type_identity<mxint8>{}, std::type_identity<hif4>{});
    check(std::type_identity<mxfp4>{}, std::type_identity<mxint8>{});
    check(std::type_identity<int8_block>{}, std::type_identity<nvfp4>{});
}

// Activations on the fly take NVFP4's tensor scale from their row: a row alone gives the same bits as in a batch.
TEST_P(gemm_on, case32_rows_do_not_depend_on_each_other) {
    const std::size_t m = 21, n = 50, k = 200;
    std::vector<float> x = random_floats(m * k, 1);
    for (std::size_t i = 0; i < m * k; ++i) x[i] *= static_cast<float>(1 + i / k * i / k);
    const std::vector<float> w = random_floats(n * k, 2);
    const auto b = pack<nvfp4>(test::const_view_of(w, n, k));
    std::vector<float> batch(m * n), row(n);
    detail::gemm_float_rows<nvfp4>(test::const_view_of(x, m, k), b, test::view_of(batch, m, n), {}, {}, {GetParam()});
    for (std::size_t i = 0; i < m; ++i) {
        detail::gemm_float_rows<nvfp4>(matrix_view<const float>(x.data() + i * k, 1, k), b, test::view_of(row, 1, n),
                                       {}, {}, {GetParam()});
        for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(to_bits(row[j]), to_bits(batch[i * n + j]));
    }
}

// A scalar kernel of 3 rows and 5 columns: the loops take any tile, also one that does not divide a panel.
template <class A, class B>
void expect_odd_tiles() {
    using source = detail::block_rows<A>;
    using panels = detail::packed_panels<B>;
    const std::size_t m = 20, n = 71, k = 200;
    const auto a = test::random_operand<A>(m, k, 1, scales::tame);
    const auto b = test::random_operand<B>(n, k, 2, scales::tame);
    const auto packed = pack(b);
    namespace scalar = kernel::LOWBIT_ISA_NAMESPACE(scalar)::product;
    const source rows(a, isa::scalar);
    const panels columns(packed);
    const detail::integer_engine<source, panels> engine(
        rows, columns, {&scalar::integer_row<common_group<A, B>, 3, 5>, &scalar::expand_row<B>, &scalar::output_row});
    const gemm_options options;
    for (const detail::blocking& blocks : {detail::blocking{20, 32, 64, 0}, {3, 64, 64, 64}, {6, 32, 128, 128}}) {
        std::vector<float> c(m * n, quiet_nan);
        const detail::epilogue<float> finish(test::view_of(c, m, n), options, scalar::output_row, isa::scalar);
        const auto sizes = detail::lane_blocking(m, k, detail::integer_lane_sizes(engine.group, {}), 3, {}, blocks);
        if (sizes.ka >= k) {
            detail::run_resident(engine, finish, {m, n, k}, sizes, {});
        } else {
            detail::run_sliced(engine, finish, {m, n, k}, sizes, {});
        }
        EXPECT_TRUE(test::same_bits(c, test::reference(a, b)));
    }
}
TEST(gemm, loops_take_odd_tiles) {
    expect_odd_tiles<hif4, nvfp4>();
    expect_odd_tiles<m2xfp_activation, m2xfp_weight>();
    expect_odd_tiles<mxint8, mxfp4>();
    expect_odd_tiles<int8_block, mxint8>();
}

std::string error_of(const auto& call) {
    try {
        call();
    } catch (const error& fault) {
        return fault.what();
    }
    return "no error";
}

TEST(gemm, wrong_shapes_are_refused_before_c_is_touched) {
    std::vector<float> x(4 * 64, 1.0F), c(4 * 8, -5.0F), bias(7);
    const auto b = pack<mxfp4>(matrix_view<const float>(random_floats(8 * 64, 1).data(), 8, 64));
    const auto expect = [&](const std::string& text, const auto& call) {
        EXPECT_NE(error_of(call).find(text), std::string::npos) << error_of(call);
        for (const float value : c) EXPECT_EQ(value, -5.0F);
    };
    expect("lowbit::gemm: cols 32 of input 'a' do not match cols 64 of input 'b'",
           [&] { gemm(test::const_view_of(x, 4, 32), b, test::view_of(c, 4, 8)); });
    expect("lowbit::gemm: rows 3 of output 'c' do not match rows 4 of input 'a'",
           [&] { gemm(test::const_view_of(x, 4, 64), b, test::view_of(c, 3, 8)); });
    expect("lowbit::gemm: cols 7 of output 'c' do not match rows 8 of input 'b'",
           [&] { gemm(test::const_view_of(x, 4, 64), b, test::view_of(c, 4, 7)); });
    expect("lowbit::gemm: option 'bias' has 7 values, but output 'c' has cols 8",
           [&] { gemm(test::const_view_of(x, 4, 64), b, test::view_of(c, 4, 8), {.bias = bias}); });
}

TEST(gemm, case59_an_output_over_an_input_is_refused) {
    std::vector<float> memory(4 * 64, 1.0F);
    const auto b = pack<mxfp4>(matrix_view<const float>(random_floats(8 * 64, 1).data(), 8, 64));
    const auto text = error_of([&] { gemm(test::const_view_of(memory, 4, 64), b, test::view_of(memory, 4, 8)); });
    EXPECT_NE(text.find("overlaps input 'a'"), std::string::npos) << text;
    std::vector<float> x(64, 1.0F);
    const auto over_weights = error_of([&] {
        auto* const inside = reinterpret_cast<float*>(const_cast<std::uint8_t*>(b.bytes().data()));
        gemm(test::const_view_of(x, 1, 64), b, matrix_view<float>(inside, 1, 8));
    });
    EXPECT_NE(over_weights.find("overlaps input 'b'"), std::string::npos) << over_weights;
    std::vector<float> bias(8);
    const auto over_bias =
        error_of([&] { gemm(test::const_view_of(x, 1, 64), b, test::view_of(bias, 1, 8), {.bias = bias}); });
    EXPECT_NE(over_bias.find("overlaps option 'bias'"), std::string::npos) << over_bias;
}

TEST(gemm, a_packed_matrix_of_another_layout_is_refused) {
    auto b = pack<mxfp4>(matrix_view<const float>(random_floats(8 * 64, 1).data(), 8, 64));
    kernel::panel_layout other;
    other.version = 2;
    detail::packed_matrix_access<mxfp4>::set_layout(b, other);
    std::vector<float> x(64), c(8);
    const auto text = error_of([&] { gemm(test::const_view_of(x, 1, 64), b, test::view_of(c, 1, 8)); });
    EXPECT_NE(text.find("layout version 2"), std::string::npos) << text;
}

// The public calls: the counterpart of B's format by default, another one by name, quantised operands.
TEST(gemm, case80_public_calls) {
    const std::size_t m = 5, n = 40, k = 96;
    const std::vector<float> x = random_floats(m * k, 1), w = random_floats(n * k, 2);
    const auto q = quantize<m2xfp_weight>(test::const_view_of(w, n, k));
    const auto p = pack(q);
    std::vector<float> c(m * n);
    gemm(test::const_view_of(x, m, k), p, test::view_of(c, m, n));
    const auto a = quantize<m2xfp_activation>(test::const_view_of(x, m, k));
    EXPECT_TRUE(test::same_bits(c, test::reference(a, q)));
    gemm(a, q, test::view_of(c, m, n));
    EXPECT_TRUE(test::same_bits(c, test::reference(a, q)));
    gemm<mxfp4>(test::const_view_of(x, m, k), p, test::view_of(c, m, n), {}, {mxfp4_scale_rule::even});
    quantize_options<mxfp4> even;
    even.format.scale_rule = mxfp4_scale_rule::even;
    EXPECT_TRUE(test::same_bits(c, test::reference(quantize<mxfp4>(test::const_view_of(x, m, k), even), q)));
}

}  // namespace
