// SPDX-License-Identifier: Apache-2.0
// The AVX-512 rows of the matrix product's kernels: avx512vbmi, and avx512vnni for processors without VBMI.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_X86

# include <immintrin.h>

# include <array>
# include <bit>
# include <cstddef>
# include <cstdint>
# include <cstring>

# include <lowbit/kernel/gemm_abi.hpp>
# include <lowbit/kernel/gemm_common.hpp>
# include <lowbit/kernel/panel_layout.hpp>
# include <lowbit/lane/lane_traits.hpp>

# if LOWBIT_COMPILES_AVX512VBMI
LOWBIT_TARGET_BEGIN_AVX512VBMI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product {

    struct large_table {
        __m512i entries;
    };
    LOWBIT_ALWAYS_INLINE large_table make_large_table(const std::uint8_t* p) noexcept {
        return {_mm512_loadu_si512(p)};
    }
    LOWBIT_ALWAYS_INLINE __m512i look_up(const large_table& table, __m512i index) noexcept {
        return _mm512_maskz_permutexvar_epi8(~__mmask64{0}, index, table.entries);
    }
    template <int Position>
    LOWBIT_ALWAYS_INLINE __m512i spread(__m512i fields) noexcept {
        // Each byte takes 8 bits of its qword from a bit offset of its own: that of its column's field, less 4.
        constexpr long long low = (Position + 60) % 64 * 0x01010101LL, high = (Position + 28) % 64 * 0x01010101LL;
        const __m512i offsets =
            _mm512_set1_epi64(static_cast<long long>(static_cast<unsigned long long>(high) << 32U) | low);
        return _mm512_and_si512(_mm512_maskz_multishift_epi64_epi8(~__mmask64{0}, offsets, fields),
                                _mm512_set1_epi8(0x30));
    }

#  include <lowbit/kernel/isa_avx512_gemm.inl>

#  include <lowbit/kernel/isa_x86_gemm.inl>

#  include <lowbit/kernel/ukernel.inl>

#  include <lowbit/kernel/expand.inl>

#  include <lowbit/kernel/gemm_rows.inl>

#  include <lowbit/kernel/isa_avx512_joined.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vbmi)::product
LOWBIT_TARGET_END
# endif

# if LOWBIT_COMPILES_AVX512VNNI
LOWBIT_TARGET_BEGIN_AVX512VNNI
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)::product {

    /// Four tables of 16, chosen by bits 4 and 5 of the index.
    struct large_table {
        __m512i entries[4];
    };
    LOWBIT_ALWAYS_INLINE large_table make_large_table(const std::uint8_t* p) noexcept {
        large_table table;
        for (std::size_t i = 0; i < 4; ++i) {
            table.entries[i] =
                _mm512_maskz_broadcast_i32x4(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i)));
        }
        return table;
    }
    LOWBIT_ALWAYS_INLINE __m512i look_up(const large_table& table, __m512i index) noexcept {
        const __mmask64 bit4 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x10));
        const __mmask64 bit5 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x20));
        __m512i x = _mm512_shuffle_epi8(table.entries[0], index);
        x = _mm512_mask_shuffle_epi8(x, bit4, table.entries[1], index);
        x = _mm512_mask_shuffle_epi8(x, bit5, table.entries[2], index);
        return _mm512_mask_shuffle_epi8(x, bit4 & bit5, table.entries[3], index);
    }
    template <int Position>
    LOWBIT_ALWAYS_INLINE __m512i spread(__m512i fields) noexcept {
        __m512i x = fields;
        if constexpr (Position > 4) x = _mm512_maskz_srli_epi32(0xFFFF, x, Position - 4);
        if constexpr (Position < 4) x = _mm512_maskz_slli_epi32(0xFFFF, x, 4 - Position);
        x = _mm512_and_si512(x, _mm512_set1_epi32(0x30));
        const __m512i first =
            _mm512_maskz_broadcast_i32x4(0xFFFF, _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
        return _mm512_shuffle_epi8(x, first);
    }

#  include <lowbit/kernel/isa_avx512_gemm.inl>

#  include <lowbit/kernel/isa_x86_gemm.inl>

#  include <lowbit/kernel/ukernel.inl>

#  include <lowbit/kernel/expand.inl>

#  include <lowbit/kernel/gemm_rows.inl>

#  include <lowbit/kernel/isa_avx512_joined.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx512vnni)::product
LOWBIT_TARGET_END
# endif

#endif  // LOWBIT_X86
