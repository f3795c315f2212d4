// SPDX-License-Identifier: Apache-2.0
// What a caller may choose about the conversion of a whole matrix: the format's own options, tensor scales, threads.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <lowbit/block/block_format.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/core/float16.hpp>

namespace lowbit {

/// The element types that a whole matrix is read from and written to.
template <class T>
concept matrix_element = std::same_as<T, float> || std::same_as<T, bfloat16> || std::same_as<T, float16>;

/// Where the tensor scale of a two-level format (NVFP4) comes from.
enum class tensor_scale_kind : std::uint8_t {
    matrix,  ///< from the largest finite magnitude of the matrix
    row,     ///< from that of each row, one scale a row: a row's bytes then do not depend on other rows
    given,   ///< tensor_scale_options::value
    none     ///< 1, whatever the data
};

/// The tensor scale of quantize and quantize_transposed.
struct tensor_scale_options {
    tensor_scale_kind kind = tensor_scale_kind::matrix;  ///< where the scale comes from
    float value = 1;  ///< for kind `given`: finite and > 0; values decode as (element * block scale) * value

    friend bool operator==(const tensor_scale_options&, const tensor_scale_options&) = default;
};

/// Options of quantize and quantize_transposed. Formats without a tensor scale ignore `tensor_scale`.
template <block_format F>
struct quantize_options {
    typename F::options format = {};         ///< the format's own: roundings, scale rules
    tensor_scale_options tensor_scale = {};  ///< of formats that have one
    lowbit::executor executor = {};          ///< serial by default; the bytes are the same for any
};

/// Options of dequantize.
struct dequantize_options {
    lowbit::executor executor = {};  ///< serial by default; the values are the same for any
};

}  // namespace lowbit
