// SPDX-License-Identifier: Apache-2.0
// Expansion of packed 4-bit codes to int8 lanes over an instruction set's byte atoms; included once in each target
// region.
//
// Atoms (B = unit_bytes = 4 * unit_columns, the bytes of one register; dword d of it belongs to column d of the unit):
//     bytes  load_bytes(const std::uint8_t*); void store_bytes(std::uint8_t*, bytes)
//     bytes  low_nibbles(bytes), high_nibbles(bytes)
//     bytes  both(bytes, bytes) (and), either(bytes, bytes) (or), differ(bytes, bytes) (exclusive or),
//     splat_byte(std::uint8_t), splat_dword(std::uint32_t) bytes  largest(bytes, bytes) unsigned maximum bytes
//     where_equal(bytes a, bytes b, bytes yes, bytes no) bytes  left<N>(bytes), right<N>(bytes)                shift of
//     each dword bytes  rotate<N>(bytes)                               of each dword, N = 8 or 16 bytes
//     widen_bytes(const std::uint8_t*)               unit_columns bytes, each to a dword bytes  spread<Position>(bytes
//     fields)                 bits Position, Position + 1 of each dword, in bits 4, 5 of its bytes small_table,
//     make_small_table(const std::uint8_t* 16), look_up(small_table, bytes)     16 entries by the low nibble
//     large_table, make_large_table(const std::uint8_t* 64), look_up(large_table, bytes)     64 entries bytes
//     add_dwords, equal_dwords(a, b) -> all ones or zero

/// Four bits spread to every other bit, ..., for hif4: bit i of the low half of each dword to bit 2i.
inline bytes every_other_bit(bytes x, bytes m8, bytes m4, bytes m2, bytes m1) noexcept {
    x = both(either(x, left<8>(x)), m8);
    x = both(either(x, left<4>(x)), m4);
    x = both(either(x, left<2>(x)), m2);
    return both(either(x, left<1>(x)), m1);
}

/// The selectors of a unit of columns as 2-bit fields: of run j of 4 (nested) or of 8 at bits 2j, 2j + 1.
template <lane_selector Kind>
inline bytes selector_fields(const std::uint8_t* planes) noexcept {
    if constexpr (Kind == lane_selector::nested) {
        const bytes m8 = splat_dword(0x00FF00FFU), m4 = splat_dword(0x0F0F0F0FU), m2 = splat_dword(0x33333333U),
                    m1 = splat_dword(0x55555555U);
        const bytes fine = either(widen_bytes(planes), left<8>(widen_bytes(planes + panel_columns)));
        // A coarse bit serves two runs: spread twice, then copied to the neighbouring field.
        bytes coarse = every_other_bit(widen_bytes(planes + 2 * panel_columns), m8, m4, m2, m1);
        coarse = both(either(coarse, left<8>(coarse)), m8);
        coarse = both(either(coarse, left<4>(coarse)), m4);
        coarse = both(either(coarse, left<2>(coarse)), m2);
        coarse = both(coarse, splat_dword(0x11111111U));
        coarse = either(coarse, left<2>(coarse));
        return either(every_other_bit(fine, m8, m4, m2, m1), left<1>(coarse));
    } else {
        return widen_bytes(planes);
    }
}

/// Selectors of two lines of codes (8 values of K), in bits 4 and 5 of each byte: field 2 * Pair and the one after it
/// (nested), field Pair (runs of 8), or that at the top element only.
template <lane_selector Kind, int Pair>
inline void add_selectors(bytes fields, bytes& first, bytes& second) noexcept {
    if constexpr (Kind == lane_selector::nested) {
        first = either(first, spread<4 * Pair>(fields));
        second = either(second, spread<4 * Pair + 2>(fields));
    } else if constexpr (Kind == lane_selector::run_of_8) {
        const bytes selector = spread<2 * Pair>(fields);
        first = either(first, selector);
        second = either(second, selector);
    } else {
        // key = 8 * magnitude code + (7 - index): its maximum is the lowest of the largest, and unique
        const bytes magnitude = splat_byte(7);
        const bytes key0 = either(left<3>(both(first, magnitude)), splat_dword(0x04050607U));
        const bytes key1 = either(left<3>(both(second, magnitude)), splat_dword(0x00010203U));
        bytes top = largest(key0, key1);
        top = largest(top, rotate<16>(top));
        top = largest(top, rotate<8>(top));
        const bytes selector = spread<2 * Pair>(fields), neutral = splat_byte(0x10);
        first = either(first, where_equal(key0, top, selector, neutral));
        second = either(second, where_equal(key1, top, selector, neutral));
    }
}

template <lane_selector Kind, int Pair, class Table>
inline void expand_pair(const std::uint8_t* codes, const Table& table, bytes low_fields, bytes high_fields,
                        std::uint8_t* out) noexcept {
    constexpr std::size_t line = 64,
                          half = 64;  // bytes of a line of codes; from the low to the high columns of a line of lanes
    const bytes packed0 = load_bytes(codes + 2 * Pair * line), packed1 = load_bytes(codes + (2 * Pair + 1) * line);
    bytes low0 = low_nibbles(packed0), low1 = low_nibbles(packed1);
    bytes high0 = high_nibbles(packed0), high1 = high_nibbles(packed1);
    if constexpr (Kind != lane_selector::none) {
        add_selectors<Kind, Pair>(low_fields, low0, low1);
        add_selectors<Kind, Pair>(high_fields, high0, high1);
    }
    store_bytes(out + 2 * Pair * 2 * line, look_up(table, low0));
    store_bytes(out + 2 * Pair * 2 * line + half, look_up(table, high0));
    store_bytes(out + (2 * Pair + 1) * 2 * line, look_up(table, low1));
    store_bytes(out + (2 * Pair + 1) * 2 * line + half, look_up(table, high1));
}

