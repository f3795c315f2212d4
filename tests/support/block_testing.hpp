// SPDX-License-Identifier: Apache-2.0
/// What the tests of all block formats share: blocks as bytes, whole arrays through one-block codecs, comparisons that
/// count mismatches and name the first.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <lowbit/block/block_format.hpp>

#include "support/golden.hpp"

namespace lowbit::test {

template <block_format F>
using values_of = std::array<float, F::block_size>;

template <block_format F>
using bytes_of = std::array<std::uint8_t, sizeof(typename F::block)>;

/// The block as the bytes that it is.
template <block_format F>
constexpr bytes_of<F> to_bytes(const typename F::block& block) {
    return std::bit_cast<bytes_of<F>>(block);
}

template <block_format F>
constexpr typename F::block from_bytes(const bytes_of<F>& bytes) {
    return std::bit_cast<typename F::block>(bytes);
}

/// A block of values: those listed, then zeros.
template <block_format F>
constexpr values_of<F> values(std::initializer_list<float> listed) {
    values_of<F> result{};
    std::size_t i = 0;
    for (const float value : listed) {
        result[i++] = value;
    }
    return result;
}

template <block_format F>
constexpr values_of<F> filled(float value) {
    values_of<F> result{};
    for (float& each : result) {
        each = value;
    }
    return result;
}

template <block_format F>
constexpr typename F::block encode(const values_of<F>& source, const typename F::options& options = {},
                                   const encode_context& context = {}) {
    return F::encode(std::span<const float, F::block_size>(source), options, context);
}

template <block_format F>
constexpr values_of<F> decode(const typename F::block& block, float tensor_scale = 1.0F) {
    values_of<F> result{};
    F::decode(block, std::span<float, F::block_size>(result), tensor_scale);
    return result;
}

template <block_format F>
constexpr values_of<F> round_trip(const values_of<F>& source, const typename F::options& options = {}) {
    return decode<F>(encode<F>(source, options));
}

/// Bytes of all blocks of a contiguous array whose size is a multiple of the block.
template <block_format F>
std::vector<std::uint8_t> encode_all(const std::vector<float>& source, const typename F::options& options = {},
                                     const encode_context& context = {}) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < source.size(); i += F::block_size) {
        const auto block = to_bytes<F>(
            F::encode(std::span<const float, F::block_size>(source.data() + i, F::block_size), options, context));
        bytes.insert(bytes.end(), block.begin(), block.end());
    }
    return bytes;
}

/// Values of all blocks.
template <block_format F>
std::vector<float> decode_all(const std::vector<std::uint8_t>& bytes, float tensor_scale = 1.0F) {
    std::vector<float> result;
    bytes_of<F> block{};
    for (std::size_t i = 0; i < bytes.size(); i += block.size()) {
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i), block.size(), block.begin());
        const auto part = decode<F>(from_bytes<F>(block), tensor_scale);
        result.insert(result.end(), part.begin(), part.end());
    }
    return result;
}

inline void expect_same_bytes(const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    std::size_t mismatches = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i] != wanted[i] && mismatches++ == 0) {
            ADD_FAILURE() << "first mismatch at byte " << i << ": got " << +got[i] << ", wanted " << +wanted[i];
        }
    }
    EXPECT_EQ(mismatches, 0U) << "of " << got.size();
}

/// As numbers: -0 equals 0 (the golden values do not keep its sign).
inline void expect_same_values(const std::vector<float>& got, const std::vector<float>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    std::size_t mismatches = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!(got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) && mismatches++ == 0) {
            ADD_FAILURE() << "first mismatch at value " << i << ": got " << got[i] << ", wanted " << wanted[i];
        }
    }
    EXPECT_EQ(mismatches, 0U) << "of " << got.size();
}

/// Bit for bit.
template <std::size_t N>
void expect_same_bits(const std::array<float, N>& got, const std::array<float, N>& wanted, const std::string& what) {
    for (std::size_t i = 0; i < N; ++i) {
        ASSERT_EQ(to_bits(got[i]), to_bits(wanted[i]))
            << what << ", value " << i << ": " << got[i] << " and " << wanted[i];
    }
}

inline float next_above(float x) { return std::nextafter(x, INFINITY); }
inline float next_below(float x) { return std::nextafter(x, -INFINITY); }

/// Random blocks of many kinds: ordinary, sparse, ties, subnormal, huge, of wide range, any bits that are finite.
class block_source {
  public:
    explicit block_source(std::uint64_t seed) : engine_(seed) {}

    void fill(std::span<float> values) {
        const int kind = static_cast<int>(engine_() % 8);
        const int exponent = static_cast<int>(engine_() % 250) - 125;
        for (float& value : values) {
            value = one(kind, exponent);
        }
    }

  private:
    float one(int kind, int exponent) {
        const auto bits = static_cast<std::uint32_t>(engine_());
        const float sign = (engine_() & 1U) != 0 ? -1.0F : 1.0F;
        const float uniform = static_cast<float>(bits >> 8U) * 0x1p-24F;
        switch (kind) {
            case 0: return static_cast<float>(normal_(engine_));
            case 1: return (bits & 7U) == 0 ? sign * uniform : 0.0F * sign;
            case 2: return sign * std::ldexp(static_cast<float>(bits % 65), exponent % 20);  // a lattice full of ties
            case 3: return float_from_bits(bits & 0x80FFFFFFU);                            // subnormals and just above
            case 4: return sign * std::ldexp(uniform, 128 - static_cast<int>(bits & 3U));  // up to FLT_MAX
            case 5: return sign * std::ldexp(1.0F + uniform, static_cast<int>(engine_() % 24) + exponent / 2);
            case 6: return float_from_bits(to_bits(static_cast<float>(normal_(engine_))) & 0xFFFF0000U);  // bfloat16
            default: break;
        }
        return (bits & infinity_bits) == infinity_bits ? float_from_bits(bits ^ 0x40000000U) : float_from_bits(bits);
    }

    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
};

}  // namespace lowbit::test
