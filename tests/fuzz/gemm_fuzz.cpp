// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: products of any shape, data and options, by every instruction set with any block sizes and threads,
// against the contract of gemm/reference.hpp. A few pairs of formats stand for all: each engine, each relation of the
// two block sizes, scales of one byte and of four.
#include <cmath>
#include <optional>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/activation.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/gemm_quantized.hpp>
#include <lowbit/gemm/reference.hpp>
#include <lowbit/gemm/weight_only.hpp>
#include <lowbit/pack/pack.hpp>

#include "fuzzing.hpp"

namespace {

using namespace lowbit;

void negate(std::size_t, std::size_t, std::span<float> values) noexcept {
    for (float& value : values) value = -value;
}

/// Sizes, options and what the options refer to.
struct problem {
    std::size_t m, n, k, a_stride, c_stride;
    std::vector<float> bias, residual;
    std::size_t residual_stride;
    fuzz::backward_pool pool;
    gemm_options options;
    detail::blocking blocks;

    explicit problem(fuzz::input& in)
        : m(in.length(45)),
          n(in.length(100)),
          k(in.length(600)),
          a_stride(0),
          c_stride(n + in.up_to(3)),
          residual_stride(n + in.up_to(3)),
          pool(in.pool()) {
        constexpr std::size_t most = 60'000;  // products, for speed
        if (m * n * k > most) k = most / (m * n);
        a_stride = k + in.up_to(3);
        const auto factor = [&] {
            const std::uint8_t choice = in.byte() % 8;
            return choice < 4 ? 1.0F : choice == 4 ? 0.0F : choice == 5 ? -0.0F : choice == 6 ? -0.75F : in.number();
        };
        options.alpha = factor();
        options.beta = in.byte() % 2 != 0 ? factor() : 0.0F;
        if (in.byte() % 2 != 0) options.bias = bias = in.values<float>(n);
        options.activation = in.one_of({activation::none, activation::none, activation::relu, activation::gelu,
                                        activation::gelu_tanh, activation::silu});
        if (in.byte() % 4 == 3) options.function = negate;
        if (in.byte() % 4 == 3) {
            residual = in.values<float>(fuzz::extent(m, n, residual_stride));
            options.residual = matrix_view<const float>(residual.data(), m, n, residual_stride);
        }
        static thread_pool threads(3);
        const std::uint8_t executor = in.byte() % 8;
        if (executor == 6) options.executor = pool;
        if (executor == 7) options.executor = threads;
        if (in.byte() % 2 != 0) blocks = {in.up_to(20), in.up_to(100), 64 * in.up_to(3), 64 * in.up_to(5)};
    }
    problem(const problem&) = delete;
    problem& operator=(const problem&) = delete;

    template <class T>
    std::vector<T> c(fuzz::input& in) const {
        return in.values<T>(fuzz::extent(m, n, c_stride));
    }

    /// C, given the sums, the tensor scales of A's and B's rows, and what C holds before.
    template <class T, class Sum, class AScale, class BScale>
    std::vector<T> wanted(std::vector<T> c, const Sum& sum, const AScale& a_scale, const BScale& b_scale) const {
        const arch::fp_guard guard;
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                T& element = c[i * c_stride + j];
                const float acc = abs_bits(options.alpha) != 0 ? sum(i, j) : 0.0F;
                float y = detail::reference_output(acc, a_scale(i), b_scale(j), options, j, fuzz::widened(element));
                y = activate(options.activation, y);
                if (options.function) y = -y;
                if (!options.residual.empty()) y = y + options.residual(i, j);
                element = fuzz::narrowed<T>(is_nan(y) ? quiet_nan : y);
            }
        }
        return c;
    }
};

template <class A, class B, class T>
std::vector<T> contract(const problem& p, const quantized_matrix<A>& a, const quantized_matrix<B>& b,
                        const std::vector<T>& c) {
    return p.wanted(
        c, [&](std::size_t i, std::size_t j) { return detail::reference_sum(a, i, b, j); },
        [&](std::size_t i) { return a.tensor_scale(i); }, [&](std::size_t j) { return b.tensor_scale(j); });
}

/// Calls product(C, plan) on each instruction set.
template <class T, class Product>
void expect(const problem& p, const std::vector<T>& c, const std::vector<T>& wanted, std::string_view what,
            const Product& product) {
    for (const isa which : arch::available()) {
        std::vector<T> got = c;
        product(matrix_view<T>(got.data(), p.m, p.n, p.c_stride), detail::gemm_plan{which, p.blocks});
        fuzz::require_same(got, wanted, what, which);
    }
}

/// Weights of any bytes, or of numbers that were quantised.
template <class F>
quantized_matrix<F> operand(fuzz::input& in, std::size_t rows, std::size_t cols) {
    if (in.byte() % 2 != 0) return in.blocks<F>(rows, cols);
    const std::vector<float> values = in.values<float>(rows * cols);
    const quantize_options<F> options{{}, in.tensor_scale(), {}};
    return detail::quantize(matrix_view<const float>(values.data(), rows, cols), options,
                            fuzz::codec_of<F>(isa::scalar));
}

