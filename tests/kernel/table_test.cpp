// SPDX-License-Identifier: Apache-2.0
// The choice of the row: preference, LOWBIT_ISA, first use; and the row functions that know no format.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <lowbit/block/mxfp4.hpp>
#include <lowbit/kernel/table.hpp>

#include "support/guarded_buffer.hpp"
#include "support/matrix_testing.hpp"

namespace lowbit::test {
namespace {

// Runs before main, perhaps before the library's own variables would be made, had it any that need making.
struct early {
    std::array<mxfp4::block, 3> blocks{};
    early() {
        std::array<float, 96> values{};
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        kernel::codec<mxfp4>(kernel::available().begin()[0]).encode_row(values.data(), 96, blocks.data(), {}, {});
    }
};
const early made_early;

TEST(table, case75_serves_a_global_constructor) {
    EXPECT_EQ(made_early.blocks, early().blocks);
    EXPECT_EQ(made_early.blocks[2].scale, 127 + 6 - 2);
}

TEST(table, rows_are_listed_best_first_and_scalar_last) {
    const auto list = kernel::available();
    ASSERT_GE(list.size(), 1U);
    EXPECT_EQ(list.begin()[list.size() - 1], isa::scalar);
    for (std::size_t i = 1; i < list.size(); ++i) EXPECT_GT(list.begin()[i - 1], list.begin()[i]);
}

// These run in forked children, in which the choice is not made yet: nothing in this program asks for the active row
// outside them. (Death tests that start the program anew would need an emulator registered with the kernel.)
class table_choice : public testing::Test {
  protected:
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "fast"; }
};

[[noreturn]] void report_whether(bool good) { std::_Exit(good ? 0 : 1); }

TEST_F(table_choice, the_best_row_runs_unless_one_is_forced) {
    EXPECT_EXIT((unsetenv("LOWBIT_ISA"),
                 report_whether(active_isa() == kernel::available().begin()[0] &&
                                &kernel::codec<mxfp4>() == &kernel::codec<mxfp4>(kernel::available().begin()[0]))),
                testing::ExitedWithCode(0), "");
}

TEST_F(table_choice, each_row_can_be_forced_and_runs) {
    for (const isa which : kernel::available()) {
        const std::string name(to_string(which));
        EXPECT_EXIT((setenv("LOWBIT_ISA", name.c_str(), 1),
                     report_whether(active_isa() == which && &kernel::rows() == &kernel::rows(which) &&
                                    kernel::codec<mxfp4>().encode_row == kernel::codec<mxfp4>(which).encode_row)),
                    testing::ExitedWithCode(0), "")
            << name;
    }
}

bool sixteen_threads_agree() {
    std::atomic<int> waiting{16};
    std::atomic<int> agree{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
        threads.emplace_back([&] {
            --waiting;
            while (waiting.load() > 0) std::this_thread::yield();
            const bool best = active_isa() == kernel::available().begin()[0];
            std::array<float, 32> values{};
            values[7] = 3.0F;
            mxfp4::block block{};
            kernel::codec<mxfp4>().encode_row(values.data(), 32, &block, {}, {});
            if (best && block == mxfp4::encode(values)) ++agree;
        });
    }
    for (std::thread& thread : threads) thread.join();
    return agree.load() == 16;
}

TEST_F(table_choice, case75_first_use_from_16_threads) {
    EXPECT_EXIT((unsetenv("LOWBIT_ISA"), report_whether(sixteen_threads_agree())), testing::ExitedWithCode(0), "");
}

// Row functions, on every instruction set.
class row_functions : public testing::TestWithParam<isa> {
  protected:
    void SetUp() override {
        if (!kernel::available().contains(GetParam())) GTEST_SKIP() << to_string(GetParam()) << " does not run here";
    }
    const kernel::row_functions& tested = kernel::rows(GetParam());
    const kernel::row_functions& scalar = kernel::rows(isa::scalar);
};

TEST_P(row_functions, amax_ignores_nan_and_inf_in_every_lane) {
    for (std::size_t count = 1; count <= 200; ++count) {
        guarded_buffer<float> x(count);
        const auto values = mixed_values<float>(count, count, false);
        for (std::size_t at = 0; at < count; ++at) {
            std::memcpy(x.data(), values.data(), count * sizeof(float));
            x[at] = at % 3 == 0 ? quiet_nan : float_from_bits(at % 3 == 1 ? 0x7F800000U : 0xFF800000U);
            ASSERT_EQ(to_bits(scalar.amax(x.data(), count)), to_bits(tested.amax(x.data(), count)));
        }
        x[count / 2] = -1e30F;
        ASSERT_EQ(tested.amax(x.data(), count), 1e30F);
    }
    const std::vector<float> none(17, quiet_nan);
    EXPECT_EQ(to_bits(tested.amax(none.data(), none.size())), 0U);
    EXPECT_EQ(to_bits(tested.amax(none.data(), 0)), 0U);
}

TEST_P(row_functions, widening_is_exact_for_all_values) {
    for (const std::size_t shift : {0U, 1U, 5U, 13U}) {
        std::vector<bfloat16> b(65536 + shift);
        std::vector<float16> h(b.size());
        for (std::uint32_t i = 0; i < b.size(); ++i) {
            b[i] = bfloat16::from_bits(static_cast<std::uint16_t>(i));
            h[i] = float16::from_bits(static_cast<std::uint16_t>(i));
        }
        std::vector<float> from_b(65536), from_h(65536);
        tested.widen_bfloat16(b.data() + shift, 65536, from_b.data());
        tested.widen_float16(h.data() + shift, 65536, from_h.data());
        for (std::size_t i = 0; i < 65536; ++i) {
            ASSERT_EQ(to_bits(from_b[i]), to_bits(b[i + shift].to_float()));
            ASSERT_EQ(to_bits(from_h[i]), to_bits(h[i + shift].to_float()));
        }
    }
}

// Every height and width around the vectors', rows wider than the tile, buffers that end or begin at a page's edge.
// What is written behind a row's values stays below the next multiple of 16.
TEST_P(row_functions, turning_moves_every_bit) {
    for (const flush_with flush : {flush_with::end, flush_with::begin}) {
        for (std::size_t rows = 1; rows <= 34; ++rows) {
            for (std::size_t cols = 1; cols <= 34; ++cols) {
                const std::size_t stride = cols + (rows * 7 + cols) % 5;
                const std::size_t pitch = (rows + 15) / 16 * 16 + (cols % 2) * 3;
                const auto values = mixed_values<float>((rows - 1) * stride + cols, rows * 41 + cols);
                guarded_buffer<float> source(values.size(), flush);
                guarded_buffer<float> out((cols - 1) * pitch + (rows + 15) / 16 * 16, flush);
                std::memcpy(source.data(), values.data(), values.size() * sizeof(float));
                const std::uint32_t mark = 0x7FA12345U;
                for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], &mark, sizeof mark);
                tested.turn(source.data(), stride, rows, cols, out.data(), pitch);
                for (std::size_t c = 0; c < cols; ++c) {
                    for (std::size_t r = 0; r < rows; ++r) {
                        ASSERT_EQ(std::memcmp(&out[c * pitch + r], &values[r * stride + c], sizeof(float)), 0)
                            << rows << " x " << cols << ": row " << r << ", column " << c;
                    }
                    for (std::size_t r = (rows + 15) / 16 * 16; c + 1 < cols && r < pitch; ++r) {
                        ASSERT_EQ(std::memcmp(&out[c * pitch + r], &mark, sizeof mark), 0);
                    }
                }
                ASSERT_TRUE(source.slack_untouched() && out.slack_untouched());
            }
        }
    }
    tested.turn(nullptr, 0, 0, 0, nullptr, 0);
}

