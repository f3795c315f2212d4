// SPDX-License-Identifier: Apache-2.0
// AVX-512 atoms: 16 floats (vf), 16 dwords (vi), 64 bytes (vb), masks of 16 lanes (vm). Included by isa_avx512.hpp once
// for each of its rows; what differs with VBMI is defined there, before this file. isa_avx512.hpp says what each atom
// must do.

using vf = __m512;
using vi = __m512i;
using vb = __m512i;
using vm = __mmask16;
inline constexpr std::size_t width = 16;

// g++ 12 reports the undefined operand inside its plain intrinsics as an uninitialised variable of ours. The
// zero-masked forms with a full mask have none and become the same instructions.
inline constexpr __mmask8 all8 = 0xFF;
inline constexpr __mmask16 all16 = 0xFFFF;
inline constexpr __mmask32 all32 = 0xFFFFFFFF;

// Floats in memory and registers.
LOWBIT_ALWAYS_INLINE vf load(const float* p) { return _mm512_loadu_ps(p); }
LOWBIT_ALWAYS_INLINE void store(float* p, vf v) { _mm512_storeu_ps(p, v); }
LOWBIT_ALWAYS_INLINE void store_past_cache(float* p, vf v) { _mm512_stream_ps(p, v); }
LOWBIT_ALWAYS_INLINE vf splat(float x) { return _mm512_set1_ps(x); }
LOWBIT_ALWAYS_INLINE vi load(const std::uint32_t* p) { return _mm512_loadu_si512(p); }
LOWBIT_ALWAYS_INLINE void store(std::uint32_t* p, vi v) { _mm512_storeu_si512(p, v); }
LOWBIT_ALWAYS_INLINE vi splat(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
LOWBIT_ALWAYS_INLINE vi as_int(vf v) { return _mm512_castps_si512(v); }
LOWBIT_ALWAYS_INLINE vf as_float(vi v) { return _mm512_castsi512_ps(v); }

// Arithmetic. The barrier makes every result a rounded float that no contraction or reassociation can see through.
LOWBIT_ALWAYS_INLINE vf rounded(vf v) {
    asm("" : "+v"(v));
    return v;
}
LOWBIT_ALWAYS_INLINE vf add(vf a, vf b) { return rounded(_mm512_add_ps(a, b)); }
LOWBIT_ALWAYS_INLINE vf sub(vf a, vf b) { return rounded(_mm512_sub_ps(a, b)); }
LOWBIT_ALWAYS_INLINE vf mul(vf a, vf b) { return rounded(_mm512_mul_ps(a, b)); }
LOWBIT_ALWAYS_INLINE vf div(vf a, vf b) {  // not the intrinsic: -ffast-math would make a reciprocal of it
    vf q;
    asm("vdivps %2, %1, %0" : "=v"(q) : "v"(a), "v"(b));
    return q;
}
LOWBIT_ALWAYS_INLINE vf fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
LOWBIT_ALWAYS_INLINE vf fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
// Not min and max: <windows.h> defines them as macros.
LOWBIT_ALWAYS_INLINE vf minimum(vf a, vf b) { return _mm512_maskz_min_ps(all16, a, b); }
LOWBIT_ALWAYS_INLINE vf maximum(vf a, vf b) { return _mm512_maskz_max_ps(all16, a, b); }
LOWBIT_ALWAYS_INLINE vi add(vi a, vi b) { return _mm512_add_epi32(a, b); }
LOWBIT_ALWAYS_INLINE vi sub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
LOWBIT_ALWAYS_INLINE vi minimum(vi a, vi b) { return _mm512_maskz_min_epi32(all16, a, b); }
LOWBIT_ALWAYS_INLINE vi maximum(vi a, vi b) { return _mm512_maskz_max_epi32(all16, a, b); }
LOWBIT_ALWAYS_INLINE vi bit_and(vi a, vi b) { return _mm512_and_si512(a, b); }
LOWBIT_ALWAYS_INLINE vi bit_or(vi a, vi b) { return _mm512_or_si512(a, b); }
LOWBIT_ALWAYS_INLINE vi bit_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
LOWBIT_ALWAYS_INLINE vi with_bits(vi a, vi mask, vi from) { return _mm512_ternarylogic_epi32(mask, from, a, 0xCA); }
LOWBIT_ALWAYS_INLINE vi or_masked(vi a, vi from, vi mask) { return _mm512_ternarylogic_epi32(a, from, mask, 0xF8); }
template <unsigned N>
LOWBIT_ALWAYS_INLINE vi shift_left(vi v) {
    return _mm512_maskz_slli_epi32(all16, v, N);
}
template <unsigned N>
LOWBIT_ALWAYS_INLINE vi shift_right(vi v) {
    return _mm512_maskz_srli_epi32(all16, v, N);
}
LOWBIT_ALWAYS_INLINE vi shift_left(vi v, vi n) { return _mm512_maskz_sllv_epi32(all16, v, n); }
LOWBIT_ALWAYS_INLINE vi shift_right(vi v, vi n) { return _mm512_maskz_srlv_epi32(all16, v, n); }
LOWBIT_ALWAYS_INLINE vi mul_low(vi a, vi b) { return _mm512_mullo_epi32(a, b); }

// Comparisons and masks.
LOWBIT_ALWAYS_INLINE vm greater(vi a, vi b) { return _mm512_cmpgt_epi32_mask(a, b); }
LOWBIT_ALWAYS_INLINE vm equal(vi a, vi b) { return _mm512_cmpeq_epi32_mask(a, b); }
LOWBIT_ALWAYS_INLINE vm greater_equal(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
LOWBIT_ALWAYS_INLINE vm less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
LOWBIT_ALWAYS_INLINE vm mask_and(vm a, vm b) { return _kand_mask16(a, b); }
LOWBIT_ALWAYS_INLINE vm mask_or(vm a, vm b) { return _kor_mask16(a, b); }
LOWBIT_ALWAYS_INLINE vf select(vm m, vf yes, vf no) { return _mm512_mask_blend_ps(m, no, yes); }
LOWBIT_ALWAYS_INLINE vi select(vm m, vi yes, vi no) { return _mm512_mask_blend_epi32(m, no, yes); }
LOWBIT_ALWAYS_INLINE std::uint32_t lanes_of(vm m) { return m; }

// Maxima across lanes.
LOWBIT_ALWAYS_INLINE vi max_of_quads(vi a, vi b, vi c, vi d) {
    const vi ab = maximum(_mm512_maskz_unpacklo_epi32(all16, a, b), _mm512_maskz_unpackhi_epi32(all16, a, b));
    const vi cd = maximum(_mm512_maskz_unpacklo_epi32(all16, c, d), _mm512_maskz_unpackhi_epi32(all16, c, d));
    return maximum(_mm512_maskz_unpacklo_epi64(all8, ab, cd), _mm512_maskz_unpackhi_epi64(all8, ab, cd));
}
LOWBIT_ALWAYS_INLINE vi max_of_fours(vi a, vi b, vi c, vi d) {
    const vi order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_maskz_permutexvar_epi32(all16, order, max_of_quads(a, b, c, d));
}
LOWBIT_ALWAYS_INLINE vi max_of_each(const vi (&v)[width]) {
    const vi a = max_of_quads(v[0], v[1], v[2], v[3]);
    const vi b = max_of_quads(v[4], v[5], v[6], v[7]);
    const vi c = max_of_quads(v[8], v[9], v[10], v[11]);
    const vi d = max_of_quads(v[12], v[13], v[14], v[15]);
    const vi ab = maximum(_mm512_maskz_shuffle_i32x4(all16, a, b, 0x88), _mm512_maskz_shuffle_i32x4(all16, a, b, 0xDD));
    const vi cd = maximum(_mm512_maskz_shuffle_i32x4(all16, c, d, 0x88), _mm512_maskz_shuffle_i32x4(all16, c, d, 0xDD));
    return maximum(_mm512_maskz_shuffle_i32x4(all16, ab, cd, 0x88), _mm512_maskz_shuffle_i32x4(all16, ab, cd, 0xDD));
}
LOWBIT_ALWAYS_INLINE vi max_of_pairs(vi v) { return maximum(v, _mm512_maskz_shuffle_epi32(all16, v, _MM_PERM_CDAB)); }

LOWBIT_ALWAYS_INLINE vf swap_pairs(vf v) { return _mm512_maskz_permute_ps(all16, v, 0xB1); }
LOWBIT_ALWAYS_INLINE vf swap_twos(vf v) { return _mm512_maskz_permute_ps(all16, v, 0x4E); }
// g++ -O0 has this as a macro that gives a mask to a signed parameter.
LOWBIT_PRAGMA(GCC diagnostic push)
LOWBIT_PRAGMA(GCC diagnostic ignored "-Wsign-conversion")
LOWBIT_ALWAYS_INLINE vf gather(const float* p, vi index) {
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), all16, index, p, 4);
}
LOWBIT_PRAGMA(GCC diagnostic pop)

