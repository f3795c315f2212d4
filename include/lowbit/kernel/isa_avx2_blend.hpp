// SPDX-License-Identifier: Apache-2.0
// Choice between bytes by the top bits of a mask, for AVX2. Under -funsigned-char g++ 12 takes _mm_blendv_epi8 and
// _mm256_blendv_epi8 for a comparison of plain chars with 0, which never holds: there the instruction is written out.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_COMPILES_AVX2
# include <immintrin.h>

LOWBIT_TARGET_BEGIN_AVX2
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2) {

    LOWBIT_ALWAYS_INLINE __m256i blend_bytes(__m256i no, __m256i yes, __m256i mask) noexcept {
# if defined(__CHAR_UNSIGNED__) && !defined(__clang__)
        __m256i result;
        asm("vpblendvb %3, %2, %1, %0" : "=x"(result) : "x"(no), "x"(yes), "x"(mask));
        return result;
# else
        return _mm256_blendv_epi8(no, yes, mask);
# endif
    }
    LOWBIT_ALWAYS_INLINE __m128i blend_bytes(__m128i no, __m128i yes, __m128i mask) noexcept {
# if defined(__CHAR_UNSIGNED__) && !defined(__clang__)
        __m128i result;
        asm("vpblendvb %3, %2, %1, %0" : "=x"(result) : "x"(no), "x"(yes), "x"(mask));
        return result;
# else
        return _mm_blendv_epi8(no, yes, mask);
# endif
    }

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)
LOWBIT_TARGET_END
#endif  // LOWBIT_COMPILES_AVX2
