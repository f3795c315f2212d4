// SPDX-License-Identifier: Apache-2.0
// One piece of work through every public path, boiled down to a number a format: equal numbers, equal bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <lowbit/gemm/gemm.hpp>
#include <lowbit/lowbit.hpp>

namespace workload {

/// FNV-1a over the bytes of the values.
template <class T>
std::uint64_t hash(std::span<const T> values, std::uint64_t state = 14695981039346656037u) {
    for (const T& value : values) {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        for (unsigned char byte : bytes) state = (state ^ byte) * 1099511628211u;
    }
    return state;
}

/// Values of many magnitudes, with ties of the small formats among them; with `special` also NaN, Inf, -0 and
/// subnormals.
inline std::vector<float> values(std::size_t count, std::uint64_t seed, bool special) {
    std::vector<float> out(count);
    std::uint64_t state = seed;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto random = static_cast<std::uint32_t>(state >> 33);
        const std::uint32_t exponent = 120 + (random >> 3) % 8;
        // Every fourth value has few mantissa bits: ties.
        const std::uint32_t mantissa = (random % 4 == 0) ? (random & 0x700000u) : (random & 0x7FFFFFu);
        std::uint32_t bits = (random << 31) | (exponent << 23) | mantissa;
        if (special && i % 97 == 5) {
            constexpr std::uint32_t table[] = {0x7FC00000u, 0x7F800000u, 0xFF800000u, 0x80000000u,
                                               0x00000001u, 0x807FFFFFu, 0xFFA00001u};
            bits = table[(i / 97) % 7];
        }
        std::memcpy(&out[i], &bits, sizeof(bits));
    }
    return out;
}

/// Quantises and restores a matrix with a tail in each row.
template <class F>
std::uint64_t conversion(bool special) {
    constexpr std::size_t rows = 9;
    constexpr std::size_t cols = 3 * 64 + 41;
    const std::vector<float> source = values(rows * cols, 7, special);
    const auto quantized = lowbit::quantize<F>(lowbit::matrix_view<const float>(source.data(), rows, cols));
    std::vector<float> restored(rows * cols);
    lowbit::dequantize(quantized, lowbit::matrix_view<float>(restored.data(), rows, cols));
    std::uint64_t state = 0;
    for (std::size_t i = 0; i < rows; ++i) state = hash(quantized.row(i), state + 1);
    for (float& value : restored) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        if ((bits & 0x7FFFFFFFu) > 0x7F800000u) bits = 0x7FC00000u;  // the payload of a NaN is nobody's business
        std::memcpy(&value, &bits, sizeof(bits));
    }
    return hash(std::span<const float>(restored), state);
}

/// Products with packed weights: of two rows, of many rows, and with bias, alpha and beta.
template <class F>
std::uint64_t product(bool special) {
    constexpr std::size_t n = 21;
    constexpr std::size_t k = 2 * 64 + 23;
    const std::vector<float> weights = values(n * k, 3, special);
    const auto packed = lowbit::pack(lowbit::quantize<F>(lowbit::matrix_view<const float>(weights.data(), n, k)));
    std::uint64_t state = 0;
    for (const std::size_t m : {std::size_t{2}, std::size_t{17}}) {
        const std::vector<float> x = values(m * k, 5, special);
        const std::vector<float> bias = values(n, 9, false);
        std::vector<float> y(m * n, 0.5f);
        const lowbit::matrix_view<const float> input(x.data(), m, k);
        const lowbit::matrix_view<float> output(y.data(), m, n);
        lowbit::gemm(input, packed, output);
        state = hash(std::span<const float>(y), state + 1);
        lowbit::gemm(input, packed, output, {.alpha = 0.75f, .beta = 0.3f, .bias = bias});
        state = hash(std::span<const float>(y), state + 1);
    }
    return state;
}

/// Codes and values of all bfloat16 patterns and of as many floats with long mantissas, in every rounding.
inline std::uint64_t elements() {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint32_t> bits;
    const auto minifloat = [&]<class T>(std::type_identity<T>, float x, std::uint64_t index) {
        for (const auto mode : {lowbit::rounding::nearest_even, lowbit::rounding::nearest_away,
                                lowbit::rounding::toward_zero, lowbit::rounding::stochastic}) {
            const T code = T::from_float(x, mode, lowbit::overflow::infinity, {1, index});
            codes.push_back(code.bits());
            bits.push_back(lowbit::to_bits(code.to_float()));
        }
    };
    for (std::uint32_t i = 0; i < 2 * 65536; ++i) {
        const float x = lowbit::float_from_bits(i < 65536 ? i << 16 : i * 2654435761u);
        minifloat(std::type_identity<lowbit::e2m1>(), x, i);
        minifloat(std::type_identity<lowbit::e4m3>(), x, i);
        minifloat(std::type_identity<lowbit::e5m2>(), x, i);
        minifloat(std::type_identity<lowbit::e8m0>(), x, i);
        for (const auto mode :
             {lowbit::hif8_rounding::ties_away, lowbit::hif8_rounding::nearest_even, lowbit::hif8_rounding::toward_zero,
              lowbit::hif8_rounding::hybrid, lowbit::hif8_rounding::stochastic}) {
            const auto code = lowbit::hif8::from_float(x, mode, lowbit::overflow::infinity, {1, i});
            codes.push_back(code.bits());
            bits.push_back(lowbit::to_bits(code.to_float()));
        }
    }
    return hash(std::span<const std::uint32_t>(bits), hash(std::span<const std::uint8_t>(codes)));
}

/// a * b + c in double, rounded once: what a product and a sum would round away is the whole result.
inline std::uint64_t fused_products() {
    std::vector<double> out;
    for (int i = 1; i < 1000; ++i) {
        const double part = static_cast<double>(i) * 0x1p-30;
        out.push_back(lowbit::fused_multiply_add(1.0 + part, 1.0 - part, -1.0));
    }
    return hash(std::span<const double>(out));
}

/// Calls report(format name, what, number) for everything that is computed.
template <class Report>
void run(Report report) {
    report(std::string_view("elements"), std::string_view("codes"), elements());
    report(std::string_view("double"), std::string_view("fused products"), fused_products());
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        report(F::name, std::string_view("values"), conversion<F>(false));
        report(F::name, std::string_view("special values"), conversion<F>(true));
        // One format for each engine, integers and floats: products are what takes time to compile.
        if constexpr (std::is_same_v<F, lowbit::hif4> || std::is_same_v<F, lowbit::hif8>) {
            report(F::name, std::string_view("products"), product<F>(false));
            report(F::name, std::string_view("special products"), product<F>(true));
        }
    });
}

}  // namespace workload
