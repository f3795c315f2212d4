// SPDX-License-Identifier: Apache-2.0
// Every pair of formats on every instruction set against the contract, bit for bit.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <lowbit/gemm/gemm.hpp>

#include "gemm_testing.hpp"

namespace {

using namespace lowbit;
using test::scales;

class gemm_pairs : public test::on_each_isa {};
LOWBIT_TEST_ON_EACH_ISA(gemm_pairs);

constexpr std::array<std::size_t, 15> sizes{1, 2, 3, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63};
constexpr std::array<std::size_t, 15> depths{1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 160, 192, 1000};

template <class A, class B>
void expect_contract(isa which, std::size_t m, std::size_t n, std::size_t k, scales kind) {
    const auto a = test::random_operand<A>(m, k, static_cast<std::uint32_t>(m * 7 + k), kind);
    const auto b = test::random_operand<B>(n, k, static_cast<std::uint32_t>(n * 11 + k + 1), kind);
    EXPECT_TRUE(test::same_bits(test::product(which, a, b), test::reference(a, b)))
        << A::name << " x " << B::name << ", " << m << " x " << n << " x " << k;
}

template <class Visitor>
void for_each_pair(Visitor visitor) {
    for_each_format([&]<class A>(std::type_identity<A>) {
        for_each_format([&]<class B>(std::type_identity<B>) { visitor.template operator()<A, B>(); });
    });
}

// All of m, n and K of the list, in a covering subset: each pair of formats starts elsewhere. LOWBIT_EXHAUSTIVE_TESTS
// takes all combinations.
TEST_P(gemm_pairs, case57_every_shape) {
    std::size_t pair = 0;
    for_each_pair([&]<class A, class B>() {
#if defined(LOWBIT_EXHAUSTIVE_TESTS)
        for (const std::size_t m : sizes) {
            for (const std::size_t n : sizes) {
                for (const std::size_t k : depths) expect_contract<A, B>(GetParam(), m, n, k, scales::any);
            }
        }
#else
        for (std::size_t i = 0; i < 15; ++i) {
            const std::size_t m = sizes[(i * 4 + pair) % 15], n = sizes[(i * 7 + pair * 2) % 15];
            expect_contract<A, B>(GetParam(), m, n, depths[(i + pair) % 15], i % 3 == 0 ? scales::any : scales::tame);
        }
#endif
        ++pair;
    });
}

// Scales over their whole range: sums that overflow, products that underflow, zero scales under nonzero codes, and
// scales at which 12582912 * scale leaves float32.
TEST_P(gemm_pairs, extreme_scales) {
    for_each_pair([&]<class A, class B>() { expect_contract<A, B>(GetParam(), 19, 35, 200, scales::wild); });
}

// Largest lanes everywhere: what a 16-bit sum or a pair of products could not hold would show.
// A kernel that keeps scales in bfloat16 must leave out what is too large or small for it, tile by tile and slice by
// slice, and take NaN and zero scales along.
template <class A, class B>
void expect_stray_scales(isa which) {
    constexpr std::size_t m = 70, n = 40, k = 640;
    const detail::blocking blocks{64, 0, 128, 0};
    const auto a = test::random_operand<A>(m, k, 5, scales::tame);
    const auto b = test::random_operand<B>(n, k, 6, scales::tame);
    const auto with = [](const auto& q, std::size_t row, std::size_t block, std::uint8_t byte) {
        using format = typename std::remove_cvref_t<decltype(q)>::format;
        std::vector<typename format::block> all(q.blocks().begin(), q.blocks().end());
        std::memcpy(static_cast<void*>(&all[row * q.blocks_per_row() + block]), &byte, 1);
        const std::vector<float> scales(format::has_tensor_scale ? 1 : 0, q.tensor_scale());
        return quantized_matrix<format>::from_blocks(q.rows(), q.cols(), all, scales);
    };
    for (const int value : {0x00, 0x01, 0x40, 0x42, 0x43, 0x7E, 0x7F, 0x80, 0xB0, 0xBB, 0xBC, 0xFE, 0xFF}) {
        const auto byte = static_cast<std::uint8_t>(value);
        const auto stray_a = with(with(a, 3, 1, byte), 66, 4, byte);
        const auto stray_b = with(with(b, 1, 3, byte), 35, 0, byte);
        EXPECT_TRUE(test::same_bits(test::product(which, stray_a, b, {}, blocks), test::reference(stray_a, b)))
            << A::name << " x " << B::name << ", scale byte " << int{byte} << " in a";
        EXPECT_TRUE(test::same_bits(test::product(which, a, stray_b, {}, blocks), test::reference(a, stray_b)))
            << A::name << " x " << B::name << ", scale byte " << int{byte} << " in b";
    }
}
TEST_P(gemm_pairs, stray_scales) {
    expect_stray_scales<mxfp4, mxfp4>(GetParam());
    expect_stray_scales<nvfp4, nvfp4>(GetParam());
    expect_stray_scales<hif4, hif4>(GetParam());
    expect_stray_scales<m2xfp_activation, m2xfp_weight>(GetParam());
    expect_stray_scales<hif4, mxfp4>(GetParam());
    expect_stray_scales<nvfp4, m2xfp_weight>(GetParam());
}

TEST_P(gemm_pairs, extreme_lanes) {
    for_each_pair([&]<class A, class B>() {
        const auto extreme = []<class F>(std::type_identity<F>, std::size_t rows, bool alternating) {
            std::vector<typename F::block> blocks(rows * divide_up(320, F::block_size));
            for (std::size_t n = 0; n < blocks.size(); ++n) {
                std::uint8_t bytes[sizeof(typename F::block)];
                for (std::size_t i = 0; i < sizeof(bytes); ++i) {
                    bytes[i] = static_cast<std::uint8_t>(alternating && (n + i) % 3 == 0 ? 0xFF : 0x77);
                }
                if (sizeof(bytes) > 1) bytes[0] = F::has_tensor_scale ? 0x38 : F::block_size == 64 ? 192 : 127;
                if constexpr (table_lanes<F> && !F::has_tensor_scale) bytes[1] = 0xFF;
                if constexpr (F::block_size == 64) bytes[2] = bytes[3] = 0xFF;
                if (sizeof(bytes) == 1) bytes[0] = alternating && n % 3 == 0 ? 0xEE : 0x6E;
                if constexpr (lane_traits<F>::integer && !table_lanes<F>) {  // 127 and -128
                    for (std::size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = bytes[i] == 0xFF ? 0x80 : 0x7F;
                    if (alternating && n % 5 == 0) std::memset(bytes, 0x80, sizeof(bytes));
                    const float scale = 0.37F;
                    if (std::is_same_v<F, int8_block>) std::memcpy(bytes, &scale, sizeof(scale));
                }
                std::memcpy(static_cast<void*>(&blocks[n]), bytes, sizeof(bytes));
            }
            return quantized_matrix<F>::from_blocks(rows, 320, blocks);
        };
        for (const bool alternating : {false, true}) {
            const auto a = extreme(std::type_identity<A>{}, 9, alternating);
            const auto b = extreme(std::type_identity<B>{}, 33, !alternating);
            EXPECT_TRUE(test::same_bits(test::product(GetParam(), a, b), test::reference(a, b)))
                << A::name << " x " << B::name;
        }
    });
}

// One number a pair for everything: instruction sets, thread counts, compilers, options.
TEST_P(gemm_pairs, case62_one_hash_a_pair) {
    constexpr std::array<std::uint32_t, 64> hashes{
        0x44817F8DU,  // hif4 x hif4
        0xE1D7A797U,  // hif4 x hif8
        0xAFD12E2DU,  // hif4 x mxfp4
        0x5E799885U,  // hif4 x nvfp4
        0x71EBC2E5U,  // hif4 x m2xfp_activation
        0x0456FD73U,  // hif4 x m2xfp_weight
        0x10BBEDF6U,  // hif4 x mxint8
        0x853477C3U,  // hif4 x int8_block
        0x2DE4D696U,  // hif8 x hif4
        0xB660906BU,  // hif8 x hif8
        0x10570AEAU,  // hif8 x mxfp4
        0x0AA36293U,  // hif8 x nvfp4
        0xFFCDEFECU,  // hif8 x m2xfp_activation
        0x4C69276CU,  // hif8 x m2xfp_weight
        0x986D0913U,  // hif8 x mxint8
        0x8CD10B6DU,  // hif8 x int8_block
        0x4BCCDD5DU,  // mxfp4 x hif4
        0xAD256185U,  // mxfp4 x hif8
        0x7D8B8CBDU,  // mxfp4 x mxfp4
        0x75781725U,  // mxfp4 x nvfp4
        0x9B870221U,  // mxfp4 x m2xfp_activation
        0x9C63AF89U,  // mxfp4 x m2xfp_weight
        0xC17CF7D7U,  // mxfp4 x mxint8
        0xC18E33C5U,  // mxfp4 x int8_block
        0xEC8D3ED1U,  // nvfp4 x hif4
        0xF9DBA8F4U,  // nvfp4 x hif8
        0xB5A0A539U,  // nvfp4 x mxfp4
        0x1C60DB39U,  // nvfp4 x nvfp4
        0x2416E6B9U,  // nvfp4 x m2xfp_activation
        0x328DDD27U,  // nvfp4 x m2xfp_weight
        0x0180C571U,  // nvfp4 x mxint8
        0x7CDE4E07U,  // nvfp4 x int8_block
        0x320693E5U,  // m2xfp_activation x hif4
        0xB8DF48ADU,  // m2xfp_activation x hif8
        0x44006715U,  // m2xfp_activation x mxfp4
        0xAFCB8FFDU,  // m2xfp_activation x nvfp4
        0x2831B7CDU,  // m2xfp_activation x m2xfp_activation
        0xBC7C7FA1U,  // m2xfp_activation x m2xfp_weight
        0xE15BF991U,  // m2xfp_activation x mxint8
        0xDE7C5792U,  // m2xfp_activation x int8_block
        0xEEF2CAEBU,  // m2xfp_weight x hif4
        0xB66A72E1U,  // m2xfp_weight x hif8
        0x8FBF1409U,  // m2xfp_weight x mxfp4
        0x6B7CEC87U,  // m2xfp_weight x nvfp4
        0xD6E32B45U,  // m2xfp_weight x m2xfp_activation
        0x921845A9U,  // m2xfp_weight x m2xfp_weight
        0xAC265BC0U,  // m2xfp_weight x mxint8
        0xF73D3168U,  // m2xfp_weight x int8_block
        0x7211F80FU,  // mxint8 x hif4
        0xC2361D33U,  // mxint8 x hif8
        0x3E5ECC3DU,  // mxint8 x mxfp4
        0x950E76C0U,  // mxint8 x nvfp4
        0xBE5152EEU,  // mxint8 x m2xfp_activation
        0x885CCE68U,  // mxint8 x m2xfp_weight
        0x9234078FU,  // mxint8 x mxint8
        0x415702F0U,  // mxint8 x int8_block
        0x813C336FU,  // int8_block x hif4
        0x7A753915U,  // int8_block x hif8
        0x6743047DU,  // int8_block x mxfp4
        0x6AF2EC81U,  // int8_block x nvfp4
        0x0E7E193CU,  // int8_block x m2xfp_activation
        0xD4B61890U,  // int8_block x m2xfp_weight
        0xF2085DA3U,  // int8_block x mxint8
        0x756FB354U,  // int8_block x int8_block
    };
    thread_pool pool(3);
    std::size_t pair = 0;
    for_each_pair([&]<class A, class B>() {
        const auto a = test::random_operand<A>(37, 330, 1, scales::tame);
        const auto b = test::random_operand<B>(70, 330, 2, scales::tame);
        gemm_options options;
        if (pair % 2 == 1) options.executor = pool;
        std::uint32_t hash = 2166136261U;
        for (const float value : test::product(GetParam(), a, b, options)) hash = (hash ^ to_bits(value)) * 16777619U;
        std::printf("0x%08XU  %s x %s\n", static_cast<unsigned>(hash), A::name.data(), B::name.data());
        EXPECT_EQ(hash, hashes[pair]) << A::name << " x " << B::name;
        ++pair;
    });
}

// The contract against double precision, within the bound that is proven beside it.
TEST(gemm_reference, lies_within_the_bound_of_the_double_sum) {
    for_each_pair([&]<class A, class B>() {
        const auto a = test::random_operand<A>(4, 700, 5, scales::tame);
        const auto b = test::random_operand<B>(5, 700, 6, scales::tame);
        const std::vector<float> c = test::reference(a, b);
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t j = 0; j < 5; ++j) {
                const double_element wanted = reference_double(a, i, b, j);
                EXPECT_LE(std::fabs(static_cast<double>(c[i * 5 + j]) - wanted.value), wanted.bound)
                    << A::name << " x " << B::name;
            }
        }
    });
}

}  // namespace
