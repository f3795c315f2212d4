// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: choices and data out of the bytes of an input, comparison bit for bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/core/function_ref.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit::fuzz {

/// Ends the program, which is how libFuzzer takes a finding, unless `holds`.
inline void require(bool holds, std::string_view what, isa which = isa::scalar) {
    if (holds) return;
    const std::string_view row = to_string(which);
    std::fprintf(stderr, "differs: %.*s, %.*s\n", static_cast<int>(what.size()), what.data(),
                 static_cast<int>(row.size()), row.data());
    std::abort();
}

template <class T>
void require_same(const std::vector<T>& got, const std::vector<T>& wanted, std::string_view what, isa which) {
    require(got.size() == wanted.size() &&
                (got.empty() || std::memcmp(got.data(), wanted.data(), got.size() * sizeof(T)) == 0),
            what, which);
}

template <class F>
void require_same(const quantized_matrix<F>& got, const quantized_matrix<F>& wanted, std::string_view what, isa which) {
    require(got == wanted && got.row_scales() == wanted.row_scales(), what, which);
}

/// Runs a loop backwards on the calling thread, cut up as for several.
struct backward_pool {
    std::size_t threads;

    void for_each(std::size_t count, function_ref<void(std::size_t)> body) const {
        while (count-- > 0) body(count);
    }
    std::size_t concurrency() const noexcept { return threads; }
};

/// Choices come from the front of the input and are 0 past its end. Data comes from the input too, or from a seed that
/// the input names: short inputs then reach large matrices.
class input {
  public:
    input(const std::uint8_t* data, std::size_t size) noexcept : left_(data, size) {}

    std::uint8_t byte() noexcept {
        if (left_.empty()) return 0;
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }
    std::uint32_t word() noexcept {
        std::uint32_t word = 0;
        for (unsigned i = 0; i < 4; ++i) word |= std::uint32_t{byte()} << 8U * i;
        return word;
    }
    std::size_t up_to(std::size_t most) noexcept {
        const std::size_t low = byte();
        return (low | std::size_t{byte()} << 8U) % (most + 1);
    }
    /// A float of any bits.
    float number() noexcept { return float_from_bits(word()); }
    /// A float that is finite and above zero.
    float positive() noexcept { return float_from_bits(std::clamp(word() & 0x7FFFFFFFU, 1U, 0x7F7FFFFFU)); }
    /// A number of rows or columns; half of them are small.
    std::size_t length(std::size_t most) noexcept {
        return up_to((byte() & 1U) != 0 ? most : (std::min)(most, std::size_t{70}));
    }
    template <class Choice>
    Choice one_of(std::initializer_list<Choice> choices) noexcept {
        return choices.begin()[byte() % choices.size()];
    }

    /// Any bytes.
    void fill(std::span<std::uint8_t> out) noexcept {
        if (byte() % 2 != 0) {
            for (std::uint8_t& b : out) b = byte();
            return;
        }
        const std::uint64_t seed = word();
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(random_bits24({seed, i}));
        for (std::size_t changes = byte() % 8; changes > 0 && !out.empty(); --changes) {
            const std::size_t at = up_to(out.size() - 1);
            out[at] = byte();
        }
    }

    /// Any bits, numbers of similar size, or small multiples of a power of two, which often lie on ties.
    template <class T>
    std::vector<T> values(std::size_t count) {
        std::vector<std::uint32_t> bits(count);
        const unsigned kind = byte() % 4, exponent = byte(), span = 1 + byte() % 16;
        fill({reinterpret_cast<std::uint8_t*>(bits.data()), count * sizeof(std::uint32_t)});
        std::vector<T> result(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t r = bits[i];
            float value = float_from_bits(r);
            const unsigned mine = kind == 3 ? r / 8 % 3 : kind;  // 3: all kinds
            if (mine == 1) value = float_from_bits((r & 0x807FFFFFU) | ((exponent + (r >> 24U) % span) & 0xFFU) << 23U);
            if (mine == 2) {
                value = (static_cast<float>(r % 65) - 32.0F) * 0.25F;
                value *= float_from_bits((std::clamp(exponent, 1U, 254U)) << 23U);
            }
            if constexpr (std::is_same_v<T, float>) {
                result[i] = value;
            } else {
                result[i] = mine == 0 ? T::from_bits(static_cast<std::uint16_t>(r)) : T::from_float(value);
            }
        }
        return result;
    }

