// SPDX-License-Identifier: Apache-2.0
// What every row codec of every instruction set must do: give the scalar row's bytes, floats, lanes and scales, and
// touch no byte beyond. One test file a format includes this and instantiates it; a row that cannot run here is skipped
// by name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/kernel/table.hpp>

#include "support/golden.hpp"
#include "support/guarded_buffer.hpp"
#include "support/matrix_testing.hpp"

namespace lowbit::test {

/// The scales to test a format with.
template <class F>
std::vector<encode_context> contexts() {
    if constexpr (F::has_tensor_scale) {
        std::vector<encode_context> list;
        for (const float tensor_scale : {1.0F, 0.0037F, 1e-30F, 3e30F}) {
            const auto scales = F::scales_from_tensor_scale(tensor_scale);
            list.push_back({scales.tensor_scale, scales.encode_scale, 0});
        }
        return list;
    } else {
        return {{1.0F, 1.0F, 41}};
    }
}

template <class T>
bool same_bytes(const T* a, const T* b, std::size_t count) {
    return std::memcmp(static_cast<const void*>(a), static_cast<const void*>(b), count * sizeof(T)) == 0;
}

template <class F>
class codec_comparison {
  public:
    explicit codec_comparison(isa which)
        : scalar_(kernel::codec<F>(isa::scalar)), tested_(kernel::codec<F>(which)), name_(to_string(which)) {}

    /// Encodes `count` values with each option, lowers them, and decodes and lowers the blocks.
    void compare(const float* values, std::size_t count) {
        for (const auto& options : all_options<F>()) {
            for (const encode_context& context : contexts<F>()) compare(values, count, options, context);
        }
    }

    void compare(const float* values, std::size_t count, const typename F::options& options,
                 const encode_context& context) {
        const std::size_t blocks = divide_up(count, F::block_size);
        std::vector<typename F::block> expected(blocks), got(blocks);
        scalar_.encode_row(values, count, expected.data(), options, context);
        tested_.encode_row(values, count, got.data(), options, context);
        ASSERT_TRUE(same_bytes(expected.data(), got.data(), blocks))
            << F::name << " on " << name_ << ": first differing block " << first_difference(expected, got);
        compare_blocks(expected.data(), count, context.tensor_scale);
        std::vector<lane> lanes(blocks * F::block_size), got_lanes(blocks * F::block_size);
        std::vector<float> scales(blocks), got_scales(blocks);
        scalar_.lower_blocks(expected.data(), count, lanes.data(), scales.data());
        tested_.lower_row(values, count, got_lanes.data(), got_scales.data(), options, context);
        ASSERT_TRUE(same_bytes(lanes.data(), got_lanes.data(), lanes.size())) << name_ << ": lanes of lower_row";
        ASSERT_TRUE(same_bytes(scales.data(), got_scales.data(), blocks)) << name_ << ": scales of lower_row";
    }

    void compare_blocks(const typename F::block* blocks, std::size_t count, float tensor_scale) {
        std::vector<float> expected(count), got(count);
        scalar_.decode_row(blocks, count, expected.data(), tensor_scale);
        tested_.decode_row(blocks, count, got.data(), tensor_scale);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(to_bits(expected[i]), to_bits(got[i])) << F::name << " on " << name_ << ": decoded value " << i;
        }
        const std::size_t size = divide_up(count, F::block_size);
        std::vector<lane> lanes(size * F::block_size), got_lanes(size * F::block_size);
        std::vector<float> scales(size), got_scales(size);
        scalar_.lower_blocks(blocks, count, lanes.data(), scales.data());
        tested_.lower_blocks(blocks, count, got_lanes.data(), got_scales.data());
        ASSERT_TRUE(same_bytes(lanes.data(), got_lanes.data(), lanes.size())) << name_ << ": lanes of lower_blocks";
        ASSERT_TRUE(same_bytes(scales.data(), got_scales.data(), size)) << name_ << ": scales of lower_blocks";
    }

  private:
    using lane = kernel::lane_type<F>;

    static std::size_t first_difference(const std::vector<typename F::block>& a,
                                        const std::vector<typename F::block>& b) {
        std::size_t i = 0;
        while (i < a.size() && same_bytes(&a[i], &b[i], 1)) ++i;
        return i;
    }

    const kernel::codec_functions<F>& scalar_;
    const kernel::codec_functions<F>& tested_;
    std::string name_;
};

/// Formats whose scalar search takes so long that by default fewer random values must do.
template <class F>
inline constexpr bool slow_scalar = std::is_same_v<F, m2xfp_weight>;

/// All golden inputs, every option.
template <class F>
void check_golden_data(isa which) {
    codec_comparison<F> comparison(which);
    for (const char* name : {"x_f32", "x_bf16", "special_x", "nvfp4_tensor_x"}) {
        const auto x = golden<float>(name);
        comparison.compare(x.values.data(), x.values.size());
        if (testing::Test::HasFatalFailure()) FAIL() << name;
    }
}

