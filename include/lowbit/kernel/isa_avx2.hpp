// SPDX-License-Identifier: Apache-2.0
// The AVX2 row of the kernel table: 8 floats (vf), 8 dwords (vi), 32 bytes (vb); a mask is a vector of all-ones lanes.
// isa_avx512.hpp says what each atom must do.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_COMPILES_AVX2

# include <immintrin.h>

# include <cstddef>
# include <cstdint>
# include <cstring>
# include <span>

# include <lowbit/block/hif4.hpp>
# include <lowbit/block/int8_block.hpp>
# include <lowbit/block/m2xfp.hpp>
# include <lowbit/block/mxfp4.hpp>
# include <lowbit/block/mxint8.hpp>
# include <lowbit/block/nvfp4.hpp>
# include <lowbit/element/hif8.hpp>
# include <lowbit/kernel/abi.hpp>
# include <lowbit/kernel/codec_common.hpp>
# include <lowbit/kernel/isa_avx2_blend.hpp>
# include <lowbit/lane/lower.hpp>

LOWBIT_TARGET_BEGIN_AVX2
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2) {

    using vf = __m256;
    using vi = __m256i;
    using vb = __m256i;
    using vm = __m256i;
    inline constexpr std::size_t width = 8;

    // Floats in memory and registers.
    LOWBIT_ALWAYS_INLINE vf load(const float* p) { return _mm256_loadu_ps(p); }
    LOWBIT_ALWAYS_INLINE void store(float* p, vf v) { _mm256_storeu_ps(p, v); }
    LOWBIT_ALWAYS_INLINE void store_past_cache(float* p, vf v) { _mm256_stream_ps(p, v); }
    LOWBIT_ALWAYS_INLINE vf splat(float x) { return _mm256_set1_ps(x); }
    LOWBIT_ALWAYS_INLINE vi load(const std::uint32_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    LOWBIT_ALWAYS_INLINE void store(std::uint32_t * p, vi v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
    LOWBIT_ALWAYS_INLINE vi splat(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
    LOWBIT_ALWAYS_INLINE vi as_int(vf v) { return _mm256_castps_si256(v); }
    LOWBIT_ALWAYS_INLINE vf as_float(vi v) { return _mm256_castsi256_ps(v); }

    // Arithmetic.
    LOWBIT_ALWAYS_INLINE vf rounded(vf v) {
        asm("" : "+x"(v));
        return v;
    }
    LOWBIT_ALWAYS_INLINE vf add(vf a, vf b) { return rounded(_mm256_add_ps(a, b)); }
    LOWBIT_ALWAYS_INLINE vf sub(vf a, vf b) { return rounded(_mm256_sub_ps(a, b)); }
    LOWBIT_ALWAYS_INLINE vf mul(vf a, vf b) { return rounded(_mm256_mul_ps(a, b)); }
    LOWBIT_ALWAYS_INLINE vf div(vf a, vf b) {  // not the intrinsic: -ffast-math would make a reciprocal of it
        vf q;
        asm("vdivps %2, %1, %0" : "=x"(q) : "x"(a), "x"(b));
        return q;
    }
    LOWBIT_ALWAYS_INLINE vf fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
    LOWBIT_ALWAYS_INLINE vf fnma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }
    LOWBIT_ALWAYS_INLINE vf minimum(vf a, vf b) { return _mm256_min_ps(a, b); }
    LOWBIT_ALWAYS_INLINE vf maximum(vf a, vf b) { return _mm256_max_ps(a, b); }
    LOWBIT_ALWAYS_INLINE vi add(vi a, vi b) { return _mm256_add_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE vi sub(vi a, vi b) { return _mm256_sub_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE vi minimum(vi a, vi b) { return _mm256_min_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE vi maximum(vi a, vi b) { return _mm256_max_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE vi bit_and(vi a, vi b) { return _mm256_and_si256(a, b); }
    LOWBIT_ALWAYS_INLINE vi bit_or(vi a, vi b) { return _mm256_or_si256(a, b); }
    LOWBIT_ALWAYS_INLINE vi bit_xor(vi a, vi b) { return _mm256_xor_si256(a, b); }
    LOWBIT_ALWAYS_INLINE vi with_bits(vi a, vi mask, vi from) {
        return bit_or(_mm256_andnot_si256(mask, a), bit_and(from, mask));
    }
    LOWBIT_ALWAYS_INLINE vi or_masked(vi a, vi from, vi mask) { return bit_or(a, bit_and(from, mask)); }
    template <unsigned N>
    LOWBIT_ALWAYS_INLINE vi shift_left(vi v) {
        return _mm256_slli_epi32(v, N);
    }
    template <unsigned N>
    LOWBIT_ALWAYS_INLINE vi shift_right(vi v) {
        return _mm256_srli_epi32(v, N);
    }
    LOWBIT_ALWAYS_INLINE vi shift_left(vi v, vi n) { return _mm256_sllv_epi32(v, n); }
    LOWBIT_ALWAYS_INLINE vi shift_right(vi v, vi n) { return _mm256_srlv_epi32(v, n); }
    LOWBIT_ALWAYS_INLINE vi mul_low(vi a, vi b) { return _mm256_mullo_epi32(a, b); }

    // Comparisons and masks.
    LOWBIT_ALWAYS_INLINE vm greater(vi a, vi b) { return _mm256_cmpgt_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE vm equal(vi a, vi b) { return _mm256_cmpeq_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE vm greater_equal(vf a, vf b) { return as_int(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }
    LOWBIT_ALWAYS_INLINE vm less(vf a, vf b) { return as_int(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
    LOWBIT_ALWAYS_INLINE vm mask_and(vm a, vm b) { return bit_and(a, b); }
    LOWBIT_ALWAYS_INLINE vm mask_or(vm a, vm b) { return bit_or(a, b); }
    LOWBIT_ALWAYS_INLINE vf select(vm m, vf yes, vf no) { return _mm256_blendv_ps(no, yes, as_float(m)); }
    LOWBIT_ALWAYS_INLINE vi select(vm m, vi yes, vi no) { return blend_bytes(no, yes, m); }
    LOWBIT_ALWAYS_INLINE std::uint32_t lanes_of(vm m) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(as_float(m)));
    }

    // Maxima across lanes.
    LOWBIT_ALWAYS_INLINE vi max_of_quads(vi a, vi b, vi c, vi d) {
        const vi ab = maximum(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        const vi cd = maximum(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        return maximum(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
    }
    /// Dwords 0 4 1 5 2 6 3 7: the two lanes of four vectors, in the order of the vectors.
    LOWBIT_ALWAYS_INLINE vi in_order(vi v) {
        return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    }
    LOWBIT_ALWAYS_INLINE vi max_of_fours(vi a, vi b, vi c, vi d) { return in_order(max_of_quads(a, b, c, d)); }
    LOWBIT_ALWAYS_INLINE vi max_of_each(const vi(&v)[width]) {
        const vi a = max_of_quads(v[0], v[1], v[2], v[3]), b = max_of_quads(v[4], v[5], v[6], v[7]);
        return maximum(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
    }
    LOWBIT_ALWAYS_INLINE vi max_of_pairs(vi v) { return maximum(v, _mm256_shuffle_epi32(v, 0xB1)); }

    LOWBIT_ALWAYS_INLINE vf swap_pairs(vf v) { return _mm256_permute_ps(v, 0xB1); }
    LOWBIT_ALWAYS_INLINE vf swap_twos(vf v) { return _mm256_permute_ps(v, 0x4E); }
    LOWBIT_ALWAYS_INLINE vf gather(const float* p, vi index) { return _mm256_i32gather_ps(p, index, 4); }

    LOWBIT_ALWAYS_INLINE vi lookup_32(const std::uint32_t(&table)[32], vi index) {
        const vf bit3 = as_float(shift_left<28>(index)), bit4 = as_float(shift_left<27>(index));
        const vf low = _mm256_blendv_ps(as_float(_mm256_permutevar8x32_epi32(load(table), index)),
                                        as_float(_mm256_permutevar8x32_epi32(load(table + 8), index)), bit3);
        const vf high = _mm256_blendv_ps(as_float(_mm256_permutevar8x32_epi32(load(table + 16), index)),
                                         as_float(_mm256_permutevar8x32_epi32(load(table + 24), index)), bit3);
        return as_int(_mm256_blendv_ps(low, high, bit4));
    }
    LOWBIT_ALWAYS_INLINE vi load_bytes(const std::uint8_t* p) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }

    // Transposition.
    LOWBIT_ALWAYS_INLINE void load_transposed(const float* const(&row)[width], vf(&x)[8]) {
        vf t[8];
        LOWBIT_UNROLL
        for (std::size_t j = 0; j < 8; j += 4) {  // 4 x 4 within lanes
            const vf r0 = load(row[j]), r1 = load(row[j + 1]), r2 = load(row[j + 2]), r3 = load(row[j + 3]);
            const vf a = _mm256_unpacklo_ps(r0, r1), b = _mm256_unpackhi_ps(r0, r1);
            const vf c = _mm256_unpacklo_ps(r2, r3), d = _mm256_unpackhi_ps(r2, r3);
            t[j] = _mm256_shuffle_ps(a, c, 0x44);
            t[j + 1] = _mm256_shuffle_ps(a, c, 0xEE);
            t[j + 2] = _mm256_shuffle_ps(b, d, 0x44);
            t[j + 3] = _mm256_shuffle_ps(b, d, 0xEE);
        }
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 4; ++i) {
            x[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
            x[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
        }
    }

    inline constexpr std::size_t turned = 8;
    LOWBIT_ALWAYS_INLINE void load_turned(const float* const(&row)[width], vf(&x)[turned]) { load_transposed(row, x); }

    // Bytes.
    LOWBIT_ALWAYS_INLINE void split_bytes(vi a, vi b, vi c, vi d, vb & low, vb & top) {
        // In each 128-bit lane: dword 0 the low bytes, dword 1 the top bytes of its 4 dwords.
        const vi pick = _mm256_setr_epi8(0, 4, 8, 12, 3, 7, 11, 15, 0, 4, 8, 12, 3, 7, 11, 15,  //
                                         0, 4, 8, 12, 3, 7, 11, 15, 0, 4, 8, 12, 3, 7, 11, 15);
        const vi ab = _mm256_unpacklo_epi32(_mm256_shuffle_epi8(a, pick), _mm256_shuffle_epi8(b, pick));
        const vi cd = _mm256_unpacklo_epi32(_mm256_shuffle_epi8(c, pick), _mm256_shuffle_epi8(d, pick));
        low = in_order(_mm256_unpacklo_epi64(ab, cd));
        top = in_order(_mm256_unpackhi_epi64(ab, cd));
    }
    LOWBIT_ALWAYS_INLINE vb splat_u8(std::uint8_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
    LOWBIT_ALWAYS_INLINE vb min_u8(vb a, vb b) { return _mm256_min_epu8(a, b); }
    LOWBIT_ALWAYS_INLINE vb half_up_u8(vb a) { return _mm256_avg_epu8(a, _mm256_setzero_si256()); }
    LOWBIT_ALWAYS_INLINE vb lookup_u8(const std::uint8_t(&table)[16], vb index) {
        const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), index);
    }
    LOWBIT_ALWAYS_INLINE vb lookup_64(const std::uint8_t(&table)[64], vb index) {
        vb quarter[4];
        LOWBIT_UNROLL
        for (int i = 0; i < 4; ++i) {
            const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table) + i);
            quarter[i] = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), index);
        }
        const vb bit4 = _mm256_slli_epi16(index, 3), bit5 = _mm256_slli_epi16(index, 2);  // to the top bit of the byte
        return blend_bytes(blend_bytes(quarter[0], quarter[1], bit4), blend_bytes(quarter[2], quarter[3], bit4), bit5);
    }
    LOWBIT_ALWAYS_INLINE vb sign_codes(vb magnitude, vb top) {  // bit 7 of top to bit 3
        return or_masked(magnitude, _mm256_srli_epi16(top, 4), splat_u8(0x08));
    }
    LOWBIT_ALWAYS_INLINE vb negate_where_top(vb magnitude, vb top) {
        return _mm256_sign_epi8(magnitude, bit_or(top, splat_u8(1)));
    }
    LOWBIT_ALWAYS_INLINE void store_bytes(std::int8_t * p, vb v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
    }
    template <std::size_t Piece>
    LOWBIT_ALWAYS_INLINE void store_pieces(std::int8_t * out, std::size_t, vb v) {
        static_assert(Piece == 32);
        store_bytes(out, v);
    }
    LOWBIT_ALWAYS_INLINE vb as_bytes(vi v) { return v; }
    LOWBIT_ALWAYS_INLINE vi as_dwords(vb v) { return v; }
    LOWBIT_ALWAYS_INLINE vb or_u8(vb a, vb b) { return bit_or(a, b); }
    LOWBIT_ALWAYS_INLINE vb select_u8(vb mask, vb yes, vb no) { return blend_bytes(no, yes, mask); }

    /// Quadwords 0 and 2.
    LOWBIT_ALWAYS_INLINE __m128i even_quads(vi v) { return _mm256_castsi256_si128(_mm256_permute4x64_epi64(v, 0x08)); }

    // The upper 8 bytes, to any address: _mm_storeh_pd wants a double there.
    LOWBIT_ALWAYS_INLINE void store_high_8(std::uint8_t * out, __m128i bytes) {
        const double high = _mm_castsi128_pd(bytes)[1];
        __builtin_memcpy(out, &high, sizeof(high));
    }

    template <std::size_t Piece>
    LOWBIT_ALWAYS_INLINE void store_nibbles(std::uint8_t * out, std::size_t stride, vb codes) {
        const vi words = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(0x1001));
        const __m128i bytes = even_quads(_mm256_packus_epi16(words, words));
        if constexpr (Piece == 16) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
        } else {
            static_assert(Piece == 8);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
            store_high_8(out + stride, bytes);
        }
    }
    template <std::size_t Piece>
    LOWBIT_ALWAYS_INLINE vb load_nibbles(const std::uint8_t* p, std::size_t stride) {
        __m128i bytes;
        if constexpr (Piece == 16) {
            bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        } else {
            static_assert(Piece == 8);
            bytes = _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)),
                                       _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + stride)));
        }
        const vb wide = _mm256_cvtepu8_epi16(bytes);
        return bit_and(bit_or(wide, _mm256_slli_epi16(wide, 4)), splat_u8(0x0F));
    }

    LOWBIT_ALWAYS_INLINE vi floor_eighths(vf t) {
        // Times 8 by the exponent: a multiplication would be slow for the subnormals that rounding makes of zeros.
        const vi eighths = add(bit_and(as_int(t), splat(0x7FFFFFFFU)), splat(3U << 23));
        return or_masked(_mm256_cvttps_epi32(as_float(eighths)), as_int(t), splat(0x80000000U));
    }

    LOWBIT_ALWAYS_INLINE vb max_of_eights(vb v) {
        const vb halves = _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,  //
                                           2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
        const vb pairs = _mm256_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14,  //
                                          1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
        v = _mm256_max_epu8(v, _mm256_shuffle_epi32(v, 0xB1));
        v = _mm256_max_epu8(v, _mm256_shuffle_epi8(v, halves));
        return _mm256_max_epu8(v, _mm256_shuffle_epi8(v, pairs));
    }
    LOWBIT_ALWAYS_INLINE vb tops_of_eights(vb codes) {
        const vb magnitudes = bit_and(codes, splat_u8(7));
        const vb key = _mm256_add_epi8(_mm256_slli_epi16(magnitudes, 3), _mm256_set1_epi64x(0x0001020304050607));
        return _mm256_cmpeq_epi8(key, max_of_eights(key));
    }
    LOWBIT_ALWAYS_INLINE void store_top_keys(std::uint32_t * out, const std::uint8_t(&table)[16], vb index) {
        const vb key = max_of_eights(_mm256_add_epi8(lookup_u8(table, index), _mm256_set1_epi64x(0x0001020304050607)));
        const vi keys = bit_and(key, splat(0xFFU));
        const vi packed = _mm256_permutevar8x32_epi32(keys, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(packed));
    }

    // Decoding.
    LOWBIT_ALWAYS_INLINE vi load_codes(const std::uint8_t* p) {
        std::uint32_t bytes;
        std::memcpy(&bytes, p, sizeof bytes);
        return shift_right(splat(bytes), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    }
    /// The 8 magnitudes; the sign comes from the code.
    using code_table = vf;
    LOWBIT_ALWAYS_INLINE code_table make_code_table(const float(&magnitudes)[8]) { return load(magnitudes); }
    LOWBIT_ALWAYS_INLINE vf code_values(code_table table, vi codes) {
        const vf magnitude = _mm256_permutevar8x32_ps(table, codes);
        return as_float(or_masked(as_int(magnitude), shift_left<28>(codes), splat(0x80000000U)));
    }
    LOWBIT_ALWAYS_INLINE vf load_fours(const float* p) {
        long long both;
        std::memcpy(&both, p, sizeof both);
        return _mm256_permutevar_ps(_mm256_castsi256_ps(_mm256_set1_epi64x(both)),
                                    _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    }
    LOWBIT_ALWAYS_INLINE vf load_eights(const float* p) { return splat(p[0]); }
    LOWBIT_ALWAYS_INLINE vi load_eights(const std::uint32_t* p) { return splat(p[0]); }

    // HiF8, ties away, of a chunk: the top 16 bits of a float decide. False where NaN keeps that from being true.
    inline constexpr bool has_hif8_ties_away = true;
    inline constexpr bool has_hif8_floats = false;
    /// By word: the index of its exponent field in the tables.
    LOWBIT_ALWAYS_INLINE vi hif8_words_index(vi words) {
        const vi above = _mm256_subs_epu16(words, _mm256_set1_epi16(103 << 7));
        return _mm256_srli_epi16(_mm256_min_epu16(above, _mm256_set1_epi16(63 << 7)), 7);
    }
    /// Low byte of (words >> shift), the shift given by the factor's high byte.
    LOWBIT_ALWAYS_INLINE vi hif8_words_shifted(vi words, vi factor) {
        return bit_and(_mm256_mulhi_epu16(words, factor), _mm256_set1_epi16(0xFF));
    }
    LOWBIT_ALWAYS_INLINE bool hif8_ties_away(const float* p, bool saturates, vb& codes) {
        const vi a = as_int(load(p)), b = as_int(load(p + 8)), c = as_int(load(p + 16)), d = as_int(load(p + 24));
        const vi all = splat(0x7FFFFFFFU), zero = _mm256_setzero_si256();
        const vi largest =
            maximum(maximum(bit_and(a, all), bit_and(b, all)), maximum(bit_and(c, all), bit_and(d, all)));
        if (lanes_of(greater(largest, splat(0x7F800000U))) != 0) return false;
        // Words a b and c d, bytes a b c d, four of each in a 128-bit lane.
        const vi ab = _mm256_packus_epi32(shift_right<16>(a), shift_right<16>(b));
        const vi cd = _mm256_packus_epi32(shift_right<16>(c), shift_right<16>(d));
        vi low = bit_and(ab, _mm256_set1_epi16(0x7FFF)), high = bit_and(cd, _mm256_set1_epi16(0x7FFF));
        const vb field = _mm256_packus_epi16(hif8_words_index(low), hif8_words_index(high));
        const vb round = lookup_64(hif8_bytes_by_field.round, field);
        low = _mm256_add_epi16(low, _mm256_unpacklo_epi8(round, zero));
        high = _mm256_add_epi16(high, _mm256_unpackhi_epi8(round, zero));
        const vb sum_field = _mm256_packus_epi16(hif8_words_index(low), hif8_words_index(high));
        const vb factor = lookup_64(hif8_bytes_by_field.factor, sum_field);
        const vb shifted = _mm256_packus_epi16(hif8_words_shifted(low, _mm256_unpacklo_epi8(zero, factor)),
                                               hif8_words_shifted(high, _mm256_unpackhi_epi8(zero, factor)));
        vb code = _mm256_add_epi8(shifted, lookup_64(hif8_bytes_by_field.offset, sum_field));
        if (saturates) {
            const vb infinite = _mm256_cmpeq_epi8(code, splat_u8(detail::hif8_infinity_code));
            code = select_u8(infinite, splat_u8(detail::hif8_max_code), code);
        }
        const vb sign =
            bit_and(_mm256_packs_epi16(_mm256_srai_epi16(ab, 15), _mm256_srai_epi16(cd, 15)), splat_u8(0x80));
        codes = in_order(bit_or(code, _mm256_andnot_si256(_mm256_cmpeq_epi8(code, zero), sign)));
        return true;
    }

    // Random bits: mix64 of element/rounding.hpp on 4 counters at a time.
    LOWBIT_ALWAYS_INLINE vi mul_quads(vi z, std::uint64_t factor) {
        const vi f = _mm256_set1_epi64x(static_cast<long long>(factor));
        const vi cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(z, 32), f),
                                          _mm256_mul_epu32(z, _mm256_srli_epi64(f, 32)));
        return _mm256_add_epi64(_mm256_mul_epu32(z, f), _mm256_slli_epi64(cross, 32));
    }
    LOWBIT_ALWAYS_INLINE vi mix_24(vi z) {
        z = mul_quads(bit_xor(z, _mm256_srli_epi64(z, 30)), 0xBF58476D1CE4E5B9U);
        z = mul_quads(bit_xor(z, _mm256_srli_epi64(z, 27)), 0x94D049BB133111EBU);
        return _mm256_srli_epi64(bit_xor(z, _mm256_srli_epi64(z, 31)), 40);
    }
    LOWBIT_ALWAYS_INLINE vi random_lanes24(std::uint64_t key, std::uint64_t index) {
        constexpr std::uint64_t step = detail::weyl_step;
        // Counters 0 1 4 5 and 2 3 6 7: packing the even dwords puts them in order.
        alignas(32) static constexpr std::uint64_t steps[4] = {step, 2 * step, 5 * step, 6 * step};
        const vi first = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(key + index * step)),
                                          _mm256_load_si256(reinterpret_cast<const __m256i*>(steps)));
        const vi second = _mm256_add_epi64(first, _mm256_set1_epi64x(static_cast<long long>(2 * step)));
        return as_int(_mm256_shuffle_ps(as_float(mix_24(first)), as_float(mix_24(second)), 0x88));
    }

    // 16-bit floats; every NaN becomes the library's.
    LOWBIT_ALWAYS_INLINE vm is_nan_lane(vf v) {
        return greater(bit_and(as_int(v), splat(0x7FFFFFFFU)), splat(0x7F800000U));
    }
    LOWBIT_ALWAYS_INLINE vf canonical(vf v) { return select(is_nan_lane(v), as_float(splat(0x7FC00000U)), v); }
    LOWBIT_ALWAYS_INLINE vf load_bfloat16(const void* p) {
        return canonical(
            as_float(shift_left<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))))));
    }
    LOWBIT_ALWAYS_INLINE vf load_float16(const void* p) {
        return canonical(_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p))));
    }
    LOWBIT_ALWAYS_INLINE void store_words(void* p, vi v) {
        const vi low = bit_and(v, splat(0xFFFFU));
        _mm_storeu_si128(static_cast<__m128i*>(p), even_quads(_mm256_packus_epi32(low, low)));
    }
    LOWBIT_ALWAYS_INLINE void store_float16(void* p, vf v) {
        const __m128i half = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
        const vm nan = is_nan_lane(v);
        const __m128i nan_words = even_quads(_mm256_packs_epi32(nan, nan));
        _mm_storeu_si128(static_cast<__m128i*>(p), blend_bytes(half, _mm_set1_epi16(0x7E00), nan_words));
    }

# include <lowbit/kernel/codec.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)
LOWBIT_TARGET_END

#endif  // LOWBIT_COMPILES_AVX2
