// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of the matrix product over an instruction set's atoms; included once in each target region.
//
// Atoms that the including header has defined (W = unit_columns, the columns of one register):
//     tile_rows<Group>, tile_columns, unit_columns         constants; group 1: the float kernel
//     words, floats, lanes                                 register types
//     words  start_words(const std::int32_t*)              broadcast of a word; floats splat_bits: of a float by its
//     bits lanes  load_lanes(const std::uint8_t*), splat_lanes(const std::int8_t*)      W x 4 lanes; the same 4 for
//     each column words  dot4<Sum>(words, lanes b, lanes a)         adds products of 4 floats sums<Narrow>(words)
//     the float 12582912 + dot floats dot_of(floats)                                dot, from that floats load, splat,
//     mul, madd(a, b, c) = fma; void store void   settle(words (&)[N])                          keeps a compiler from
//     reordering across it, or nothing
// and, for kernels that join scales:
//     words  join_base<Join>(const float*)                 of B's scales;  words join_row<Join>(scale, offset) of A's
//     floats join<Join>(words base, words row)             the product of the scales
//     floats unmagic(words)                                float(dot)
// Loops with constant bounds must be unrolled completely: an accumulator that is indexed by a variable lives in memory.

/// Rows of a tile of a pair's kernels. Joining scales takes registers of its own: 2 x 6 x 2 accumulators leave them.
template <std::size_t Group, pair_kind Kind>
inline constexpr std::size_t rows_of = Kind.join == scale_join::none ? tile_rows<Group> : 6;

/// Whether row r of a joined kernel multiplies its scales after all: where groups are short, look-ups (which share a
/// port with the dot product) and multiplications finish soonest together. (Zen 5, fraction of vpdpbusd's peak, 0 to 3
/// and 6 of 6 rows: 0.685, 0.697, 0.707, 0.705, 0.659; group 64: 0.877, 0.873, 0.865, 0.864, 0.847.)
template <std::size_t Group, pair_kind Kind>
constexpr bool multiplies(std::size_t r) noexcept {
    return Kind.join == scale_join::table && Group == 16 && r % 3 == 0;
}

/// float(dot) * scale of a group's sums.
template <pair_kind Kind>
LOWBIT_ALWAYS_INLINE floats scaled_sums(words x, floats scale, floats offset) noexcept {
    const floats sum = sums<Kind.sum == pair_sum::narrow>(x);
    if constexpr (Kind.magic) return madd(sum, scale, offset);
    return mul(dot_of(sum), scale);
}

/// acc += A B over `groups` groups.
template <std::size_t Group, pair_kind Kind>
inline void integer_tile_kernel(const integer_tile& t) noexcept {
    constexpr std::size_t rows = rows_of<Group, Kind>, units = tile_columns / unit_columns;
    constexpr std::size_t steps = Group / 4 < 4 ? Group / 4 : 4;  // unrolled; more only fills the instruction cache
    const std::int8_t* a = t.a;
    const std::uint8_t* b = t.b;
    const std::int32_t* a_scales = t.a_scales;
    const float* b_scales = t.b_scales;
    floats c[rows * units];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
        for (std::size_t u = 0; u < units; ++u) c[r * units + u] = load(t.acc + panel_columns * r + unit_columns * u);
    }
    for (std::size_t g = 0; g < t.groups; ++g) {
        words x[rows * units];
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
            for (std::size_t u = 0; u < units; ++u) x[r * units + u] = start_words(a_scales + 2 * rows + r);
        }
#pragma GCC unroll 1
        for (std::size_t s = 0; s < Group / 4; s += steps) {
#pragma GCC unroll 4
            for (std::size_t i = 0; i < steps; ++i) {
                lanes bv[units];
#pragma GCC unroll 8
                for (std::size_t u = 0; u < units; ++u)
                    bv[u] = load_lanes(b + 4 * panel_columns * i + 4 * unit_columns * u);
#pragma GCC unroll 8
                for (std::size_t r = 0; r < rows; ++r) {
                    const lanes av = splat_lanes(a + 4 * rows * i + 4 * r);
#pragma GCC unroll 8
                    for (std::size_t u = 0; u < units; ++u) {
                        x[r * units + u] = dot4<Kind.sum>(x[r * units + u], bv[u], av);
                    }
                    settle(x);
                }
            }
            a += 4 * rows * steps;
            b += 4 * panel_columns * steps;
        }
        if constexpr (Kind.join == scale_join::none) {
            floats sb[units];
#pragma GCC unroll 8
            for (std::size_t u = 0; u < units; ++u) sb[u] = load(b_scales + unit_columns * u);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < rows; ++r) {
                const floats sa = splat_bits(a_scales + r), offset = splat_bits(a_scales + rows + r);
#pragma GCC unroll 8
                for (std::size_t u = 0; u < units; ++u) {
                    c[r * units + u] = madd(scaled_sums<Kind>(x[r * units + u], sa, offset), sb[u], c[r * units + u]);
                }
            }
        } else {
            words base[units];
#pragma GCC unroll 8
            for (std::size_t u = 0; u < units; ++u) base[u] = join_base<Kind.join>(b_scales + unit_columns * u);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < rows; ++r) {
                if (multiplies<Group, Kind>(r)) {
                    const floats sa = splat_bits(a_scales + r);
#pragma GCC unroll 8
                    for (std::size_t u = 0; u < units; ++u) {
                        c[r * units + u] = madd(unmagic(x[r * units + u]), mul(sa, load(b_scales + unit_columns * u)),
                                                c[r * units + u]);
                    }
                    continue;
                }
                const words row = join_row<Kind.join>(a_scales + r, a_scales + rows + r);
#pragma GCC unroll 8
                for (std::size_t u = 0; u < units; ++u) {
                    c[r * units + u] = madd(unmagic(x[r * units + u]), join<Kind.join>(base[u], row), c[r * units + u]);
                }
            }
        }
        a_scales += 3 * rows;
        b_scales += panel_columns;
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
        for (std::size_t u = 0; u < units; ++u) store(t.acc + panel_columns * r + unit_columns * u, c[r * units + u]);
    }
}

