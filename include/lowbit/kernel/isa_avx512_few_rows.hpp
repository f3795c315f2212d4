// SPDX-License-Identifier: Apache-2.0
// The AVX-512 rows of the kernels for few rows of A.
#pragma once

#include <lowbit/element/hif8.hpp>
#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_avx512_gemm.hpp>

#if LOWBIT_COMPILES_AVX512VBMI
LOWBIT_TARGET_BEGIN_AVX512VBMI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product {

    // vpermb looks at 6 bits of an index only: what lies above a nibble need not be cleared, as tables without
    // selectors are
    // repeated four times.
    template <lane_selector Kind>
    LOWBIT_ALWAYS_INLINE large_table make_few_table(const std::uint8_t* p) noexcept {
        if constexpr (Kind == lane_selector::none) {
            return {_mm512_maskz_broadcast_i32x4(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
        } else {
            return make_large_table(p);
        }
    }
    /// The field in bits 4 and 5, anything in the bits around.
    template <int Position>
    LOWBIT_ALWAYS_INLINE bytes loose_spread(bytes fields) noexcept {
        constexpr long long low = (Position + 60) % 64 * 0x01010101LL, high = (Position + 28) % 64 * 0x01010101LL;
        const __m512i offsets =
            _mm512_set1_epi64(static_cast<long long>(static_cast<unsigned long long>(high) << 32U) | low);
        return _mm512_maskz_multishift_epi64_epi8(~__mmask64{0}, offsets, fields);
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
    template <unsigned N>
    LOWBIT_ALWAYS_INLINE bytes right(bytes x) noexcept {
        return _mm512_maskz_srli_epi32(0xFFFF, x, N);
    }
    LOWBIT_ALWAYS_INLINE lanes as_lanes(bytes x) noexcept { return x; }
    template <int Byte>
    LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
        if constexpr (Byte < 3) x = _mm512_maskz_slli_epi32(0xFFFF, x, 24 - 8 * Byte);
        return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_srai_epi32(0xFFFF, x, 24));
    }
    template <std::uint8_t Low, std::uint8_t High>
    LOWBIT_ALWAYS_INLINE bool within(const std::uint8_t* p, std::size_t count) noexcept {
        __mmask32 outside = 0;
        for (std::size_t i = 0; i < count; i += 32) {
            const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i));
            const __m256i offset = _mm256_sub_epi8(x, _mm256_set1_epi8(static_cast<char>(Low)));
            outside |= _mm256_cmpgt_epu8_mask(offset, _mm256_set1_epi8(static_cast<char>(High - Low)));
        }
        return outside == 0;
    }
    LOWBIT_ALWAYS_INLINE void fetch(const std::uint8_t* p) noexcept {
        _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
    }

    template <std::size_t Rows>
    inline void few_floats_values(const float* a, const float* b, std::size_t depth, float* acc) noexcept;

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

    /// One value of K of 32 columns, by the high and low bytes of its bfloat16: even columns are the lower halves of
    /// dwords.
    template <std::size_t Rows>
    LOWBIT_ALWAYS_INLINE void few_hif8_value(__m256i high, __m256i low, const float* a, floats(&x)[2 * Rows]) noexcept {
        constexpr __mmask32 all = ~__mmask32{0};
        const __m512i upper = _mm512_maskz_slli_epi16(all, _mm512_maskz_cvtepu8_epi16(all, high), 8);
        const __m512i halves = _mm512_or_si512(upper, _mm512_maskz_cvtepu8_epi16(all, low));
        const floats even = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xFFFF, halves, 16));
        const floats odd =
            _mm512_castsi512_ps(_mm512_and_si512(halves, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U))));
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            const floats av = splat(a + r);
            x[2 * r] = madd(av, even, x[2 * r]);
            x[2 * r + 1] = madd(av, odd, x[2 * r + 1]);
        }
    }

    /// The few_floats_kernel::panel of HiF8: two values of K of 32 columns a round. The last of an odd number of values
    /// stands in a line of its own, the rest of which is padding.
    template <std::size_t Rows>
    inline void few_hif8_panel(const few_floats_tile& t) noexcept {
        const __m512i high0 = _mm512_load_si512(few_hif8_table.high.data());
        const __m512i high1 = _mm512_load_si512(few_hif8_table.high.data() + 64);
        const __m512i low0 = _mm512_load_si512(few_hif8_table.low.data());
        const __m512i low1 = _mm512_load_si512(few_hif8_table.low.data() + 64);
        const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1)), top = _mm512_set1_epi8(-128);
        floats x[2 * Rows];
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            const floats first = load(t.acc + panel_columns * r), second = load(t.acc + panel_columns * r + 16);
            x[2 * r] = _mm512_permutex2var_ps(first, even, second);
            x[2 * r + 1] = _mm512_permutex2var_ps(first, odd, second);
        }
        const std::uint8_t* p = t.panel;
        const float* a = t.a;
        const std::size_t lines = (t.depth + 1) / 2, pairs = t.depth / 2;
