// SPDX-License-Identifier: Apache-2.0
// Activation atoms on 8 doubles; included by isa_x86_activation.hpp in the regions of both AVX-512 rows.

struct activation_atoms {
    using wide = __m512d;
    static constexpr std::size_t width = 8;
    LOWBIT_ALWAYS_INLINE static wide load(const float* p) noexcept {
        return _mm512_maskz_cvtps_pd(0xFF, _mm256_loadu_ps(p));
    }
    LOWBIT_ALWAYS_INLINE static void store(float* p, wide y, wide x) noexcept {
        const __mmask8 nan = _mm512_fpclass_pd_mask(x, 0x81);  // quiet or signalling NaN
        const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
        _mm256_storeu_ps(p, _mm256_mask_mov_ps(_mm512_maskz_cvtpd_ps(0xFF, y), nan, quiet));
    }
    LOWBIT_ALWAYS_INLINE static wide splat(double x) noexcept { return _mm512_set1_pd(x); }
    LOWBIT_ALWAYS_INLINE static wide fused(wide a, wide b, wide c) noexcept { return _mm512_fmadd_pd(a, b, c); }
    LOWBIT_ALWAYS_INLINE static wide multiply(wide a, wide b) noexcept { return exactly(_mm512_mul_pd(a, b)); }
    LOWBIT_ALWAYS_INLINE static wide divide(wide a, wide b) noexcept { return _mm512_div_pd(exactly(a), exactly(b)); }
    LOWBIT_ALWAYS_INLINE static wide subtract(wide a, wide b) noexcept { return _mm512_sub_pd(a, b); }
    LOWBIT_ALWAYS_INLINE static wide exactly(wide a) noexcept {
        asm("" : "+v"(a));
        return a;
    }
    LOWBIT_ALWAYS_INLINE static wide negate(wide a) noexcept { return _mm512_xor_pd(a, _mm512_set1_pd(-0.0)); }
    LOWBIT_ALWAYS_INLINE static wide magnitude(wide a) noexcept { return _mm512_andnot_pd(_mm512_set1_pd(-0.0), a); }
    LOWBIT_ALWAYS_INLINE static wide minimum(wide a, wide b) noexcept { return _mm512_maskz_min_pd(0xFF, a, b); }
    LOWBIT_ALWAYS_INLINE static wide if_negative(wide x, wide a, wide b) noexcept {
        return _mm512_mask_mov_pd(b, _mm512_movepi64_mask(_mm512_castpd_si512(x)), a);
    }
    LOWBIT_ALWAYS_INLINE static wide power_of_two(wide shifted) noexcept {
        const __m512i biased = _mm512_add_epi64(_mm512_castpd_si512(shifted), _mm512_set1_epi64(1023));
        return _mm512_castsi512_pd(_mm512_maskz_slli_epi64(0xFF, biased, 52));
    }
};
