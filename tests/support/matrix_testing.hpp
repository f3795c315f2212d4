// SPDX-License-Identifier: Apache-2.0
// The oracle of whole-matrix conversion: block by block through F::encode and F::decode, in the plainest of ways.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit::test {

template <class T>
float widened(T value) {
    if constexpr (std::is_same_v<T, float>) {
        return value;
    } else {
        return value.to_float();
    }
}

template <class T>
T narrowed_to(float value) {
    if constexpr (std::is_same_v<T, float>) {
        return value;
    } else {
        return T::from_float(value);
    }
}

template <class T>
std::uint32_t bits_of(T value) {
    if constexpr (std::is_same_v<T, float>) {
        return to_bits(value);
    } else {
        return value.bits();
    }
}

/// Every choice of options that changes bytes.
template <block_format F>
std::vector<typename F::options> all_options() {
    std::vector<typename F::options> list;
    if constexpr (std::is_same_v<F, mxfp4>) {
        for (int rule = 0; rule <= static_cast<int>(mxfp4_scale_rule::search); ++rule) {
            list.push_back({static_cast<mxfp4_scale_rule>(rule)});
        }
    } else if constexpr (std::is_same_v<F, hif4>) {
        for (int mode = 0; mode <= static_cast<int>(hif4_rounding::ascend_a6); ++mode) {
            list.push_back({static_cast<hif4_rounding>(mode)});
        }
    } else if constexpr (std::is_same_v<F, nvfp4>) {
        list = {
            {nvfp4_order::transformer_engine, false}, {nvfp4_order::division, false}, {nvfp4_order::division, true}};
    } else if constexpr (std::is_same_v<F, hif8>) {
        for (int mode = 0; mode <= static_cast<int>(hif8_rounding::stochastic); ++mode) {
            for (const overflow beyond : {overflow::infinity, overflow::saturate}) {
                list.push_back({static_cast<hif8_rounding>(mode), beyond, 12345});
            }
        }
    } else {
        list.push_back({});
    }
    return list;
}

/// Every tensor scale that applies to the format.
template <block_format F>
std::vector<tensor_scale_options> all_tensor_scales() {
    if constexpr (F::has_tensor_scale) {
        return {{tensor_scale_kind::matrix, 1},
                {tensor_scale_kind::row, 1},
                {tensor_scale_kind::given, 0.0125F},
                {tensor_scale_kind::none, 1}};
    } else {
        return {{}};
    }
}

/// Data of every kind, by blocks of 8: ordinary, of wide range, zeros of both signs, subnormals, ties; now and then NaN
/// or Inf.
template <class T>
std::vector<T> mixed_values(std::size_t count, std::uint64_t seed, bool specials = true) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<T> values(count);
    int kind = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t r = random();
        if (i % 8 == 0) kind = static_cast<int>(r % 16);
        float value = normal(random);
        if (kind == 1) value = std::ldexp(value, static_cast<int>(r >> 8U) % 12);
        if (kind == 2) value = static_cast<float>(static_cast<int>(r >> 8U) % 33) * 0.25F;
        if (kind == 3) value = (r & 256U) != 0 ? 0.0F : -0.0F;
        if (kind == 4) value = float_from_bits(static_cast<std::uint32_t>(r) & 0x80FFFFFFU);
        if (kind == 5 && specials && (r & 0xF00U) == 0) {
            value = (r & 0x1000U) != 0 ? quiet_nan : float_from_bits((r & 0x2000U) != 0 ? 0x7F800000U : 0xFF800000U);
        }
        if (kind == 6) value = std::ldexp(value, static_cast<int>((r >> 8U) % 60) - 30);
        values[i] = narrowed_to<T>(value);
    }
    return values;
}

template <block_format F>
struct reference_result {
    std::vector<typename F::block> blocks;
    std::vector<float> tensor_scales;  // none, one, or one a row
};

