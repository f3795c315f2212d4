// SPDX-License-Identifier: Apache-2.0
// HiF4 rows: units of 64, an E6M2 scale over 8 and 16 one-bit exponents, S1P2 codes.

/// Nearest bfloat16, ties to even, of floats below Inf; the sign stays.
LOWBIT_ALWAYS_INLINE vf to_bfloat16(vf v) {
    const vi odd = bit_and(shift_right<16>(as_int(v)), splat(1U));
    return as_float(bit_and(add(as_int(v), add(odd, splat(0x7FFFU))), splat(0xFFFF0000U)));
}

template <>
struct row_codec<hif4> {
    static constexpr std::size_t size = hif4::block_size;
    static constexpr std::size_t tile_units = tile_size / size;
    static constexpr std::size_t groups = size / 4;

    /// From here on a scale may clamp at its greatest, so that quotients leave the range of the second pass.
    static constexpr std::uint32_t greatest_maximum = (127U + 18U) << 23;

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const bool in_bfloat16 = sink.options.rounding == hif4_rounding::ascend_a6;
        const std::size_t units = count / size;
        alignas(64) std::uint32_t maxima[tile_units * groups];           // of runs of 4
        alignas(64) std::uint32_t folded[(tile_units + width) * width];  // a unit's maxima folded into one vector
        alignas(64) std::uint32_t byte[tile_units + width];
        alignas(64) float reciprocal[tile_units + width];
        alignas(64) float factor[tile_units * groups];
        for (std::size_t unit = 0; unit < units; ++unit) {
            vi fold = splat(0U);
            LOWBIT_UNROLL
            for (std::size_t group = 0; group < groups; group += width) {
                const float* const p = source + unit * size + group * 4;
                vi m[4];
                LOWBIT_UNROLL
                for (std::size_t i = 0; i < 4; ++i) m[i] = magnitude_bits(p + i * width);
                vi largest = max_of_fours(m[0], m[1], m[2], m[3]);
                // Rounding keeps order. (NaN would carry into the sign; like Inf, it only has to stay large.)
                if (in_bfloat16) largest = as_int(to_bfloat16(as_float(minimum(largest, splat(0x7F800000U)))));
                store(maxima + unit * groups + group, largest);
                fold = maximum(fold, largest);
            }
            store(folded + unit * width, fold);
        }
        std::uint64_t left_out = 0;
        for (std::size_t first = 0; first < units; first += width) {
            vi v[width];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < width; ++i) {
                v[i] = load(folded + (first + i < units ? first + i : units - 1) * width);
            }
            const vi largest = max_of_each(v);
            left_out |= std::uint64_t{lanes_of(greater(largest, splat(greatest_maximum - 1)))} << first;
            scale(largest, byte + first, reciprocal + first);
        }
        sink.scales(byte, units);
        for (std::size_t unit = 0; unit < units; ++unit) {
            std::uint32_t coarse8 = 0, coarse16 = 0;  // one bit a run of 4 each
            const vf rec = splat(reciprocal[unit]);
            LOWBIT_UNROLL
            for (std::size_t group = 0; group < groups; group += width) {
                const std::size_t at = unit * groups + group;
                vf product = mul(as_float(load(maxima + at)), rec);
                if (in_bfloat16) product = to_bfloat16(product);
                // Products keep the order of the maxima: the larger of two is that of the run of 8.
                const vm m8 = greater(max_of_pairs(as_int(product)), splat(0x40800000U - 1));  // >= 4
                const vi bound = select(m8, splat(0x40800000U - 1), splat(0x40000000U - 1));
                const vm m16 = greater(as_int(product), bound);
                const vi exponent = add(select(m8, splat(1U), splat(0U)), select(m16, splat(1U), splat(0U)));
                store(factor + at, as_float(sub(as_int(rec), shift_left<23>(exponent))));
                coarse8 |= lanes_of(m8) << group;
                coarse16 |= lanes_of(m16) << group;
            }
            sink.exponents(unit, coarse8, coarse16);
        }
        if (in_bfloat16) {
            encode_values<true>(source, count, factor, sink);
        } else {
            encode_values<false>(source, count, factor, sink);
        }
        redo_blocks<size>(source, units, left_out, sink);
    }

    /// The second pass: in the order of the roundings amct and reference, or all in bfloat16 (ascend_a6).
    template <bool InBfloat16, class Sink>
    LOWBIT_ALWAYS_INLINE static void encode_values(const float* source, std::size_t count, const float* factor,
                                                   const Sink& sink) {
        // amct: half an ulp of bfloat16 more, so that what bfloat16's ties to even reach of multiples of 1/8 is
        // reached.
        const vi half_ulp = splat(sink.options.rounding == hif4_rounding::amct ? 0x8000U : 0U);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = first + i * width;
                prefetch(source + at);
                vf x = add(load(source + at), rounded(splat(0.0F)));  // -0 becomes +0, under -ffast-math too
                if constexpr (InBfloat16) x = to_bfloat16(x);
                vf t = mul(x, load_fours(factor + at / 4));
                if constexpr (InBfloat16) {
                    t = to_bfloat16(t);
                    const vi magic =
                        or_masked(splat(0x4A000000U), as_int(t), splat(0x80000000U));  // 2^21: steps of 1/4
                    w[i] = as_int(add(t, as_float(magic)));
                } else {
                    w[i] = floor_eighths(as_float(add(as_int(t), half_ulp)));
                }
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            const vb magnitude = min_u8(InBfloat16 ? low : half_up_u8(low), splat_u8(7));
            sink.s1p2(first, magnitude, top);
        }
    }

    /// E6M2 bytes and reciprocals in bfloat16 from the bits of the units' maxima.
    LOWBIT_ALWAYS_INLINE static void scale(vi largest, std::uint32_t* byte, float* reciprocal) {
        const vi sf = as_int(to_bfloat16(mul(as_float(largest), splat(0.142578125F))));          // 1/7 in bfloat16
        const vi clamped = minimum(maximum(sf, splat((127U - 48U) << 23)), splat(0x47400000U));  // 2^-48, 49152
        const vi odd = bit_and(shift_right<21>(clamped), splat(1U));
        const vi rounded = shift_right<21>(add(clamped, add(odd, splat(0x0FFFFFU))));
        const vi code = sub(rounded, splat((127U - 48U) << 2));
        store(byte, code);
        // 2^(48 - E) times 1, 0.80078125, 0.66796875 or 0.5703125.
        const vi mantissa = bit_and(code, splat(3U));
        vi bits = splat(175U << 23);
        bits = select(equal(mantissa, splat(1U)), splat((174U << 23) + (77U << 16)), bits);
        bits = select(equal(mantissa, splat(2U)), splat((174U << 23) + (43U << 16)), bits);
        bits = select(equal(mantissa, splat(3U)), splat((174U << 23) + (18U << 16)), bits);
        store(reciprocal, as_float(sub(bits, shift_left<23>(shift_right<2>(code)))));
    }

    static void decode_blocks(const hif4::block* blocks, std::size_t count, float* out, float) {
        const code_table table = make_code_table(s1p2_magnitudes);
        for (std::size_t first = 0; first < count; first += size, ++blocks) {
            alignas(64) float step[groups];
            const float scale = e6m2_table[blocks->scale];
            // Bit 15 - j: run j of 4.
            const std::uint32_t e16 = static_cast<std::uint32_t>(blocks->e1_16[0]) << 8 | blocks->e1_16[1];
            LOWBIT_UNROLL
            for (std::size_t group = 0; group < groups; group += width) {
                const vi place = load(hif4_bits.e1_16 + group), place8 = load(hif4_bits.e1_8 + group);
                const vm m16 = equal(bit_and(splat(e16), place), place);
                const vm m8 = equal(bit_and(splat(std::uint32_t{blocks->e1_8}), place8), place8);
                vf s = splat(scale);
                s = mul(s, select(m8, splat(2.0F), splat(1.0F)));
                s = mul(s, select(m16, splat(2.0F), splat(1.0F)));
                store(step + group, s);
            }
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < size; i += width) {
                const vf value = code_values(table, load_codes(blocks->codes.data() + i / 2));
                store(out + first + i, mul(value, load_fours(step + i / 4)));
            }
        }
    }
};
