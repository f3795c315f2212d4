// SPDX-License-Identifier: Apache-2.0
// NVFP4 rows: blocks of 16, E4M3 scale under a float32 tensor scale, E2M1 codes.

/// E4M3 scales: byte and float, from the bits of quotients >= 0, saturating at 448.
struct e4m3_scales {
    vi byte;
    vf value;
};

LOWBIT_ALWAYS_INLINE e4m3_scales round_to_e4m3(vf quotient) {
    const vi q = minimum(as_int(quotient), splat(0x43E00000U));  // 448
    // One addition rounds, as for E2M1: three mantissa bits in the place of one, subnormals below 2^-6.
    const vi u = maximum(bit_and(q, splat(0x7F800000U)), splat((127U - 6U) << 23));
    const vf magic = as_float(add(u, splat(20U << 23)));
    const vf w = add(as_float(q), magic);
    const vi sum = add(as_int(w), shift_right<20>(as_int(w)));
    return {bit_and(sub(sum, splat(8U * (127U - 6U + 20U))), splat(0xFFU)), sub(w, magic)};
}

template <>
struct row_codec<nvfp4> {
    static constexpr std::size_t size = nvfp4::block_size;
    static constexpr std::size_t tile_blocks = tile_size / size;

    /// Block scales above 8 * 448 saturate so far that the codes leave the range of e2m1_quotient.
    static constexpr std::uint32_t greatest_quotient = 0x45600000U;  // 3584
    /// In division order x / scale stays finite below this.
    static constexpr std::uint32_t greatest_divided = (127U + 118U) << 23;

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const bool six_or_four = sink.options.four_over_six;
        if (six_or_four || sink.options.order == nvfp4_order::division) {
            divide(source, count, sink, six_or_four);
        } else {
            multiply(source, count, sink);
        }
    }

    template <class Sink>
    static void multiply(const float* source, std::size_t count, const Sink& sink) {
        const std::size_t blocks = count / size;
        alignas(64) std::uint32_t byte[tile_blocks + width];
        alignas(64) float multiplier[tile_blocks + width];
        const vf encode_scale = splat(sink.context.encode_scale);
        const vf per_maximum = mul(encode_scale, splat(1.0F / 6.0F));
        const vf per_scale = div(splat(1.0F), encode_scale);
        std::uint64_t left_out = 0;
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            const vf quotient = mul(as_float(maxima), per_maximum);
            const vm out =
                mask_or(greater(maxima, splat(0x7F7FFFFFU)), greater(as_int(quotient), splat(greatest_quotient)));
            left_out |= std::uint64_t{lanes_of(out)} << first;
            const e4m3_scales scale = round_to_e4m3(quotient);
            const vi reciprocal = as_int(div(splat(1.0F), mul(scale.value, per_scale)));
            store(byte + first, scale.byte);
            store(multiplier + first,
                  select(equal(scale.byte, splat(0U)), splat(0.0F), as_float(minimum(reciprocal, splat(0x7F7FFFFFU)))));
        }
        sink.scales(byte, blocks);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = first + i * width;
                prefetch(source + at);
                w[i] = e2m1_quotient(mul(load(source + at), splat(multiplier[at / size])));
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            sink.e2m1(first, low, top);
        }
        redo_blocks<size>(source, blocks, left_out, sink);
    }

    template <class Sink>
    static void divide(const float* source, std::size_t count, const Sink& sink, bool six_or_four) {
        const std::size_t blocks = count / size;
        alignas(64) std::uint32_t byte[tile_blocks + width];
        alignas(64) float divisor[tile_blocks + width];
        const vf tensor_scale = splat(sink.context.tensor_scale);
        // Four over six compares values; at 2688 * 2^116 they could leave float32.
        std::uint64_t left_out =
            six_or_four && to_bits(sink.context.tensor_scale) >= (127U + 116U) << 23 ? ~std::uint64_t{0} : 0;
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            const vf relative = div(div(as_float(maxima), splat(6.0F)), tensor_scale);
            const vf greatest = six_or_four ? div(div(as_float(maxima), splat(4.0F)), tensor_scale) : relative;
            const vm out =
                mask_or(greater(maxima, splat(greatest_divided)), greater(as_int(greatest), splat(greatest_quotient)));
            left_out |= std::uint64_t{lanes_of(out)} << first;
            e4m3_scales scale = round_to_e4m3(relative);
            if (six_or_four) {
                const e4m3_scales four = round_to_e4m3(greatest);
                const vm better = four_wins(source, first, blocks, scale.value, four.value, tensor_scale);
                scale.byte = select(better, four.byte, scale.byte);
                scale.value = select(better, four.value, scale.value);
            }
            store(byte + first, scale.byte);
            store(divisor + first, nonzero(scale.value));
        }
        sink.scales(byte, blocks);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = first + i * width;
                w[i] = e2m1_quotient(div(div(load(source + at), splat(divisor[at / size])), tensor_scale));
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            sink.e2m1(first, low, top);
        }
        redo_blocks<size>(source, blocks, left_out, sink);
    }

    /// A scale of 0 makes magnitudes 0 and keeps signs: so does division by infinity.
    LOWBIT_ALWAYS_INLINE static vf nonzero(vf scale) {
        return select(equal(as_int(scale), splat(0U)), as_float(splat(0x7F800000U)), scale);
    }

    /// Where the scale of 4 has the lower error, for blocks first .. first + width - 1, one a lane.
    LOWBIT_ALWAYS_INLINE static vm four_wins(const float* source, std::size_t first, std::size_t blocks, vf six,
                                             vf four, vf tensor_scale) {
        vf error_six = splat(0.0F), error_four = splat(0.0F);
        for (std::size_t half = 0; half < size; half += 8) {
            vf x[8];
            load_columns(source + half, size, first, blocks, x);
            for (std::size_t i = 0; i < 8; ++i) {
                const vf magnitude = as_float(bit_and(as_int(x[i]), splat(0x7FFFFFFFU)));
                const vf wanted = div(magnitude, tensor_scale);
                const vf by_six = e2m1_rounded(div(div(magnitude, nonzero(six)), tensor_scale));
                const vf by_four = e2m1_rounded(div(div(magnitude, nonzero(four)), tensor_scale));
                const vf d_six = sub(mul(by_six, six), wanted), d_four = sub(mul(by_four, four), wanted);
                error_six = fma(d_six, d_six, error_six);
                error_four = fma(d_four, d_four, error_four);
            }
        }
        return less(error_four, error_six);
    }

    static void decode_blocks(const nvfp4::block* blocks, std::size_t count, float* out, float tensor_scale) {
        const code_table table = make_code_table(e2m1_magnitudes);
        const vf factor = splat(tensor_scale);
        for (std::size_t first = 0; first < count; first += size, ++blocks) {
            const vf scale = splat(e4m3_table[blocks->scale]);
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < size; i += width) {
                const vf exact = mul(code_values(table, load_codes(blocks->codes.data() + i / 2)), scale);
                store(out + first + i, mul(exact, factor));
            }
        }
    }
};
