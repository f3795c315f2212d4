// SPDX-License-Identifier: Apache-2.0
/// The matrix product C = A B^T of block formats, with the same bits on every instruction set and any number of
/// threads.
///
/// A is M x K, B is N x K (weights: one row an output), C is M x N; A and B are quantised along K. In ceil(K / group)
/// groups, group = the smaller of the two blocks, in ascending order:
///
///     acc = fma(float(dot) * scale_a, scale_b, acc)      dot: exact integer dot product of the lanes; acc starts at +0
///     s   = (tensor_scale_a * tensor_scale_b) * alpha    1 where a format has none; with row scales that row's
///     t   = bias[n], or -0 where there is none;  y = fma(s, acc, t);  y = fma(beta, C, y) unless beta == 0
///     y = activation(y);  the caller's function;  y = y + residual       where options ask for them
///     C   = y rounded to C's type; every NaN is 0x7FC00000
///
/// Where either format is hif8, both sides are decoded to float32 and acc = fma(a, b, acc) for each k in ascending
/// order. No product is rounded before it is added and no sum is split: nothing is left for a compiler, a tile size or
/// a thread to choose. gemm/reference.hpp is this contract in plain loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/convert/check_options.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/gemm/blocking.hpp>
#include <lowbit/gemm/engine_float.hpp>
#include <lowbit/gemm/engine_integer.hpp>
#include <lowbit/gemm/engine_scaled.hpp>
#include <lowbit/gemm/epilogue.hpp>
#include <lowbit/gemm/few_rows.hpp>
#include <lowbit/gemm/loops.hpp>
#include <lowbit/gemm/options.hpp>
#include <lowbit/gemm/sources.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>
#include <lowbit/pack/pack.hpp>