# pragma GCC unroll 1
        for (std::size_t line = 0; line < lines; ++line, p += 64, a += 2 * Rows) {
            fetch(p + t.ahead);
            const __m512i codes = _mm512_loadu_si512(p);
            const __mmask64 nan = _mm512_cmpeq_epi8_mask(codes, top);
            __m512i high = _mm512_permutex2var_epi8(high0, codes, high1);
            __m512i low = _mm512_permutex2var_epi8(low0, codes, low1);
            high = _mm512_ternarylogic_epi32(high, codes, top, 0xF8);  // high | (codes & top)
            if (nan != 0) {
                high = _mm512_mask_mov_epi8(high, nan, _mm512_set1_epi8(0x7F));
                low = _mm512_mask_mov_epi8(low, nan, _mm512_set1_epi8(static_cast<char>(0xC0)));
            }
            few_hif8_value<Rows>(_mm512_maskz_extracti64x4_epi64(0xFF, high, 0),
                                 _mm512_maskz_extracti64x4_epi64(0xFF, low, 0), a, x);
            if (line < pairs) {
                few_hif8_value<Rows>(_mm512_maskz_extracti64x4_epi64(0xFF, high, 1),
                                     _mm512_maskz_extracti64x4_epi64(0xFF, low, 1), a + Rows, x);
            }
        }
        const __m512i lower_half = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i upper_half = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        LOWBIT_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            store(t.acc + panel_columns * r, _mm512_permutex2var_ps(x[2 * r], lower_half, x[2 * r + 1]));
            store(t.acc + panel_columns * r + 16, _mm512_permutex2var_ps(x[2 * r], upper_half, x[2 * r + 1]));
        }
    }

    template <std::size_t Rows>
    constexpr few_floats_kernel make_few_hif8() noexcept {
        return {Rows, &few_hif8_panel<Rows>, &few_floats_values<Rows>};
    }

# include <lowbit/kernel/few_rows.inl>

# include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product
LOWBIT_TARGET_END
#endif

#if LOWBIT_COMPILES_AVX512VNNI
LOWBIT_TARGET_BEGIN_AVX512VNNI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)::product{

    template <unsigned N>
    LOWBIT_ALWAYS_INLINE bytes right(bytes x) noexcept {return _mm512_maskz_srli_epi32(0xFFFF, x, N);
}
LOWBIT_ALWAYS_INLINE lanes as_lanes(bytes x) noexcept { return x; }
template <int Byte>
LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
    if constexpr (Byte < 3) x = _mm512_maskz_slli_epi32(0xFFFF, x, 24 - 8 * Byte);
    return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_srai_epi32(0xFFFF, x, 24));
}
template <std::uint8_t Low, std::uint8_t High>
LOWBIT_ALWAYS_INLINE bool within(const std::uint8_t* p, std::size_t count) noexcept {
    __mmask32 outside = 0;
    for (std::size_t i = 0; i < count; i += 32) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i));
        const __m256i offset = _mm256_sub_epi8(x, _mm256_set1_epi8(static_cast<char>(Low)));
        outside |= _mm256_cmpgt_epu8_mask(offset, _mm256_set1_epi8(static_cast<char>(High - Low)));
    }
    return outside == 0;
}
LOWBIT_ALWAYS_INLINE void fetch(const std::uint8_t* p) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
}

# include <lowbit/kernel/few_rows_index.inl>

# include <lowbit/kernel/few_rows.inl>

# include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)::product
LOWBIT_TARGET_END
#endif
