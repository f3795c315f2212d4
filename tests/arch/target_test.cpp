// SPDX-License-Identifier: Apache-2.0
// The macros of regions and namespaces, and which rows a unit holds.

#include <gtest/gtest.h>

#include <string_view>

#include <lowbit/arch/target.hpp>

#define LOWBIT_TEXT_RAW(x) #x
#define LOWBIT_TEXT(x) LOWBIT_TEXT_RAW(x)

namespace {

TEST(target, case68_the_baseline_is_part_of_every_namespace) {
    const std::string_view kernels = LOWBIT_TEXT(LOWBIT_ISA_NAMESPACE(avx2));
    const std::string_view tables = LOWBIT_TEXT(LOWBIT_BASELINE_NAMESPACE);
    EXPECT_EQ(kernels.substr(0, 8), "avx2_on_");
    EXPECT_EQ(tables.substr(0, 3), "on_");
    EXPECT_EQ(kernels.substr(8), tables.substr(3));
#if defined(__x86_64__) && !defined(__SSSE3__) && !defined(__FAST_MATH__)
    EXPECT_EQ(tables, "on_x86_64");
#endif
}

TEST(target, rows_for_one_kind_of_machine_only) {
    EXPECT_FALSE(LOWBIT_COMPILES_AVX512VBMI && LOWBIT_COMPILES_NEON_DOTPROD);
#if defined(__x86_64__) && !defined(__AVX512F__)
    EXPECT_TRUE(LOWBIT_COMPILES_AVX512VBMI && LOWBIT_COMPILES_AVX512VNNI && LOWBIT_COMPILES_AVX2);
#endif
#if defined(__aarch64__)
    EXPECT_TRUE(LOWBIT_COMPILES_NEON_DOTPROD);
#endif
}

}  // namespace
