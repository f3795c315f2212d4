// SPDX-License-Identifier: Apache-2.0
// MXFP4 rows: blocks of 32, E8M0 scale by one of the rules, E2M1 codes.

/// Power-of-two scales of a tile, in the forms that the second pass wants. Byte b of E8M0: scale 2^(b - 127).
template <std::size_t Blocks>
struct power_scales {
    static constexpr std::size_t room = Blocks + width;
    alignas(64) std::uint32_t byte[room];
    alignas(64) std::uint32_t least_field[room];  // b << 23: the exponent field of the scale, where magnitude 1 begins
    alignas(64) float inverse[room];              // 2^(127 - b), a normal float for b = 0..252
    alignas(64) std::uint32_t magic[room];        // brings a value's field to that of its quotient, times 2^22

    LOWBIT_ALWAYS_INLINE void set(std::size_t first, vi b) {
        const vi field = shift_left<23>(b);
        store(byte + first, b);
        store(least_field + first, field);
        store(inverse + first, as_float(sub(splat(254U << 23), field)));
        store(magic + first, sub(splat((127U << 23) + e2m1_magic), field));
    }
};

/// What a rule adds to the bits of the maximum, so that the mantissas it bumps carry into the exponent.
inline std::uint32_t mxfp4_carry(mxfp4_scale_rule rule) {
    switch (rule) {
        case mxfp4_scale_rule::ceil: return 0x7FFFFFU;   // m > 1
        case mxfp4_scale_rule::rceil: return 0x3FFFFFU;  // m > 1.5
        case mxfp4_scale_rule::even: return 0x200000U;   // m >= 1.75
        case mxfp4_scale_rule::oas: return 0x1FFFFFU;    // m > 1.75
        case mxfp4_scale_rule::uos: return 0x17FFFFU;    // m > 1.8125
        case mxfp4_scale_rule::floor:
        case mxfp4_scale_rule::search: break;
    }
    return 0;
}

/// E8M0 bytes from the bits of the maxima. A subnormal maximum gives byte 0 under each rule, as it must.
LOWBIT_ALWAYS_INLINE vi e8m0_bytes(vi maxima, vi carry) {
    const vi field = shift_right<23>(add(maxima, carry));
    return minimum(maximum(sub(field, splat(2U)), splat(0U)), splat(252U));
}

template <>
struct row_codec<mxfp4> {
    static constexpr std::size_t size = mxfp4::block_size;

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const std::size_t blocks = count / size;
        power_scales<tile_size / size> scales;
        std::uint64_t not_finite = 0;
        const vi carry = splat(mxfp4_carry(sink.options.scale_rule));
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            not_finite |= std::uint64_t{lanes_of(greater(maxima, splat(0x7F7FFFFFU)))} << first;
            vi byte = e8m0_bytes(maxima, carry);
            if (sink.options.scale_rule == mxfp4_scale_rule::search) byte = search(source, first, blocks, byte);
            scales.set(first, byte);
        }
        sink.scales(scales.byte, blocks);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                prefetch(source + first + i * width);
                const std::size_t at = first + i * width, b = at / size;
                w[i] = e2m1_scaled(load(source + at), splat(scales.least_field[b]), splat(scales.inverse[b]),
                                   splat(scales.magic[b]));
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            sink.e2m1(first, low, top);
        }
        redo_blocks<size>(source, blocks, not_finite, sink);
    }

    /// The byte of least error among the floor rule's (`byte`) and its neighbours, of blocks first .. first + width
    /// - 1.
    static vi search(const float* source, std::size_t first, std::size_t blocks, vi byte) {
        const vf inverse = as_float(sub(splat(254U << 23), shift_left<23>(byte)));
        vi tried[3];
        vf step[3], per_step[3], error[3];
        for (std::uint32_t t = 0; t < 3; ++t) {
            tried[t] = minimum(maximum(sub(add(byte, splat(t)), splat(1U)), splat(0U)), splat(252U));
            const vi ratio = shift_left<23>(sub(tried[t], byte));
            step[t] = as_float(add(splat(127U << 23), ratio));
            per_step[t] = as_float(sub(splat(127U << 23), ratio));
            error[t] = splat(0.0F);
        }
        for (std::size_t part = 0; part < size; part += 8) {
            vf x[8];
            load_columns(source + part, size, first, blocks, x);
            for (std::size_t i = 0; i < 8; ++i) {
                const vf relative = mul(as_float(bit_and(as_int(x[i]), splat(0x7FFFFFFFU))), inverse);
                LOWBIT_UNROLL
                for (std::size_t t = 0; t < 3; ++t) {
                    const vf value = e2m1_rounded(mul(relative, per_step[t]));
                    const vf d = sub(mul(value, step[t]), relative);
                    error[t] = fma(d, d, error[t]);
                }
            }
        }
        vi best = tried[0];
        best = select(less(error[1], error[0]), tried[1], best);
        return select(less(error[2], minimum(error[0], error[1])), tried[2], best);
    }

    static void decode_blocks(const mxfp4::block* blocks, std::size_t count, float* out, float) {
        const code_table table = make_code_table(e2m1_magnitudes);
        for (std::size_t first = 0; first < count; first += size, ++blocks) {
            const vf scale = splat(e8m0_table[blocks->scale]);
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < size; i += width) {
                store(out + first + i, mul(code_values(table, load_codes(blocks->codes.data() + i / 2)), scale));
            }
        }
    }
};
