// SPDX-License-Identifier: Apache-2.0
#include <lowbit/kernel/activation_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lowbit/core/bits.hpp>

namespace {

using lowbit::activation;
using lowbit::isa;
using lowbit::to_bits;

constexpr activation all_kinds[] = {activation::none, activation::relu, activation::gelu, activation::gelu_tanh,
                                    activation::silu};

class activation_rows : public testing::TestWithParam<isa> {
  protected:
    void SetUp() override {
        if (!lowbit::arch::available().contains(GetParam())) GTEST_SKIP() << "not supported here";
    }
};

std::vector<float> arguments() {
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 20'011) {
        x.push_back(lowbit::float_from_bits(static_cast<std::uint32_t>(bits)));
    }
    for (const std::uint32_t bits : {0U, 0x80000000U, 0x7F800000U, 0xFF800000U, 0x7F800001U, 0xFFC00000U, 1U,
                                     0x80000001U, 0x7F7FFFFFU, 0xFF7FFFFFU}) {
        x.push_back(lowbit::float_from_bits(bits));
    }
    return x;
}

TEST_P(activation_rows, equals_the_scalar_row_bit_for_bit) {
    const std::vector<float> x = arguments();
    for (const activation kind : all_kinds) {
        std::vector<float> wanted = x, got = x;
        lowbit::kernel::activation_row(isa::scalar)(kind, wanted.data(), wanted.size());
        lowbit::kernel::activation_row(GetParam())(kind, got.data(), got.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i])) << "kind " << static_cast<int>(kind) << " of " << x[i];
        }
    }
}

TEST_P(activation_rows, any_count_touches_only_its_values) {
    for (const activation kind : all_kinds) {
        for (std::size_t count = 0; count < 35; ++count) {
            std::vector<float> x(count + 2, -77.0F);
            for (std::size_t i = 0; i < count; ++i) x[i + 1] = static_cast<float>(i) - 9.25F;
            std::vector<float> wanted = x;
            for (std::size_t i = 0; i < count; ++i) {
                lowbit::kernel::activation_row(isa::scalar)(kind, wanted.data() + 1 + i, 1);
            }
            lowbit::kernel::activation_row(GetParam())(kind, x.data() + 1, count);
            ASSERT_EQ(x, wanted);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(every_isa, activation_rows, testing::ValuesIn(lowbit::arch::all_isas),
                         [](const testing::TestParamInfo<isa>& row) { return std::string(to_string(row.param)); });

}  // namespace
