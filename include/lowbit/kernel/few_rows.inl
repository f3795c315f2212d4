// SPDX-License-Identifier: Apache-2.0
// Products with few rows of A: packed codes expanded in registers, straight into the dot products; included once in
// each target region, after the atoms of the matrix product, expand.inl and these:
//     make_few_table<Kind>(const std::uint8_t* 64)                       the lane table as look-ups here want it
//     bytes  low_index<Kind, Position>(bytes line, bytes fields)         look-up index of the low nibbles of a line
//     bytes  high_index<Kind, Position>(bytes line, bytes fields)        of the high nibbles
//     bytes  few_fields<Kind>(const std::uint8_t* planes)                what selector_fields gives
//     bytes  right<N>(bytes)                                             shift of each dword, zeros coming in
//     bool   within<Low, High>(const std::uint8_t*, count)               all bytes in Low..High; count a multiple of 32
//     void   fetch(const std::uint8_t*)                                  prefetch of a line
//     lanes  as_lanes(bytes)                                             the same register
// Per line of codes (4 values of 32 columns) that is one load, the look-ups, and Rows dot products a register; scales
// are made beside. Nothing is written but the sums.

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

/// Adds the products of a pair of lines.
template <lane_selector Kind, int Pair, pair_sum Sum, std::size_t Rows, class Table>
LOWBIT_ALWAYS_INLINE void few_pair(const std::uint8_t* line, const Table& table, bytes low_fields, bytes high_fields,
                                   const std::int8_t* a, std::size_t ahead, words (&x)[2 * Rows]) noexcept {
    lanes b[4];
    fetch(line + ahead);
    fetch(line + ahead + 64);
    few_lanes<Kind, Pair>(line, table, low_fields, high_fields, b);
    LOWBIT_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
        const lanes a0 = splat_lanes(a + 4 * r), a1 = splat_lanes(a + 4 * Rows + 4 * r);
        x[2 * r] = dot4<Sum>(x[2 * r], b[0], a0);
        x[2 * r + 1] = dot4<Sum>(x[2 * r + 1], b[1], a0);
        x[2 * r] = dot4<Sum>(x[2 * r], b[2], a1);
        x[2 * r + 1] = dot4<Sum>(x[2 * r + 1], b[3], a1);
    }
}

/// One block of 32 columns. Loops that are not unrolled keep the code small: 16 values of K a round (32 with 8 rows),
/// and selectors move on by a shift.
template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows, class Table>
LOWBIT_ALWAYS_INLINE void few_block(const std::uint8_t* codes, const std::uint8_t* selectors,
                                    const std::uint8_t* scales, bool ordinary, const Table& table, const std::int8_t* a,
                                    const std::int32_t* a_scales, std::size_t ahead, float* acc) noexcept {
    constexpr lane_selector kind = lane_traits<F>::selector;
    constexpr std::size_t pairs = Rows >= 8 && Group >= 32 ? 4 : 2;  // of lines a round
    constexpr int used =
        static_cast<int>(pairs) * (kind == lane_selector::nested ? 4 : 2);  // bits of selectors in them
#pragma GCC unroll 1
    for (std::size_t part = 0; part < 64; part += unit_bytes) {
        const std::size_t column = part / 4;
        bytes low{}, high{};
        if constexpr (kind != lane_selector::none) {
            low = few_fields<kind>(selectors + column);
            high = few_fields<kind>(selectors + column + 16);
        }
        const floats low_scale = few_scales<F>(scales + column, ordinary);
        const floats high_scale = few_scales<F>(scales + column + 16, ordinary);
        const std::uint8_t* line = codes + part;
        const std::int8_t* lanes_of_a = a;
        const std::int32_t* words_of_a = a_scales;
        float* const out = acc + column;
#pragma GCC unroll 1
        for (std::size_t group = 0; group < F::block_size; group += Group) {
            words x[2 * Rows];
            LOWBIT_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) x[2 * r] = x[2 * r + 1] = start_words(words_of_a + 2 * Rows + r);
#pragma GCC unroll 1
            for (std::size_t k = 0; k < Group; k += 8 * pairs) {
                few_pair<kind, 0, Kind.sum, Rows>(line, table, low, high, lanes_of_a, ahead, x);
                few_pair<kind, 1, Kind.sum, Rows>(line + 128, table, low, high, lanes_of_a + 8 * Rows, ahead, x);
                if constexpr (pairs == 4) {
                    few_pair<kind, 2, Kind.sum, Rows>(line + 256, table, low, high, lanes_of_a + 16 * Rows, ahead, x);
                    few_pair<kind, 3, Kind.sum, Rows>(line + 384, table, low, high, lanes_of_a + 24 * Rows, ahead, x);
                }
                if constexpr (kind != lane_selector::none && F::block_size > 8 * pairs) {
                    low = right<used>(low);
                    high = right<used>(high);
                }
                line += 128 * pairs;
                lanes_of_a += 8 * pairs * Rows;
            }
            LOWBIT_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) {
                const floats scale = splat_bits(words_of_a + r), offset = splat_bits(words_of_a + Rows + r);
                float* const row = out + panel_columns * r;
                store(row, madd(scaled_sums<Kind>(x[2 * r], scale, offset), low_scale, load(row)));
                store(row + 16, madd(scaled_sums<Kind>(x[2 * r + 1], scale, offset), high_scale, load(row + 16)));
            }
            words_of_a += 3 * Rows;
        }
    }
}

