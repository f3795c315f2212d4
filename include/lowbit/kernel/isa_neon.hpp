// SPDX-License-Identifier: Apache-2.0
// The NEON codecs of the kernel table: 4 floats (vf), 4 dwords (vi), 16 bytes (vb); a mask is a vector of all-ones
// lanes. isa_avx512.hpp says what each atom must do. Codecs need no dot products: the rows neon and neon_dotprod share
// these.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_AARCH64

# include <arm_neon.h>

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

namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon_codec) {

    using vf = float32x4_t;
    using vi = uint32x4_t;
    using vb = uint8x16_t;
    using vm = uint32x4_t;
    inline constexpr std::size_t width = 4;

    // Floats in memory and registers.
    LOWBIT_ALWAYS_INLINE vf load(const float* p) { return vld1q_f32(p); }
    LOWBIT_ALWAYS_INLINE void store(float* p, vf v) { vst1q_f32(p, v); }
    LOWBIT_ALWAYS_INLINE void store_past_cache(float* p, vf v) { vst1q_f32(p, v); }
    LOWBIT_ALWAYS_INLINE vf splat(float x) { return vdupq_n_f32(x); }
    LOWBIT_ALWAYS_INLINE vi load(const std::uint32_t* p) { return vld1q_u32(p); }
    LOWBIT_ALWAYS_INLINE void store(std::uint32_t * p, vi v) { vst1q_u32(p, v); }
    LOWBIT_ALWAYS_INLINE vi splat(std::uint32_t x) { return vdupq_n_u32(x); }
    LOWBIT_ALWAYS_INLINE vi as_int(vf v) { return vreinterpretq_u32_f32(v); }
    LOWBIT_ALWAYS_INLINE vf as_float(vi v) { return vreinterpretq_f32_u32(v); }
    LOWBIT_ALWAYS_INLINE int32x4_t as_signed(vi v) { return vreinterpretq_s32_u32(v); }

    // Arithmetic.
    LOWBIT_ALWAYS_INLINE vf rounded(vf v) {
        asm("" : "+w"(v));
        return v;
    }
    LOWBIT_ALWAYS_INLINE vf add(vf a, vf b) { return rounded(vaddq_f32(a, b)); }
    LOWBIT_ALWAYS_INLINE vf sub(vf a, vf b) { return rounded(vsubq_f32(a, b)); }
    LOWBIT_ALWAYS_INLINE vf mul(vf a, vf b) { return rounded(vmulq_f32(a, b)); }
    LOWBIT_ALWAYS_INLINE vf div(vf a, vf b) {  // not the intrinsic: -ffast-math would make a reciprocal of it
        vf q;
        asm("fdiv %0.4s, %1.4s, %2.4s" : "=w"(q) : "w"(a), "w"(b));
        return q;
    }
    LOWBIT_ALWAYS_INLINE vf fma(vf a, vf b, vf c) { return vfmaq_f32(c, a, b); }
    LOWBIT_ALWAYS_INLINE vf fnma(vf a, vf b, vf c) { return vfmsq_f32(c, a, b); }
    LOWBIT_ALWAYS_INLINE vf minimum(vf a, vf b) { return vminq_f32(a, b); }
    LOWBIT_ALWAYS_INLINE vf maximum(vf a, vf b) { return vmaxq_f32(a, b); }
    LOWBIT_ALWAYS_INLINE vi add(vi a, vi b) { return vaddq_u32(a, b); }
    LOWBIT_ALWAYS_INLINE vi sub(vi a, vi b) { return vsubq_u32(a, b); }
    LOWBIT_ALWAYS_INLINE vi minimum(vi a, vi b) { return vreinterpretq_u32_s32(vminq_s32(as_signed(a), as_signed(b))); }
    LOWBIT_ALWAYS_INLINE vi maximum(vi a, vi b) { return vreinterpretq_u32_s32(vmaxq_s32(as_signed(a), as_signed(b))); }
    LOWBIT_ALWAYS_INLINE vi bit_and(vi a, vi b) { return vandq_u32(a, b); }
    LOWBIT_ALWAYS_INLINE vi bit_or(vi a, vi b) { return vorrq_u32(a, b); }
    LOWBIT_ALWAYS_INLINE vi bit_xor(vi a, vi b) { return veorq_u32(a, b); }
    LOWBIT_ALWAYS_INLINE vi with_bits(vi a, vi mask, vi from) { return vbslq_u32(mask, from, a); }
    LOWBIT_ALWAYS_INLINE vi or_masked(vi a, vi from, vi mask) { return bit_or(a, bit_and(from, mask)); }
    template <unsigned N>
    LOWBIT_ALWAYS_INLINE vi shift_left(vi v) {
        return vshlq_n_u32(v, N);
    }
    template <unsigned N>
    LOWBIT_ALWAYS_INLINE vi shift_right(vi v) {
        return vshrq_n_u32(v, N);
    }
    LOWBIT_ALWAYS_INLINE vi shift_left(vi v, vi n) { return vshlq_u32(v, as_signed(n)); }
    LOWBIT_ALWAYS_INLINE vi shift_right(vi v, vi n) { return vshlq_u32(v, vnegq_s32(as_signed(n))); }
    LOWBIT_ALWAYS_INLINE vi mul_low(vi a, vi b) { return vmulq_u32(a, b); }

    // Comparisons and masks.
    LOWBIT_ALWAYS_INLINE vm greater(vi a, vi b) { return vcgtq_s32(as_signed(a), as_signed(b)); }
    LOWBIT_ALWAYS_INLINE vm equal(vi a, vi b) { return vceqq_u32(a, b); }
    LOWBIT_ALWAYS_INLINE vm greater_equal(vf a, vf b) { return vcgeq_f32(a, b); }
    LOWBIT_ALWAYS_INLINE vm less(vf a, vf b) { return vcltq_f32(a, b); }
    LOWBIT_ALWAYS_INLINE vm mask_and(vm a, vm b) { return bit_and(a, b); }
    LOWBIT_ALWAYS_INLINE vm mask_or(vm a, vm b) { return bit_or(a, b); }
    LOWBIT_ALWAYS_INLINE vf select(vm m, vf yes, vf no) { return vbslq_f32(m, yes, no); }
    LOWBIT_ALWAYS_INLINE vi select(vm m, vi yes, vi no) { return vbslq_u32(m, yes, no); }
    LOWBIT_ALWAYS_INLINE std::uint32_t lanes_of(vm m) {
        const std::uint32_t bits[4] = {1, 2, 4, 8};
        return vaddvq_u32(bit_and(m, load(bits)));
    }

    // Maxima across lanes.
    LOWBIT_ALWAYS_INLINE vi max_of_fours(vi a, vi b, vi c, vi d) {
        const int32x4_t ab = vpmaxq_s32(as_signed(a), as_signed(b)), cd = vpmaxq_s32(as_signed(c), as_signed(d));
        return vreinterpretq_u32_s32(vpmaxq_s32(ab, cd));
    }
    LOWBIT_ALWAYS_INLINE vi max_of_each(const vi(&v)[width]) { return max_of_fours(v[0], v[1], v[2], v[3]); }
    LOWBIT_ALWAYS_INLINE vi max_of_pairs(vi v) { return maximum(v, vrev64q_u32(v)); }

    LOWBIT_ALWAYS_INLINE vf swap_pairs(vf v) { return vrev64q_f32(v); }
    LOWBIT_ALWAYS_INLINE vf swap_twos(vf v) { return vextq_f32(v, v, 2); }
    LOWBIT_ALWAYS_INLINE vf gather(const float* p, vi index) {
        const float found[4] = {p[vgetq_lane_u32(index, 0)], p[vgetq_lane_u32(index, 1)], p[vgetq_lane_u32(index, 2)],
                                p[vgetq_lane_u32(index, 3)]};
        return load(found);
    }
    LOWBIT_ALWAYS_INLINE vi lookup_32(const std::uint32_t(&table)[32], vi index) {
        const vi low = bit_and(index, splat(31U));  // as the other instruction sets: five bits count
        const std::uint32_t found[4] = {table[vgetq_lane_u32(low, 0)], table[vgetq_lane_u32(low, 1)],
                                        table[vgetq_lane_u32(low, 2)], table[vgetq_lane_u32(low, 3)]};
        return load(found);
    }
    LOWBIT_ALWAYS_INLINE vi load_bytes(const std::uint8_t* p) {
        std::uint32_t bytes;
        std::memcpy(&bytes, p, sizeof bytes);
        const uint8x8_t packed = vreinterpret_u8_u32(vdup_n_u32(bytes));
        return vmovl_u16(vget_low_u16(vmovl_u8(packed)));
    }

    // Transposition.
    LOWBIT_ALWAYS_INLINE void load_transposed(const float* const(&row)[width], vf(&x)[8]) {
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 8; i += 4) {
            const vf a = load(row[0] + i), b = load(row[1] + i), c = load(row[2] + i), d = load(row[3] + i);
            const float64x2_t ab = vreinterpretq_f64_f32(vtrn1q_f32(a, b)),
                              cd = vreinterpretq_f64_f32(vtrn1q_f32(c, d));
            const float64x2_t ab1 = vreinterpretq_f64_f32(vtrn2q_f32(a, b)),
                              cd1 = vreinterpretq_f64_f32(vtrn2q_f32(c, d));
            x[i] = vreinterpretq_f32_f64(vtrn1q_f64(ab, cd));
            x[i + 1] = vreinterpretq_f32_f64(vtrn1q_f64(ab1, cd1));
            x[i + 2] = vreinterpretq_f32_f64(vtrn2q_f64(ab, cd));
            x[i + 3] = vreinterpretq_f32_f64(vtrn2q_f64(ab1, cd1));
        }
    }

    inline constexpr std::size_t turned = 8;
    LOWBIT_ALWAYS_INLINE void load_turned(const float* const(&row)[width], vf(&x)[turned]) { load_transposed(row, x); }

    // Bytes.
    LOWBIT_ALWAYS_INLINE vb as_bytes(vi v) { return vreinterpretq_u8_u32(v); }
    LOWBIT_ALWAYS_INLINE vi as_dwords(vb v) { return vreinterpretq_u32_u8(v); }
    LOWBIT_ALWAYS_INLINE void split_bytes(vi a, vi b, vi c, vi d, vb & low, vb & top) {
        const uint16x8_t a16 = vreinterpretq_u16_u32(a), b16 = vreinterpretq_u16_u32(b);
        const uint16x8_t c16 = vreinterpretq_u16_u32(c), d16 = vreinterpretq_u16_u32(d);
        low = vuzp1q_u8(vreinterpretq_u8_u16(vuzp1q_u16(a16, b16)), vreinterpretq_u8_u16(vuzp1q_u16(c16, d16)));
        top = vuzp2q_u8(vreinterpretq_u8_u16(vuzp2q_u16(a16, b16)), vreinterpretq_u8_u16(vuzp2q_u16(c16, d16)));
    }
    LOWBIT_ALWAYS_INLINE vb splat_u8(std::uint8_t x) { return vdupq_n_u8(x); }
    LOWBIT_ALWAYS_INLINE vb min_u8(vb a, vb b) { return vminq_u8(a, b); }
    LOWBIT_ALWAYS_INLINE vb half_up_u8(vb a) { return vrshrq_n_u8(a, 1); }
    LOWBIT_ALWAYS_INLINE vb lookup_u8(const std::uint8_t(&table)[16], vb index) {
        return vqtbl1q_u8(vld1q_u8(table), vandq_u8(index, splat_u8(0x0F)));
    }
    LOWBIT_ALWAYS_INLINE vb lookup_64(const std::uint8_t(&table)[64], vb index) {
        return vqtbl4q_u8({{vld1q_u8(table), vld1q_u8(table + 16), vld1q_u8(table + 32), vld1q_u8(table + 48)}}, index);
    }
    LOWBIT_ALWAYS_INLINE vb sign_codes(vb magnitude, vb top) {  // bit 7 of top to bit 3
        return vorrq_u8(magnitude, vandq_u8(vshrq_n_u8(top, 4), splat_u8(0x08)));
    }
    LOWBIT_ALWAYS_INLINE vb negate_where_top(vb magnitude, vb top) {
        const vb negative = vcltzq_s8(vreinterpretq_s8_u8(top));
        return vsubq_u8(veorq_u8(magnitude, negative), negative);
    }
    LOWBIT_ALWAYS_INLINE void store_bytes(std::int8_t * p, vb v) { vst1q_s8(p, vreinterpretq_s8_u8(v)); }
    template <std::size_t Piece>
    LOWBIT_ALWAYS_INLINE void store_pieces(std::int8_t * out, std::size_t, vb v) {
        static_assert(Piece == 16);
        store_bytes(out, v);
    }
    LOWBIT_ALWAYS_INLINE vb or_u8(vb a, vb b) { return vorrq_u8(a, b); }
    LOWBIT_ALWAYS_INLINE vb select_u8(vb mask, vb yes, vb no) { return vbslq_u8(mask, yes, no); }

    template <std::size_t Piece>
    LOWBIT_ALWAYS_INLINE void store_nibbles(std::uint8_t * out, std::size_t, vb codes) {
        static_assert(Piece == 8);
        const vb bytes = vorrq_u8(vuzp1q_u8(codes, codes), vshlq_n_u8(vuzp2q_u8(codes, codes), 4));
        vst1_u8(out, vget_low_u8(bytes));
    }
    template <std::size_t Piece>
    LOWBIT_ALWAYS_INLINE vb load_nibbles(const std::uint8_t* p, std::size_t) {
        static_assert(Piece == 8);
        const vb bytes = vcombine_u8(vld1_u8(p), vdup_n_u8(0));
        return vzip1q_u8(vandq_u8(bytes, splat_u8(0x0F)), vshrq_n_u8(bytes, 4));
    }

    LOWBIT_ALWAYS_INLINE vi floor_eighths(vf t) {
        return or_masked(vcvtq_n_u32_f32(vabsq_f32(t), 3), as_int(t), splat(0x80000000U));
    }

    LOWBIT_ALWAYS_INLINE vb max_of_eights(vb v) {
        v = vmaxq_u8(v, vreinterpretq_u8_u32(vrev64q_u32(vreinterpretq_u32_u8(v))));
        v = vmaxq_u8(v, vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(v))));
        return vmaxq_u8(v, vrev16q_u8(v));
    }
    LOWBIT_ALWAYS_INLINE vb places_behind() { return vreinterpretq_u8_u64(vdupq_n_u64(0x0001020304050607)); }
    LOWBIT_ALWAYS_INLINE vb tops_of_eights(vb codes) {
        const vb key = vaddq_u8(vshlq_n_u8(vandq_u8(codes, splat_u8(7)), 3), places_behind());
        return vceqq_u8(key, max_of_eights(key));
    }
    LOWBIT_ALWAYS_INLINE void store_top_keys(std::uint32_t * out, const std::uint8_t(&table)[16], vb index) {
        const vb key = max_of_eights(vaddq_u8(lookup_u8(table, index), places_behind()));
        out[0] = vgetq_lane_u8(key, 0);
        out[1] = vgetq_lane_u8(key, 8);
    }

    // Decoding.
    LOWBIT_ALWAYS_INLINE vi load_codes(const std::uint8_t* p) {
        const std::int32_t places[4] = {0, -4, -8, -12};
        std::uint16_t bytes;
        std::memcpy(&bytes, p, sizeof bytes);
        return vshlq_u32(splat(std::uint32_t{bytes}), vld1q_s32(places));
    }
    /// The bytes of the 8 magnitudes; the sign comes from the code.
    using code_table = uint8x16x2_t;
    LOWBIT_ALWAYS_INLINE code_table make_code_table(const float(&magnitudes)[8]) {
        return {{vreinterpretq_u8_f32(load(magnitudes)), vreinterpretq_u8_f32(load(magnitudes + 4))}};
    }
    LOWBIT_ALWAYS_INLINE vf code_values(code_table table, vi codes) {
        const vi bytes = vmlaq_u32(splat(0x03020100U), bit_and(codes, splat(7U)), splat(0x04040404U));
        const vi magnitude = as_dwords(vqtbl2q_u8(table, as_bytes(bytes)));
        return as_float(or_masked(magnitude, shift_left<28>(codes), splat(0x80000000U)));
    }
    LOWBIT_ALWAYS_INLINE vf load_fours(const float* p) { return splat(p[0]); }
    LOWBIT_ALWAYS_INLINE vf load_eights(const float* p) { return splat(p[0]); }
    LOWBIT_ALWAYS_INLINE vi load_eights(const std::uint32_t* p) { return splat(p[0]); }

    // HiF8, ties away, of a chunk: the top 16 bits of a float decide. False where NaN keeps that from being true.
    inline constexpr bool has_hif8_ties_away = true;
    inline constexpr bool has_hif8_floats = false;
    /// By value: the index of its exponent field in the tables.
    LOWBIT_ALWAYS_INLINE vb hif8_field_index(uint16x8_t low, uint16x8_t high) {
        const uint16x8_t least = vdupq_n_u16(103 << 7), most = vdupq_n_u16(63 << 7);
        return vcombine_u8(vshrn_n_u16(vminq_u16(vqsubq_u16(low, least), most), 7),
                           vshrn_n_u16(vminq_u16(vqsubq_u16(high, least), most), 7));
    }
    LOWBIT_ALWAYS_INLINE bool hif8_ties_away(const float* p, bool saturates, vb& codes) {
        const vi a = as_int(load(p)), b = as_int(load(p + 4)), c = as_int(load(p + 8)), d = as_int(load(p + 12));
        const vi all = splat(0x7FFFFFFFU);
        const vi largest =
            maximum(maximum(bit_and(a, all), bit_and(b, all)), maximum(bit_and(c, all), bit_and(d, all)));
        if (vmaxvq_u32(largest) > 0x7F800000U) return false;
        const uint16x8_t ab = vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
        const uint16x8_t cd = vuzp2q_u16(vreinterpretq_u16_u32(c), vreinterpretq_u16_u32(d));
        uint16x8_t low = vbicq_u16(ab, vdupq_n_u16(0x8000)), high = vbicq_u16(cd, vdupq_n_u16(0x8000));
        const vb round = lookup_64(hif8_bytes_by_field.round, hif8_field_index(low, high));
        low = vaddw_u8(low, vget_low_u8(round));
        high = vaddw_u8(high, vget_high_u8(round));
        const vb field = hif8_field_index(low, high);
        const int8x16_t shift = vnegq_s8(vreinterpretq_s8_u8(lookup_64(hif8_bytes_by_field.shift, field)));
        low = vshlq_u16(low, vmovl_s8(vget_low_s8(shift)));
        high = vshlq_u16(high, vmovl_s8(vget_high_s8(shift)));
        const vb shifted = vcombine_u8(vmovn_u16(low), vmovn_u16(high));
        vb code = vaddq_u8(shifted, lookup_64(hif8_bytes_by_field.offset, field));
        if (saturates) {
            const vb infinite = vceqq_u8(code, splat_u8(detail::hif8_infinity_code));
            code = select_u8(infinite, splat_u8(detail::hif8_max_code), code);
        }
        const vb sign = vcombine_u8(vshrn_n_u16(ab, 8), vshrn_n_u16(cd, 8));
        codes = vorrq_u8(code, vandq_u8(vandq_u8(sign, splat_u8(0x80)), vtstq_u8(code, code)));
        return true;
    }

    // Random bits. There is no product of 64-bit lanes; the scalar unit makes one a cycle.
    LOWBIT_ALWAYS_INLINE vi random_lanes24(std::uint64_t key, std::uint64_t index) {
        std::uint32_t random[width];
        LOWBIT_UNROLL
        for (std::size_t lane = 0; lane < width; ++lane) {
            random[lane] =
                static_cast<std::uint32_t>(detail::mix64(key + (index + lane + 1) * detail::weyl_step) >> 40);
        }
        return load(random);
    }

    // 16-bit floats; every NaN becomes the library's.
    LOWBIT_ALWAYS_INLINE vm is_nan_lane(vf v) {
        return greater(bit_and(as_int(v), splat(0x7FFFFFFFU)), splat(0x7F800000U));
    }
    LOWBIT_ALWAYS_INLINE vf canonical(vf v) { return select(is_nan_lane(v), as_float(splat(0x7FC00000U)), v); }
    LOWBIT_ALWAYS_INLINE uint16x4_t load_words(const void* p) {
        std::uint64_t words;
        std::memcpy(&words, p, sizeof words);
        return vcreate_u16(words);
    }
    LOWBIT_ALWAYS_INLINE vf load_bfloat16(const void* p) {
        return canonical(as_float(shift_left<16>(vmovl_u16(load_words(p)))));
    }
    LOWBIT_ALWAYS_INLINE vf load_float16(const void* p) {
        return canonical(vcvt_f32_f16(vreinterpret_f16_u16(load_words(p))));
    }
    LOWBIT_ALWAYS_INLINE void store_words(void* p, vi v) {
        const std::uint64_t words = vget_lane_u64(vreinterpret_u64_u16(vmovn_u32(v)), 0);
        std::memcpy(p, &words, sizeof words);
    }
    LOWBIT_ALWAYS_INLINE void store_float16(void* p, vf v) {
        const uint16x4_t half = vreinterpret_u16_f16(vcvt_f16_f32(v));
        const uint16x4_t nan = vmovn_u32(is_nan_lane(v));
        const std::uint64_t words = vget_lane_u64(vreinterpret_u64_u16(vbsl_u16(nan, vdup_n_u16(0x7E00), half)), 0);
        std::memcpy(p, &words, sizeof words);
    }

# include <lowbit/kernel/codec.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon_codec)

#endif  // LOWBIT_AARCH64
