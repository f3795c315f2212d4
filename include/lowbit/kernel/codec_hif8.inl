// SPDX-License-Identifier: Apache-2.0
// HiF8 rows: every value on its own, any of the five roundings.

template <>
struct row_codec<hif8> {
    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        switch (sink.options.rounding) {
            case hif8_rounding::ties_away: return encode<hif8_rounding::ties_away>(source, count, sink);
            case hif8_rounding::nearest_even: return encode<hif8_rounding::nearest_even>(source, count, sink);
            case hif8_rounding::toward_zero: return encode<hif8_rounding::toward_zero>(source, count, sink);
            case hif8_rounding::hybrid: return encode<hif8_rounding::hybrid>(source, count, sink);
            case hif8_rounding::stochastic: return encode<hif8_rounding::stochastic>(source, count, sink);
        }
    }

    template <hif8_rounding Rounding, class Sink>
    LOWBIT_ALWAYS_INLINE static void encode(const float* source, std::size_t count, const Sink& sink) {
        const bool saturates = sink.options.overflow == overflow::saturate;
        const std::uint64_t key = Rounding == hif8_rounding::stochastic ? detail::random_key(sink.options.seed) : 0;
        const vi infinity = splat(saturates ? detail::hif8_max_code : detail::hif8_infinity_code);
        for (std::size_t first = 0; first < count; first += chunk) {
            if constexpr (Rounding == hif8_rounding::ties_away && has_hif8_ties_away) {
                vb fast;
                prefetch_chunk(source + first);
                if (hif8_ties_away(source + first, saturates, fast)) {
                    sink.bytes(first, fast);
                    continue;
                }
            }
            vi code[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = first + i * width;
                const vi bits = as_int(load(source + at));
                vi random = splat(0U);
                if constexpr (Rounding == hif8_rounding::stochastic) {
                    random = random_lanes24(key, sink.context.index + at);
                }
                code[i] = convert<Rounding>(bits, infinity, random);
            }
            vb low, top;
            split_bytes(code[0], code[1], code[2], code[3], low, top);
            sink.bytes(first, low);
        }
    }

    /// Magnitude of the exponent, at most 31, from an exponent field.
    LOWBIT_ALWAYS_INLINE static vi exponent_magnitude(vi field) {
        const vi e = sub(field, splat(127U));
        return minimum(maximum(e, sub(splat(0U), e)), splat(31U));
    }

    /// Codes in the low bytes.
    template <hif8_rounding Rounding>
    LOWBIT_ALWAYS_INLINE static vi convert(vi bits, vi infinity, vi random) {
        constexpr std::uint32_t least = (127U - 23U) << 23;            // 2^-23: what lies below becomes 0
        constexpr std::uint32_t second = (127U - 22U) << 23;           // 2^-22, the least value
        constexpr std::uint32_t last_binade = (127U + 15U) << 23;      // 32768
        constexpr std::uint32_t overflows = last_binade + (1U << 21);  // 40960
        const vi u = bit_and(bits, splat(0x7FFFFFFFU));
        const vi mantissa_width = lookup_32(hif8_by_exponent.width, exponent_magnitude(shift_right<23>(u)));
        const vi cut = sub(splat(23U), mantissa_width);  // bits to go
        const vi half = shift_right(splat(1U << 22), mantissa_width);
        vi sum = u;  // with the increment in
        if constexpr (Rounding == hif8_rounding::ties_away) {
            sum = add(u, half);
        } else if constexpr (Rounding == hif8_rounding::nearest_even) {
            sum = add(add(u, sub(half, splat(1U))), bit_and(shift_right(u, cut), splat(1U)));
        } else if constexpr (Rounding == hif8_rounding::hybrid) {
            const vi rest = bit_and(u, sub(add(half, half), splat(1U)));
            const vi step = select(greater(rest, splat(0U)), add(half, half), splat(0U));
            const vi top14 = shift_right(rest, sub(cut, splat(14U)));
            const vi down = sub(u, rest);
            const vi stepped = select(greater(bit_and(u, splat(0x3FFFU)), top14), down, add(down, step));
            // Exponents -3..3 round half away.
            const vi near_one = exponent_magnitude(shift_right<23>(u));
            sum = select(greater(splat(4U), near_one), add(u, half), stepped);
        } else if constexpr (Rounding == hif8_rounding::stochastic) {
            const vi rest = bit_and(u, sub(add(half, half), splat(1U)));
            const vi top24 = shift_left(rest, sub(splat(24U), cut));
            sum = add(sub(u, rest), select(greater(top24, random), add(half, half), splat(0U)));
        }
        // The sum's own exponent tells the fields: a carry may have changed them, the mantissa is 0 then.
        const vi field = shift_right<23>(sum);
        const vi magnitude = exponent_magnitude(field);
        const vi negative =
            select(greater(splat(127U), field), lookup_32(hif8_by_exponent.negative, magnitude), splat(0U));
        const vi kept = bit_and(sum, splat(0x7FFFFFU));
        vi code = add(lookup_32(hif8_by_exponent.code, magnitude), negative);
        code = add(code, shift_right(kept, sub(splat(23U), lookup_32(hif8_by_exponent.width, magnitude))));
        code = below_range<Rounding>(u, code, random, least, second);
        if constexpr (Rounding == hif8_rounding::toward_zero) {
            code = select(greater(u, splat(last_binade - 1)), splat(detail::hif8_max_code), code);
            code = select(greater(u, splat(0x7F7FFFFFU)), infinity, code);
        } else {
            if constexpr (Rounding == hif8_rounding::stochastic) {
                code = select(greater(u, splat(last_binade - 1)), splat(detail::hif8_max_code), code);
            }
            constexpr std::uint32_t above = Rounding == hif8_rounding::nearest_even ? overflows : overflows - 1;
            code = select(greater(u, splat(above)), infinity, code);
            if constexpr (Rounding == hif8_rounding::hybrid) {  // an increment past 32768
                code = select(equal(code, splat(detail::hif8_infinity_code)), infinity, code);
            }
        }
        const vi sign = select(greater(code, splat(0U)), bit_and(shift_right<24>(bits), splat(0x80U)), splat(0U));
        code = bit_or(code, sign);
        return select(greater(u, splat(0x7F800000U)), splat(detail::hif8_nan_code), code);
    }

    /// Codes 0 and 1: below 2^-22 the step is 2^-22.
    template <hif8_rounding Rounding>
    LOWBIT_ALWAYS_INLINE static vi below_range(vi u, vi code, vi random, std::uint32_t least, std::uint32_t second) {
        const vi significand = bit_or(bit_and(u, splat(0x7FFFFFU)), splat(0x800000U));
        vm up = greater(u, splat(least - 1));
        if constexpr (Rounding == hif8_rounding::nearest_even) up = greater(u, splat(least));
        if constexpr (Rounding == hif8_rounding::toward_zero) up = greater(splat(0U), splat(0U));
        if constexpr (Rounding == hif8_rounding::hybrid) {
            const vm below = greater(bit_and(u, splat(0x3FFFU)), shift_right<10>(significand));
            up = mask_and(up, greater(splat(1U), select(below, splat(1U), splat(0U))));
        }
        if constexpr (Rounding == hif8_rounding::stochastic) {
            // (distance to 0) / 2^-22 in 24 bits; nothing is left of it below 2^-46.
            const vi shift = minimum(sub(splat(127U - 23U), shift_right<23>(u)), splat(31U));
            up = greater(shift_right(significand, maximum(shift, splat(0U))), random);
        }
        return select(greater(splat(second), u), select(up, splat(1U), splat(0U)), code);
    }

    static void decode_blocks(const hif8* blocks, std::size_t count, float* out, float) {
        decode_codes(reinterpret_cast<const std::uint8_t*>(blocks), count, out);
    }

    template <class Byte>
    static void decode_codes(const Byte* codes, std::size_t count, float* out) {
        if constexpr (has_hif8_floats) {
            for (std::size_t first = 0; first < count; first += chunk) hif8_floats(codes + first, out + first);
        } else {
            for (std::size_t first = 0; first < count; first += width) {
                store(out + first, gather(hif8_table.data(), load_bytes(codes + first)));
            }
        }
    }
};