LOWBIT_ALWAYS_INLINE vi lookup_32(const std::uint32_t (&table)[32], vi index) {
    return _mm512_permutex2var_epi32(load(table), index, load(table + 16));
}
LOWBIT_ALWAYS_INLINE vi load_bytes(const std::uint8_t* p) {
    return _mm512_maskz_cvtepu8_epi32(all16, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

// Transposition.
LOWBIT_ALWAYS_INLINE void load_transposed(const float* const (&row)[width], vf (&x)[8]) {
    vf r[8];  // row j, row j + 8
    LOWBIT_UNROLL
    for (std::size_t j = 0; j < 8; ++j) {
        r[j] = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(row[j])), _mm256_loadu_ps(row[j + 8]), 1);
    }
    // 4 x 4 within lanes, then lanes 0 and 1 of each half.
    vf t[8];
    LOWBIT_UNROLL
    for (std::size_t j = 0; j < 8; j += 4) {
        const vf a = _mm512_maskz_unpacklo_ps(all16, r[j], r[j + 1]),
                 b = _mm512_maskz_unpackhi_ps(all16, r[j], r[j + 1]);
        const vf c = _mm512_maskz_unpacklo_ps(all16, r[j + 2], r[j + 3]);
        const vf d = _mm512_maskz_unpackhi_ps(all16, r[j + 2], r[j + 3]);
        t[j] = _mm512_maskz_shuffle_ps(all16, a, c, 0x44);
        t[j + 1] = _mm512_maskz_shuffle_ps(all16, a, c, 0xEE);
        t[j + 2] = _mm512_maskz_shuffle_ps(all16, b, d, 0x44);
        t[j + 3] = _mm512_maskz_shuffle_ps(all16, b, d, 0xEE);
    }
    // t[i]: lanes (rows 0..3 value i)(rows 0..3 value 4 + i)(rows 8..11 value i)(rows 8..11 value 4 + i); t[4 + i]:
    // rows 4..
    const vi even = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
    const vi odd = _mm512_setr_epi32(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
        x[i] = _mm512_permutex2var_ps(t[i], even, t[i + 4]);
        x[i + 4] = _mm512_permutex2var_ps(t[i], odd, t[i + 4]);
    }
}

