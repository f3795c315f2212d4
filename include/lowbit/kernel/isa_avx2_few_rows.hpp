// SPDX-License-Identifier: Apache-2.0
// The AVX2 row of the kernels for few rows of A.
#pragma once

#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_avx2_gemm.hpp>

#if LOWBIT_COMPILES_AVX2
LOWBIT_TARGET_BEGIN_AVX2
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)::product{

    template <int N> LOWBIT_ALWAYS_INLINE bytes right(bytes x) noexcept {return _mm256_srli_epi32(x, N);
}
LOWBIT_ALWAYS_INLINE lanes as_lanes(bytes x) noexcept { return x; }
template <int Byte>
LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(x, 24 - 8 * Byte), 24));
}
template <std::uint8_t Low, std::uint8_t High>
LOWBIT_ALWAYS_INLINE bool within(const std::uint8_t* p, std::size_t count) noexcept {
    __m256i inside = _mm256_set1_epi8(-1);
    const __m256i most = _mm256_set1_epi8(static_cast<char>(High - Low));
    for (std::size_t i = 0; i < count; i += 32) {
        const __m256i offset = _mm256_sub_epi8(load_bytes(p + i), _mm256_set1_epi8(static_cast<char>(Low)));
        inside = _mm256_and_si256(inside, _mm256_cmpeq_epi8(_mm256_max_epu8(offset, most), most));
    }
    return _mm256_movemask_epi8(inside) == -1;
}
LOWBIT_ALWAYS_INLINE void fetch(const std::uint8_t* p) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
}

# include <lowbit/kernel/few_rows_index.inl>

# include <lowbit/kernel/few_rows.inl>

# include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)::product
LOWBIT_TARGET_END
#endif
