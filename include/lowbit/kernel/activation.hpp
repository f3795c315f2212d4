// SPDX-License-Identifier: Apache-2.0
// Activation functions as kernels see them: their names, the constants of their formulas, and the scalar row.
//
// The formulas (activation.inl) are compiled for each instruction set over a struct of atoms on doubles. Working in
// double makes every step's error irrelevant (2^-40 against the 2^-25 of the last rounding), squares of floats exact
// and underflow a matter of that one rounding, so that the formulas need no extended-precision tricks that -ffast-math
// or contraction could undo. Per result that is some 30 operations, nothing against the K multiplications before them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lowbit/arch/target.hpp>
#include <lowbit/core/bits.hpp>

namespace lowbit {

/// An activation function that a matrix product applies to its result (formulas and errors: gemm/activation.hpp).
enum class activation : std::uint8_t {
    none,       ///< x itself
    relu,       ///< max(x, 0)
    gelu,       ///< x Phi(x), the Gaussian distribution function exact
    gelu_tanh,  ///< x Phi(x), approximated by tanh
    silu,       ///< x / (1 + exp(-x))
};

namespace kernel {

/// Constants of activation.inl.
struct activation_constants {
    static constexpr double magic = 0x1.8p52;
    static constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
    static constexpr double ln2 = 0x1.62e42fefa39efp-1;  // |k| <= 370: k * (error of ln2) < 2^-46
    /// exp(f) = 1 + f (c0 + f (c1 + ...)) for |f| <= ln(2) / 2, minimax: relative error 2^-40.1.
    static constexpr double exponential[8] = {0x1.ffffffffdabf1p-1,  0x1.0000000064cd7p-1, 0x1.5555559c58462p-3,
                                              0x1.55555430824c7p-5,  0x1.111086626c03ep-7, 0x1.6c188ab0ec3f1p-10,
                                              0x1.a1a42103ad99dp-13, 0x1.9ef34f3209497p-16};
    /// Phi(-t) exp(t^2 / 2) = P(t) / (1 + t Q(t)) for 0 <= t <= 14.6, minimax: relative error 2^-39. All coefficients
    /// are positive: no cancellation.
    static constexpr double mills_p[7] = {0x1.0000000000000p-1, 0x1.24843ede732e2p-1, 0x1.487bcc39cede5p-2,
                                          0x1.bc01b1f5c756ep-4, 0x1.790d3cca140a8p-6, 0x1.7e4cf5e1713fap-9,
                                          0x1.6fd2d75ebf471p-13};
    static constexpr double mills_q[7] = {0x1.f0c6687daa780p+0, 0x1.b09c653ff3714p+0, 0x1.b8beff203a1aap-1,
                                          0x1.1dbb0e985f628p-2, 0x1.dc2a0ebc1c48cp-5, 0x1.df24a29a8a916p-8,
                                          0x1.ccff9a8d8dab9p-12};
    static constexpr double gelu_limit = 14.5;                   // 14.5 Phi(-14.5) = 9e-47 rounds to 0
    static constexpr double tanh_linear = 0x1.9884533d43651p+0;  // 2 sqrt(2 / pi)
    static constexpr double tanh_cubic = 0x1.2444f2a4d8b4bp-4;   // 0.044715 * 2 sqrt(2 / pi)
};

}  // namespace kernel
}  // namespace lowbit

namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar) {

    /// One double as a vector; what the other instruction sets define likewise.
    struct activation_atoms {
        using wide = double;
        static constexpr std::size_t width = 1;
        static wide load(const float* p) noexcept { return static_cast<double>(*p); }
        /// y rounded to float; 0x7FC00000 where the source x was NaN.
        static void store(float* p, wide y, wide x) noexcept { *p = is_nan(x) ? quiet_nan : static_cast<float>(y); }
        static wide splat(double x) noexcept { return x; }
        static wide fused(wide a, wide b, wide c) noexcept { return fused_multiply_add(a, b, c); }
        static wide multiply(wide a, wide b) noexcept { return exactly(a * b); }
        static wide divide(wide a, wide b) noexcept { return exactly(a) / exactly(b); }
        static wide subtract(wide a, wide b) noexcept { return a - b; }
        static wide exactly(wide a) noexcept { return lowbit::exactly(a); }
        static wide negate(wide a) noexcept { return double_from_bits(to_bits(a) ^ std::uint64_t{1} << 63U); }
        static wide magnitude(wide a) noexcept { return double_from_bits(abs_bits(a)); }
        /// The smaller one of non-negative numbers; b if a is NaN.
        static wide minimum(wide a, wide b) noexcept { return to_bits(a) < to_bits(b) ? a : b; }
        /// a where x has its sign bit set, else b.
        static wide if_negative(wide x, wide a, wide b) noexcept { return sign_bit(x) ? a : b; }
        /// 2^k of the integer k in the low bits of a sum with 1.5 * 2^52.
        static wide power_of_two(wide shifted) noexcept { return double_from_bits((to_bits(shifted) + 1023U) << 52U); }
    };

#include <lowbit/kernel/activation.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)
