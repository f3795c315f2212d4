// SPDX-License-Identifier: Apache-2.0
// The AVX-512 rows of the kernel table: avx512vbmi, and avx512vnni for processors without VBMI.
//
// What an instruction set must offer to codec.inl (its atoms). `width` W is the number of floats in a vector; a *chunk*
// is 4 W values, so that the bytes of a chunk fill one vector.
//   vf vi vb vm        vectors of W floats, W dwords, 4 W bytes; a mask of W lanes
//   load store splat   contiguous, unaligned; as_int, as_float reinterpret
//   store_past_cache           an aligned store that leaves the caches alone, or any store
//   add sub mul div    rounded once each, seen through by no optimisation (-ffp-contract, -ffast-math): `rounded` is
//   the fma fnma           barrier. fma(a, b, c) = a b + c, fnma(a, b, c) = c - a b min max            floats; dwords
//   as signed integers with_bits(a, mask, from)   bits of `from` where mask is 1, of a elsewhere;   or_masked(a, from,
//   mask) = a | (from & mask) shift_left shift_right     logical, by a constant <N> or by a vector of counts below 32
//   greater equal greater_equal less, mask_and mask_or, select(m, yes, no), lanes_of(m): bit i = lane i
//   max_of_each(v[W])          lane i = largest lane of v[i]
//   max_of_fours(a, b, c, d)   lane i = largest of values 4 i .. 4 i + 3 of the chunk a b c d
//   max_of_pairs(v)            both lanes of an even-odd pair = their larger one
//   split_bytes(a, b, c, d, low, top)   bits 7..0 and bits 31..24 of the dwords of a chunk, in order (top: bit 7
//   matters) lookup_u8(table, index)    table[index & 15] for bytes below 128;  half_up_u8(v) = (v + 1) / 2;  min_u8
//   sign_codes(mag, top)       mag | (top bit 7 ? 8 : 0);   negate_where_top(mag, top) int8
//   store_nibbles<Piece>(out, stride, codes)   codes of a chunk, two a byte, even one low; runs of Piece bytes (Piece
//   at
//                              most 2 W) at out, out + stride, ...;   store_bytes(p, v);   store_pieces<Piece>(out,
//                              stride, v)   a chunk's bytes, likewise in runs of Piece (32 or the chunk)
//   floor_eighths(t)           dword whose bits 7..0 hold floor(8 |t|) for |t| < 32 and whose bit 31 is the sign of t
//   store_top_keys(out, table, index)   with key = table[index & 15] + 7 - (position in the run of 8) for each byte of
//   a
//                              chunk: the largest key of each run of 8 to W / 2 dwords
//   swap_pairs swap_twos       lanes 1 0 3 2 ..., lanes 2 3 0 1 ...;   gather(p, index) lane i = p[index lane i]
//   lookup_32(table, index)    table[index & 31];   load_bytes(p)  W bytes to dwords
//   load_transposed(row[W], x[8])   lane j of x[i] = row[j][i];   turned, load_turned(row[W], x[turned]) the same, wide
//   load_codes(p)              W codes from W / 2 bytes, in bits 3..0 of dwords, whatever the other bits
//   code_table, make_code_table, code_values(table, codes)   floats of 16 sign-magnitude codes
//   load_fours(p)              W / 4 floats, each repeated 4 times
//   load_eights(p)             W / 8 floats or dwords, each repeated 8 times (W < 8: p[0] everywhere)
//   load_nibbles<Piece>(p, stride)   the codes of a chunk as bytes 0..15: the inverse of store_nibbles
//   tops_of_eights(codes)      0xFF in the byte of the first of the largest (code & 7) of each run of 8, 0 elsewhere
//   lookup_64(table, index)    table[index] for bytes 0..63;   or_u8, select_u8(mask, yes, no), as_bytes, as_dwords
//   load_bfloat16 load_float16 (NaN: 0x7FC00000)   store_words (low halves of dwords)   store_float16 (NaN: 0x7E00)
//   random_lanes24(key, index)       lane i = random_bits24 of index + i (element/rounding.hpp)
//   has_hif8_ties_away, hif8_ties_away(p, saturates, codes)    optional: codes of a chunk, false if it cannot (NaN)
//   has_hif8_floats, hif8_floats(codes, p)    optional: the values of a chunk's codes
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_X86

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
# include <lowbit/lane/lower.hpp>

