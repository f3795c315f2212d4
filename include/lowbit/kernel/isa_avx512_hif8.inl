// SPDX-License-Identifier: Apache-2.0
// HiF8 on AVX-512: ties away from the top 16 bits of floats; random bits. Included by isa_avx512.hpp once for each of
// its rows, which say by looks_up_bytes whether lookup_64 is one instruction there.

// HiF8, ties away, of a chunk: the top 16 bits of a float decide. False where NaN keeps that from being true.
inline constexpr bool has_hif8_ties_away = true;
LOWBIT_ALWAYS_INLINE vi hif8_words_index(vi words) {
    const vi above = _mm512_subs_epu16(words, _mm512_set1_epi16(103 << 7));
    return _mm512_srli_epi16(_mm512_min_epu16(above, _mm512_set1_epi16(63 << 7)), 7);
}
LOWBIT_ALWAYS_INLINE vi hif8_words_codes(vi words) {
    const vi u = _mm512_and_si512(words, _mm512_set1_epi16(0x7FFF));
    const vi round = _mm512_permutex2var_epi16(_mm512_loadu_si512(hif8_by_field.round), hif8_words_index(u),
                                               _mm512_loadu_si512(hif8_by_field.round + 32));
    const vi sum = _mm512_add_epi16(u, round);
    const vi entry = _mm512_permutex2var_epi16(_mm512_loadu_si512(hif8_by_field.entry), hif8_words_index(sum),
                                               _mm512_loadu_si512(hif8_by_field.entry + 32));
    return _mm512_add_epi16(_mm512_srlv_epi16(sum, _mm512_srli_epi16(entry, 12)), entry);
}
/// The codes of the magnitudes in two vectors of words: those of the first in the even bytes.
LOWBIT_ALWAYS_INLINE vb hif8_codes_by_words(vi first, vi second) {
    return _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x00FF), hif8_words_codes(first),
                                     _mm512_slli_epi16(hif8_words_codes(second), 8), 0xCA);
}

/// The same by look-ups of 64 bytes, for both vectors at once. Words count from the least field of the tables.
LOWBIT_ALWAYS_INLINE vi hif8_words_above(vi words) {
    const vi u = _mm512_and_si512(words, _mm512_set1_epi16(0x7FFF));
    return _mm512_min_epu16(_mm512_subs_epu16(u, _mm512_set1_epi16(103 << 7)), _mm512_set1_epi16(63 << 7));
}
LOWBIT_ALWAYS_INLINE vb hif8_fields(vi first, vi second) {
    return _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x00FF), _mm512_srli_epi16(first, 7),
                                     _mm512_slli_epi16(second, 1), 0xCA);
}
LOWBIT_ALWAYS_INLINE vb hif8_codes_by_bytes(vi first, vi second) {
    const vi low = _mm512_set1_epi16(0x00FF);
    vi u = hif8_words_above(first), v = hif8_words_above(second);
    const vb round = lookup_64(hif8_bytes_by_field.round, hif8_fields(u, v));
    u = _mm512_add_epi16(u, _mm512_and_si512(round, low));
    v = _mm512_add_epi16(v, _mm512_srli_epi16(round, 8));
    const vb field = hif8_fields(u, v);
    const vb shift = lookup_64(hif8_bytes_by_field.shift, field);
    u = _mm512_srlv_epi16(u, _mm512_and_si512(shift, low));
    v = _mm512_srlv_epi16(v, _mm512_srli_epi16(shift, 8));
    return _mm512_add_epi8(_mm512_ternarylogic_epi32(low, u, _mm512_slli_epi16(v, 8), 0xCA),
                           lookup_64(hif8_bytes_by_field.above, field));
}