namespace lowbit {

namespace detail {

/// Which kernels and blocks to use; tests force them, everybody else takes the defaults.
struct gemm_plan {
    isa which;
    blocking blocks = {};
    bool join_scales = arch::adds_beside_products();
};

/// What must hold of any product's shapes and options; `result`: what C is called, `name`: of the public function.
inline void check_product(std::size_t a_cols, std::size_t b_rows, std::size_t b_cols, const gemm_options& options,
                          const char* result, const char* name) {
    if (a_cols != b_cols) {
        fail(message(name, ": cols ", a_cols, " of input 'a' do not match cols ", b_cols, " of input 'b'"));
    }
    const std::size_t bias = options.bias.size();
    if (bias != 0 && bias != b_rows) {
        fail(message(name, ": option 'bias' has ", bias, " values, but ", result, " has cols ", b_rows));
    }
    check_not_null(name, "option 'bias'", options.bias.data(), bias);
    check_enumerated(
        name, "", {"activation", static_cast<unsigned>(options.activation), static_cast<unsigned>(activation::silu)});
}

inline void check_output_shape(std::size_t a_rows, std::size_t b_rows, std::size_t c_rows, std::size_t c_cols,
                               const char* name) {
    if (a_rows != c_rows) {
        fail(message(name, ": rows ", c_rows, " of output 'c' do not match rows ", a_rows, " of input 'a'"));
    }
    if (b_rows != c_cols) {
        fail(message(name, ": cols ", c_cols, " of output 'c' do not match rows ", b_rows, " of input 'b'"));
    }
}

inline void check_no_overlap(const byte_rows& c, const byte_rows& input, const char* what, const char* name) {
    if (overlaps(c, input)) {
        fail(message(name, ": output 'c' (", c.rows, " rows of ", c.width, " bytes) overlaps ", what, " (", input.rows,
                     " rows of ", input.width, " bytes)"));
    }
}

/// Residual: C's shape or none.
inline void check_residual_shape(std::size_t rows, std::size_t cols, const matrix_view<const float>& residual,
                                 const char* result, const char* name) {
    if (residual.empty()) return;
    if (residual.rows() != rows) {
        fail(message(name, ": rows ", residual.rows(), " of option 'residual' do not match rows ", rows, " of ",
                     result));
    }
    if (residual.cols() != cols) {
        fail(message(name, ": cols ", residual.cols(), " of option 'residual' do not match cols ", cols, " of ",
                     result));
    }
}

/// It may be C itself, each element is read before it is written.
template <class T>
void check_residual(const matrix_view<T>& c, const matrix_view<const float>& residual, const char* name) {
    check_residual_shape(c.rows(), c.cols(), residual, "output 'c'", name);
    if (residual.empty()) return;
    if constexpr (std::is_same_v<T, float>) {
        if (residual.data() == c.data() && residual.stride() == c.stride()) return;
    }
    check_no_overlap(byte_rows_of(c), byte_rows_of(residual), "option 'residual'", name);
}

template <class F>
byte_rows byte_rows_of(const quantized_matrix<F>& q) noexcept {
    return byte_rows_of(q.bytes().data(), q.bytes().size());
}
template <class F>
byte_rows byte_rows_of(const packed_matrix<F>& packed) noexcept {
    return byte_rows_of(packed.bytes().data(), packed.bytes().size());
}

template <class F>
void check_weights(const packed_matrix<F>& packed, const char* name) {
    check_layout(name, "b", packed.layout());
}
template <class F>
void check_weights(const quantized_matrix<F>&, const char*) noexcept {}

/// All that must hold of a product into a matrix of numbers; `name`: of the public function.
template <class A, class B, class T>
void check_arguments(const A& a, const B& b, const matrix_view<T>& c, const gemm_options& options, const char* name) {
    check_product(a.cols(), b.rows(), b.cols(), options, "output 'c'", name);
    check_output_shape(a.rows(), b.rows(), c.rows(), c.cols(), name);
    check_weights(b, name);
    const byte_rows out = byte_rows_of(c);
    check_no_overlap(out, byte_rows_of(a), "input 'a'", name);
    check_no_overlap(out, byte_rows_of(b), "input 'b'", name);
    check_no_overlap(out, byte_rows_of(options.bias.data(), options.bias.size_bytes()), "option 'bias'", name);
    check_residual(c, options.residual, name);
}

inline namespace LOWBIT_BASELINE_NAMESPACE {

template <class F>
packed_panels<F> panels_of(const packed_matrix<F>& b) noexcept {
    return packed_panels<F>(b);
}
template <class F>
quantized_panels<F> panels_of(const quantized_matrix<F>& b) noexcept {
    return quantized_panels<F>(b);
}

/// The product once the arguments are known to be right.
template <class ASource, class BSource, class C>
void multiply(const ASource& a, const BSource& b, const C& c, std::size_t k, const gemm_options& options,
              const gemm_plan& plan) {
    using epilogue = typename epilogue_of<C>::type;
    using fa = typename ASource::format;
    using fb = typename BSource::format;
    const product_shape shape{c.rows(), c.cols(), k};
    const executor& executor = options.executor;
    if constexpr (lane_traits<fa>::integer && lane_traits<fb>::integer) {
        // Few rows fill A up to whole blocks of B, with groups that add nothing unless a scale of B is infinite.
        constexpr bool fills = byte_scales<fb> || common_group<fa, fb> == fb::block_size;
        if constexpr (std::is_same_v<BSource, packed_panels<fb>> && fills) {
            if (shape.m <= kernel::most_few_rows && plan.blocks == blocking{}) {
                const kernel::few_rows_product kernels = kernel::few_rows_kernels<fa, fb>(plan.which, shape.m);
                const epilogue finish(c, options, *kernels.output, plan.which);
                if (run_few_rows(a, b, kernels, finish, shape, executor)) return;
            }
        }
        const auto run = [&](const auto& engine, const lane_sizes& lanes) {
            const epilogue finish(c, options, engine.output(), plan.which);
            const blocking sizes = lane_blocking(shape.m, k, lanes, engine.tile_rows(), caches(), plan.blocks);
            if (sizes.ka >= k) {
                run_resident(engine, finish, shape, sizes, executor);
            } else {
                run_sliced(engine, finish, shape, sizes, executor);
            }
        };
        const kernel::integer_product kernels = kernel::integer_kernels<fa, fb>(plan.which, plan.join_scales);
        if constexpr (kernel::scaled_lanes<fa, fb> && LOWBIT_COMPILES_AMX != 0) {
            const kernel::scaled_product scaled = kernel::scaled_kernels<fa, fb>(plan.which);
            if (scaled.kernel != nullptr) {
                run(scaled_engine<ASource, BSource>(a, b, scaled, kernels), scaled_lane_sizes(caches()));
                return;
            }
        }
        run(integer_engine<ASource, BSource>(a, b, kernels),
            integer_lane_sizes(common_group<fa, fb>, caches(), arch::adds_beside_products()));
    } else {
        if constexpr (std::is_same_v<BSource, packed_panels<fb>>) {
            if (shape.m <= kernel::most_few_float_rows && plan.blocks == blocking{}) {
                const epilogue finish(c, options, *kernel::float_kernels(plan.which).output, plan.which);
                run_few_floats(a, b, plan.which, finish, shape, executor);
                return;
            }
        }
        const float_engine<ASource, BSource> engine(a, b, plan.which);
        const epilogue finish(c, options, engine.output(), plan.which);
        constexpr bool is_float = std::is_same_v<C, matrix_view<float>>;
        const bool in_place = is_float && abs_bits(options.beta) == 0 && options.residual.empty();
        const blocking sizes = float_blocking(shape.m, shape.n, k, engine.tile_rows(), executor.concurrency(), in_place,
                                              caches(), plan.blocks);
        if constexpr (is_float) {
            if (in_place) {
                run_in_place(engine, finish, c, k, sizes, executor);
                return;
            }
        }
        run_sliced(engine, finish, shape, sizes, executor);
    }
}

/// C without a product: alpha == 0 (A and B are not read), or K == 0 (the sums are +0).
template <class ASource, class BSource, class C>
void write_without_sums(const ASource& a, const BSource& b, const C& c, const gemm_options& options,
                        const gemm_plan& plan) {
    const arch::fp_guard guard;
    const typename epilogue_of<C>::type finish(c, options, *kernel::float_kernels(plan.which).output, plan.which);
    const bool product = abs_bits(options.alpha) != 0;
    // alpha * acc = -0 adds to no t what it has not.
    alignas(64) float sums[kernel::panel_columns], scales[kernel::panel_columns];
    std::fill_n(sums, kernel::panel_columns, product || sign_bit(options.alpha) ? 0.0F : -0.0F);
    std::fill_n(scales, kernel::panel_columns, 1.0F);
    auto strip = finish.make_strip(1);
    for (std::size_t i = 0; i < c.rows(); ++i) {
        strip.first_row = i;
        for (std::size_t j = 0; j < c.cols(); j += kernel::panel_columns) {
            if (product) column_scales(b, j / kernel::panel_columns, c.cols(), scales);
            finish.write(
                sums, i, 1, j, (std::min)(kernel::panel_columns, c.cols() - j), scales,
                [&](std::size_t r) noexcept { return product ? a.tensor_scale(r) : 1.0F; }, strip);
        }
    }
}

/// The product over `k` values of K, or what remains of it where there is nothing to multiply.
template <class ASource, class B, class C>
void multiply_or_write(const ASource& a, const B& b, const C& c, std::size_t k, const gemm_options& options,
                       const gemm_plan& plan) {
    if (abs_bits(options.alpha) == 0 || k == 0) {
        write_without_sums(a, panels_of(b), c, options, plan);
    } else {
        multiply(a, panels_of(b), c, k, options, plan);
    }
}

/// Products of arguments that are known to be right; C is not empty.
template <class FA, class S, class B, class C>
void multiply_float_rows(const matrix_view<S>& a, const B& b, const C& c, const gemm_options& options,
                         const typename FA::options& format, const gemm_plan& plan) {
    using value = std::remove_const_t<S>;
    const bool reads = abs_bits(options.alpha) != 0;
    const float_rows<FA, value> source(reads ? matrix_view<const value>(a) : matrix_view<const value>(), format,
                                       options.executor, plan.which);
    multiply_or_write(source, b, c, a.cols(), options, plan);
}

template <class FA, class B, class C>
void multiply_blocks(const quantized_matrix<FA>& a, const B& b, const C& c, const gemm_options& options,
                     const gemm_plan& plan) {
    const block_rows<FA> source(a, plan.which);
    multiply_or_write(source, b, c, a.cols(), options, plan);
}

template <class FA, class S, class B, class T>
void gemm_float_rows(const matrix_view<S>& a, const B& b, const matrix_view<T>& c, const gemm_options& options,
                     const typename FA::options& format, const gemm_plan& plan) {
    check_arguments(a, b, c, options, "lowbit::gemm");
    check_format_options<FA>("lowbit::gemm", "format.", format);
    if (!c.empty()) multiply_float_rows<FA>(a, b, c, options, format, plan);
}

template <class FA, class B, class T>
void gemm_blocks(const quantized_matrix<FA>& a, const B& b, const matrix_view<T>& c, const gemm_options& options,
                 const gemm_plan& plan) {
    check_arguments(a, b, c, options, "lowbit::gemm");
    if (!c.empty()) multiply_blocks(a, b, c, options, plan);
}

}  // namespace LOWBIT_BASELINE_NAMESPACE

template <class B>
struct is_weights : std::false_type {};
template <class F>
struct is_weights<packed_matrix<F>> : std::true_type {};
template <class F>
struct is_weights<quantized_matrix<F>> : std::true_type {};

}  // namespace detail

/// What gemm takes as B: a packed_matrix, or a quantized_matrix (put in kernel order on the way, at each call).
template <class B>
concept gemm_weights = detail::is_weights<B>::value;

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// C = alpha * A B^T + bias + beta * C, A quantised on the way to the format that is named: `gemm<mxfp4>(x, p, y)`.
/// `a` is A (activations), `b` is B (weights), `c` is C; `options` name alpha, beta, bias and what follows them,
/// `format` the options of A's format.
///
/// Shape: A m x k, B n x k, C m x n, bias none or n; all may be 0. Strides are the views' own.
///
/// Exact: see the top of this header; NVFP4 activations take their tensor scale from each row by itself, so that a row
/// of C does not depend on the other rows of A.
///
/// Special: NaN and Inf poison their block, and with it the row of C; a NaN scale in B its column; others stay
/// untouched. beta == 0 does not read C; alpha == 0 reads neither A nor B; k == 0 gives sums of +0.
///
/// Errors: shapes that do not match, C overlapping an input, an option out of its range, a packed matrix of another
/// layout: thrown before C is touched. So is std::bad_alloc: all scratch is made first, unless the executor runs more
/// bodies at once than its concurrency().
///
/// Cost: about 2.5 MiB of scratch a thread at most.
template <block_format A, class S, gemm_weights B, matrix_element T>
void gemm(matrix_view<S> a, const B& b, matrix_view<T> c, const gemm_options& options = {},
          const typename A::options& format = {}) {
    detail::gemm_float_rows<A>(a, b, c, options, format, {arch::active()});
}

/// The same with A in the counterpart of B's format (activation_format_t): `gemm(x, p, y)`.
template <class S, gemm_weights B, matrix_element T>
void gemm(matrix_view<S> a, const B& b, matrix_view<T> c, const gemm_options& options = {}) {
    gemm<activation_format_t<typename B::format>>(a, b, c, options);
}

/// The same with A quantised beforehand, in any format.
template <block_format A, gemm_weights B, matrix_element T>
void gemm(const quantized_matrix<A>& a, const B& b, matrix_view<T> c, const gemm_options& options = {}) {
    detail::gemm_blocks(a, b, c, options, {arch::active()});
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit
