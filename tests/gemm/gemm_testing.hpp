// SPDX-License-Identifier: Apache-2.0
// What the tests of the matrix product share: operands with every kind of scale, the contract as oracle, bit equality.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/reference.hpp>

namespace lowbit::test {

enum class scales {
    tame,  ///< within a few powers of two of 1
    wild,  ///< any scale byte but NaN, zero scales under nonzero codes included
    any,   ///< any byte
};

/// Random blocks: all codes and selectors, tails that hold garbage.
template <class F>
quantized_matrix<F> random_operand(std::size_t rows, std::size_t cols, std::uint32_t seed, scales kind,
                                   bool row_scales = false) {
    std::vector<typename F::block> blocks(rows * divide_up(cols, F::block_size));
    std::mt19937 engine(seed);
    for (auto& block : blocks) {
        std::uint8_t bytes[sizeof(block)];
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine() >> 5U);
        if constexpr (std::is_same_v<F, int8_block>) {
            const auto pick = static_cast<std::uint32_t>(engine() >> 3U);
            std::uint32_t bits = static_cast<std::uint32_t>(engine());
            if (kind == scales::tame) bits = (bits & 0x007FFFFFU) | (120U + pick % 6) << 23U;
            if (kind == scales::any && pick % 64 == 0) bits = 0xFFC12345U;
            if (kind == scales::wild && pick % 16 == 0) bits = (pick & 16U) != 0 ? 0U : 0x80000000U;
            if (kind == scales::wild && is_nan(float_from_bits(bits))) bits = infinity_bits;
            std::memcpy(bytes, &bits, sizeof(bits));
        } else if constexpr (lane_traits<F>::integer) {
            const auto pick = static_cast<std::uint32_t>(engine() >> 3U);
            if (kind == scales::tame) {
                bytes[0] = static_cast<std::uint8_t>(F::has_tensor_scale   ? 0x30 + pick % 16
                                                     : F::block_size == 64 ? 188 + pick % 12
                                                                           : 124 + pick % 6);
            } else if (kind == scales::wild && is_nan(lane_scales<F>[bytes[0]])) {
                bytes[0] = 0;
            } else if (kind == scales::any && pick % 64 == 0) {
                bytes[0] = 0xFF;
            }
        } else if (kind != scales::any) {
            bytes[0] = static_cast<std::uint8_t>(bytes[0] % 0x6E);  // finite
        }
        std::memcpy(static_cast<void*>(&block), bytes, sizeof(block));
    }
    std::vector<float> tensor_scales;
    if (F::has_tensor_scale) {
        for (std::size_t i = 0; i < (row_scales ? rows : 1); ++i) {
            tensor_scales.push_back(0.75F + 0.001F * static_cast<float>(i));
        }
    }
    return quantized_matrix<F>::from_blocks(rows, cols, blocks, tensor_scales);
}

inline matrix_view<float> view_of(std::vector<float>& values, std::size_t rows, std::size_t cols) {
    return {values.data(), rows, cols};
}
inline matrix_view<const float> const_view_of(const std::vector<float>& values, std::size_t rows, std::size_t cols) {
    return {values.data(), rows, cols};
}

inline testing::AssertionResult same_bits(const std::vector<float>& got, const std::vector<float>& wanted) {
    if (got.size() != wanted.size()) return testing::AssertionFailure() << "sizes differ";
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (to_bits(got[i]) != to_bits(wanted[i])) {
            return testing::AssertionFailure() << "element " << i << ": " << got[i] << ", not " << wanted[i];
        }
    }
    return testing::AssertionSuccess();
}

template <class A, class B>
std::vector<float> reference(const quantized_matrix<A>& a, const quantized_matrix<B>& b,
                             const gemm_options& options = {}, const std::vector<float>& old = {}) {
    std::vector<float> c = old.empty() ? std::vector<float>(a.rows() * b.rows(), 0.0F) : old;
    reference_gemm(a, b, view_of(c, a.rows(), b.rows()), options);
    return c;
}

/// C of a quantised x packed product on one instruction set; C starts as NaN, or as `old`. Where the instruction set
/// has kernels that join scales and kernels that do not, both must give the same bits.
template <class A, class B>
std::vector<float> product(isa which, const quantized_matrix<A>& a, const quantized_matrix<B>& b,
                           const gemm_options& options = {}, const detail::blocking& blocks = {},
                           const std::vector<float>& old = {}) {
    std::vector<float> c = old.empty() ? std::vector<float>(a.rows() * b.rows(), quiet_nan) : old;
    const std::vector<float> before = c;
    const packed_matrix<B> packed = pack(b);
    detail::gemm_blocks(a, packed, view_of(c, a.rows(), b.rows()), options, {which, blocks});
    if constexpr (integer_lanes<A> && integer_lanes<B>) {
        if (which != isa::avx512vbmi && which != isa::avx512vnni) return c;
        detail::blocking tiles = blocks;
        if (tiles.kc == 0) tiles.kc = 128;  // blocks of its own: no kernel for few rows
        for (const bool join : {false, true}) {
            std::vector<float> again = before;
            detail::gemm_blocks(a, packed, view_of(again, a.rows(), b.rows()), options, {which, tiles, join});
            EXPECT_TRUE(same_bits(again, c)) << "joined scales: " << join;
        }
    }
    return c;
}

/// Runs on each instruction set; those that cannot run here are listed as skipped.
class on_each_isa : public testing::TestWithParam<isa> {
  protected:
    void SetUp() override {
        if (!arch::available().contains(GetParam())) GTEST_SKIP() << to_string(GetParam()) << " cannot run here";
    }
};

inline std::string isa_name(const testing::TestParamInfo<isa>& info) { return std::string(to_string(info.param)); }

}  // namespace lowbit::test

/// The test suite of this name, on each instruction set.
#define LOWBIT_TEST_ON_EACH_ISA(suite) \
 INSTANTIATE_TEST_SUITE_P(isa, suite, testing::ValuesIn(lowbit::arch::all_isas), lowbit::test::isa_name)