LOWBIT_ALWAYS_INLINE bool hif8_ties_away(const float* p, bool saturates, vb& codes) {
    const vf a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);
    const __mmask16 nan = _kor_mask16(_kor_mask16(_mm512_fpclass_ps_mask(a, 0x81), _mm512_fpclass_ps_mask(b, 0x81)),
                                      _kor_mask16(_mm512_fpclass_ps_mask(c, 0x81), _mm512_fpclass_ps_mask(d, 0x81)));
    if (nan != 0) return false;
    // Words a0 b0 a1 b1 ...; bytes a0 c0 b0 d0 ...
    const vi high = _mm512_set1_epi32(static_cast<int>(0xFFFF0000U));
    const vi ab = _mm512_ternarylogic_epi32(shift_right<16>(as_int(a)), as_int(b), high, 0xF8);
    const vi cd = _mm512_ternarylogic_epi32(shift_right<16>(as_int(c)), as_int(d), high, 0xF8);
    const vi low = _mm512_set1_epi16(0x00FF);
    vi code;
    if constexpr (looks_up_bytes) {
        code = hif8_codes_by_bytes(ab, cd);
    } else {
        code = hif8_codes_by_words(ab, cd);
    }
    const vi sign =
        _mm512_and_si512(_mm512_ternarylogic_epi32(low, _mm512_srli_epi16(ab, 8), cd, 0xCA), splat_u8(0x80));
    if (saturates) {
        const __mmask64 infinite = _mm512_cmpeq_epi8_mask(code, splat_u8(detail::hif8_infinity_code));
        code = _mm512_mask_mov_epi8(code, infinite, splat_u8(detail::hif8_max_code));
    }
    code = _mm512_mask_add_epi8(code, _mm512_test_epi8_mask(code, code), code, sign);
    const vi pick =
        _mm512_maskz_broadcast_i32x4(all16, _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
    const vi order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    codes = _mm512_maskz_permutexvar_epi32(all16, order, _mm512_shuffle_epi8(code, pick));
    return true;
}

// HiF8 to floats: upper halves by two look-ups of 64 words. (Gathers take 22 cycles for 16 values on Zen 5.)
inline constexpr bool has_hif8_floats = true;
LOWBIT_ALWAYS_INLINE void hif8_floats_32(const std::uint8_t* codes, float* out) {
    const vi code = _mm512_maskz_cvtepu8_epi16(0xFFFFFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)));
    const std::uint16_t* const table = hif8_words.data();
    const vi low = _mm512_permutex2var_epi16(_mm512_loadu_si512(table), code, _mm512_loadu_si512(table + 32));
    const vi high = _mm512_permutex2var_epi16(_mm512_loadu_si512(table + 64), code, _mm512_loadu_si512(table + 96));
    vi words = _mm512_mask_mov_epi16(low, _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x40)), high);
    words = _mm512_ternarylogic_epi32(words, _mm512_slli_epi16(code, 8), _mm512_set1_epi16(static_cast<short>(0x8000)),
                                      0xF8);  // words | (sign)
    words = _mm512_mask_mov_epi16(words, _mm512_cmpeq_epi16_mask(code, _mm512_set1_epi16(detail::hif8_nan_code)),
                                  _mm512_set1_epi16(0x7FC0));
    constexpr __mmask32 upper = 0xAAAAAAAA;
    const vi first = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7, 0, 6, 0, 5, 0, 4, 0, 3,
                                      0, 2, 0, 1, 0, 0, 0);
    store(out, as_float(_mm512_maskz_permutexvar_epi16(upper, first, words)));
    store(out + 16,
          as_float(_mm512_maskz_permutexvar_epi16(upper, _mm512_add_epi16(first, _mm512_set1_epi16(16)), words)));
}
LOWBIT_ALWAYS_INLINE void hif8_floats(const std::uint8_t* codes, float* out) {
    hif8_floats_32(codes, out);
    hif8_floats_32(codes + 32, out + 32);
}

// Random bits: mix64 of element/rounding.hpp on 8 counters at a time.
LOWBIT_ALWAYS_INLINE vi quads(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
LOWBIT_ALWAYS_INLINE vi mix_24(vi z) {
    z = _mm512_xor_si512(z, _mm512_maskz_srli_epi64(all8, z, 30));
    z = _mm512_maskz_mullo_epi64(all8, z, quads(0xBF58476D1CE4E5B9U));
    z = _mm512_xor_si512(z, _mm512_maskz_srli_epi64(all8, z, 27));
    z = _mm512_maskz_mullo_epi64(all8, z, quads(0x94D049BB133111EBU));
    return _mm512_maskz_srli_epi64(all8, _mm512_xor_si512(z, _mm512_maskz_srli_epi64(all8, z, 31)), 40);
}
/// Lane i: random_bits24 of index + i, by the key of the seed.
LOWBIT_ALWAYS_INLINE vi random_lanes24(std::uint64_t key, std::uint64_t index) {
    constexpr std::uint64_t step = detail::weyl_step;
    alignas(64) static constexpr std::uint64_t steps[8] = {step,     2 * step, 3 * step, 4 * step,
                                                           5 * step, 6 * step, 7 * step, 8 * step};
    const vi first = _mm512_add_epi64(quads(key + index * step), _mm512_loadu_si512(steps));
    const vi second = _mm512_add_epi64(first, quads(8 * step));
    const vi even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_epi32(mix_24(first), even, mix_24(second));
}
