// SPDX-License-Identifier: Apache-2.0
// Products of few rows of floats: records decoded to floats in the first cache, acc = fma(a, b, acc) over them in
// ascending k; included after few_lanes.inl, with these atoms more:
//     float_table, make_float_table(const float* 16)
//     floats nibble_values<N>(float_table, bytes line)      entry of nibble N of each dword; entry 8 + i is -entry i
//     floats field_values<N>(float_table, bytes fields)     entry of bits N, N + 1 of each dword; entries repeat after
//     4 floats signed_byte<Byte>(lanes)                       byte number Byte of each dword, signed, as a float
//     decode_hif8                                           the decode_kernel of HiF8; none: the row codec serves
// Decoding costs three operations a register of values (a shift, a look-up, a product), each row of A one more.

inline constexpr std::size_t few_floats_units = 8;  // sums: two fmas a cycle of latency 4

/// The lane table of format F as values without selector times a factor for each selector, where it is such a product.
template <class F>
struct lane_factors {
    static constexpr const std::array<std::int8_t, 64>& table = lane_traits<F>::table;
    static constexpr std::array<float, 16> values = [] {
        std::array<float, 16> x{};
        for (std::size_t code = 0; code < 8; ++code) {
            x[code] = table[code];
            x[code + 8] = -x[code];
        }
        return x;
    }();
    static constexpr std::array<float, 16> factors = [] {
        std::array<float, 16> x{};
        for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(table[16 * (i % 4) + 4]) / values[4];
        return x;
    }();
    static constexpr bool exact = [] {
        for (std::size_t i = 0; i < 64; ++i) {
            if (values[i % 16] * factors[i / 16] != static_cast<float>(table[i])) return false;
        }
        return true;
    }();
    static_assert(exact == (lane_traits<F>::selector != lane_selector::top_of_8));
};

/// What becomes of decoded values i (and of the 16 columns above): they are written,
struct write_values {
    float* out;
    LOWBIT_ALWAYS_INLINE void operator()(std::size_t i, floats low, floats high) const noexcept {
        store(out + panel_columns * i, low);
        store(out + panel_columns * i + 16, high);
    }
};
/// or multiplied by one row of A and summed.
struct sum_values {
    const float* a;
    floats* sums;
    LOWBIT_ALWAYS_INLINE void operator()(std::size_t i, floats low, floats high) const noexcept {
        const floats av = splat(a + i);
        sums[0] = madd(av, low, sums[0]);
        sums[1] = madd(av, high, sums[1]);
    }
};

/// Selectors and scales of one block of two units of columns.
struct block_scales {
    bytes low_fields, high_fields;
    floats low, high;
};
template <class F>
LOWBIT_ALWAYS_INLINE block_scales scales_of_block(const std::uint8_t* selectors, const std::uint8_t* scales,
                                                  bool ordinary) noexcept {
    block_scales s{};
    if constexpr (lane_traits<F>::selector != lane_selector::none) {
        s.low_fields = few_fields<lane_traits<F>::selector>(selectors);
        s.high_fields = few_fields<lane_traits<F>::selector>(selectors + 16);
    }
    s.low = few_scales<F>(scales, ordinary);
    s.high = few_scales<F>(scales + 16, ordinary);
    return s;
}
/// On to the selectors of the next 16 values.
template <class F>
LOWBIT_ALWAYS_INLINE void next_fields(block_scales& s) noexcept {
    constexpr lane_selector kind = lane_traits<F>::selector;
    if constexpr (kind != lane_selector::none && F::block_size > 16) {
        constexpr int used = kind == lane_selector::nested ? 8 : 4;
        s.low_fields = right<used>(s.low_fields);
        s.high_fields = right<used>(s.high_fields);
    }
}

struct lane_tables {
    float_table values, factors;
};

/// The values of line `Line` of 4: 4 values of K of two units of columns.
template <class F, std::size_t Line, class Sink>
LOWBIT_ALWAYS_INLINE void decode_line(const std::uint8_t* line, const lane_tables& tables, const block_scales& s,
                                      const Sink& sink) noexcept {
    constexpr lane_selector kind = lane_traits<F>::selector;
    floats low_scale = s.low, high_scale = s.high;
    if constexpr (kind != lane_selector::none) {
        constexpr int field = kind == lane_selector::nested ? 2 * Line : Line / 2 * 2;
        low_scale = mul(field_values<field>(tables.factors, s.low_fields), low_scale);
        high_scale = mul(field_values<field>(tables.factors, s.high_fields), high_scale);
    }
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
        // A load from one byte further is a shift by 8. What it reads beyond the line is ignored, and there: scales.
        const bytes codes = load_bytes(line + 64 * Line + i);
        sink(4 * Line + i, mul(nibble_values<0>(tables.values, codes), low_scale),
             mul(nibble_values<1>(tables.values, codes), high_scale));
    }
}

