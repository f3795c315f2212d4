// SPDX-License-Identifier: Apache-2.0
// Atoms of few_lanes.inl and few_floats.inl that both AVX-512 rows share.

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
LOWBIT_ALWAYS_INLINE floats with_sign(floats x, bytes sign) noexcept {
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(x), sign));
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

// vpermps looks at 4 bits of an index only.
struct float_table {
    __m512 entries;
};
LOWBIT_ALWAYS_INLINE float_table make_float_table(const float* p) noexcept { return {_mm512_loadu_ps(p)}; }
template <int N>
LOWBIT_ALWAYS_INLINE floats nibble_values(const float_table& table, bytes line) noexcept {
    if constexpr (N != 0) line = right<4 * N>(line);
    return _mm512_maskz_permutexvar_ps(0xFFFF, line, table.entries);
}
template <int N>
LOWBIT_ALWAYS_INLINE floats field_values(const float_table& table, bytes fields) noexcept {
    if constexpr (N != 0) fields = right<N>(fields);
    return _mm512_maskz_permutexvar_ps(0xFFFF, fields, table.entries);
}
