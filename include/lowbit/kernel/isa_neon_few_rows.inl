// SPDX-License-Identifier: Apache-2.0
// Atoms of few_rows.inl that both NEON rows share.

template <int N>
LOWBIT_ALWAYS_INLINE bytes right(bytes x) noexcept {
    return vreinterpretq_u8_u32(vshrq_n_u32(vreinterpretq_u32_u8(x), N));
}
LOWBIT_ALWAYS_INLINE lanes as_lanes(bytes x) noexcept { return vreinterpretq_s8_u8(x); }
template <int Byte>
LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
    return vcvtq_f32_s32(vshrq_n_s32(vshlq_n_s32(vreinterpretq_s32_s8(x), 24 - 8 * Byte), 24));
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
