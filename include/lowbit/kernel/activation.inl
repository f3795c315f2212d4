// SPDX-License-Identifier: Apache-2.0
// The activation formulas, written once over the double-precision atoms of an instruction set: included inside each
// region, after a struct of atoms (see kernel/activation.hpp) has been defined there.
//
// Each formula takes a float widened to double and returns a double whose rounding to float is the result. Only fma,
// product, one division, minimum and selection occur, in one order: scalar and vector code give the same bits. No
// rounded product feeds an addition.

/// exp(y) for -1022 * ln 2 < y <= 0. Relative error below 2^-40.
template <class Atoms>
inline typename Atoms::wide exponential(typename Atoms::wide y) noexcept {
    using constants = activation_constants;
    // k = round(y / ln 2) sits in the low bits of the sum with 1.5 * 2^52
    const auto magic = Atoms::splat(constants::magic);
    const auto shifted = Atoms::exactly(Atoms::fused(y, Atoms::splat(constants::inverse_ln2), magic));
    const auto f = Atoms::fused(Atoms::subtract(shifted, magic), Atoms::splat(-constants::ln2), y);
    auto p = Atoms::splat(constants::exponential[7]);
    for (int i = 6; i >= 0; --i) p = Atoms::fused(p, f, Atoms::splat(constants::exponential[i]));
    p = Atoms::fused(p, f, Atoms::splat(1.0));
    return Atoms::multiply(p, Atoms::power_of_two(shifted));
}

/// x * sigmoid(y) where y has the sign of x and |y| = `magnitude`, at most 256; t = min(|x|, 1024).
template <class Atoms>
inline typename Atoms::wide times_sigmoid(typename Atoms::wide x, typename Atoms::wide t,
                                          typename Atoms::wide magnitude) noexcept {
    const auto e = exponential<Atoms>(Atoms::negate(magnitude));
    const auto denominator = Atoms::fused(e, Atoms::splat(1.0), Atoms::splat(1.0));
    const auto numerator = Atoms::if_negative(x, Atoms::multiply(Atoms::negate(t), e), x);
    return Atoms::divide(numerator, denominator);
}

/// x / (1 + exp(-x))
template <class Atoms>
inline typename Atoms::wide silu(typename Atoms::wide x) noexcept {
    const auto t = Atoms::minimum(Atoms::magnitude(x), Atoms::splat(1024.0));
    return times_sigmoid<Atoms>(x, t, Atoms::minimum(t, Atoms::splat(256.0)));
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) = x * sigmoid(2 sqrt(2 / pi) * (x + 0.044715 x^3))
template <class Atoms>
inline typename Atoms::wide gelu_tanh(typename Atoms::wide x) noexcept {
    using constants = activation_constants;
    const auto t = Atoms::minimum(Atoms::magnitude(x), Atoms::splat(1024.0));
    const auto slope =
        Atoms::fused(Atoms::multiply(t, t), Atoms::splat(constants::tanh_cubic), Atoms::splat(constants::tanh_linear));
    return times_sigmoid<Atoms>(x, t, Atoms::minimum(Atoms::multiply(t, slope), Atoms::splat(256.0)));
}

/// x * Phi(x), Phi the normal distribution: with t = |x|, q = Phi(-t) = exp(-t^2 / 2) * P(t) / Q(t), it is x - t q for
/// positive x and -t q for negative x.
template <class Atoms>
inline typename Atoms::wide gelu(typename Atoms::wide x) noexcept {
    using constants = activation_constants;
    const auto t = Atoms::minimum(Atoms::magnitude(x), Atoms::splat(constants::gelu_limit));
    auto p = Atoms::splat(constants::mills_p[6]);
    for (int i = 5; i >= 0; --i) p = Atoms::fused(p, t, Atoms::splat(constants::mills_p[i]));
    auto q = Atoms::splat(constants::mills_q[6]);
    for (int i = 5; i >= 0; --i) q = Atoms::fused(q, t, Atoms::splat(constants::mills_q[i]));
    q = Atoms::fused(q, t, Atoms::splat(1.0));
    const auto half_square = Atoms::multiply(Atoms::multiply(t, t), Atoms::splat(-0.5));  // exact: 48 bits
    const auto tail = Atoms::divide(Atoms::multiply(exponential<Atoms>(half_square), p), q);
    return Atoms::fused(Atoms::negate(t), tail, Atoms::if_negative(x, Atoms::splat(-0.0), x));
}

template <activation Kind, class Atoms>
inline typename Atoms::wide formula(typename Atoms::wide x) noexcept {
    if constexpr (Kind == activation::relu) {
        return Atoms::if_negative(x, Atoms::splat(0.0), x);
    } else if constexpr (Kind == activation::gelu) {
        return gelu<Atoms>(x);
    } else if constexpr (Kind == activation::gelu_tanh) {
        return gelu_tanh<Atoms>(x);
    } else if constexpr (Kind == activation::silu) {
        return silu<Atoms>(x);
    } else {
        return x;
    }
}

/// The activation of `count` values in place, Atoms::width at a time; NaN gives 0x7FC00000.
template <activation Kind, class Atoms>
inline void activate_each(float* values, std::size_t count) noexcept {
    constexpr std::size_t lanes = Atoms::width;
    std::size_t i = 0;
    for (; count - i >= lanes; i += lanes) {
        const auto x = Atoms::load(values + i);
        Atoms::store(values + i, formula<Kind, Atoms>(x), x);
    }
    if (i < count) {
        float rest[lanes] = {};
        for (std::size_t j = 0; i + j < count; ++j) rest[j] = values[i + j];
        const auto x = Atoms::load(rest);
        Atoms::store(rest, formula<Kind, Atoms>(x), x);
        for (std::size_t j = 0; i + j < count; ++j) values[i + j] = rest[j];
    }
}

inline void activate_values(activation kind, float* values, std::size_t count) noexcept {
    switch (kind) {
        case activation::none: return activate_each<activation::none, activation_atoms>(values, count);
        case activation::relu: return activate_each<activation::relu, activation_atoms>(values, count);
        case activation::gelu: return activate_each<activation::gelu, activation_atoms>(values, count);
        case activation::gelu_tanh: return activate_each<activation::gelu_tanh, activation_atoms>(values, count);
        case activation::silu: return activate_each<activation::silu, activation_atoms>(values, count);
    }
}