/// A as blocks, C of type T.
template <class A, class B, class T>
void check_blocks(fuzz::input& in) {
    const problem p(in);
    const quantized_matrix<A> a = operand<A>(in, p.m, p.k);
    const quantized_matrix<B> b = operand<B>(in, p.n, p.k);
    const std::vector<T> c = p.c<T>(in);
    const packed_matrix<B> packed = pack(b);
    expect(p, c, contract(p, a, b, c), "blocks x packed",
           [&](const matrix_view<T>& out, const detail::gemm_plan& plan) {
               detail::gemm_blocks(a, packed, out, p.options, plan);
           });
}

/// A as numbers: quantised on the way into a float C, then into blocks of format F.
template <class A, class B, class F>
void check_numbers(fuzz::input& in) {
    const problem p(in);
    const std::vector<float> x = in.values<float>(fuzz::extent(p.m, p.k, p.a_stride));
    const matrix_view<const float> view(x.data(), p.m, p.k, p.a_stride);
    const typename A::options format = in.options<A>();
    quantize_options<A> by_row;
    by_row.format = format;
    by_row.tensor_scale.kind = tensor_scale_kind::row;
    const quantized_matrix<A> a = detail::quantize(view, by_row, fuzz::codec_of<A>(isa::scalar));
    const quantized_matrix<B> b = operand<B>(in, p.n, p.k);
    const packed_matrix<B> packed = pack(b);
    const std::vector<float> c = p.c<float>(in);
    const std::vector<float> wanted = contract(p, a, b, c);
    const bool from_packed = in.byte() % 2 != 0;
    expect(p, c, wanted, "numbers", [&](const matrix_view<float>& out, const detail::gemm_plan& plan) {
        if (from_packed) {
            detail::gemm_float_rows<A>(view, packed, out, p.options, format, plan);
        } else {
            detail::gemm_float_rows<A>(view, b, out, p.options, format, plan);
        }
    });

    if (abs_bits(p.options.beta) != 0) return;
    const quantize_options<F> output{in.options<F>(), {tensor_scale_kind::given, in.positive()}, {}};
    const auto q = detail::quantize(matrix_view<const float>(wanted.data(), p.m, p.n, p.c_stride), output,
                                    fuzz::codec_of<F>(isa::scalar));
    for (const isa which : arch::available()) {
        const auto got = detail::gemm_quantized_float_rows<F, A>(
            view, packed, p.options, {output.format, output.tensor_scale.value}, format, {which, p.blocks});
        fuzz::require_same(got, q, "gemm_quantized", which);
    }
}

/// A of type S as it is.
template <class B, class S>
void check_weight_only(fuzz::input& in) {
    const problem p(in);
    const std::vector<S> x = in.values<S>(fuzz::extent(p.m, p.k, p.a_stride));
    const matrix_view<const S> view(x.data(), p.m, p.k, p.a_stride);
    const quantized_matrix<B> b = operand<B>(in, p.n, p.k);
    const std::vector<float> c = p.c<float>(in);
    std::vector<std::vector<float>> rows;
    for (std::size_t j = 0; j < p.n; ++j) rows.push_back(detail::decoded_row(b, j));
    const std::vector<float> wanted = p.wanted(
        c,
        [&](std::size_t i, std::size_t j) {
            float acc = 0;
            for (std::size_t e = 0; e < p.k; ++e) acc = std::fma(fuzz::widened(view(i, e)), rows[j][e], acc);
            return acc;
        },
        [](std::size_t) { return 1.0F; }, [&](std::size_t j) { return b.tensor_scale(j); });
    const packed_matrix<B> packed = pack(b);
    expect(p, c, wanted, "gemm_weight_only", [&](const matrix_view<float>& out, const detail::gemm_plan& plan) {
        detail::gemm_plain_rows(view, packed, out, p.options, plan);
    });
}

using check_function = void (*)(fuzz::input&);

constexpr check_function checks[] = {
    &check_blocks<hif4, hif4, float>,
    &check_blocks<mxfp4, mxfp4, bfloat16>,
    &check_blocks<m2xfp_activation, m2xfp_weight, float>,
    &check_blocks<nvfp4, hif4, float16>,
    &check_blocks<mxint8, nvfp4, float>,
    &check_blocks<int8_block, mxint8, float>,
    &check_blocks<hif8, mxfp4, bfloat16>,
    &check_numbers<nvfp4, hif4, nvfp4>,
    &check_numbers<mxint8, nvfp4, hif4>,
    &check_numbers<int8_block, mxint8, int8_block>,
    &check_numbers<hif8, hif8, mxfp4>,
    &check_weight_only<mxfp4, float>,
    &check_weight_only<hif8, bfloat16>,
    &check_weight_only<int8_block, float16>,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    checks[in.byte() % std::size(checks)](in);
    return 0;
}
