// SPDX-License-Identifier: Apache-2.0
// The AVX-512 rows of the kernels for few rows of A.
#pragma once

#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_avx512_gemm.hpp>

#if LOWBIT_COMPILES_AVX512VBMI
LOWBIT_TARGET_BEGIN_AVX512VBMI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product{

    // vpermb looks at 6 bits of an index only: what lies above a nibble need not be cleared, as tables without
    // selectors are
    // repeated four times.
    template <lane_selector Kind> LOWBIT_ALWAYS_INLINE large_table make_few_table(const std::uint8_t* p) noexcept {
        if constexpr (Kind == lane_selector::none){
            return {_mm512_maskz_broadcast_i32x4(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
else {
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
    // Byte b of a dword: bits 0..3 the fine bits of runs 4b .. 4b + 3, bits 4, 5 the coarse bits of runs of 8 2b, 2b +
    // 1; a table of 64 turns it into their four fields.
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
template <int I>
LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
    if constexpr (I < 3) x = _mm512_maskz_slli_epi32(0xFFFF, x, 24 - 8 * I);
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
template <int I>
LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
    if constexpr (I < 3) x = _mm512_maskz_slli_epi32(0xFFFF, x, 24 - 8 * I);
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