/// The few_rows_kernel::panel of B's format F.
template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
inline void few_rows_panel(const few_rows_tile& t) noexcept {
    using arithmetic = panel_arithmetic<F>;
    using traits = lane_traits<F>;
    constexpr std::size_t groups = F::block_size / Group, selector_bytes = traits::selector_bytes;
    static constexpr std::array<std::uint8_t, 64> biased_table = biased_lanes(traits::table, lane_bias<F>);
    const auto table = make_few_table<traits::selector>(biased_table.data());
    const std::int8_t* a = t.a;
    const std::int32_t* a_scales = t.a_scales;
    const std::uint8_t* record = t.panel;
    float* acc = t.acc;
#pragma GCC unroll 1
    for (std::size_t k = 0; k < t.depth; k += record_values) {
        const std::size_t blocks = arithmetic::blocks_at(k, t.depth);
        const std::uint8_t* const selectors = record + arithmetic::selectors_at(blocks);
        const std::uint8_t* const scales = record + arithmetic::scales_at(blocks);
        const bool ordinary = within<few_scale<F>::low, few_scale<F>::high>(scales, blocks * panel_columns);
        for (std::size_t line = 1024; line < arithmetic::full_record_bytes; line += 64) fetch(record + t.ahead + line);
#pragma GCC unroll 1
        for (std::size_t n = 0; n < blocks; ++n) {
            asm("" : "+r"(acc));
            few_block<F, Group, Kind, Rows>(record + n * F::block_size / 2 * panel_columns,
                                            selectors + n * selector_bytes * panel_columns, scales + n * panel_columns,
                                            ordinary, table, a, a_scales, t.ahead, acc);
            a += F::block_size * Rows;
            a_scales += 3 * Rows * groups;
        }
        record += arithmetic::full_record_bytes;
    }
}

#include <lowbit/kernel/few_bytes.inl>

/// Words of Rows rows, `stride` apart, to out[word][row].
template <std::size_t Rows>
inline void few_interleave(const std::int32_t* rows, std::size_t stride, std::size_t count,
                           std::int32_t* out) noexcept {
    for (std::size_t w = 0; w < count; ++w) {
        for (std::size_t r = 0; r < Rows; ++r) *out++ = rows[r * stride + w];
    }
}

template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
constexpr few_rows_kernel make_few_rows_row() noexcept {
    constexpr bool narrow = Kind.sum == pair_sum::narrow;
    few_rows_kernel row{{Rows, panel_columns, narrow ? start_kind::pairs : start_kind::word, nullptr, nullptr,
                         &start_row<Group, narrow>, &few_interleave<Rows>},
                        nullptr};
    if constexpr (table_lanes<F>) {
        row.panel = &few_rows_panel<F, Group, Kind, Rows>;
    } else {
        row.panel = &few_bytes_panel<F, Group, Kind, Rows>;
    }
    return row;
}

template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
inline constexpr few_rows_kernel few_rows_row = make_few_rows_row<F, Group, kind_here(Kind), Rows>();