template <lane_selector Kind, std::size_t Block, class Table>
inline void expand_blocks(const std::uint8_t* codes, const std::uint8_t* selectors, std::size_t selector_bytes,
                          std::size_t blocks, const Table& table, std::uint8_t* out) noexcept {
    for (std::size_t n = 0; n < blocks; ++n) {
        for (std::size_t part = 0; part < 64; part += unit_bytes) {
            bytes low{}, high{};
            if constexpr (Kind != lane_selector::none) {
                low = selector_fields<Kind>(selectors + part / 4);
                high = selector_fields<Kind>(selectors + part / 4 + 16);
            }
            expand_pair<Kind, 0>(codes + part, table, low, high, out + part);
            expand_pair<Kind, 1>(codes + part, table, low, high, out + part);
            if constexpr (Block >= 32) {
                expand_pair<Kind, 2>(codes + part, table, low, high, out + part);
                expand_pair<Kind, 3>(codes + part, table, low, high, out + part);
            }
            if constexpr (Block >= 64) {
                expand_pair<Kind, 4>(codes + part, table, low, high, out + part);
                expand_pair<Kind, 5>(codes + part, table, low, high, out + part);
                expand_pair<Kind, 6>(codes + part, table, low, high, out + part);
                expand_pair<Kind, 7>(codes + part, table, low, high, out + part);
            }
        }
        codes += Block / 4 * 64;
        selectors += selector_bytes * panel_columns;
        out += Block * panel_columns;
    }
}

/// Scale bytes of 32 columns to floats, `repeats` times over.
inline void expand_scales(const std::uint8_t* scales, const scale_code& code, std::size_t repeats,
                          float* out) noexcept {
    const bytes mask = splat_dword(code.mask), nan = splat_dword(code.nan), add = splat_dword(code.add),
                zero = splat_dword(code.zero), none = splat_dword(0), quiet = splat_dword(0x7FC00000U);
    const floats multiplier = splat(&code.multiplier);
    for (std::size_t c = 0; c < panel_columns; c += unit_columns) {
        const bytes x = both(widen_bytes(scales + c), mask);
        bytes bits = add_dwords(left_by(x, code.shift), add);
        bits = either(bits, both(equal_dwords(x, none), zero));
        const floats scale = select_float(equal_dwords(x, nan), quiet, mul(as_floats(bits), multiplier));
        for (std::size_t i = 0; i < repeats; ++i) store(out + panel_columns * i + c, scale);
    }
}

/// The same where scales are floats.
inline void copy_scales(const std::uint8_t* scales, std::size_t repeats, float* out) noexcept {
    for (std::size_t c = 0; c < panel_columns; c += unit_columns) {
        const bytes scale = load_bytes(scales + 4 * c);
        for (std::size_t i = 0; i < repeats; ++i) {
            store_bytes(reinterpret_cast<std::uint8_t*>(out + panel_columns * i + c), scale);
        }
    }
}

/// Codes that are lanes already: plus `Bias`, 0 or 128.
template <int Bias>
inline void expand_bytes(const std::uint8_t* codes, std::size_t count, std::uint8_t* out) noexcept {
    static_assert(Bias == 0 || Bias == 128);
    const bytes bias = splat_byte(Bias);
    for (std::size_t i = 0; i < count; i += unit_bytes) {
        store_bytes(out + i, differ(load_bytes(codes + i), bias));
    }
}

/// The expand_kernel::record of format F; lanes get `Bias` added.
template <class F, int Bias>
inline void expand_record(const std::uint8_t* codes, const std::uint8_t* selectors, const std::uint8_t* scales,
                          std::size_t blocks, std::size_t repeats, std::uint8_t* out, float* lane_scales_out) noexcept {
    using traits = lane_traits<F>;
    if constexpr (!table_lanes<F>) {
        expand_bytes<Bias>(codes, blocks * F::block_size * panel_columns, out);
    } else {
        static constexpr std::array<std::uint8_t, 64> biased_table = biased_lanes(traits::table, Bias);
        if constexpr (traits::selector == lane_selector::none) {
            expand_blocks<traits::selector, F::block_size>(codes, selectors, 0, blocks,
                                                           make_small_table(biased_table.data()), out);
        } else {
            expand_blocks<traits::selector, F::block_size>(codes, selectors, traits::selector_bytes, blocks,
                                                           make_large_table(biased_table.data()), out);
        }
    }
    for (std::size_t n = 0; n < blocks; ++n) {
        float* const scales_of = lane_scales_out + panel_columns * repeats * n;
        if constexpr (byte_scales<F>) {
            expand_scales(scales + panel_columns * n, traits::scale, repeats, scales_of);
        } else {
            copy_scales(scales + 4 * panel_columns * n, repeats, scales_of);
        }
    }
}
