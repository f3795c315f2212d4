// SPDX-License-Identifier: Apache-2.0
// A tensor read from a file: its shape, and its values as float32 in C order.
//
// Every format of this library works on matrices whose last axis is K, so a tensor of any rank is seen as rows x cols:
// cols is the last axis, rows the product of all axes before it (1 for a vector; a scalar is 1 x 1). float16 and
// bfloat16 widen to float32 exactly; float64 is rounded once, to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/core/matrix_view.hpp>

namespace lowbit {

/// The element types that the readers turn into values.
enum class float_type : std::uint8_t {
    float16,   ///< IEEE binary16
    bfloat16,  ///< the upper half of a float
    float32,   ///< IEEE binary32
    float64,   ///< IEEE binary64
};

/// Bytes of one element of this type.
[[nodiscard]] constexpr std::size_t size_of(float_type type) noexcept {
    switch (type) {
        case float_type::float16:
        case float_type::bfloat16: return 2;
        case float_type::float32: return 4;
        case float_type::float64: return 8;
    }
    return 0;
}

/// The name of a type: "float16", "bfloat16", "float32" or "float64".
[[nodiscard]] constexpr std::string_view to_string(float_type type) noexcept {
    switch (type) {
        case float_type::float16: return "float16";
        case float_type::bfloat16: return "bfloat16";
        case float_type::float32: return "float32";
        case float_type::float64: return "float64";
    }
    return "unknown";
}

namespace detail {

/// Product of the sizes, or nothing where it does not fit in 64 bits; a zero does not hide an overflow before it.
[[nodiscard]] constexpr std::optional<std::size_t> shape_product(std::span<const std::size_t> shape) noexcept {
    std::optional<std::size_t> product = 1;
    for (std::size_t i = 0; i < shape.size() && product; ++i) product = checked_multiply(*product, shape[i]);
    return product;
}

/// rows and cols of a tensor whose shape_product is known to fit.
[[nodiscard]] constexpr std::pair<std::size_t, std::size_t> rows_and_cols(std::span<const std::size_t> shape) noexcept {
    std::size_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    return {rows, shape.empty() ? 1 : shape.back()};
}

/// Refuses a shape that does not hold `values` elements; `what` names the argument.
inline void check_shape(std::string_view name, std::string_view what, std::span<const std::size_t> shape,
                        std::size_t values) {
    const std::optional<std::size_t> count = shape_product(shape);
    if (count && *count == values) return;
    fail(message(name, ": ", what, " holds ", count ? std::to_string(*count) : "2^64 or more",
                 " elements, but there are ", values, " values"));
}

template <class Bits>
[[nodiscard]] Bits load_bits(const std::byte* raw, bool big_endian) noexcept {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(Bits); ++i) {
        const std::size_t place = big_endian ? sizeof(Bits) - 1 - i : i;
        bits = static_cast<Bits>(bits | static_cast<Bits>(static_cast<Bits>(raw[i]) << (8 * place)));
    }
    return bits;
}

/// Turns out.size() elements at `raw` into floats.
inline void widen(const std::byte* raw, float_type type, bool big_endian, std::span<float> out) noexcept {
    const arch::fp_guard guard;  // float64 rounds to nearest even whatever mode the caller is in
    switch (type) {
        case float_type::float16:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = float16::from_bits(load_bits<std::uint16_t>(raw + 2 * i, big_endian)).to_float();
            }
            break;
        case float_type::bfloat16:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = bfloat16::from_bits(load_bits<std::uint16_t>(raw + 2 * i, big_endian)).to_float();
            }
            break;
        case float_type::float32:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = float_from_bits(load_bits<std::uint32_t>(raw + 4 * i, big_endian));
            }
            break;
        case float_type::float64:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = static_cast<float>(double_from_bits(load_bits<std::uint64_t>(raw + 8 * i, big_endian)));
            }
            break;
    }
}

}  // namespace detail

/// Shape and values of a tensor; owns both.
class tensor {
  public:
    /// A scalar-free, empty tensor of shape [0].
    tensor() : shape_{0} {}

    /// Takes values in C order.
    /// Errors: throws lowbit::error where the product of the shape is not values.size().
    tensor(std::vector<std::size_t> shape, std::vector<float> values)
        : shape_(std::move(shape)), values_(std::move(values)) {
        detail::check_shape("lowbit::tensor", "'shape'", shape_, values_.size());
    }

    /// The size of each axis; empty for a scalar.
    [[nodiscard]] const std::vector<std::size_t>& shape() const noexcept { return shape_; }
    /// Product of all axes but the last.
    [[nodiscard]] std::size_t rows() const noexcept { return detail::rows_and_cols(shape_).first; }
    /// The last axis, K.
    [[nodiscard]] std::size_t cols() const noexcept { return detail::rows_and_cols(shape_).second; }
    /// All values, in C order.
    [[nodiscard]] std::span<const float> values() const noexcept { return values_; }
    /// All values, in C order.
    [[nodiscard]] std::span<float> values() noexcept { return values_; }
    /// The values as a rows() x cols() matrix; valid as long as the tensor.
    [[nodiscard]] matrix_view<const float> view() const { return {values_.data(), rows(), cols()}; }
    /// The values as a rows() x cols() matrix; valid as long as the tensor.
    [[nodiscard]] matrix_view<float> view() { return {values_.data(), rows(), cols()}; }

  private:
    std::vector<std::size_t> shape_;
    std::vector<float> values_;
};

}  // namespace lowbit