/// Columns that `turn` takes at a time: whole lines of the cache. Rows that lie a power of two apart share a set, which
/// has no room for 16 lines: half lines would be read twice.
inline constexpr std::size_t turned = 16;
LOWBIT_ALWAYS_INLINE void load_turned(const float* const (&row)[width], vf (&x)[turned]) {
    vf t[16];
    LOWBIT_UNROLL
    for (std::size_t j = 0; j < 16; ++j) t[j] = load(row[j]);
    LOWBIT_UNROLL
    for (std::size_t j = 0; j < 16; j += 4) {  // 4 x 4 within lanes
        const vf a = _mm512_maskz_unpacklo_ps(all16, t[j], t[j + 1]);
        const vf b = _mm512_maskz_unpackhi_ps(all16, t[j], t[j + 1]);
        const vf c = _mm512_maskz_unpacklo_ps(all16, t[j + 2], t[j + 3]);
        const vf d = _mm512_maskz_unpackhi_ps(all16, t[j + 2], t[j + 3]);
        t[j] = _mm512_maskz_shuffle_ps(all16, a, c, 0x44);
        t[j + 1] = _mm512_maskz_shuffle_ps(all16, a, c, 0xEE);
        t[j + 2] = _mm512_maskz_shuffle_ps(all16, b, d, 0x44);
        t[j + 3] = _mm512_maskz_shuffle_ps(all16, b, d, 0xEE);
    }
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {  // 4 x 4 lanes
        const vf a = _mm512_maskz_shuffle_f32x4(all16, t[i], t[i + 4], 0x88);
        const vf b = _mm512_maskz_shuffle_f32x4(all16, t[i], t[i + 4], 0xDD);
        const vf c = _mm512_maskz_shuffle_f32x4(all16, t[i + 8], t[i + 12], 0x88);
        const vf d = _mm512_maskz_shuffle_f32x4(all16, t[i + 8], t[i + 12], 0xDD);
        x[i] = _mm512_maskz_shuffle_f32x4(all16, a, c, 0x88);
        x[i + 4] = _mm512_maskz_shuffle_f32x4(all16, b, d, 0x88);
        x[i + 8] = _mm512_maskz_shuffle_f32x4(all16, a, c, 0xDD);
        x[i + 12] = _mm512_maskz_shuffle_f32x4(all16, b, d, 0xDD);
    }
}