/// Value `Value` of a line from lanes: a zero lane takes the sign of its code from the line itself.
template <int Value>
LOWBIT_ALWAYS_INLINE void decode_lanes(bytes line, lanes low, lanes high, floats low_scale, floats high_scale,
                                       float* out) noexcept {
    const bytes sign = splat_dword(0x80000000U);
    float* const row = out + panel_columns * Value;
    store(row, with_sign(mul(signed_byte<Value>(low), low_scale), both(left<28 - 8 * Value>(line), sign)));
    store(row + 16, with_sign(mul(signed_byte<Value>(high), high_scale), both(left<24 - 8 * Value>(line), sign)));
}

template <class F, int Pair, class Table>
LOWBIT_ALWAYS_INLINE void decode_pair(const std::uint8_t* line, const Table& table, const block_scales& s,
                                      float* out) noexcept {
    lanes b[4];
    few_lanes<lane_traits<F>::selector, Pair>(line + 128 * Pair, table, s.low_fields, s.high_fields, b);
    for (std::size_t i = 0; i < 2; ++i) {
        const bytes codes = load_bytes(line + 128 * Pair + 64 * i);
        float* const rows = out + 4 * panel_columns * (2 * Pair + i);
        decode_lanes<0>(codes, b[2 * i], b[2 * i + 1], s.low, s.high, rows);
        decode_lanes<1>(codes, b[2 * i], b[2 * i + 1], s.low, s.high, rows);
        decode_lanes<2>(codes, b[2 * i], b[2 * i + 1], s.low, s.high, rows);
        decode_lanes<3>(codes, b[2 * i], b[2 * i + 1], s.low, s.high, rows);
    }
}

/// The decode_kernel::record of a format whose codes are looked up.
template <table_lanes F>
inline void decode_record(const std::uint8_t* record, std::size_t values, std::size_t ahead, float* out) noexcept {
    using arithmetic = panel_arithmetic<F>;
    using traits = lane_traits<F>;
    const std::size_t blocks = divide_up(values, F::block_size);
    const std::uint8_t* const selectors = record + arithmetic::selectors_at(blocks);
    const std::uint8_t* const scales = record + arithmetic::scales_at(blocks);
    const bool ordinary = within<few_scale<F>::low, few_scale<F>::high>(scales, blocks * panel_columns);
    for (std::size_t i = 1024; i < arithmetic::full_record_bytes; i += 64) fetch(record + ahead + i);
#pragma GCC unroll 1
    for (std::size_t n = 0; n < blocks; ++n) {
#pragma GCC unroll 1
        for (std::size_t part = 0; part < 64; part += unit_bytes) {
            const std::size_t column = part / 4;
            block_scales s = scales_of_block<F>(selectors + n * traits::selector_bytes * panel_columns + column,
                                                scales + n * panel_columns + column, ordinary);
#pragma GCC unroll 1
            for (std::size_t k = n * F::block_size; k < (n + 1) * F::block_size; k += 16) {
                const std::uint8_t* const line = record + 16 * k + part;
                float* const to = out + panel_columns * k + column;
                if (part == 0) {
                    for (std::size_t i = 0; i < 256; i += 64) fetch(line + ahead + i);
                }
                if constexpr (lane_factors<F>::exact) {
                    const lane_tables tables{make_float_table(lane_factors<F>::values.data()),
                                             make_float_table(lane_factors<F>::factors.data())};
                    decode_line<F, 0>(line, tables, s, write_values{to});
                    decode_line<F, 1>(line, tables, s, write_values{to});
                    decode_line<F, 2>(line, tables, s, write_values{to});
                    decode_line<F, 3>(line, tables, s, write_values{to});
                } else {
                    static constexpr std::array<std::uint8_t, 64> plain_table = biased_lanes(traits::table, 0);
                    const auto table = make_few_table<traits::selector>(plain_table.data());
                    decode_pair<F, 0>(line, table, s, to);
                    decode_pair<F, 1>(line, table, s, to);
                }
                next_fields<F>(s);
            }
        }
    }
}

/// Scales of unit_columns columns of a block.
template <class F>
LOWBIT_ALWAYS_INLINE floats byte_lane_scales(const std::uint8_t* scales, std::size_t column, bool ordinary) noexcept {
    if constexpr (byte_scales<F>) {
        return few_scales<F>(scales + column, ordinary);
    } else {
        return as_floats(load_bytes(scales + 4 * column));
    }
}