# if LOWBIT_COMPILES_AVX512VBMI
LOWBIT_TARGET_BEGIN_AVX512VBMI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi) {

#  include <lowbit/kernel/isa_avx512_atoms.inl>

    LOWBIT_ALWAYS_INLINE void split_bytes(vi a, vi b, vi c, vi d, vb & low, vb & top) {
        // Bytes 4 i of two vectors, then bytes 4 i + 3. (Two merging vpermb are cheaper than one vpermt2b on Intel.)
        const vi pick =
            _mm512_set_epi8(63, 59, 55, 51, 47, 43, 39, 35, 31, 27, 23, 19, 15, 11, 7, 3, 63, 59, 55, 51, 47, 43, 39,
                            35, 31, 27, 23, 19, 15, 11, 7, 3, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4,
                            0, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
        constexpr __mmask64 second = 0xFFFF0000FFFF0000U;
        const vi ab = _mm512_mask_permutexvar_epi8(_mm512_maskz_permutexvar_epi8(~second, pick, a), second, pick, b);
        const vi cd = _mm512_mask_permutexvar_epi8(_mm512_maskz_permutexvar_epi8(~second, pick, c), second, pick, d);
        low = _mm512_maskz_shuffle_i64x2(all8, ab, cd, 0x44);
        top = _mm512_maskz_shuffle_i64x2(all8, ab, cd, 0xEE);
    }

    inline constexpr bool looks_up_bytes = true;
    LOWBIT_ALWAYS_INLINE vb lookup_64(const std::uint8_t(&table)[64], vb index) {
        return _mm512_maskz_permutexvar_epi8(~__mmask64{0}, index, _mm512_loadu_si512(table));
    }

#  include <lowbit/kernel/isa_avx512_hif8.inl>

#  include <lowbit/kernel/codec.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)
LOWBIT_TARGET_END
# endif

# if LOWBIT_COMPILES_AVX512VNNI
LOWBIT_TARGET_BEGIN_AVX512VNNI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni) {

#  include <lowbit/kernel/isa_avx512_atoms.inl>

    LOWBIT_ALWAYS_INLINE void split_bytes(vi a, vi b, vi c, vi d, vb & low, vb & top) {
        // In each 128-bit lane: dword 0 the low bytes, dword 1 the top bytes of its 4 dwords.
        const vi pick =
            _mm512_maskz_broadcast_i32x4(all16, _mm_setr_epi8(0, 4, 8, 12, 3, 7, 11, 15, 0, 4, 8, 12, 3, 7, 11, 15));
        const vi ab = _mm512_maskz_unpacklo_epi32(all16, _mm512_shuffle_epi8(a, pick), _mm512_shuffle_epi8(b, pick));
        const vi cd = _mm512_maskz_unpacklo_epi32(all16, _mm512_shuffle_epi8(c, pick), _mm512_shuffle_epi8(d, pick));
        const vi order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        low = _mm512_maskz_permutexvar_epi32(all16, order, _mm512_maskz_unpacklo_epi64(all8, ab, cd));
        top = _mm512_maskz_permutexvar_epi32(all16, order, _mm512_maskz_unpackhi_epi64(all8, ab, cd));
    }

    inline constexpr bool looks_up_bytes = false;
    LOWBIT_ALWAYS_INLINE vb lookup_64(const std::uint8_t(&table)[64], vb index) {
        vb found = _mm512_setzero_si512();
        LOWBIT_UNROLL
        for (int quarter = 0; quarter < 4; ++quarter) {
            const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table) + quarter);
            const __mmask64 here = _mm512_cmpeq_epi8_mask(_mm512_and_si512(index, splat_u8(0x30)),
                                                          splat_u8(static_cast<std::uint8_t>(16 * quarter)));
            found = _mm512_mask_shuffle_epi8(found, here, _mm512_maskz_broadcast_i32x4(all16, entries),
                                             _mm512_and_si512(index, splat_u8(0x0F)));
        }
        return found;
    }

#  include <lowbit/kernel/isa_avx512_hif8.inl>

#  include <lowbit/kernel/codec.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)
LOWBIT_TARGET_END
# endif

#endif  // LOWBIT_X86
