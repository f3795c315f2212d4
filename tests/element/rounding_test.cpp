// SPDX-License-Identifier: Apache-2.0
// The random source: its values, their independence of order, uniformity, unrelated seeds and neighbours.
#include <lowbit/element/rounding.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace lowbit::test {
namespace {

/// SplitMix64 as published: a state that grows by a constant, and its finaliser.
class splitmix64 {
  public:
    explicit splitmix64(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

TEST(rounding, random_bits_are_splitmix64_keyed_by_splitmix64) {
    EXPECT_EQ(splitmix64(0)(), 0xE220A8397B1DCDAFULL);  // the published first output of seed 0
    for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL, 0xFFFFFFFFFFFFFFFFULL, 0x123456789ULL}) {
        splitmix64 stream{splitmix64{seed}()};
        for (std::uint64_t index = 0; index < 1000; ++index) {
            ASSERT_EQ(random_bits24({seed, index}), stream() >> 40U);
        }
    }
}

TEST(rounding, case66_random_bits_do_not_depend_on_order) {
    std::vector<std::uint32_t> forwards(1000), backwards(1000);
    for (std::size_t i = 0; i < 1000; ++i) forwards[i] = random_bits24({4, i});
    for (std::size_t i = 1000; i-- > 0;) backwards[i] = random_bits24({4, i});
    EXPECT_EQ(forwards, backwards);
    constexpr std::uint32_t in_a_constant = random_bits24({4, 999});
    EXPECT_EQ(in_a_constant, forwards[999]);
}

// Mean and bit counts of n = 2^18 draws within 5 standard deviations, for index streams and for seed streams.
TEST(rounding, random_bits_are_uniform) {
    constexpr int n = 1 << 18;
    for (const bool by_seed : {false, true}) {
        double sum = 0;
        std::vector<int> ones(24), cells(256);
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint32_t r = by_seed ? random_bits24({i, 7}) : random_bits24({7, i});
            ASSERT_LT(r, 1U << 24U);
            sum += r;
            for (std::size_t bit = 0; bit < 24; ++bit) ones[bit] += static_cast<int>(r >> bit & 1U);
            ++cells[r >> 16U];
        }
        EXPECT_NEAR(sum / n / 16777216.0, 0.5, 5 * std::sqrt(1.0 / 12 / n));
        for (const int count : ones) EXPECT_NEAR(count, n / 2, 5 * std::sqrt(n / 4.0));
        double chi_square = 0;
        for (const int count : cells) chi_square += std::pow(count - n / 256.0, 2) / (n / 256.0);
        EXPECT_NEAR(chi_square, 255, 5 * std::sqrt(2 * 255.0));
    }
}

// Correlation of neighbours in index, and of the same index under neighbouring seeds: |r| below 5 / sqrt(n).
TEST(rounding, case66_neighbours_are_not_correlated) {
    constexpr int n = 1 << 18;
    const auto centred = [](std::uint64_t seed, std::uint64_t index) {
        return random_bits24({seed, index}) / 16777216.0 - 0.5;
    };
    for (const auto& [seed_step, index_step] : {std::pair{0, 1}, {0, 2}, {0, 4096}, {1, 0}, {1, 1}, {1, -1}, {2, -1}}) {
        double sum = 0;
        for (int i = 1; i <= n; ++i) {
            sum += centred(3, static_cast<std::uint64_t>(i)) *
                   centred(static_cast<std::uint64_t>(3 + seed_step), static_cast<std::uint64_t>(i + index_step));
        }
        EXPECT_LT(std::fabs(sum * 12 / n), 5 / std::sqrt(n)) << seed_step << " " << index_step;
    }
}

TEST(rounding, zero_seed_is_a_seed_like_any_other) {
    int equal = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) equal += random_bits24({0, i}) == random_bits24({1, i}) ? 1 : 0;
    EXPECT_LT(equal, 3);
    EXPECT_NE(random_bits24({}), 0U);
}

static_assert(encode_context{}.tensor_scale == 1.0F && encode_context{}.encode_scale == 1.0F &&
              encode_context{}.index == 0);
static_assert(random_source{1, 2} == random_source{1, 2});

}  // namespace
}  // namespace lowbit::test