/// The decode_kernel::record of a format whose codes are bytes.
template <class F>
inline void decode_bytes_record(const std::uint8_t* record, std::size_t values, std::size_t ahead,
                                float* out) noexcept {
    using arithmetic = panel_arithmetic<F>;
    const std::size_t blocks = divide_up(values, F::block_size);
    const std::uint8_t* const scales = record + arithmetic::scales_at(blocks);
    bool ordinary = true;
    if constexpr (byte_scales<F>) {
        ordinary = within<few_scale<F>::low, few_scale<F>::high>(scales, blocks * panel_columns);
    }
#pragma GCC unroll 1
    for (std::size_t k = 0; k < blocks * F::block_size; k += 4) {
        const std::uint8_t* const line = record + panel_columns * k;
        const std::uint8_t* const block = scales + k / F::block_size * arithmetic::scale_bytes * panel_columns;
        fetch(line + ahead);
        fetch(line + ahead + 64);
#pragma GCC unroll 1
        for (std::size_t column = 0; column < panel_columns; column += unit_columns) {
            const lanes x = load_lanes(line + 4 * column);
            const floats scale = byte_lane_scales<F>(block, column, ordinary);
            float* const to = out + panel_columns * k + column;
            store(to, mul(signed_byte<0>(x), scale));
            store(to + panel_columns, mul(signed_byte<1>(x), scale));
            store(to + 2 * panel_columns, mul(signed_byte<2>(x), scale));
            store(to + 3 * panel_columns, mul(signed_byte<3>(x), scale));
        }
    }
}

/// The decode_kernel::abreast for one row and a format whose lane table factors. Four sums, of two units of columns in
/// each of two panels, or of four units in one: with two, each would wait for the one before it; with eight, their
/// scales and selectors leave no registers (Zen 5, cycles a register of weights: 1.45 to 1.67 with four, 1.59 to 2.1
/// with eight).
template <class F>
inline void few_floats_panels(const few_floats_tile& t) noexcept {
    using arithmetic = panel_arithmetic<F>;
    using traits = lane_traits<F>;
    constexpr bool abreast = unit_bytes == 64;  // the two panels
    constexpr std::size_t step = abreast ? 64 : 2 * unit_bytes, planes = traits::selector_bytes * panel_columns;
    constexpr std::size_t blocks = arithmetic::blocks_per_record;
    const lane_tables tables{make_float_table(lane_factors<F>::values.data()),
                             make_float_table(lane_factors<F>::factors.data())};
#pragma GCC unroll 1
    for (std::size_t panel = 0; panel < (abreast ? 1 : 2); ++panel) {
        const std::uint8_t* first = t.panels[panel];
        const std::uint8_t* second = abreast ? t.panels[1] : first + unit_bytes;
        float* const first_sums = t.acc + panel_columns * panel;
        float* const second_sums = abreast ? t.acc + panel_columns : first_sums + unit_columns;
        constexpr std::size_t second_column = abreast ? 0 : unit_columns;
        const float* a = t.a;
#pragma GCC unroll 1
        for (std::size_t k = 0; k < t.depth; k += record_values, a += record_values) {
            const std::uint8_t* const scales0 = first + arithmetic::scales_at(blocks);
            const std::uint8_t* const scales1 = abreast ? second + arithmetic::scales_at(blocks) : scales0;
            const std::uint8_t* const selectors0 = first + arithmetic::selectors_at(blocks);
            const std::uint8_t* const selectors1 = abreast ? second + arithmetic::selectors_at(blocks) : selectors0;
            const bool ordinary =
                within<few_scale<F>::low, few_scale<F>::high>(scales0, blocks * panel_columns) &&
                (!abreast || within<few_scale<F>::low, few_scale<F>::high>(scales1, blocks * panel_columns));
#pragma GCC unroll 1
            for (std::size_t part = 0; part < 64; part += step) {
                const std::size_t column = part / 4;
                floats x[4] = {load(first_sums + column), load(first_sums + column + 16), load(second_sums + column),
                               load(second_sums + column + 16)};
#pragma GCC unroll 1
                for (std::size_t n = 0; n < blocks; ++n) {
                    const std::size_t at = n * panel_columns + column;
                    block_scales s0 = scales_of_block<F>(selectors0 + n * planes + column, scales0 + at, ordinary);
                    block_scales s1 = scales_of_block<F>(selectors1 + n * planes + column + second_column,
                                                         scales1 + at + second_column, ordinary);
#pragma GCC unroll 1
                    for (std::size_t v = n * F::block_size; v < (n + 1) * F::block_size; v += 16) {
                        const std::uint8_t* const line0 = first + 16 * v + part;
                        const std::uint8_t* const line1 = second + 16 * v + part;
                        const sum_values sink0{a + v, x}, sink1{a + v, x + 2};
                        decode_line<F, 0>(line0, tables, s0, sink0);
                        decode_line<F, 0>(line1, tables, s1, sink1);
                        decode_line<F, 1>(line0, tables, s0, sink0);
                        decode_line<F, 1>(line1, tables, s1, sink1);
                        decode_line<F, 2>(line0, tables, s0, sink0);
                        decode_line<F, 2>(line1, tables, s1, sink1);
                        decode_line<F, 3>(line0, tables, s0, sink0);
                        decode_line<F, 3>(line1, tables, s1, sink1);
                        next_fields<F>(s0);
                        next_fields<F>(s1);
                        for (std::size_t i = 0; i < 320; i += 64) {
                            if (part == 0) fetch(first + t.ahead + 20 * v + i);
                            if (part == 0 && abreast) fetch(second + t.ahead + 20 * v + i);
                        }
                    }
                }
                store(first_sums + column, x[0]);
                store(first_sums + column + 16, x[1]);
                store(second_sums + column, x[2]);
                store(second_sums + column + 16, x[3]);
            }
            first += arithmetic::full_record_bytes;
            second += arithmetic::full_record_bytes;
        }
    }
}

