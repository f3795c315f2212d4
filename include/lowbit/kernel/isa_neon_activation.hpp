// SPDX-License-Identifier: Apache-2.0
// The NEON rows of the activation functions: atoms on 2 doubles under the formulas of activation.inl.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_AARCH64

# include <arm_neon.h>

# include <cstddef>

# include <lowbit/kernel/activation.hpp>

// NEON is part of every aarch64 baseline, so one row serves both instruction sets.
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon) {

    struct activation_atoms {
        using wide = float64x2_t;
        static constexpr std::size_t width = 2;
        LOWBIT_ALWAYS_INLINE static wide load(const float* p) noexcept { return vcvt_f64_f32(vld1_f32(p)); }
        LOWBIT_ALWAYS_INLINE static void store(float* p, wide y, wide x) noexcept {
            const uint32x2_t magnitude = vand_u32(vreinterpret_u32_f32(vcvt_f32_f64(x)), vdup_n_u32(0x7FFFFFFFU));
            const uint32x2_t nan = vcgt_u32(magnitude, vdup_n_u32(0x7F800000U));
            vst1_f32(p, vbsl_f32(nan, vreinterpret_f32_u32(vdup_n_u32(0x7FC00000U)), vcvt_f32_f64(y)));
        }
        LOWBIT_ALWAYS_INLINE static wide splat(double x) noexcept { return vdupq_n_f64(x); }
        LOWBIT_ALWAYS_INLINE static wide fused(wide a, wide b, wide c) noexcept { return vfmaq_f64(c, a, b); }
        LOWBIT_ALWAYS_INLINE static wide multiply(wide a, wide b) noexcept { return exactly(vmulq_f64(a, b)); }
        LOWBIT_ALWAYS_INLINE static wide divide(wide a, wide b) noexcept { return vdivq_f64(exactly(a), exactly(b)); }
        LOWBIT_ALWAYS_INLINE static wide subtract(wide a, wide b) noexcept { return vsubq_f64(a, b); }
        LOWBIT_ALWAYS_INLINE static wide exactly(wide a) noexcept {
            asm("" : "+w"(a));
            return a;
        }
        LOWBIT_ALWAYS_INLINE static wide negate(wide a) noexcept { return vnegq_f64(a); }
        LOWBIT_ALWAYS_INLINE static wide magnitude(wide a) noexcept { return vabsq_f64(a); }
        LOWBIT_ALWAYS_INLINE static wide minimum(wide a, wide b) noexcept {
            const uint64x2_t less = vcltq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b));
            return vbslq_f64(less, a, b);
        }
        LOWBIT_ALWAYS_INLINE static wide if_negative(wide x, wide a, wide b) noexcept {
            return vbslq_f64(vcltzq_s64(vreinterpretq_s64_f64(x)), a, b);
        }
        LOWBIT_ALWAYS_INLINE static wide power_of_two(wide shifted) noexcept {
            const uint64x2_t biased = vaddq_u64(vreinterpretq_u64_f64(shifted), vdupq_n_u64(1023));
            return vreinterpretq_f64_u64(vshlq_n_u64(biased, 52));
        }
    };

# include <lowbit/kernel/activation.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(neon)

#endif  // LOWBIT_AARCH64
