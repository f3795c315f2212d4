// SPDX-License-Identifier: Apache-2.0
// Products with few rows of A where registers are few and look-ups take several instructions: each record is expanded
// on the stack, by the code that the products with many rows have already; included after few_lanes.inl.

/// Registers of columns that a tile works off at a time.
inline constexpr std::size_t few_rows_units = unit_bytes == 16 ? 4 : 2;

/// acc += A B over `groups` groups of a record, as integer_tile_kernel; sums of floats stay in memory. Asks for one
/// line of `next` for each 4 values of K.
template <std::size_t Group, pair_kind Kind, std::size_t Rows>
inline void few_rows_record(const integer_tile& t, const std::uint8_t* next) noexcept {
    constexpr std::size_t units = few_rows_units, steps = Rows >= 4 ? 2 : 4;
#pragma GCC unroll 1
    for (std::size_t column = 0; column < panel_columns; column += units * unit_columns) {
        const std::int8_t* a = t.a;
        const std::int32_t* a_scales = t.a_scales;
        const std::uint8_t* b = t.b + 4 * column;
        const float* b_scales = t.b_scales + column;
        float* const acc = t.acc + column;
#pragma GCC unroll 1
        for (std::size_t g = 0; g < t.groups; ++g) {
            words x[Rows * units];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < Rows * units; ++i) x[i] = start_words(a_scales + 2 * Rows + i / units);
#pragma GCC unroll 1
            for (std::size_t k = 0; k < Group / 4; k += steps) {
                LOWBIT_UNROLL
                for (std::size_t i = 0; i < steps; ++i) {
                    lanes bv[units];
                    LOWBIT_UNROLL
                    for (std::size_t u = 0; u < units; ++u) {
                        bv[u] = load_lanes(b + 4 * panel_columns * i + 4 * unit_columns * u);
                    }
                    LOWBIT_UNROLL
                    for (std::size_t r = 0; r < Rows; ++r) {
                        const lanes av = splat_lanes(a + 4 * Rows * i + 4 * r);
                        LOWBIT_UNROLL
                        for (std::size_t u = 0; u < units; ++u) {
                            x[r * units + u] = dot4<Kind.sum>(x[r * units + u], bv[u], av);
                        }
                    }
                }
                if (column == 0) {
                    for (std::size_t i = 0; i < 64 * steps; i += 64) fetch(next + i);
                    next += 64 * steps;
                }
                a += 4 * Rows * steps;
                b += 4 * panel_columns * steps;
            }
            floats scale[units];
            LOWBIT_UNROLL
            for (std::size_t u = 0; u < units; ++u) scale[u] = load(b_scales + unit_columns * u);
            LOWBIT_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) {
                const floats sa = splat_bits(a_scales + r), offset = splat_bits(a_scales + Rows + r);
                LOWBIT_UNROLL
                for (std::size_t u = 0; u < units; ++u) {
                    float* const out = acc + panel_columns * r + unit_columns * u;
                    store(out, madd(scaled_sums<Kind>(x[r * units + u], sa, offset), scale[u], load(out)));
                }
            }
            a_scales += 3 * Rows;
            b_scales += panel_columns;
        }
    }
}

/// The few_rows_kernel::panel of B's format F.
template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
inline void few_rows_panel(const few_rows_tile& t) noexcept {
    using arithmetic = panel_arithmetic<F>;
    constexpr std::size_t repeats = F::block_size / Group;
    alignas(64) std::uint8_t lanes_of_b[record_values * panel_columns];
    alignas(64) float scales_of_b[record_values / Group * panel_columns];
    for (std::size_t k = 0; k < t.depth; k += record_values) {
        const std::size_t blocks = arithmetic::blocks_at(k, t.depth);
        const std::uint8_t* const record = t.panel + arithmetic::record_at(k);
        for (std::size_t line = 1024; line < arithmetic::full_record_bytes; line += 64) fetch(record + t.ahead + line);
        expand_record<F, lane_bias<F>>(record, record + arithmetic::selectors_at(blocks),
                                       record + arithmetic::scales_at(blocks), blocks, repeats, lanes_of_b,
                                       scales_of_b);
        few_rows_record<Group, Kind, Rows>({t.a + k * Rows, t.a_scales + k / Group * 3 * Rows, lanes_of_b, scales_of_b,
                                            blocks * repeats, t.acc, panel_columns},
                                           record + t.ahead);
    }
}