/// The same by conversion and multiplication, one register at a time: for scales out of the magic start's range.
template <std::size_t Group, pair_kind Kind>
inline void plain_tile_kernel(const integer_tile& t) noexcept {
    constexpr std::size_t rows = rows_of<Group, Kind>;
    for (std::size_t g = 0; g < t.groups; ++g) {
        const std::int32_t* const a_scales = t.a_scales + 3 * rows * g;
#pragma GCC unroll 1
        for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 1
            for (std::size_t c = 0; c < tile_columns; c += unit_columns) {
                const std::uint8_t* const b = t.b + panel_columns * Group * g + 4 * c;
                words x = start_words(a_scales + 2 * rows + r);
#pragma GCC unroll 1
                for (std::size_t k = 0; k < Group; k += 4) {
                    x = dot4<Kind.sum>(x, load_lanes(b + panel_columns * k),
                                       splat_lanes(t.a + rows * (Group * g + k) + 4 * r));
                }
                float* const out = t.acc + panel_columns * r + c;
                const floats scaled =
                    scaled_sums<pair_kind{Kind.sum, false, scale_join::none}>(x, splat_bits(a_scales + r), floats{});
                store(out, madd(scaled, load(t.b_scales + panel_columns * g + c), load(out)));
            }
        }
    }
}

/// Float lanes: one fma a value of k, in ascending order, sums in registers.
inline void float_tile_kernel(const float_tile& t) noexcept {
    constexpr std::size_t rows = tile_rows<1>, units = tile_columns / unit_columns;
    const float zero = 0.0F;
    const floats start = splat(&zero);
    floats x[rows * units];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
        for (std::size_t u = 0; u < units; ++u) x[r * units + u] = start;
    }
    if (!t.fresh) {
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
            for (std::size_t u = 0; u < units; ++u) x[r * units + u] = load(t.acc + t.acc_step * r + unit_columns * u);
        }
    }
    const float* a = t.a;
    const float* b = t.b;
#pragma GCC unroll 1
    for (std::size_t k = 0; k < t.depth; ++k) {
        floats bv[units];
#pragma GCC unroll 8
        for (std::size_t u = 0; u < units; ++u) bv[u] = load(b + unit_columns * u);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
            const floats av = splat(a + r);
#pragma GCC unroll 8
            for (std::size_t u = 0; u < units; ++u) x[r * units + u] = madd(av, bv[u], x[r * units + u]);
        }
        // B comes from the second cache, once for each tile (Zen 5: 0.85 -> 0.87 of the peak of fma).
        for (std::size_t i = 0; i < tile_columns; i += 16) __builtin_prefetch(b + 16 * panel_columns + i);
        a += rows;
        b += panel_columns;
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
        for (std::size_t u = 0; u < units; ++u) store(t.acc + t.acc_step * r + unit_columns * u, x[r * units + u]);
    }
}

/// y = fma((a_scale * b_scale) * alpha, acc, bias or -0), then fma(beta, c, y); see kernel/gemm_abi.hpp.
inline void output_full(const output_segment& s) noexcept {
    const floats a_scale = splat(&s.a_scale), alpha = splat(&s.alpha), beta = splat(&s.beta);
    const bool reads_c = (std::bit_cast<std::uint32_t>(s.beta) & 0x7FFFFFFFU) != 0;
    const float minus_zero = -0.0F;
    for (std::size_t j = 0; j < panel_columns; j += unit_columns) {
        const floats scale = mul(keep(mul(a_scale, load(s.b_scale + j))), alpha);
        const floats start = s.bias != nullptr ? load(s.bias + j) : splat(&minus_zero);
        floats y = madd(keep(scale), load(s.acc + j), start);
        if (reads_c) y = madd(beta, load(s.c + j), y);
        store(s.out + j, canonical(y));
    }
}

inline void output_segment_kernel(const output_segment& s) noexcept {
    if (s.count == panel_columns) {
        output_full(s);
        return;
    }
    alignas(64) float b_scale[panel_columns] = {}, bias[panel_columns] = {}, c[panel_columns] = {}, out[panel_columns];
    const std::size_t size = s.count * sizeof(float);
    output_segment whole = s;
    std::memcpy(b_scale, s.b_scale, size);
    whole.b_scale = b_scale;
    if (s.bias != nullptr) {
        std::memcpy(bias, s.bias, size);
        whole.bias = bias;
    }
    if ((std::bit_cast<std::uint32_t>(s.beta) & 0x7FFFFFFFU) != 0) {
        std::memcpy(c, s.c, size);
        whole.c = c;
    }
    whole.out = out;
    output_full(whole);
    std::memcpy(s.out, out, size);
}