/// The bytes that quantize must give.
template <block_format F, class T>
reference_result<F> reference_quantize(matrix_view<T> source, const typename F::options& options,
                                       const tensor_scale_options& scale = {}) {
    using value_type = std::remove_const_t<T>;
    reference_result<F> result;
    const auto amax_of = [&](std::size_t first, std::size_t last) {
        float amax = 0;
        for (std::size_t r = first; r < last; ++r) {
            for (std::size_t c = 0; c < source.cols(); ++c) {
                const float x = std::fabs(widened(source(r, c)));
                if (is_finite(x)) amax = std::max(amax, x);
            }
        }
        return amax;
    };
    encode_context context;
    const auto take_scales = [&]([[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t last) {
        if constexpr (F::has_tensor_scale) {
            auto scales = F::scales_from_tensor_scale(scale.kind == tensor_scale_kind::given ? scale.value : 1.0F);
            if (scale.kind == tensor_scale_kind::matrix || scale.kind == tensor_scale_kind::row) {
                scales = F::scales_from_amax(amax_of(first, last), options);
            }
            context.tensor_scale = scales.tensor_scale;
            context.encode_scale = scales.encode_scale;
            result.tensor_scales.push_back(scales.tensor_scale);
        }
    };
    const bool by_row = F::has_tensor_scale && scale.kind == tensor_scale_kind::row;
    if (!by_row) take_scales(0, source.rows());
    for (std::size_t r = 0; r < source.rows(); ++r) {
        if (by_row) take_scales(r, r + 1);
        for (std::size_t c = 0; c < source.cols(); c += F::block_size) {
            float values[F::block_size] = {};
            const std::size_t length = std::min(F::block_size, source.cols() - c);
            for (std::size_t i = 0; i < length; ++i) values[i] = widened<value_type>(source(r, c + i));
            context.index = std::uint64_t{r} * source.cols() + c;
            auto block = F::encode(std::span<const float, F::block_size>(values), options, context);
            if constexpr (std::is_same_v<F, hif8>) {  // hybrid rounding has a rule of its own for 16-bit sources
                const random_source random{options.seed, context.index};
                if constexpr (std::is_same_v<value_type, bfloat16>) {
                    block = hif8::from_bfloat16(source(r, c), options.rounding, options.overflow, random);
                } else if constexpr (std::is_same_v<value_type, float16>) {
                    block = hif8::from_float16(source(r, c), options.rounding, options.overflow, random);
                }
            }
            result.blocks.push_back(block);
        }
    }
    return result;
}

/// Shape, bytes and scales.
template <block_format F>
::testing::AssertionResult matches(const quantized_matrix<F>& q, std::size_t rows, std::size_t cols,
                                   const reference_result<F>& expected) {
    if (q.rows() != rows || q.cols() != cols) {
        return ::testing::AssertionFailure() << "shape " << q.rows() << " x " << q.cols();
    }
    const std::span<const std::uint8_t> got = q.bytes();
    if (got.size() != expected.blocks.size() * sizeof(typename F::block)) {
        return ::testing::AssertionFailure() << got.size() << " bytes";
    }
    const auto* const wanted = reinterpret_cast<const std::uint8_t*>(expected.blocks.data());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i] != wanted[i]) {
            return ::testing::AssertionFailure()
                   << "byte " << i % sizeof(typename F::block) << " of block " << i / sizeof(typename F::block)
                   << " is " << +got[i] << ", not " << +wanted[i];
        }
    }
    for (std::size_t r = 0; F::has_tensor_scale && r < rows; ++r) {
        const float scale = expected.tensor_scales[expected.tensor_scales.size() == rows && q.row_scales() ? r : 0];
        if (to_bits(q.tensor_scale(r)) != to_bits(scale)) {
            return ::testing::AssertionFailure() << "tensor scale of row " << r << " is " << q.tensor_scale(r);
        }
    }
    return ::testing::AssertionSuccess();
}

/// Value (r, c) that dequantize must give, as a float.
template <block_format F>
std::vector<float> reference_dequantize(const quantized_matrix<F>& q) {
    std::vector<float> result;
    for (std::size_t r = 0; r < q.rows(); ++r) {
        std::size_t left = q.cols();
        for (const typename F::block& block : q.row(r)) {
            float values[F::block_size];
            F::decode(block, std::span<float, F::block_size>(values), q.tensor_scale(r));
            const std::size_t length = std::min(F::block_size, left);
            result.insert(result.end(), values, values + length);
            left -= length;
        }
    }
    return result;
}

/// The text of the error that `action` throws, or "no error".
template <class Action>
std::string error_text(Action action) {
    try {
        action();
    } catch (const lowbit::error& caught) {
        return caught.what();
    }
    return "no error";
}

/// The text of the io_error that `action` throws, or "no io_error".
template <class Action>
std::string io_error_text(Action action) {
    try {
        action();
    } catch (const lowbit::io_error& caught) {
        return caught.what();
    }
    return "no io_error";
}

}  // namespace lowbit::test
