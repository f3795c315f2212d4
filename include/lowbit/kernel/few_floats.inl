// SPDX-License-Identifier: Apache-2.0
// Products of few rows of floats: acc = fma(a, b, acc) over the decoded values of B in ascending k, decoded in
// registers; included after few_rows.inl, with one more atom:
//     floats signed_byte<Byte>(lanes)       byte number Byte of each dword, signed, as a float
// and make_few_hif8<Rows>(), the kernel of HiF8.

/// Byte number Byte of four lanes registers' first (second) line as values of 2 units, times Rows values of A.
template <int Byte, std::size_t Rows>
LOWBIT_ALWAYS_INLINE void few_floats_value(lanes low, lanes high, floats low_scale, floats high_scale, const float* a,
                                           floats (&x)[2 * Rows]) noexcept {
    const floats low_value = mul(signed_byte<Byte>(low), low_scale),
                 high_value = mul(signed_byte<Byte>(high), high_scale);
    LOWBIT_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
        const floats av = splat(a + static_cast<std::size_t>(Byte) * Rows + r);
        x[2 * r] = madd(av, low_value, x[2 * r]);
        x[2 * r + 1] = madd(av, high_value, x[2 * r + 1]);
    }
}

template <std::size_t Rows>
LOWBIT_ALWAYS_INLINE void few_floats_line(lanes low, lanes high, floats low_scale, floats high_scale, const float* a,
                                          floats (&x)[2 * Rows]) noexcept {
    few_floats_value<0, Rows>(low, high, low_scale, high_scale, a, x);
    few_floats_value<1, Rows>(low, high, low_scale, high_scale, a, x);
    few_floats_value<2, Rows>(low, high, low_scale, high_scale, a, x);
    few_floats_value<3, Rows>(low, high, low_scale, high_scale, a, x);
}

/// One block of 32 columns.
template <class F, std::size_t Rows, class Table>
LOWBIT_ALWAYS_INLINE void few_floats_block(const std::uint8_t* codes, const std::uint8_t* selectors,
                                           const std::uint8_t* scales, bool ordinary, const Table& table,
                                           const float* a, float* acc) noexcept {
    constexpr lane_selector kind = lane_traits<F>::selector;
    constexpr int used = kind == lane_selector::nested ? 8 : 4;  // bits of selectors in 16 values
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
        floats x[2 * Rows];
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            x[2 * r] = load(acc + panel_columns * r + column);
            x[2 * r + 1] = load(acc + panel_columns * r + column + 16);
        }
#pragma GCC unroll 1
        for (std::size_t k = 0; k < F::block_size; k += 16) {
            const std::uint8_t* const line = codes + part + 16 * k;
            const float* const values = a + k * Rows;
            lanes b[4];
            few_lanes<kind, 0>(line, table, low, high, b);
            few_floats_line<Rows>(b[0], b[1], low_scale, high_scale, values, x);
            few_floats_line<Rows>(b[2], b[3], low_scale, high_scale, values + 4 * Rows, x);
            few_lanes<kind, 1>(line + 128, table, low, high, b);
            few_floats_line<Rows>(b[0], b[1], low_scale, high_scale, values + 8 * Rows, x);
            few_floats_line<Rows>(b[2], b[3], low_scale, high_scale, values + 12 * Rows, x);
            if constexpr (kind != lane_selector::none && F::block_size > 16) {
                low = right<used>(low);
                high = right<used>(high);
            }
        }
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            store(acc + panel_columns * r + column, x[2 * r]);
            store(acc + panel_columns * r + column + 16, x[2 * r + 1]);
        }
    }
}

/// The few_floats_kernel::panel of a format of integer lanes.
template <class F, std::size_t Rows>
inline void few_floats_panel(const few_floats_tile& t) noexcept {
    using arithmetic = panel_arithmetic<F>;
    using traits = lane_traits<F>;
    static constexpr std::array<std::uint8_t, 64> plain_table = biased_lanes(traits::table, 0);
    const auto table = make_few_table<traits::selector>(plain_table.data());
    const float* a = t.a;
    const std::uint8_t* record = t.panel;
#pragma GCC unroll 1
    for (std::size_t k = 0; k < t.depth; k += record_values) {
        const std::size_t blocks = arithmetic::blocks_at(k, t.depth);
        const std::uint8_t* const selectors = record + arithmetic::selectors_at(blocks);
        const std::uint8_t* const scales = record + arithmetic::scales_at(blocks);
        const bool ordinary = within<few_scale<F>::low, few_scale<F>::high>(scales, blocks * panel_columns);
        for (std::size_t line = 0; line < arithmetic::full_record_bytes; line += 64) fetch(record + t.ahead + line);
#pragma GCC unroll 1
        for (std::size_t n = 0; n < blocks; ++n) {
            few_floats_block<F, Rows>(record + n * F::block_size / 2 * panel_columns,
                                      selectors + n * traits::selector_bytes * panel_columns,
                                      scales + n * panel_columns, ordinary, table, a, t.acc);
            a += F::block_size * Rows;
        }
        record += arithmetic::full_record_bytes;
    }
}

/// The few_floats_kernel::values: B as floats [k][32].
template <std::size_t Rows>
inline void few_floats_values(const float* a, const float* b, std::size_t depth, float* acc) noexcept {
#pragma GCC unroll 1
    for (std::size_t column = 0; column < panel_columns; column += 2 * unit_columns) {
        floats x[2 * Rows];
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            x[2 * r] = load(acc + panel_columns * r + column);
            x[2 * r + 1] = load(acc + panel_columns * r + column + unit_columns);
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < depth; ++k) {
            const floats first = load(b + panel_columns * k + column);
            const floats second = load(b + panel_columns * k + column + unit_columns);
            LOWBIT_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) {
                const floats av = splat(a + k * Rows + r);
                x[2 * r] = madd(av, first, x[2 * r]);
                x[2 * r + 1] = madd(av, second, x[2 * r + 1]);
            }
        }
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            store(acc + panel_columns * r + column, x[2 * r]);
            store(acc + panel_columns * r + column + unit_columns, x[2 * r + 1]);
        }
    }
}

template <class F, std::size_t Rows>
inline constexpr few_floats_kernel few_floats_row = [] {
    if constexpr (lane_traits<F>::integer) {
        return few_floats_kernel{Rows, &few_floats_panel<F, Rows>, &few_floats_values<Rows>};
    } else {
        return make_few_hif8<Rows>();
    }
}();
