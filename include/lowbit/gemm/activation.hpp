// SPDX-License-Identifier: Apache-2.0
/// The activation functions of a layer, by the library's own formulas.
///
///     relu        x where x > 0, else +0
///     gelu        x Phi(x) = x / 2 (1 + erf(x / sqrt 2))
///     gelu_tanh   x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
///     silu        x / (1 + exp(-x))
///
/// Exact: relu is. The others are fixed sequences of double-precision fma, product and one division, rounded once to
/// float: every instruction set, compiler and thread gives the same bits, and no function of the C library but fma is
/// involved. Error against the true value, over all 2^32 floats (ulp of the result, subnormal results included):
///
///     gelu 0.5001     gelu_tanh 0.5001     silu 0.5001
///
/// That is: the nearest float but for results that lie within 1/10000 ulp of a midpoint.
///
/// Special. NaN gives 0x7FC00000. +0 gives +0, -0 gives -0 (relu: +0). +Inf gives +Inf. -Inf gives the limit -0
/// (relu: +0), as do all negative numbers whose result underflows; subnormal results are rounded, not flushed.
///
/// Source: Hendrycks and Gimpel, arXiv 1606.08415 (gelu and its tanh form); Elfwing et al., arXiv 1702.03118 (silu).
#pragma once

#include <lowbit/kernel/activation.hpp>

namespace lowbit {

/// The activation `kind` of the value x, as matrix products apply it.
/// Special: as the top of this header says. Needs the default floating-point environment for subnormal values.
[[nodiscard]] inline float activate(activation kind, float x) noexcept {
    kernel::LOWBIT_ISA_NAMESPACE(scalar)::activate_values(kind, &x, 1);
    return x;
}

}  // namespace lowbit