TEST_P(row_functions, narrowing_rounds_as_the_element_types) {
    std::mt19937_64 random(3);
    std::vector<float> x(1U << 18);
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::uint32_t bits = static_cast<std::uint32_t>(random());
        if (i % 2 == 0) bits = (bits & 0x807FFFFFU) | (95U + bits % 60U) << 23;  // around float16's range
        if (i % 4 == 0) bits &= i % 8 == 0 ? 0xFFFF8000U : 0xFFFFF000U;          // ties
        x[i] = float_from_bits(bits);
    }
    std::vector<bfloat16> b(x.size());
    std::vector<float16> h(x.size());
    tested.narrow_bfloat16(x.data(), x.size(), b.data());
    tested.narrow_float16(x.data(), x.size(), h.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(b[i].bits(), bfloat16::from_float(x[i]).bits()) << to_bits(x[i]);
        ASSERT_EQ(h[i].bits(), float16::from_float(x[i]).bits()) << to_bits(x[i]);
    }
}

TEST_P(row_functions, stream_copies_whatever_the_alignment) {
    const auto values = mixed_values<float>(300, 9);
    for (std::size_t offset = 0; offset < 17; ++offset) {
        for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 31U, 100U, 257U}) {
            guarded_buffer<float> out(count + offset), tight(count, flush_with::begin);
            tested.stream(values.data() + offset, count, out.data() + offset);
            tested.stream(values.data() + offset, count, tight.data());
            arch::stream_fence();
            ASSERT_EQ(std::memcmp(out.data() + offset, values.data() + offset, count * sizeof(float)), 0);
            ASSERT_EQ(std::memcmp(tight.data(), values.data() + offset, count * sizeof(float)), 0);
            ASSERT_TRUE(out.slack_untouched() && tight.slack_untouched());
        }
    }
}

TEST_P(row_functions, case63_tails_stay_inside) {
    for (const flush_with flush : {flush_with::end, flush_with::begin}) {
        for (std::size_t count = 1; count <= 70; ++count) {
            guarded_buffer<float> x(count, flush), y(count, flush);
            guarded_buffer<bfloat16> b(count, flush);
            guarded_buffer<float16> h(count, flush);
            const auto values = mixed_values<float>(count, count);
            std::memcpy(x.data(), values.data(), count * sizeof(float));
            tested.narrow_bfloat16(x.data(), count, b.data());
            tested.narrow_float16(x.data(), count, h.data());
            tested.widen_bfloat16(b.data(), count, y.data());
            tested.widen_float16(h.data(), count, y.data());
            ASSERT_TRUE(y.slack_untouched() && b.slack_untouched() && h.slack_untouched()) << count;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(table, row_functions, testing::ValuesIn(arch::all_isas),
                         [](const testing::TestParamInfo<isa>& row) { return std::string(to_string(row.param)); });

}  // namespace
}  // namespace lowbit::test
