// SPDX-License-Identifier: Apache-2.0
#include <lowbit/block/registry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

using namespace lowbit;

namespace {

struct not_a_format {};
static_assert(!block_format<not_a_format> && !block_format<float>);
static_assert(block_format<hif4> && block_format<hif8> && block_format<mxfp4> && block_format<nvfp4> &&
              block_format<m2xfp_activation> && block_format<m2xfp_weight>);

TEST(registry, names_are_unique_and_find_their_format) {
    std::vector<std::string> names;
    for_each_format([&]<class F>(std::type_identity<F>) {
        names.emplace_back(F::name);
        bool same = false;
        EXPECT_TRUE(visit_format(F::name, [&]<class G>(std::type_identity<G>) { same = std::is_same_v<F, G>; }));
        EXPECT_TRUE(same) << F::name;
        EXPECT_EQ(all_formats::names[format_index<F>], F::name);
    });
    EXPECT_EQ(names.size(), all_formats::size);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(registry, unknown_names_visit_nothing) {
    for (const std::string name : {"", "hif", "hif44", "HIF4", "mxfp4 "}) {
        EXPECT_FALSE(visit_format(name, [](auto) { FAIL(); })) << name;
    }
}

TEST(registry, case79_bits_per_value_are_those_of_the_storage) {
    for_each_format([]<class F>(std::type_identity<F>) {
        EXPECT_EQ(F::bits_per_value * static_cast<double>(F::block_size), 8.0 * sizeof(typename F::block)) << F::name;
        EXPECT_EQ(alignof(typename F::block), 1U);
    });
}

// case 80: the name of a type ties block size and scale type together.
TEST(registry, case80_formats_are_what_their_names_say) {
    EXPECT_EQ(mxfp4::block_size, 32U);
    EXPECT_EQ(nvfp4::block_size, 16U);
    EXPECT_EQ(hif4::block_size, 64U);
    EXPECT_EQ(m2xfp_activation::block_size, 32U);
    EXPECT_TRUE(nvfp4::has_tensor_scale);
    EXPECT_FALSE(mxfp4::has_tensor_scale || hif4::has_tensor_scale || hif8::has_tensor_scale);
    static_assert(!std::is_same_v<mxfp4::block, nvfp4::block>);
    static_assert(!std::is_same_v<m2xfp_activation::block, m2xfp_weight::block>);
}

/// The bytes of the block whose first values are given, the others zero.
template <class F>
std::vector<int> bytes_of_block(std::initializer_list<float> first) {
    std::array<float, F::block_size> values{};
    std::copy(first.begin(), first.end(), values.begin());
    const typename F::block block = F::encode(values);
    std::array<unsigned char, sizeof(block)> bytes{};
    std::memcpy(bytes.data(), &block, sizeof(block));
    return {bytes.begin(), bytes.end()};
}

// case 53: the bytes of one block of each format, by hand.
TEST(registry, case53_bytes_of_one_block_of_each_format) {
    const auto wanted = [](std::size_t size, std::initializer_list<int> first) {
        std::vector<int> bytes(first);
        bytes.resize(size);
        return bytes;
    };
    // scale 1; both micro-exponents of the first run set: 7 = 1.75 * 4, -2 = -0.5 * 4
    EXPECT_EQ(bytes_of_block<hif4>({7.0F, -2.0F}), wanted(36, {0xC0, 0x80, 0x80, 0x00, 0xA7}));
    EXPECT_EQ(bytes_of_block<hif8>({-1.0F}), wanted(1, {0x88}));
    EXPECT_EQ(bytes_of_block<mxfp4>({0.5F, 6.0F, -1.0F}), wanted(17, {0x7F, 0x71, 0x0A}));
    EXPECT_EQ(bytes_of_block<nvfp4>({0.5F, 6.0F, -1.0F}), wanted(9, {0x38, 0x71, 0x0A}));
    // the top 6 is E2M3 code 28: stored 28 + 1 - 4 * 7 = 1; the zeros of the other subgroups store 1, too
    EXPECT_EQ(bytes_of_block<m2xfp_activation>({0.5F, 6.0F, -1.0F}), wanted(18, {0x7F, 0x55, 0x71, 0x0A}));
    EXPECT_EQ(bytes_of_block<m2xfp_weight>({0.5F, 6.0F, -1.0F}), wanted(18, {0x7F, 0x00, 0x71, 0x0A}));
    // the first subgroup's metadata is not that of the others: a top of 6.5, code 29; a step of 1.25
    EXPECT_EQ(bytes_of_block<m2xfp_activation>({0.5F, 6.5F, -1.0F}), wanted(18, {0x7F, 0x56, 0x71, 0x0A}));
    EXPECT_EQ(bytes_of_block<m2xfp_weight>({0.625F, 7.5F, -1.25F}), wanted(18, {0x7F, 0x01, 0x71, 0x0A}));
    EXPECT_EQ(bytes_of_block<mxint8>({1.5F, -1.0F}), wanted(33, {0x7F, 0x60, 0xC0}));  // in units of 2^-6
    EXPECT_EQ(bytes_of_block<int8_block>({95.25F, -95.25F, 0.75F}),
              wanted(36, {0x00, 0x00, 0x40, 0x3F, 0x7F, 0x81, 1}));
}

}  // namespace
