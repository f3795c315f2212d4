// SPDX-License-Identifier: Apache-2.0
// Packed codes of few rows' panels to lanes in registers, and their scales; included once in each target region, after
// the atoms of the matrix product, expand.inl and these:
//     make_few_table<Kind>(const std::uint8_t* 64)                       the lane table as look-ups here want it
//     bytes  low_index<Kind, Position>(bytes line, bytes fields)         look-up index of the low nibbles of a line
//     bytes  high_index<Kind, Position>(bytes line, bytes fields)        of the high nibbles
//     bytes  few_fields<Kind>(const std::uint8_t* planes)                what selector_fields gives
//     bytes  right<N>(bytes)                                             shift of each dword, zeros coming in
//     bool   within<Low, High>(const std::uint8_t*, count)               all bytes in Low..High; count a multiple of 32
//     void   fetch(const std::uint8_t*)                                  prefetch of a line
//     lanes  as_lanes(bytes)                                             the same register

/// The scale code as one shift and one addition (or product), for scale bytes low..high, where nothing special happens.
template <class F>
struct few_scale {
    static constexpr scale_code code = lane_traits<F>::scale;
    static constexpr bool folds = code.add != 0 || code.zero != 0;  // the multiplier joins the exponent
    static constexpr int exponent = floor_log2(code.multiplier);
    static constexpr std::uint32_t add =
        folds ? code.add + (static_cast<std::uint32_t>(exponent) << 23U) : 0U;  // modulo 2^32
    static constexpr std::uint8_t low =
        static_cast<std::uint8_t>(code.add == 0 && folds ? 1 - exponent : 0);  // E8M0: stay a normal float
    static constexpr std::uint8_t high = static_cast<std::uint8_t>(code.nan - 1);
    static_assert(code.multiplier == power_of_two(exponent) && code.nan == code.mask);
};

/// Scales of unit_columns columns.
template <class F>
LOWBIT_ALWAYS_INLINE floats few_scales(const std::uint8_t* scales, bool ordinary) noexcept {
    using scale = few_scale<F>;
    constexpr scale_code code = scale::code;
    if (ordinary) {
        const bytes x = left<static_cast<int>(code.shift)>(widen_bytes(scales));
        if constexpr (scale::folds) return as_floats(add_dwords(x, splat_dword(scale::add)));
        static constexpr float multiplier = code.multiplier;
        return mul(as_floats(x), splat(&multiplier));
    }
    static constexpr float multiplier = code.multiplier;
    const bytes x = both(widen_bytes(scales), splat_dword(code.mask));
    bytes bits = add_dwords(left<static_cast<int>(code.shift)>(x), splat_dword(code.add));
    bits = either(bits, both(equal_dwords(x, splat_dword(0)), splat_dword(code.zero)));
    return select_float(equal_dwords(x, splat_dword(code.nan)), splat_dword(0x7FC00000U),
                        mul(as_floats(bits), splat(&multiplier)));
}

/// Lanes of pair `Pair` of lines (8 values of K) of one unit of low and one of high columns: low and high of the first
/// line, low and high of the second.
template <lane_selector Kind, int Pair, class Table>
LOWBIT_ALWAYS_INLINE void few_lanes(const std::uint8_t* line, const Table& table, bytes low_fields, bytes high_fields,
                                    lanes (&b)[4]) noexcept {
    constexpr int first = Kind == lane_selector::nested ? 4 * Pair : 2 * Pair;
    constexpr int second = Kind == lane_selector::nested ? 4 * Pair + 2 : 2 * Pair;
    const bytes packed0 = load_bytes(line), packed1 = load_bytes(line + 64);
    if constexpr (Kind == lane_selector::top_of_8) {
        bytes low0 = low_nibbles(packed0), low1 = low_nibbles(packed1);
        bytes high0 = high_nibbles(packed0), high1 = high_nibbles(packed1);
        add_selectors<Kind, Pair>(low_fields, low0, low1);
        add_selectors<Kind, Pair>(high_fields, high0, high1);
        b[0] = as_lanes(look_up(table, low0));
        b[1] = as_lanes(look_up(table, high0));
        b[2] = as_lanes(look_up(table, low1));
        b[3] = as_lanes(look_up(table, high1));
    } else {
        b[0] = as_lanes(look_up(table, low_index<Kind, first>(packed0, low_fields)));
        b[1] = as_lanes(look_up(table, high_index<Kind, first>(packed0, high_fields)));
        b[2] = as_lanes(look_up(table, low_index<Kind, second>(packed1, low_fields)));
        b[3] = as_lanes(look_up(table, high_index<Kind, second>(packed1, high_fields)));
    }
}
