// SPDX-License-Identifier: Apache-2.0
// NEON atoms of the matrix product; included by isa_neon_gemm.hpp once for each of its rows, after dot4.

// 4 x 16: 16 integer accumulators, 4 registers of B and one of A; the float sums of a group's end take turns.
template <std::size_t Group>
inline constexpr std::size_t tile_rows = 4;
inline constexpr std::size_t tile_columns = 16;
inline constexpr std::size_t unit_columns = 4;
inline constexpr std::size_t unit_bytes = 16;
inline constexpr bool biased = false;
inline constexpr bool narrow_pairs = false;
using words = int32x4_t;
using lanes = int8x16_t;
using floats = float32x4_t;

LOWBIT_ALWAYS_INLINE words start_words(const std::int32_t* p) noexcept { return vld1q_dup_s32(p); }
LOWBIT_ALWAYS_INLINE floats splat_bits(const std::int32_t* p) noexcept {
    return vreinterpretq_f32_s32(vld1q_dup_s32(p));
}
LOWBIT_ALWAYS_INLINE lanes load_lanes(const std::uint8_t* p) noexcept { return vreinterpretq_s8_u8(vld1q_u8(p)); }
LOWBIT_ALWAYS_INLINE lanes splat_lanes(const std::int8_t* p) noexcept {
    std::int32_t four;
    std::memcpy(&four, p, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
template <bool Narrow>
LOWBIT_ALWAYS_INLINE floats sums(words acc) noexcept {
    return vreinterpretq_f32_s32(acc);
}
LOWBIT_ALWAYS_INLINE floats dot_of(floats x) noexcept {
    return vcvtq_f32_s32(vsubq_s32(vreinterpretq_s32_f32(x), vdupq_n_s32(0x4B400000)));
}
template <class Words>
LOWBIT_ALWAYS_INLINE void settle(Words&) noexcept {}

LOWBIT_ALWAYS_INLINE floats load(const float* p) noexcept { return vld1q_f32(p); }
LOWBIT_ALWAYS_INLINE void store(float* p, floats x) noexcept { vst1q_f32(p, x); }
LOWBIT_ALWAYS_INLINE floats splat(const float* p) noexcept { return vld1q_dup_f32(p); }
LOWBIT_ALWAYS_INLINE floats keep(floats x) noexcept {
    asm("" : "+w"(x));
    return x;
}
LOWBIT_ALWAYS_INLINE floats mul(floats a, floats b) noexcept { return keep(vmulq_f32(a, b)); }
LOWBIT_ALWAYS_INLINE floats madd(floats a, floats b, floats c) noexcept { return vfmaq_f32(c, a, b); }
LOWBIT_ALWAYS_INLINE floats canonical(floats x) noexcept {
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t nan = vcgtq_u32(vandq_u32(bits, vdupq_n_u32(0x7FFFFFFFU)), vdupq_n_u32(0x7F800000U));
    return vreinterpretq_f32_u32(vbslq_u32(nan, vdupq_n_u32(0x7FC00000U), bits));
}

using bytes = uint8x16_t;
LOWBIT_ALWAYS_INLINE uint32x4_t dwords(bytes x) noexcept { return vreinterpretq_u32_u8(x); }
LOWBIT_ALWAYS_INLINE bytes as_bytes(uint32x4_t x) noexcept { return vreinterpretq_u8_u32(x); }
LOWBIT_ALWAYS_INLINE bytes load_bytes(const std::uint8_t* p) noexcept { return vld1q_u8(p); }
LOWBIT_ALWAYS_INLINE void store_bytes(std::uint8_t* p, bytes x) noexcept { vst1q_u8(p, x); }
LOWBIT_ALWAYS_INLINE bytes both(bytes a, bytes b) noexcept { return vandq_u8(a, b); }
LOWBIT_ALWAYS_INLINE bytes either(bytes a, bytes b) noexcept { return vorrq_u8(a, b); }
LOWBIT_ALWAYS_INLINE bytes differ(bytes a, bytes b) noexcept { return veorq_u8(a, b); }
LOWBIT_ALWAYS_INLINE bytes splat_byte(std::uint8_t x) noexcept { return vdupq_n_u8(x); }
LOWBIT_ALWAYS_INLINE bytes splat_dword(std::uint32_t x) noexcept { return as_bytes(vdupq_n_u32(x)); }
LOWBIT_ALWAYS_INLINE bytes low_nibbles(bytes x) noexcept { return vandq_u8(x, vdupq_n_u8(0x0F)); }
LOWBIT_ALWAYS_INLINE bytes high_nibbles(bytes x) noexcept { return vshrq_n_u8(x, 4); }
LOWBIT_ALWAYS_INLINE bytes largest(bytes a, bytes b) noexcept { return vmaxq_u8(a, b); }
LOWBIT_ALWAYS_INLINE bytes where_equal(bytes a, bytes b, bytes yes, bytes no) noexcept {
    return vbslq_u8(vceqq_u8(a, b), yes, no);
}
template <int N>
LOWBIT_ALWAYS_INLINE bytes left(bytes x) noexcept {
    return as_bytes(vshlq_n_u32(dwords(x), N));
}
template <int N>
LOWBIT_ALWAYS_INLINE bytes rotate(bytes x) noexcept {
    return as_bytes(vorrq_u32(vshlq_n_u32(dwords(x), N), vshrq_n_u32(dwords(x), 32 - N)));
}
LOWBIT_ALWAYS_INLINE bytes left_by(bytes x, std::uint32_t n) noexcept {
    return as_bytes(vshlq_u32(dwords(x), vdupq_n_s32(static_cast<std::int32_t>(n))));
}
LOWBIT_ALWAYS_INLINE bytes widen_bytes(const std::uint8_t* p) noexcept {
    std::uint32_t four;
    std::memcpy(&four, p, 4);
    const uint8x8_t narrow = vreinterpret_u8_u32(vdup_n_u32(four));
    return as_bytes(vmovl_u16(vget_low_u16(vmovl_u8(narrow))));
}
LOWBIT_ALWAYS_INLINE bytes add_dwords(bytes a, bytes b) noexcept { return as_bytes(vaddq_u32(dwords(a), dwords(b))); }
LOWBIT_ALWAYS_INLINE bytes equal_dwords(bytes a, bytes b) noexcept { return as_bytes(vceqq_u32(dwords(a), dwords(b))); }
LOWBIT_ALWAYS_INLINE floats as_floats(bytes x) noexcept { return vreinterpretq_f32_u8(x); }
LOWBIT_ALWAYS_INLINE floats select_float(bytes mask, bytes yes, floats no) noexcept {
    return vbslq_f32(dwords(mask), as_floats(yes), no);
}
template <int Position>
LOWBIT_ALWAYS_INLINE bytes spread(bytes fields) noexcept {
    uint32x4_t x = dwords(fields);
    if constexpr (Position > 4) x = vshrq_n_u32(x, Position - 4);
    if constexpr (Position < 4) x = vshlq_n_u32(x, 4 - Position);
    return as_bytes(vmulq_n_u32(vandq_u32(x, vdupq_n_u32(0x30)), 0x01010101U));
}

struct small_table {
    uint8x16_t entries;
};
LOWBIT_ALWAYS_INLINE small_table make_small_table(const std::uint8_t* p) noexcept { return {vld1q_u8(p)}; }
LOWBIT_ALWAYS_INLINE bytes look_up(const small_table& table, bytes index) noexcept {
    return vqtbl1q_u8(table.entries, index);
}
struct large_table {
    uint8x16x4_t entries;
};
LOWBIT_ALWAYS_INLINE large_table make_large_table(const std::uint8_t* p) noexcept {
    return {{{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}}};
}
LOWBIT_ALWAYS_INLINE bytes look_up(const large_table& table, bytes index) noexcept {
    return vqtbl4q_u8(table.entries, index);
}

/// Lanes are signed on both sides: no bias, every start is the magic one.
template <std::size_t Group, bool Narrow>
inline void start_row(const std::int8_t*, std::size_t groups, int, std::int32_t* out, std::size_t step) noexcept {
    for (std::size_t g = 0; g < groups; ++g) out[g * step] = static_cast<std::int32_t>(magic_bits);
}

/// Words of 4 rows, `stride` apart, to out[word][row]: a store of four registers interleaves them.
template <std::size_t Rows>
inline void interleave_rows(const std::int32_t* rows, std::size_t stride, std::size_t count,
                            std::int32_t* out) noexcept {
    static_assert(Rows == 4);
    for (std::size_t w = 0; w < count; w += 4) {
        const std::int32_t* const p = rows + w;
        const int32x4x4_t four = {
            {vld1q_s32(p), vld1q_s32(p + stride), vld1q_s32(p + 2 * stride), vld1q_s32(p + 3 * stride)}};
        vst4q_s32(out + 4 * w, four);
    }
}