/// All 65536 bfloat16 values, each of them in each place of a chunk of 64 (of a block of slow formats): rotations of a
/// row where neighbours are of like magnitude.
template <class F>
void check_all_bfloat16(isa which) {
    codec_comparison<F> comparison(which);
    std::vector<float> values(65536 + 64);
    const auto options = all_options<F>();
    const auto scales = contexts<F>();
    constexpr std::uint32_t turns = slow_scalar<F> ? F::block_size : 64;
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            values[i] = bfloat16::from_bits(static_cast<std::uint16_t>(i + turn)).to_float();
        }
        // The first option at each turn, the others in turns.
        comparison.compare(values.data(), 65536, options[0], scales[turn % scales.size()]);
        if (options.size() > 1) {
            comparison.compare(values.data(), 65536, options[turn % options.size()], scales[turn / 7 % scales.size()]);
        }
        if (testing::Test::HasFatalFailure()) FAIL() << "turn " << turn;
    }
}

/// Random float bit patterns: uniform, and of like exponents block by block. 2^22 of them (2^20 of slow formats), 2^28
/// with LOWBIT_EXHAUSTIVE_TESTS; the environment variable LOWBIT_TEST_RANDOM_BITS sets another exponent, up to 32.
inline std::size_t random_rounds(bool slow) {
    std::size_t bits = slow ? 20 : 22;
#if defined(LOWBIT_EXHAUSTIVE_TESTS)
    bits = 28;
#endif
    if (const char* const asked = std::getenv("LOWBIT_TEST_RANDOM_BITS")) bits = std::stoul(asked);
    return std::size_t{1} << (std::clamp<std::size_t>(bits, 16, 32) - 16);
}

template <class F>
void check_random_bits(isa which) {
    const std::size_t rounds = random_rounds(slow_scalar<F>);
    codec_comparison<F> comparison(which);
    std::mt19937_64 random(7);
    std::vector<float> values(65536 + 37);
    const auto options = all_options<F>();
    const auto scales = contexts<F>();
    for (std::size_t turn = 0; turn < rounds; ++turn) {
        std::uint32_t base = 0, spread = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::uint64_t r = random();
            if (i % 32 == 0) {
                base = static_cast<std::uint32_t>(r >> 40) % 255;
                spread = static_cast<std::uint32_t>(r >> 32) % 12;
            }
            const std::uint32_t below = spread == 0 ? 0 : static_cast<std::uint32_t>(r >> 33) % spread;
            const std::uint32_t field = base > below ? base - below : 0;
            const std::uint32_t bits = static_cast<std::uint32_t>(r);
            values[i] = float_from_bits(turn % 4 == 0 ? bits : (bits & 0x807FFFFFU) | field << 23);
        }
        comparison.compare(values.data(), values.size() - turn % 37, options[turn % options.size()],
                           scales[turn / 3 % scales.size()]);
        if (testing::Test::HasFatalFailure()) FAIL() << "round " << turn;
    }
}

/// Every byte pattern of scale and metadata, random codes.
template <class F>
void check_any_bytes(isa which) {
    codec_comparison<F> comparison(which);
    std::mt19937_64 random(11);
    std::vector<typename F::block> blocks(4096);
    for (int turn = 0; turn < 64; ++turn) {
        std::vector<std::uint8_t> bytes(blocks.size() * sizeof(typename F::block));
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            bytes[i * sizeof(typename F::block)] = static_cast<std::uint8_t>(i);
        }
        std::memcpy(static_cast<void*>(blocks.data()), bytes.data(), bytes.size());
        for (const float tensor_scale : {1.0F, 0.3F, 1e-38F, 3e38F}) {
            comparison.compare_blocks(blocks.data(), blocks.size() * F::block_size, tensor_scale);
            if (testing::Test::HasFatalFailure()) FAIL() << "turn " << turn;
        }
    }
}

/// Lengths 1 .. 2 * granule + 1, buffers that begin or end at an inaccessible page, unaligned by one float or byte.
template <class F>
void check_tails(isa which, flush_with flush) {
    const auto& scalar = kernel::codec<F>(isa::scalar);
    const auto& tested = kernel::codec<F>(which);
    constexpr std::size_t most = (F::block_size < 64 ? 64 : F::block_size) * 2 + 1;
    const auto values = mixed_values<float>(most + 1100, 5);
    const encode_context context = contexts<F>()[0];
    for (std::size_t length = 1; length <= most + 2; ++length) {
        // The last ones are longer than a tile.
        const std::size_t count = length <= most ? length : 1024 + 3 * (length - most);
        const std::size_t blocks = divide_up(count, F::block_size);
        guarded_buffer<float> x(count, flush), out(count, flush), scales(blocks, flush);
        guarded_buffer<typename F::block> q(blocks, flush);
        guarded_buffer<kernel::lane_type<F>> lanes(blocks * F::block_size, flush);
        std::memcpy(x.data(), values.data(), count * sizeof(float));
        std::vector<typename F::block> expected(blocks);
        std::vector<float> expected_out(count);
        for (const auto& options : all_options<F>()) {
            scalar.encode_row(x.data(), count, expected.data(), options, context);
            tested.encode_row(x.data(), count, q.data(), options, context);
            ASSERT_TRUE(same_bytes(expected.data(), q.data(), blocks)) << "count " << count;
            tested.lower_row(x.data(), count, lanes.data(), scales.data(), options, context);
        }
        scalar.decode_row(expected.data(), count, expected_out.data(), 1.0F);
        tested.decode_row(q.data(), count, out.data(), 1.0F);
        ASSERT_TRUE(same_bytes(expected_out.data(), out.data(), count)) << "count " << count;
        tested.lower_blocks(q.data(), count, lanes.data(), scales.data());
        ASSERT_TRUE(x.slack_untouched() && out.slack_untouched() && q.slack_untouched() && lanes.slack_untouched() &&
                    scales.slack_untouched())
            << "count " << count;
    }
}

