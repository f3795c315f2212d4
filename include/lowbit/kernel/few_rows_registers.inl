// SPDX-License-Identifier: Apache-2.0
// Products with few rows of A where registers are many: packed codes expanded in registers, straight into the
// dot products; included after few_lanes.inl.
// Per line of codes (4 values of 32 columns) that is one load, the look-ups, and Rows dot products a register; scales
// are made beside. Nothing is written but the sums.

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
    constexpr bool quick = kind == lane_selector::none || one_look_up;        // a look-up is one instruction
    constexpr std::size_t pairs = Rows >= 8 && Group >= 32 && quick ? 4 : 2;  // of lines a round
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
