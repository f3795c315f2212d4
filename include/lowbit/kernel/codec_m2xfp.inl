// SPDX-License-Identifier: Apache-2.0
// M2XFP rows: blocks of 32, E8M0 scale, E2M1 codes, two bits of metadata a run of 8.

/// Gathers the metadata of a block's four runs into its byte.
inline std::uint8_t m2xfp_metadata(const std::uint32_t* of_run) {
    return static_cast<std::uint8_t>(of_run[0] | of_run[1] << 2 | of_run[2] << 4 | of_run[3] << 6);
}

template <>
struct row_codec<m2xfp_activation> {
    using format = m2xfp_activation;
    static constexpr std::size_t size = format::block_size;
    static constexpr std::size_t tile_blocks = tile_size / size;
    static constexpr std::size_t tile_runs = tile_size / 8;

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const std::size_t blocks = count / size;
        power_scales<tile_blocks> scales;
        alignas(64) std::uint32_t keys[tile_runs + width];  // of each run's top element: 8 * code + 7 - index
        std::uint64_t not_finite = 0;
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            not_finite |= std::uint64_t{lanes_of(greater(maxima, splat(0x7F7FFFFFU)))} << first;
            scales.set(first, e8m0_bytes(maxima, splat(0U)));
        }
        sink.scales(scales.byte, blocks);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = first + i * width, b = at / size;
                prefetch(source + at);
                w[i] = e2m1_scaled(load(source + at), splat(scales.least_field[b]), splat(scales.inverse[b]),
                                   splat(scales.magic[b]));
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            sink.e2m1(first, low, top);
            store_top_keys(keys + first / 8, e2m1_key_of_nibble, low);
        }
        refine(source, count / 8, scales.inverse, keys);
        for (std::size_t i = 0; i < blocks; ++i) sink.blocks[i].metadata = m2xfp_metadata(keys + 4 * i);
        redo_blocks<size>(source, blocks, not_finite, sink);
    }

    /// Replaces the keys of the runs by their metadata: the top element again, on the grid of E2M3.
    static void refine(const float* source, std::size_t runs, const float* inverse, std::uint32_t* keys) {
        const vi lane = load(lane_numbers);
        for (std::size_t first = 0; first < runs; first += width) {
            const vi key = load(keys + first);
            // Position 8 * run + 7 - (key & 7); runs past the last one look at the first.
            const vi run = add(splat(static_cast<std::uint32_t>(first)), lane);
            const vi position = sub(add(shift_left<3>(run), splat(7U)), bit_and(key, splat(7U)));
            const vi inside = select(greater(splat(static_cast<std::uint32_t>(runs)), run), position, splat(0U));
            const vf x = as_float(bit_and(as_int(gather(source, inside)), splat(0x7FFFFFFFU)));
            const vf q = mul(x, load_fours(inverse + first / 4));
            const vi u = maximum(bit_and(as_int(q), splat(0x7F800000U)), splat(0x3F800000U));
            const vi w = as_int(add(q, as_float(add(u, splat(e2m3_magic)))));
            const vi sum = add(w, shift_right<20>(w));
            const vi fine = bit_and(sub(sum, splat(8U * (127U + 20U))), splat(0xFFU));
            const vi lowest = shift_left<2>(shift_right<3>(key));
            const vi clamped = minimum(maximum(add(fine, splat(1U)), lowest), add(lowest, splat(3U)));
            store(keys + first, bit_and(clamped, splat(3U)));
        }
    }

    static void decode_blocks(const format::block* blocks, std::size_t count, float* out, float) {
        for (std::size_t first = 0; first < count; first += chunk) {
            alignas(64) std::uint8_t index[chunk];
            store_bytes(reinterpret_cast<std::int8_t*>(index),
                        lookup_64(e2m3_index_of_code.entry, selected_codes<format>(blocks, first)));
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < chunk; i += width) {
                const vi fine = load_bytes(index + i);
                const vi bits = or_masked(lookup_32(e2m3_bits.entry, fine), shift_left<24>(fine), splat(0x80000000U));
                const vf scale = splat(e8m0_table[blocks[(first + i) / size].scale]);
                store(out + first + i, mul(as_float(bits), scale));
            }
        }
    }
};

template <>
struct row_codec<m2xfp_weight> {
    using format = m2xfp_weight;
    static constexpr std::size_t size = format::block_size;
    static constexpr std::size_t tile_blocks = tile_size / size;
    static constexpr std::size_t tile_runs = tile_size / 8;
    static constexpr std::size_t lane_blocks = width / 4;  // a lane is a run of 8

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const std::size_t blocks = count / size;
        power_scales<tile_blocks> scales;
        std::uint64_t left_out = 0;
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            const vi byte = e8m0_bytes(maxima, splat(0U));
            // Byte 0 (but for zeros) clamps, and above 250 candidates may leave float32.
            const vm clamps = mask_and(equal(byte, splat(0U)), greater(maxima, splat(0U)));
            left_out |= std::uint64_t{lanes_of(mask_or(clamps, greater(byte, splat(250U))))} << first;
            scales.set(first, byte);
        }
        for (std::size_t block = 0; block < blocks; block += lane_blocks) {
            vf x[8];
            load_columns(source + block * size, 8, 0, (blocks - block) * 4, x);
            alignas(64) std::uint32_t multiplier[width], codes[width], byte[width];
            search(x, load_fours(scales.inverse + block), splat_fours(scales.byte + block), multiplier, codes, byte);
            for (std::size_t i = 0; i < lane_blocks && block + i < blocks; ++i) {
                auto& out = sink.blocks[block + i];
                out.scale = static_cast<std::uint8_t>(byte[4 * i]);
                out.metadata = m2xfp_metadata(multiplier + 4 * i);
                std::memcpy(out.codes.data(), codes + 4 * i, 16);
            }
        }
        redo_blocks<size>(source, blocks, left_out, sink);
    }

    LOWBIT_ALWAYS_INLINE static vi splat_fours(const std::uint32_t* p) {
        return as_int(load_fours(reinterpret_cast<const float*>(p)));
    }

    /// Sums over the four lanes of a block as (e0 + e1) + (e2 + e3), in each of them.
    LOWBIT_ALWAYS_INLINE static vf block_sum(vf v) {
        const vf pairs = add(v, swap_pairs(v));
        return add(pairs, swap_twos(pairs));
    }

    /// y / c rounded once, c and its rounded reciprocal given; no over- or underflow among those that count.
    LOWBIT_ALWAYS_INLINE static vf quotient(vf y, vf c, vf reciprocal) {
        const vf q = mul(y, reciprocal);
        return fma(fnma(q, c, y), reciprocal, q);
    }

    LOWBIT_ALWAYS_INLINE static void search(const vf (&x)[8], vf inverse, vi floor_byte, std::uint32_t* multiplier,
                                            std::uint32_t* codes, std::uint32_t* byte) {
        vf y[8];
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 8; ++i) y[i] = mul(as_float(bit_and(as_int(x[i]), splat(0x7FFFFFFFU))), inverse);
        vf best_sum = splat(0.0F), best_unit = splat(1.0F);
        vi best_k = splat(0U), best_bias = splat(0U);
        for (std::uint32_t bias = 0; bias < 3; ++bias) {
            vf least = splat(0.0F), unit_of_least = splat(1.0F);
            vi k_of_least = splat(0U);
            for (std::uint32_t k = 0; k < 4; ++k) {
                const float factor = m2xfp_units[bias][k];
                const vf unit = splat(factor), reciprocal = splat(m2xfp_reciprocals[bias][k]);
                vf error = splat(0.0F);
                LOWBIT_UNROLL
                for (std::size_t i = 0; i < 8; ++i) {
                    const vf value = e2m1_rounded(quotient(y[i], unit, reciprocal));
                    const vf d = sub(mul(value, unit), y[i]);
                    error = fma(d, d, error);
                }
                if (k == 0) {
                    least = error;
                    unit_of_least = unit;
                } else {
                    const vm better = less(error, least);
                    least = select(better, error, least);
                    unit_of_least = select(better, unit, unit_of_least);
                    k_of_least = select(better, splat(k), k_of_least);
                }
            }
            const vf sum = block_sum(least);
            const vm better = bias == 0 ? equal(splat(0U), splat(0U)) : less(sum, best_sum);
            best_sum = select(better, sum, best_sum);
            best_unit = select(better, unit_of_least, best_unit);
            best_k = select(better, k_of_least, best_k);
            best_bias = select(better, splat(bias), best_bias);
        }
        store(multiplier, best_k);
        store(byte, maximum(sub(add(floor_byte, best_bias), splat(1U)), splat(0U)));
        vi packed = splat(0U);
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 8; ++i) {
            const vi w = e2m1_quotient(div(y[i], best_unit));
            const vi code = minimum(sub(bit_and(w, splat(0xFFU)), splat(42U)), splat(7U));
            const vi with_sign = or_masked(code, shift_right<28>(as_int(x[i])), splat(8U));
            packed = bit_or(shift_right<4>(packed), shift_left<28>(with_sign));
        }
        store(codes, packed);
    }

    static void decode_blocks(const format::block* blocks, std::size_t count, float* out, float) {
        const code_table table = make_code_table(e2m1_magnitudes);
        for (std::size_t first = 0; first < count; first += size, ++blocks) {
            const float scale = e8m0_table[blocks->scale];
            float of_run[4];
            for (std::size_t run = 0; run < 4; ++run) {
                of_run[run] = scale * m2xfp_units[1][(blocks->metadata >> (2 * run)) & 3U];
            }
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < size; i += width) {
                const vf value = code_values(table, load_codes(blocks->codes.data() + i / 2));
                store(out + first + i, mul(value, load_eights(of_run + i / 8)));
            }
        }
    }
};
