// SPDX-License-Identifier: Apache-2.0
// Atoms of few_lanes.inl and few_floats.inl on AVX-512 with VBMI: look-ups and HiF8 to floats by byte permutes.

inline constexpr bool one_look_up = true;  // of 64 entries

// vpermb looks at 6 bits of an index only: what lies above a nibble need not be cleared, as tables without selectors
// are repeated four times.
template <lane_selector Kind>
LOWBIT_ALWAYS_INLINE large_table make_few_table(const std::uint8_t* p) noexcept {
    if constexpr (Kind == lane_selector::none) {
        return {_mm512_maskz_broadcast_i32x4(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
    } else {
        return make_large_table(p);
    }
}
/// The field in bits 4 and 5 of each byte of a dword, anything in the bits around: a byte of four fields is repeated,
/// once for all of them, and shifted. vpmultishiftqb would do it at once, but in the ports of the dot product (Zen 5).
template <int Position>
LOWBIT_ALWAYS_INLINE bytes loose_spread(bytes fields) noexcept {
    constexpr int byte = Position / 8 * 0x01010101, shift = Position % 8 - 4;
    const bytes four = _mm512_maskz_shuffle_epi8(
        ~__mmask64{0}, fields,
        _mm512_maskz_broadcast_i32x4(0xFFFF,
                                     _mm_setr_epi32(byte, byte + 0x04040404, byte + 0x08080808, byte + 0x0C0C0C0C)));
    if constexpr (shift < 0) return _mm512_maskz_slli_epi32(0xFFFF, four, -shift);
    if constexpr (shift > 0) return _mm512_maskz_srli_epi32(0xFFFF, four, shift);
    return four;
}
template <lane_selector Kind, int Position>
LOWBIT_ALWAYS_INLINE bytes low_index(bytes line, bytes fields) noexcept {
    if constexpr (Kind == lane_selector::none) return line;
    return _mm512_ternarylogic_epi32(_mm512_set1_epi8(0x0F), line, loose_spread<Position>(fields), 0xCA);
}
template <lane_selector Kind, int Position>
LOWBIT_ALWAYS_INLINE bytes high_index(bytes line, bytes fields) noexcept {
    return low_index<Kind, Position>(_mm512_maskz_srli_epi32(0xFFFF, line, 4), fields);
}
template <lane_selector Kind>
LOWBIT_ALWAYS_INLINE bytes few_fields(const std::uint8_t* planes) noexcept {
    if constexpr (Kind != lane_selector::nested) return widen_bytes(planes);
    // Byte b of a dword: bits 0..3 the fine bits of runs 4b .. 4b + 3, bits 4, 5 the coarse bits of runs of 8 2b,
    // 2b + 1; a table of 64 turns it into their four fields.
    static constexpr std::array<std::uint8_t, 64> fields = [] {
        std::array<std::uint8_t, 64> table{};
        for (std::size_t i = 0; i < 64; ++i) {
            std::size_t field = 0;
            for (std::size_t run = 0; run < 4; ++run) {
                field |= ((i >> run & 1U) | (i >> (4 + run / 2) & 1U) << 1U) << (2 * run);
            }
            table[i] = static_cast<std::uint8_t>(field);
        }
        return table;
    }();
    const bytes word = _mm512_ternarylogic_epi32(widen_bytes(planes), left<8>(widen_bytes(planes + panel_columns)),
                                                 left<16>(widen_bytes(planes + 2 * panel_columns)), 0xFE);
    const __m512i fine_bits = _mm512_set1_epi64(static_cast<long long>(0x2C2824200C080400ULL));
    const __m512i coarse_bits = _mm512_set1_epi64(static_cast<long long>(0x32302E2C12100E0CULL));
    const bytes fine = _mm512_maskz_multishift_epi64_epi8(~__mmask64{0}, fine_bits, word);
    const bytes coarse = _mm512_maskz_multishift_epi64_epi8(~__mmask64{0}, coarse_bits, word);
    const bytes index = _mm512_ternarylogic_epi32(_mm512_set1_epi8(0x0F), fine, coarse, 0xCA);
    return look_up(make_large_table(fields.data()), index);
}

/// The upper halves of the values of codes 0..127, as high and low bytes: HiF8 is exact in bfloat16.
struct hif8_halves {
    alignas(64) std::array<std::uint8_t, 128> high{};
    alignas(64) std::array<std::uint8_t, 128> low{};
};
inline constexpr hif8_halves few_hif8_table = [] {
    hif8_halves table;
    for (std::size_t code = 0; code < 128; ++code) {
        const std::uint32_t bits = to_bits(hif8::from_bits(static_cast<std::uint8_t>(code)).to_float());
        table.high[code] = static_cast<std::uint8_t>(bits >> 24U);
        table.low[code] = static_cast<std::uint8_t>(bits >> 16U);
    }
    return table;
}();

/// The columns as the unpacked bytes come: even ones first, and lanes of 16 bytes in the order 0, 2, 1, 3.
inline constexpr std::array<std::uint8_t, 32> hif8_order = [] {
    std::array<std::uint8_t, 32> order{};
    for (std::size_t i = 0; i < 32; ++i) {
        constexpr std::size_t first[4] = {0, 16, 8, 24};
        order[i] = static_cast<std::uint8_t>(first[i % 16 / 4] + 2 * (i % 4) + i / 16);
    }
    return order;
}();

struct hif8_tables {
    __m512i high[2], low[2];
};
LOWBIT_ALWAYS_INLINE hif8_tables make_hif8_tables() noexcept {
    const hif8_halves& t = few_hif8_table;
    return {{_mm512_load_si512(t.high.data()), _mm512_load_si512(t.high.data() + 64)},
            {_mm512_load_si512(t.low.data()), _mm512_load_si512(t.low.data() + 64)}};
}

/// Two values of K of 32 columns: even and odd columns of the first, then of the second.
LOWBIT_ALWAYS_INLINE void decode_hif8_line(const std::uint8_t* line, const hif8_tables& t, floats (&x)[4]) noexcept {
    constexpr __mmask64 all = ~__mmask64{0};
    const __m512i top = _mm512_set1_epi8(static_cast<char>(0x80)),
                  odd = _mm512_set1_epi32(static_cast<int>(0xFFFF0000U));
    const __m512i codes = _mm512_loadu_si512(line);
    const __mmask64 nan = _mm512_cmpeq_epi8_mask(codes, top);
    __m512i high = _mm512_permutex2var_epi8(t.high[0], codes, t.high[1]);
    __m512i low = _mm512_permutex2var_epi8(t.low[0], codes, t.low[1]);
    high = _mm512_ternarylogic_epi32(high, codes, top, 0xF8);  // high | (codes & top)
    if (nan != 0) {
        high = _mm512_mask_mov_epi8(high, nan, _mm512_set1_epi8(0x7F));
        low = _mm512_mask_mov_epi8(low, nan, _mm512_set1_epi8(static_cast<char>(0xC0)));
    }
    const __m512i a = _mm512_maskz_unpacklo_epi8(all, low, high), b = _mm512_maskz_unpackhi_epi8(all, low, high);
    const __m512i first = _mm512_maskz_shuffle_i64x2(0xFF, a, b, 0x44);
    const __m512i second = _mm512_maskz_shuffle_i64x2(0xFF, a, b, 0xEE);
    x[0] = as_floats(left<16>(first));
    x[1] = as_floats(both(first, odd));
    x[2] = as_floats(left<16>(second));
    x[3] = as_floats(both(second, odd));
}

/// The last of an odd number of values stands in a line of its own, the rest of which is padding.
inline void decode_hif8_record(const std::uint8_t* record, std::size_t values, std::size_t ahead, float* out) noexcept {
    const hif8_tables tables = make_hif8_tables();
#pragma GCC unroll 1
    for (std::size_t k = 0; k < values; k += 2) {
        floats x[4];
        fetch(record + panel_columns * k + ahead);
        decode_hif8_line(record + panel_columns * k, tables, x);
        for (std::size_t i = 0; i < 4; ++i) store(out + panel_columns * k + 16 * i, x[i]);
    }
}

/// The decode_kernel::abreast of HiF8: at least eight sums, which hide the latency of fma.
template <std::size_t Rows, std::size_t Panels>
inline void few_hif8_panels(const few_floats_tile& t) noexcept {
    const hif8_tables tables = make_hif8_tables();
    floats even[Panels * Rows], odd[Panels * Rows];
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < Panels * Rows; ++i) {
        even[i] = load(t.acc + panel_columns * i);
        odd[i] = load(t.acc + panel_columns * i + 16);
    }
    const float* a = t.a;
#pragma GCC unroll 1
    for (std::size_t k = 0; k < t.depth; k += 2) {
        LOWBIT_UNROLL
        for (std::size_t p = 0; p < Panels; ++p) {
            const std::uint8_t* const line = t.panels[p] + panel_columns * k;
            floats b[4];
            fetch(line + t.ahead);
            decode_hif8_line(line, tables, b);
            LOWBIT_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) {
                const floats a0 = splat(a + r), a1 = splat(a + Rows + r);
                floats& even_sum = even[p * Rows + r];
                floats& odd_sum = odd[p * Rows + r];
                even_sum = madd(a1, b[2], madd(a0, b[0], even_sum));
                odd_sum = madd(a1, b[3], madd(a0, b[1], odd_sum));
            }
        }
        a += 2 * Rows;
    }
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < Panels * Rows; ++i) {
        store(t.acc + panel_columns * i, even[i]);
        store(t.acc + panel_columns * i + 16, odd[i]);
    }
}

inline constexpr decode_kernel decode_hif8{
    &decode_hif8_record,
    hif8_order.data(),
    {{4, &few_hif8_panels<1, 4>}, {4, &few_hif8_panels<2, 4>}, {2, &few_hif8_panels<4, 2>}},
};