template <class F>
void check_unaligned(isa which) {
    const auto& scalar = kernel::codec<F>(isa::scalar);
    const auto& tested = kernel::codec<F>(which);
    constexpr std::size_t count = 777;
    constexpr std::size_t blocks = (count + F::block_size - 1) / F::block_size;
    const auto values = mixed_values<float>(count + 1, 6);
    std::vector<typename F::block> expected(blocks);
    std::vector<std::uint8_t> bytes(blocks * sizeof(typename F::block) + 1);
    auto* const q = reinterpret_cast<typename F::block*>(bytes.data() + 1);
    std::vector<float> expected_out(count), out(count + 1);
    const encode_context context = contexts<F>()[0];
    scalar.encode_row(values.data() + 1, count, expected.data(), {}, context);
    tested.encode_row(values.data() + 1, count, q, {}, context);
    EXPECT_EQ(std::memcmp(static_cast<const void*>(expected.data()), q, bytes.size() - 1), 0);
    scalar.decode_row(expected.data(), count, expected_out.data(), 1.0F);
    tested.decode_row(q, count, out.data() + 1, 1.0F);
    EXPECT_TRUE(same_bytes(expected_out.data(), out.data() + 1, count));
}

/// A row of the table as a type, so that a test's name says format and instruction set.
template <class F, isa Which>
struct table_row {
    using format = F;
    static constexpr isa which = Which;
};

template <class F>
using rows_of = testing::Types<table_row<F, isa::avx512vbmi>, table_row<F, isa::avx512vnni>, table_row<F, isa::avx2>,
                               table_row<F, isa::neon_dotprod>, table_row<F, isa::neon>>;

struct isa_names {
    template <class Row>
    static std::string GetName(int) {
        return std::string(to_string(Row::which));
    }
};

template <class Row>
class row_codecs : public testing::Test {
  protected:
    static constexpr isa which = Row::which;

    void SetUp() override {
        if (!kernel::available().contains(which)) GTEST_SKIP() << to_string(which) << " does not run here";
    }
};

TYPED_TEST_SUITE_P(row_codecs);

TYPED_TEST_P(row_codecs, is_not_the_scalar_row) {
    using format = typename TypeParam::format;
    const auto& scalar = kernel::codec<format>(isa::scalar);
    const auto& tested = kernel::codec<format>(this->which);
    EXPECT_NE(scalar.encode_row, tested.encode_row);
    EXPECT_NE(scalar.decode_row, tested.decode_row);
    EXPECT_NE(scalar.lower_row, tested.lower_row);
    EXPECT_NE(scalar.lower_blocks, tested.lower_blocks);
}
TYPED_TEST_P(row_codecs, equals_scalar_on_golden_data) { check_golden_data<typename TypeParam::format>(this->which); }
TYPED_TEST_P(row_codecs, equals_scalar_on_all_bfloat16_in_every_lane) {
    check_all_bfloat16<typename TypeParam::format>(this->which);
}
TYPED_TEST_P(row_codecs, equals_scalar_on_random_bits) { check_random_bits<typename TypeParam::format>(this->which); }
TYPED_TEST_P(row_codecs, decodes_any_bytes) { check_any_bytes<typename TypeParam::format>(this->which); }
TYPED_TEST_P(row_codecs, case63_tails_stay_inside_at_the_end_of_a_page) {
    check_tails<typename TypeParam::format>(this->which, flush_with::end);
}
TYPED_TEST_P(row_codecs, case63_tails_stay_inside_at_the_begin_of_a_page) {
    check_tails<typename TypeParam::format>(this->which, flush_with::begin);
}
TYPED_TEST_P(row_codecs, case64_unaligned_pointers_serve) { check_unaligned<typename TypeParam::format>(this->which); }

REGISTER_TYPED_TEST_SUITE_P(row_codecs, is_not_the_scalar_row, equals_scalar_on_golden_data,
                            equals_scalar_on_all_bfloat16_in_every_lane, equals_scalar_on_random_bits,
                            decodes_any_bytes, case63_tails_stay_inside_at_the_end_of_a_page,
                            case63_tails_stay_inside_at_the_begin_of_a_page, case64_unaligned_pointers_serve);

}  // namespace lowbit::test