template <class F>
inline constexpr decode_kernel decode_row = [] {
    if constexpr (!lane_traits<F>::integer) {
        return decode_hif8;
    } else if constexpr (!table_lanes<F>) {
        return decode_kernel{&decode_bytes_record<F>, nullptr, {}};
    } else if constexpr (lane_factors<F>::exact) {
        return decode_kernel{&decode_record<F>, nullptr, {{2, &few_floats_panels<F>}}};
    } else {
        return decode_kernel{&decode_record<F>, nullptr, {}};
    }
}();

/// One value of K times `Units` registers of values, in one or several panels.
template <std::size_t Rows, std::size_t Units>
LOWBIT_ALWAYS_INLINE void few_floats_value(const float* a, const float* b, floats (&x)[few_floats_units]) noexcept {
    floats bv[Units];
    LOWBIT_UNROLL
    for (std::size_t u = 0; u < Units; ++u) {
        const std::size_t panel = u * unit_columns / panel_columns, column = u * unit_columns % panel_columns;
        bv[u] = load(b + panel * record_values * panel_columns + column);
    }
    LOWBIT_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
        const floats av = splat(a + r);
        LOWBIT_UNROLL
        for (std::size_t u = 0; u < Units; ++u) x[r * Units + u] = madd(av, bv[u], x[r * Units + u]);
    }
}

/// The few_floats_kernel::values: eight sums in registers, of one row in several panels or of several rows in (part of)
/// one; with fewer, each would wait for the one before it. Four values a round: a processor foresees the end of 16
/// rounds, not that of 64.
template <std::size_t Rows>
inline void few_floats_values(const float* a, const float* b, std::size_t depth, float* acc) noexcept {
    constexpr std::size_t units = few_floats_units / Rows, columns = units * unit_columns;
    constexpr std::size_t end = columns < panel_columns ? panel_columns : columns;
#pragma GCC unroll 1
    for (std::size_t first = 0; first < end; first += columns) {
        floats x[few_floats_units];
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < few_floats_units; ++i) {
            const std::size_t r = i / units, u = i % units * unit_columns;
            x[i] = load(acc + (u / panel_columns * Rows + r) * panel_columns + first + u % panel_columns);
        }
        const float* bk = b + first;
        const float* ak = a;
        std::size_t k = 0;
#pragma GCC unroll 1
        for (; k + 4 <= depth; k += 4, ak += 4 * Rows, bk += 4 * panel_columns) {
            few_floats_value<Rows, units>(ak, bk, x);
            few_floats_value<Rows, units>(ak + Rows, bk + panel_columns, x);
            few_floats_value<Rows, units>(ak + 2 * Rows, bk + 2 * panel_columns, x);
            few_floats_value<Rows, units>(ak + 3 * Rows, bk + 3 * panel_columns, x);
        }
#pragma GCC unroll 1
        for (; k < depth; ++k, ak += Rows, bk += panel_columns) few_floats_value<Rows, units>(ak, bk, x);
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < few_floats_units; ++i) {
            const std::size_t r = i / units, u = i % units * unit_columns;
            store(acc + (u / panel_columns * Rows + r) * panel_columns + first + u % panel_columns, x[i]);
        }
    }
}

template <std::size_t Rows>
inline constexpr few_floats_kernel few_floats_row{
    Rows,
    few_floats_units / Rows* unit_columns <= panel_columns ? 1 : few_floats_units / Rows* unit_columns / panel_columns,
    &few_floats_values<Rows>,
};