// Bytes.
LOWBIT_ALWAYS_INLINE vb splat_u8(std::uint8_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
LOWBIT_ALWAYS_INLINE vb min_u8(vb a, vb b) { return _mm512_min_epu8(a, b); }
LOWBIT_ALWAYS_INLINE vb half_up_u8(vb a) { return _mm512_avg_epu8(a, _mm512_setzero_si512()); }
LOWBIT_ALWAYS_INLINE vb lookup_u8(const std::uint8_t (&table)[16], vb index) {
    const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_maskz_broadcast_i32x4(all16, entries), index);
}
LOWBIT_ALWAYS_INLINE vb sign_codes(vb magnitude, vb top) {  // bit 7 of top to bit 3
    return _mm512_ternarylogic_epi32(magnitude, _mm512_srli_epi16(top, 4), splat_u8(0x08), 0xF8);
}
LOWBIT_ALWAYS_INLINE vb negate_where_top(vb magnitude, vb top) {
    return _mm512_mask_sub_epi8(magnitude, _mm512_movepi8_mask(top), _mm512_setzero_si512(), magnitude);
}
LOWBIT_ALWAYS_INLINE void store_bytes(std::int8_t* p, vb v) { _mm512_storeu_si512(p, v); }
template <std::size_t Piece>
LOWBIT_ALWAYS_INLINE void store_pieces(std::int8_t* out, std::size_t stride, vb v) {
    static_assert(Piece == 32);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_maskz_extracti64x4_epi64(all8, v, 0));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + stride), _mm512_maskz_extracti64x4_epi64(all8, v, 1));
}

// The upper 8 bytes, to any address: _mm_storeh_pd wants a double there.
LOWBIT_ALWAYS_INLINE void store_high_8(std::uint8_t* out, __m128i bytes) {
    const double high = _mm_castsi128_pd(bytes)[1];
    __builtin_memcpy(out, &high, sizeof(high));
}

/// 64 codes to 32 bytes, even code in the low nibble, stored as pieces of Piece bytes that lie `stride` bytes apart.
template <std::size_t Piece>
LOWBIT_ALWAYS_INLINE void store_nibbles(std::uint8_t* out, std::size_t stride, vb codes) {
    const __m256i bytes = _mm512_maskz_cvtepi16_epi8(all32, _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x1001)));
    if constexpr (Piece == 32) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
    } else {
        const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
        if constexpr (Piece == 16) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), low);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + stride), high);
        } else {
            static_assert(Piece == 8);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out), low);
            store_high_8(out + stride, low);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 2 * stride), high);
            store_high_8(out + 3 * stride, high);
        }
    }
}

