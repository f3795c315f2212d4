// SPDX-License-Identifier: Apache-2.0
#include <lowbit/fmt.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <lowbit/block/hif4.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/element/exmy.hpp>

namespace {

TEST(fmt, elements_print_as_their_value) {
    EXPECT_EQ(fmt::format("{}", lowbit::e2m1::from_bits(0xF)), "-6");
    EXPECT_EQ(fmt::format("{}", lowbit::e2m1::from_bits(0x8)), "-0");
    EXPECT_EQ(fmt::format("{:.2f}|{:>8}|{:+}", lowbit::s1p2::from_bits(7), lowbit::e4m3::from_bits(0x7E),
                          lowbit::hif8::from_float(1.5F)),
              "1.75|     448|+1.5");
    EXPECT_EQ(fmt::format("{} {}", lowbit::e8m0::from_bits(127), lowbit::e6m2::from_bits(0xFE)), "1 49152");
    EXPECT_EQ(fmt::format("{} {}", lowbit::bfloat16::from_float(0.5F), lowbit::float16::from_float(65504.0F)),
              "0.5 65504");
}

TEST(fmt, every_code_prints_as_its_float) {
    for (unsigned code = 0; code < 256; ++code) {
        const auto x = lowbit::hif8::from_bits(static_cast<std::uint8_t>(code));
        EXPECT_EQ(fmt::format("{}", x), fmt::format("{}", x.to_float()));
        const auto y = lowbit::e5m2::from_bits(static_cast<std::uint8_t>(code));
        EXPECT_EQ(fmt::format("{:a}", y), fmt::format("{:a}", y.to_float()));
    }
}

TEST(fmt, special_values) {
    EXPECT_EQ(fmt::format("{} {} {}", lowbit::hif8::from_bits(0x80), lowbit::hif8::from_bits(0xEF),
                          lowbit::e4m3::from_bits(0xFF)),
              "nan -inf nan");
    EXPECT_EQ(fmt::format("{} {}", lowbit::bfloat16::from_bits(0x7F80), lowbit::float16::from_bits(0xFE01)), "inf nan");
}

TEST(fmt, isa_and_version_print_as_text) {
    EXPECT_EQ(fmt::format("{}|{:>8}", lowbit::isa::avx512vnni, lowbit::isa::scalar), "avx512vnni|  scalar");
    EXPECT_EQ(fmt::format("{:<8}|", lowbit::version_number{1, 20, 3}), "1.20.3  |");
    EXPECT_EQ(fmt::format("{}", lowbit::version),
              fmt::format("{}.{}.{}", LOWBIT_VERSION_MAJOR, LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH));
}

TEST(fmt, error_stats_print_as_one_line) {
    EXPECT_EQ(
        fmt::format("{}", lowbit::error_stats{.count = 8,
                                              .exact = 2,
                                              .flushed = 3,
                                              .mse = 0.25,
                                              .relative_error = 0.0816,
                                              .sqnr_db = 21.766,
                                              .cosine = 0.99671,
                                              .max_abs = 1.5}),
        "sqnr 21.77 dB, relative error 8.16 %, mse 0.25, max error 1.5, cosine 0.99671; of 8: 2 exact, 3 flushed");

    const float reference[4] = {1.0F, 2.0F, 0.0F, -4.0F};
    const float restored[4] = {1.0F, lowbit::quiet_nan, 0.0F, -4.0F};
    const lowbit::error_stats lost = lowbit::compare(lowbit::matrix_view<const float>(reference, 1, 4),
                                                     lowbit::matrix_view<const float>(restored, 1, 4));
    EXPECT_EQ(
        fmt::format("{}", lost),
        "sqnr -inf dB, relative error inf %, mse inf, max error inf, cosine 0.00000; of 4: 3 exact, 1 became NaN");
}

}  // namespace
