// SPDX-License-Identifier: Apache-2.0
// The x86 rows of the activation functions: atoms on 4 and 8 doubles under the formulas of activation.inl.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_X86

# include <immintrin.h>

# include <cstddef>

# include <lowbit/kernel/activation.hpp>

# if LOWBIT_COMPILES_AVX2
LOWBIT_TARGET_BEGIN_AVX2
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2) {

    struct activation_atoms {
        using wide = __m256d;
        static constexpr std::size_t width = 4;
        LOWBIT_ALWAYS_INLINE static wide load(const float* p) noexcept { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
        LOWBIT_ALWAYS_INLINE static void store(float* p, wide y, wide x) noexcept {
            const __m128i source = _mm_castps_si128(_mm256_cvtpd_ps(x));
            const __m128i nan =
                _mm_cmpgt_epi32(_mm_and_si128(source, _mm_set1_epi32(0x7FFFFFFF)), _mm_set1_epi32(0x7F800000));
            const __m128 quiet = _mm_castsi128_ps(_mm_set1_epi32(0x7FC00000));
            _mm_storeu_ps(p, _mm_blendv_ps(_mm256_cvtpd_ps(y), quiet, _mm_castsi128_ps(nan)));
        }
        LOWBIT_ALWAYS_INLINE static wide splat(double x) noexcept { return _mm256_set1_pd(x); }
        LOWBIT_ALWAYS_INLINE static wide fused(wide a, wide b, wide c) noexcept { return _mm256_fmadd_pd(a, b, c); }
        LOWBIT_ALWAYS_INLINE static wide multiply(wide a, wide b) noexcept { return exactly(_mm256_mul_pd(a, b)); }
        LOWBIT_ALWAYS_INLINE static wide divide(wide a, wide b) noexcept {
            return _mm256_div_pd(exactly(a), exactly(b));
        }
        LOWBIT_ALWAYS_INLINE static wide subtract(wide a, wide b) noexcept { return _mm256_sub_pd(a, b); }
        LOWBIT_ALWAYS_INLINE static wide exactly(wide a) noexcept {
            asm("" : "+x"(a));
            return a;
        }
        LOWBIT_ALWAYS_INLINE static wide negate(wide a) noexcept { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
        LOWBIT_ALWAYS_INLINE static wide magnitude(wide a) noexcept {
            return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        }
        LOWBIT_ALWAYS_INLINE static wide minimum(wide a, wide b) noexcept { return _mm256_min_pd(a, b); }
        LOWBIT_ALWAYS_INLINE static wide if_negative(wide x, wide a, wide b) noexcept {
            return _mm256_blendv_pd(b, a, x);
        }
        LOWBIT_ALWAYS_INLINE static wide power_of_two(wide shifted) noexcept {
            const __m256i biased = _mm256_add_epi64(_mm256_castpd_si256(shifted), _mm256_set1_epi64x(1023));
            return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
        }
    };

#  include <lowbit/kernel/activation.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)
LOWBIT_TARGET_END
# endif

// AVX-512 needs nothing here that only one of its two rows has, yet each gets its own: a unit compiles avx512vnni only
// where its flags do not contain avx512vbmi.
# if LOWBIT_COMPILES_AVX512VNNI
LOWBIT_TARGET_BEGIN_AVX512VNNI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni){

#  include <lowbit/kernel/isa_avx512_activation.inl>

#  include <lowbit/kernel/activation.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)
LOWBIT_TARGET_END
# endif

# if LOWBIT_COMPILES_AVX512VBMI
LOWBIT_TARGET_BEGIN_AVX512VBMI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi){

#  include <lowbit/kernel/isa_avx512_activation.inl>

#  include <lowbit/kernel/activation.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)
LOWBIT_TARGET_END
# endif

#endif  // LOWBIT_X86