// g++ -O0 has this as a macro that gives a mask to a signed parameter.
LOWBIT_PRAGMA(GCC diagnostic push)
LOWBIT_PRAGMA(GCC diagnostic ignored "-Wsign-conversion")
LOWBIT_ALWAYS_INLINE vi floor_eighths(vf t) {
    // 2^20 has steps of 1/8; rounding the sum toward zero cuts the magnitude.
    const vi magic = or_masked(splat(0x49800000U), as_int(t), splat(0x80000000U));
    return as_int(_mm512_maskz_add_round_ps(all16, t, as_float(magic), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
LOWBIT_PRAGMA(GCC diagnostic pop)

// Decoding.
LOWBIT_ALWAYS_INLINE vi load_codes(const std::uint8_t* p) {
    const vi bytes = _mm512_maskz_cvtepu8_epi64(all8, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return _mm512_or_si512(bytes, _mm512_maskz_slli_epi64(all8, bytes, 28));
}
/// A table of the floats of 16 codes.
using code_table = vf;
LOWBIT_ALWAYS_INLINE code_table make_code_table(const float (&magnitudes)[8]) {
    const __m256 m = _mm256_loadu_ps(magnitudes);
    const __m256 n = _mm256_or_ps(m, _mm256_set1_ps(-0.0F));
    return _mm512_insertf32x8(_mm512_castps256_ps512(m), n, 1);
}
LOWBIT_ALWAYS_INLINE vf code_values(code_table table, vi codes) {
    return _mm512_maskz_permutexvar_ps(all16, codes, table);
}
/// 4 floats, each repeated 4 times.
LOWBIT_ALWAYS_INLINE vf load_fours(const float* p) {
    const vi pick = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_maskz_permutevar_ps(all16, _mm512_maskz_broadcast_f32x4(all16, _mm_loadu_ps(p)), pick);
}
/// Lanes 0..7 p[0], lanes 8..15 p[1].
LOWBIT_ALWAYS_INLINE vf load_eights(const float* p) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(p[0]), 0xFF00, _mm512_set1_ps(p[1]));
}
LOWBIT_ALWAYS_INLINE vi load_eights(const std::uint32_t* p) {
    return _mm512_mask_mov_epi32(splat(p[0]), 0xFF00, splat(p[1]));
}
template <std::size_t Piece>
LOWBIT_ALWAYS_INLINE vb load_nibbles(const std::uint8_t* p, std::size_t stride) {
    __m256i bytes;
    if constexpr (Piece == 32) {
        bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    } else {
        __m128i low, high;
        if constexpr (Piece == 16) {
            low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
            high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + stride));
        } else {
            static_assert(Piece == 8);
            low = _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)),
                                     _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + stride)));
            high = _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 2 * stride)),
                                      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 3 * stride)));
        }
        bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
    const vb wide = _mm512_cvtepu8_epi16(bytes);
    return _mm512_and_si512(_mm512_or_si512(wide, _mm512_slli_epi16(wide, 4)), splat_u8(0x0F));
}
LOWBIT_ALWAYS_INLINE vb max_of_eights(vb v) {
    v = _mm512_max_epu8(v, _mm512_maskz_rol_epi64(all8, v, 32));
    v = _mm512_max_epu8(v, _mm512_maskz_rol_epi64(all8, v, 16));
    return _mm512_max_epu8(v, _mm512_maskz_rol_epi64(all8, v, 8));
}
LOWBIT_ALWAYS_INLINE vb tops_of_eights(vb codes) {
    const vb magnitudes = _mm512_and_si512(codes, splat_u8(7));
    const vb key = _mm512_add_epi8(_mm512_slli_epi16(magnitudes, 3), _mm512_set1_epi64(0x0001020304050607));
    return _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(key, max_of_eights(key)));
}
LOWBIT_ALWAYS_INLINE void store_top_keys(std::uint32_t* out, const std::uint8_t (&table)[16], vb index) {
    const vb behind = _mm512_set1_epi64(0x0001020304050607);
    const vb key = max_of_eights(_mm512_add_epi8(lookup_u8(table, index), behind));
    const __m256i keys = _mm512_maskz_cvtepi64_epi32(all8, _mm512_and_si512(key, _mm512_set1_epi64(0xFF)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), keys);
}
LOWBIT_ALWAYS_INLINE vb as_bytes(vi v) { return v; }
LOWBIT_ALWAYS_INLINE vi as_dwords(vb v) { return v; }
LOWBIT_ALWAYS_INLINE vb or_u8(vb a, vb b) { return _mm512_or_si512(a, b); }
LOWBIT_ALWAYS_INLINE vb select_u8(vb mask, vb yes, vb no) { return _mm512_ternarylogic_epi32(mask, yes, no, 0xCA); }

// 16-bit floats; every NaN becomes the library's.
LOWBIT_ALWAYS_INLINE vf canonical(vf v) {
    return _mm512_mask_mov_ps(v, _mm512_fpclass_ps_mask(v, 0x81), as_float(splat(0x7FC00000U)));
}
LOWBIT_ALWAYS_INLINE vf load_bfloat16(const void* p) {
    const __m256i half = _mm256_loadu_si256(static_cast<const __m256i*>(p));
    return canonical(as_float(shift_left<16>(_mm512_maskz_cvtepu16_epi32(all16, half))));
}
LOWBIT_ALWAYS_INLINE vf load_float16(const void* p) {
    return canonical(_mm512_maskz_cvtph_ps(all16, _mm256_loadu_si256(static_cast<const __m256i*>(p))));
}
LOWBIT_ALWAYS_INLINE void store_words(void* p, vi v) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_maskz_cvtepi32_epi16(all16, v));
}
LOWBIT_ALWAYS_INLINE void store_float16(void* p, vf v) {
    const __m256i half = _mm512_maskz_cvtps_ph(all16, v, _MM_FROUND_TO_NEAREST_INT);
    const __m256i nan = _mm256_set1_epi16(0x7E00);
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm256_mask_mov_epi16(half, _mm512_fpclass_ps_mask(v, 0x81), nan));
}
