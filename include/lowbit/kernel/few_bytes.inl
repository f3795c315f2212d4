// SPDX-License-Identifier: Apache-2.0
// Products with few rows of A where B's codes are bytes, lanes already: straight from the panel into the dot products.
// Included by few_rows.inl, over its atoms.

/// Scales of unit_columns columns, from column `column` of a block's plane on.
template <class F>
LOWBIT_ALWAYS_INLINE floats few_byte_scales(const std::uint8_t* scales, std::size_t column, bool ordinary) noexcept {
    if constexpr (byte_scales<F>) {
        return few_scales<F>(scales + column, ordinary);
    } else {
        return as_floats(load_bytes(scales + sizeof(float) * column));
    }
}

/// One block of 32 columns: lines of 4 values, low and high columns 64 bytes apart; two lines a round, or four.
template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
LOWBIT_ALWAYS_INLINE void few_bytes_block(const std::uint8_t* codes, const std::uint8_t* scales, bool ordinary,
                                          const std::int8_t* a, const std::int32_t* a_scales, std::size_t ahead,
                                          float* acc) noexcept {
    constexpr std::size_t line = 4 * panel_columns, lines = 4;
    const bytes bias = splat_byte(lane_bias<F>);
#pragma GCC unroll 1
    for (std::size_t part = 0; part < 64; part += unit_bytes) {
        const std::size_t column = part / 4;
        const floats low_scale = few_byte_scales<F>(scales, column, ordinary);
        const floats high_scale = few_byte_scales<F>(scales, column + 16, ordinary);
        const std::uint8_t* p = codes + part;
        const std::int8_t* lanes_of_a = a;
        const std::int32_t* words_of_a = a_scales;
        float* const out = acc + column;
#pragma GCC unroll 1
        for (std::size_t group = 0; group < F::block_size; group += Group) {
            words x[2 * Rows];
            LOWBIT_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) x[2 * r] = x[2 * r + 1] = start_words(words_of_a + 2 * Rows + r);
#pragma GCC unroll 1
            for (std::size_t k = 0; k < Group; k += 4 * lines) {
                LOWBIT_UNROLL
                for (std::size_t i = 0; i < lines; ++i) {
                    fetch(p + ahead);
                    fetch(p + ahead + 64);
                    const lanes low = as_lanes(differ(load_bytes(p), bias));
                    const lanes high = as_lanes(differ(load_bytes(p + 64), bias));
                    LOWBIT_UNROLL
                    for (std::size_t r = 0; r < Rows; ++r) {
                        const lanes av = splat_lanes(lanes_of_a + 4 * r);
                        x[2 * r] = dot4<Kind.sum>(x[2 * r], low, av);
                        x[2 * r + 1] = dot4<Kind.sum>(x[2 * r + 1], high, av);
                    }
                    p += line;
                    lanes_of_a += 4 * Rows;
                }
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
inline void few_bytes_panel(const few_rows_tile& t) noexcept {
    using arithmetic = panel_arithmetic<F>;
    const std::int8_t* a = t.a;
    const std::int32_t* a_scales = t.a_scales;
    const std::uint8_t* record = t.panel;
    float* acc = t.acc;
#pragma GCC unroll 1
    for (std::size_t k = 0; k < t.depth; k += record_values) {
        const std::size_t blocks = arithmetic::blocks_at(k, t.depth);
        const std::uint8_t* const scales = record + arithmetic::scales_at(blocks);
        bool ordinary = true;
        if constexpr (byte_scales<F>) {
            ordinary = within<few_scale<F>::low, few_scale<F>::high>(scales, blocks * panel_columns);
        }
        for (std::size_t at = arithmetic::scales_at(blocks); at < arithmetic::full_record_bytes; at += 64) {
            fetch(record + t.ahead + at);
        }
#pragma GCC unroll 1
        for (std::size_t n = 0; n < blocks; ++n) {
            asm("" : "+r"(acc));
            few_bytes_block<F, Group, Kind, Rows>(record + n * F::block_size * panel_columns,
                                                  scales + n * arithmetic::scale_bytes * panel_columns, ordinary, a,
                                                  a_scales, t.ahead, acc);
            a += F::block_size * Rows;
            a_scales += 3 * Rows * (F::block_size / Group);
        }
        record += arithmetic::full_record_bytes;
    }
}
