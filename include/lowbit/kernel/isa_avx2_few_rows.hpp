// SPDX-License-Identifier: Apache-2.0
// The AVX2 row of the kernels for few rows of A.
#pragma once

#include <lowbit/kernel/few_rows.hpp>
#include <lowbit/kernel/isa_avx2_gemm.hpp>

#if LOWBIT_COMPILES_AVX2
LOWBIT_TARGET_BEGIN_AVX2
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)::product {

    template <int N>
    LOWBIT_ALWAYS_INLINE bytes right(bytes x) noexcept {
        return _mm256_srli_epi32(x, N);
    }
    LOWBIT_ALWAYS_INLINE lanes as_lanes(bytes x) noexcept { return x; }
    template <int Byte>
    LOWBIT_ALWAYS_INLINE floats signed_byte(lanes x) noexcept {
        return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(x, 24 - 8 * Byte), 24));
    }
    LOWBIT_ALWAYS_INLINE floats with_sign(floats x, bytes sign) noexcept { return _mm256_or_ps(x, as_floats(sign)); }
    template <std::uint8_t Low, std::uint8_t High>
    LOWBIT_ALWAYS_INLINE bool within(const std::uint8_t* p, std::size_t count) noexcept {
        __m256i inside = _mm256_set1_epi8(static_cast<char>(0xFF));
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

    // vpermps looks at 3 bits of an index only.
    struct float_table {
        __m256 entries;
    };
    LOWBIT_ALWAYS_INLINE float_table make_float_table(const float* p) noexcept { return {_mm256_loadu_ps(p)}; }
    template <int N>
    LOWBIT_ALWAYS_INLINE floats nibble_values(const float_table& table, bytes line) noexcept {
        const bytes sign = both(left<28 - 4 * N>(line), splat_dword(0x80000000U));
        return with_sign(_mm256_permutevar8x32_ps(table.entries, right<4 * N>(line)), sign);
    }
    template <int N>
    LOWBIT_ALWAYS_INLINE floats field_values(const float_table& table, bytes fields) noexcept {
        return _mm256_permutevar8x32_ps(table.entries, right<N>(fields));
    }

# include <lowbit/kernel/few_rows_index.inl>

# include <lowbit/kernel/few_lanes.inl>

# include <lowbit/kernel/few_rows_records.inl>

# include <lowbit/kernel/few_rows.inl>

# include <lowbit/kernel/few_floats.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)::product
LOWBIT_TARGET_END
#endif
