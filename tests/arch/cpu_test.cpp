// SPDX-License-Identifier: Apache-2.0
// Made-up processors and operating systems: CPUID bits alone permit nothing.

#include <gtest/gtest.h>

#include <cstdint>

#include <lowbit/arch/cpu.hpp>

namespace lowbit::arch {
namespace {

constexpr std::uint32_t osxsave = 1U << 27, avx = 1U << 28, fma = 1U << 12, f16c = 1U << 29, popcnt = 1U << 23;
constexpr std::uint32_t avx2 = 1U << 5, f = 1U << 16, dq = 1U << 17, bw = 1U << 30, vl = 1U << 31;
constexpr std::uint32_t vbmi = 1U << 1, vnni = 1U << 11, amx_bf16 = 1U << 22;
constexpr std::uint32_t amx_tile = 1U << 24, amx_int8 = 1U << 25;

constexpr cpu_words everything{osxsave | avx | fma | f16c | popcnt, avx2 | f | dq | bw | vl, vbmi | vnni, 0xE7, 0};

TEST(cpu, everything_is_there) {
    EXPECT_EQ(x86_features_of(everything), (cpu_features{true, true, true, false}));
    EXPECT_EQ(x86_features_of(cpu_words{}), cpu_features{});
}

TEST(cpu, amx_needs_its_three_bits_saved_tiles_permission_and_avx512) {
    cpu_words words = everything;
    words.leaf7_edx = amx_bf16 | amx_tile | amx_int8;
    words.xcr0 |= 0x60000U;
    words.amx_permitted = true;
    EXPECT_EQ(x86_features_of(words), (cpu_features{true, true, true, false, true}));
    const cpu_features without{true, true, true, false, false};
    for (const std::uint32_t bit : {amx_bf16, amx_tile, amx_int8}) {
        cpu_words lacking = words;
        lacking.leaf7_edx &= ~bit;
        EXPECT_EQ(x86_features_of(lacking), without);
    }
    for (const std::uint64_t bit : {0x20000U, 0x40000U}) {
        cpu_words lacking = words;
        lacking.xcr0 &= ~bit;
        EXPECT_EQ(x86_features_of(lacking), without);
    }
    cpu_words refused = words;
    refused.amx_permitted = false;
    EXPECT_EQ(x86_features_of(refused), without);
    words.leaf7_ecx &= ~vbmi;
    EXPECT_EQ(x86_features_of(words), (cpu_features{true, true, false, false, false}));
}

TEST(cpu, case70_the_operating_system_does_not_save_zmm) {
    for (const std::uint64_t xcr0 : {0x07U, 0x27U, 0x67U, 0xA7U, 0xC7U, 0x47U}) {
        cpu_words words = everything;
        words.xcr0 = xcr0;
        EXPECT_EQ(x86_features_of(words), (cpu_features{true, false, false, false})) << xcr0;
    }
}

TEST(cpu, case70_the_operating_system_does_not_save_ymm) {
    for (const std::uint64_t xcr0 : {0x00U, 0x01U, 0x03U, 0xE3U, 0xE5U}) {
        cpu_words words = everything;
        words.xcr0 = xcr0;
        EXPECT_EQ(x86_features_of(words), cpu_features{}) << xcr0;
    }
}

TEST(cpu, case70_without_osxsave_xcr0_counts_for_nothing) {
    cpu_words words = everything;
    words.leaf1_ecx &= ~osxsave;
    EXPECT_EQ(x86_features_of(words), cpu_features{});
}

TEST(cpu, each_bit_is_needed) {
    for (const std::uint32_t bit : {avx, fma, f16c, popcnt}) {
        cpu_words words = everything;
        words.leaf1_ecx &= ~bit;
        EXPECT_EQ(x86_features_of(words), cpu_features{}) << bit;
    }
    for (const std::uint32_t bit : {f, dq, bw, vl}) {
        cpu_words words = everything;
        words.leaf7_ebx &= ~bit;
        EXPECT_EQ(x86_features_of(words), (cpu_features{true, false, false, false})) << bit;
    }
    cpu_words words = everything;
    words.leaf7_ebx &= ~avx2;
    EXPECT_EQ(x86_features_of(words), cpu_features{});
    words = everything;
    words.leaf7_ecx = vbmi;
    EXPECT_EQ(x86_features_of(words), (cpu_features{true, false, false, false}));
    words.leaf7_ecx = vnni;
    EXPECT_EQ(x86_features_of(words), (cpu_features{true, true, false, false}));
}

TEST(cpu, aarch64_dot_product) {
    EXPECT_FALSE(aarch64_features_of({}).neon_dotprod);
    EXPECT_TRUE(aarch64_features_of({0, 0, 0, 0, 1U << 20}).neon_dotprod);
}

TEST(cpu, amd_adds_beside_products_where_there_is_avx512) {
    cpu_words words = everything;
    EXPECT_FALSE(x86_features_of(words).adds_beside_products);
    words.amd = true;
    EXPECT_TRUE(x86_features_of(words).adds_beside_products);
    words.xcr0 = 0x7;  // the operating system does not save zmm
    EXPECT_FALSE(x86_features_of(words).adds_beside_products);
}

TEST(cpu, this_machine_is_read_the_same_twice) { EXPECT_EQ(features_of(read_cpu()), features_of(read_cpu())); }

}  // namespace
}  // namespace lowbit::arch
