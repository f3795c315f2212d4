// SPDX-License-Identifier: Apache-2.0
// Atoms of few_lanes.inl that both NEON rows share.

template <int N>
LOWBIT_ALWAYS_INLINE bytes right(bytes x) noexcept {
    if constexpr (N == 0)
        return x;
    else
        return as_bytes(vshrq_n_u32(dwords(x), N));
}
LOWBIT_ALWAYS_INLINE lanes as_lanes(bytes x) noexcept { return vreinterpretq_s8_u8(x); }
template <int Byte>
LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
    return vcvtq_f32_s32(vshrq_n_s32(vshlq_n_s32(vreinterpretq_s32_s8(x), 24 - 8 * Byte), 24));
}
LOWBIT_ALWAYS_INLINE floats with_sign(floats x, bytes sign) noexcept {
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(x), dwords(sign)));
}
template <std::uint8_t Low, std::uint8_t High>
LOWBIT_ALWAYS_INLINE bool within(const std::uint8_t* p, std::size_t count) noexcept {
    uint8x16_t largest_offset = vdupq_n_u8(0);
    for (std::size_t i = 0; i < count; i += 16) {
        largest_offset = vmaxq_u8(largest_offset, vsubq_u8(vld1q_u8(p + i), vdupq_n_u8(Low)));
    }
    return vmaxvq_u8(largest_offset) <= High - Low;
}
LOWBIT_ALWAYS_INLINE void fetch(const std::uint8_t* p) noexcept { __builtin_prefetch(p); }

/// Look-ups by bytes: entry i of 16 floats is bytes 4 i .. 4 i + 3.
struct float_table {
    uint8x16x4_t entries;
};
LOWBIT_ALWAYS_INLINE float_table make_float_table(const float* p) noexcept {
    const auto* const q = reinterpret_cast<const std::uint8_t*>(p);
    return {{{vld1q_u8(q), vld1q_u8(q + 16), vld1q_u8(q + 32), vld1q_u8(q + 48)}}};
}
LOWBIT_ALWAYS_INLINE bytes bytes_of_floats(bytes index) noexcept {
    return as_bytes(vmlaq_n_u32(vdupq_n_u32(0x03020100U), dwords(index), 0x04040404U));
}
template <int N>
LOWBIT_ALWAYS_INLINE floats nibble_values(const float_table& table, bytes line) noexcept {
    const bytes index = both(right<4 * N>(line), splat_dword(15));
    return as_floats(vqtbl4q_u8(table.entries, bytes_of_floats(index)));
}
template <int N>
LOWBIT_ALWAYS_INLINE floats field_values(const float_table& table, bytes fields) noexcept {
    const bytes index = both(right<N>(fields), splat_dword(3));
    return as_floats(vqtbl1q_u8(table.entries.val[0], bytes_of_floats(index)));
}