    /// Blocks of any bytes, tensor scales of any size.
    template <block_format F>
    quantized_matrix<F> blocks(std::size_t rows, std::size_t cols) {
        std::vector<typename F::block> blocks(rows * divide_up(cols, F::block_size));
        fill({reinterpret_cast<std::uint8_t*>(blocks.data()), blocks.size() * sizeof(typename F::block)});
        std::vector<float> scales(F::has_tensor_scale ? one_of({std::size_t{0}, std::size_t{1}, rows}) : 0);
        for (float& scale : scales) scale = positive();
        return quantized_matrix<F>::from_blocks(rows, cols, blocks, scales);
    }

    /// Every option of the format that changes bytes.
    template <block_format F>
    typename F::options options() {
        if constexpr (std::is_same_v<F, hif4>) {
            return {one_of({hif4_rounding::amct, hif4_rounding::reference, hif4_rounding::ascend_a6})};
        } else if constexpr (std::is_same_v<F, mxfp4>) {
            using enum mxfp4_scale_rule;
            return {one_of({floor, ceil, rceil, even, oas, uos, search})};
        } else if constexpr (std::is_same_v<F, nvfp4>) {
            const nvfp4_order order = one_of({nvfp4_order::transformer_engine, nvfp4_order::division});
            return {order, byte() % 2 != 0};
        } else if constexpr (std::is_same_v<F, hif8>) {
            using enum hif8_rounding;
            const hif8_rounding rounding = one_of({ties_away, nearest_even, toward_zero, hybrid, stochastic});
            return {rounding, one_of({overflow::infinity, overflow::saturate}), word()};
        } else {
            return {};
        }
    }

    tensor_scale_options tensor_scale() noexcept {
        using enum tensor_scale_kind;
        const tensor_scale_kind kind = one_of({matrix, row, given, none});
        return {kind, kind == given ? positive() : 1.0F};
    }

    backward_pool pool() noexcept { return {std::size_t{1} + byte() % 3}; }

  private:
    std::span<const std::uint8_t> left_;
};

/// Calls visitor(std::type_identity<F>{}) for one of all_formats.
template <class Visitor>
void visit_any_format(std::uint8_t choice, Visitor&& visitor) {
    visit_format(all_formats::names[choice % all_formats::size], visitor);
}

/// Calls visitor(std::type_identity<T>{}) for one of the element types of matrices.
template <class Visitor>
void visit_any_element(std::uint8_t choice, Visitor&& visitor) {
    if (choice % 4 < 2) visitor(std::type_identity<float>{});
    if (choice % 4 == 2) visitor(std::type_identity<bfloat16>{});
    if (choice % 4 == 3) visitor(std::type_identity<float16>{});
}

/// Elements from the first to the last of a matrix, gaps between its rows included.
inline std::size_t extent(std::size_t rows, std::size_t cols, std::size_t stride) noexcept {
    return rows == 0 ? 0 : (rows - 1) * stride + cols;
}

template <class T>
T narrowed(float value) noexcept {
    if constexpr (std::is_same_v<T, float>) {
        return value;
    } else {
        return T::from_float(value);
    }
}

template <class T>
float widened(T value) noexcept {
    if constexpr (std::is_same_v<T, float>) {
        return value;
    } else {
        return value.to_float();
    }
}

template <class F>
detail::row_codec<F> codec_of(isa which) noexcept {
    return {kernel::codec<F>(which), which};
}

}  // namespace lowbit::fuzz
