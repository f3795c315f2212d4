// SPDX-License-Identifier: Apache-2.0
// The AVX2 row of the matrix product's kernels: 8 columns a register, products of 4 by vpmaddubsw.
//
// Narrow pairs (gemm_common.hpp) sum a whole group in 16 bits, two sums a column: the start holds each one's share of
// the bias, so that wrap-around on the way is harmless and the end is exact; one vpmaddwd a group makes 32 bits of
// them. Wide pairs pay the vpmaddwd at each step; pairs whose two products leave 16 bits are widened before.
#pragma once

#include <lowbit/arch/target.hpp>

#if LOWBIT_COMPILES_AVX2

# include <immintrin.h>

# include <array>
# include <bit>
# include <cstddef>
# include <cstdint>
# include <cstring>

# include <lowbit/kernel/gemm_abi.hpp>
# include <lowbit/kernel/gemm_common.hpp>
# include <lowbit/kernel/isa_avx2_blend.hpp>
# include <lowbit/kernel/panel_layout.hpp>
# include <lowbit/lane/lane_traits.hpp>

LOWBIT_TARGET_BEGIN_AVX2
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)::product {

    // 6 x 16: 12 accumulators, 2 registers of B, one of A and one product are all 16 registers.
    template <std::size_t Group>
    inline constexpr std::size_t tile_rows = 6;
    inline constexpr std::size_t tile_columns = 16;
    inline constexpr std::size_t unit_columns = 8;
    inline constexpr std::size_t unit_bytes = 32;
    inline constexpr bool biased = true;
    inline constexpr bool narrow_pairs = true;
    using words = __m256i;
    using lanes = __m256i;
    using floats = __m256;

    LOWBIT_ALWAYS_INLINE words start_words(const std::int32_t* p) noexcept { return _mm256_set1_epi32(*p); }
    LOWBIT_ALWAYS_INLINE floats splat_bits(const std::int32_t* p) noexcept {
        return _mm256_castsi256_ps(_mm256_set1_epi32(*p));
    }
    LOWBIT_ALWAYS_INLINE lanes load_lanes(const std::uint8_t* p) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    LOWBIT_ALWAYS_INLINE lanes splat_lanes(const std::int8_t* p) noexcept {
        int four;
        std::memcpy(&four, p, 4);
        return _mm256_set1_epi32(four);
    }
    template <pair_sum Sum>
    LOWBIT_ALWAYS_INLINE words dot4(words acc, lanes b, lanes a) noexcept {
        if constexpr (Sum == pair_sum::split) {  // widened before it is multiplied: even and odd lanes
            const __m256i even_b = _mm256_and_si256(b, _mm256_set1_epi16(0xFF)), odd_b = _mm256_srli_epi16(b, 8);
            const __m256i even_a = _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8), odd_a = _mm256_srai_epi16(a, 8);
            const __m256i even = _mm256_madd_epi16(even_b, even_a), odd = _mm256_madd_epi16(odd_b, odd_a);
            return _mm256_add_epi32(acc, _mm256_add_epi32(even, odd));
        }
        const __m256i pairs = _mm256_maddubs_epi16(b, a);
        if constexpr (Sum == pair_sum::narrow) return _mm256_add_epi16(acc, pairs);
        return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    template <bool Narrow>
    LOWBIT_ALWAYS_INLINE floats sums(words acc) noexcept {
        if constexpr (Narrow) {
            acc = _mm256_add_epi32(_mm256_madd_epi16(acc, _mm256_set1_epi16(1)), _mm256_set1_epi32(0x4B400000));
        }
        return _mm256_castsi256_ps(acc);
    }
    LOWBIT_ALWAYS_INLINE floats dot_of(floats x) noexcept {
        return _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(0x4B400000)));
    }
    LOWBIT_ALWAYS_INLINE void settle(words(&x)[12]) noexcept {
        asm volatile(""
                     : "+x"(x[0]), "+x"(x[1]), "+x"(x[2]), "+x"(x[3]), "+x"(x[4]), "+x"(x[5]), "+x"(x[6]), "+x"(x[7]),
                       "+x"(x[8]), "+x"(x[9]), "+x"(x[10]), "+x"(x[11]));
    }

    LOWBIT_ALWAYS_INLINE floats load(const float* p) noexcept { return _mm256_loadu_ps(p); }
    LOWBIT_ALWAYS_INLINE void store(float* p, floats x) noexcept { _mm256_storeu_ps(p, x); }
    LOWBIT_ALWAYS_INLINE floats splat(const float* p) noexcept { return _mm256_set1_ps(*p); }
    LOWBIT_ALWAYS_INLINE floats keep(floats x) noexcept {
        asm("" : "+x"(x));
        return x;
    }
    LOWBIT_ALWAYS_INLINE floats mul(floats a, floats b) noexcept { return keep(_mm256_mul_ps(a, b)); }
    LOWBIT_ALWAYS_INLINE floats madd(floats a, floats b, floats c) noexcept { return _mm256_fmadd_ps(a, b, c); }
    LOWBIT_ALWAYS_INLINE floats canonical(floats x) noexcept {
        const __m256i bits = _mm256_castps_si256(x);
        const __m256i nan =
            _mm256_cmpgt_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF)), _mm256_set1_epi32(0x7F800000));
        return _mm256_castsi256_ps(blend_bytes(bits, _mm256_set1_epi32(0x7FC00000), nan));
    }

    using bytes = __m256i;
    LOWBIT_ALWAYS_INLINE bytes load_bytes(const std::uint8_t* p) noexcept { return load_lanes(p); }
    LOWBIT_ALWAYS_INLINE void store_bytes(std::uint8_t * p, bytes x) noexcept {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
    }
    LOWBIT_ALWAYS_INLINE bytes both(bytes a, bytes b) noexcept { return _mm256_and_si256(a, b); }
    LOWBIT_ALWAYS_INLINE bytes either(bytes a, bytes b) noexcept { return _mm256_or_si256(a, b); }
    LOWBIT_ALWAYS_INLINE bytes differ(bytes a, bytes b) noexcept { return _mm256_xor_si256(a, b); }
    LOWBIT_ALWAYS_INLINE bytes splat_byte(std::uint8_t x) noexcept { return _mm256_set1_epi8(static_cast<char>(x)); }
    LOWBIT_ALWAYS_INLINE bytes splat_dword(std::uint32_t x) noexcept { return _mm256_set1_epi32(static_cast<int>(x)); }
    LOWBIT_ALWAYS_INLINE bytes low_nibbles(bytes x) noexcept { return both(x, splat_byte(0x0F)); }
    LOWBIT_ALWAYS_INLINE bytes high_nibbles(bytes x) noexcept {
        return both(_mm256_srli_epi32(x, 4), splat_byte(0x0F));
    }
    LOWBIT_ALWAYS_INLINE bytes largest(bytes a, bytes b) noexcept { return _mm256_max_epu8(a, b); }
    LOWBIT_ALWAYS_INLINE bytes where_equal(bytes a, bytes b, bytes yes, bytes no) noexcept {
        return blend_bytes(no, yes, _mm256_cmpeq_epi8(a, b));
    }
    template <int N>
    LOWBIT_ALWAYS_INLINE bytes left(bytes x) noexcept {
        return _mm256_slli_epi32(x, N);
    }
    template <int N>
    LOWBIT_ALWAYS_INLINE bytes rotate(bytes x) noexcept {
        return either(_mm256_slli_epi32(x, N), _mm256_srli_epi32(x, 32 - N));
    }
    LOWBIT_ALWAYS_INLINE bytes left_by(bytes x, std::uint32_t n) noexcept {
        return _mm256_sllv_epi32(x, splat_dword(n));
    }
    LOWBIT_ALWAYS_INLINE bytes widen_bytes(const std::uint8_t* p) noexcept {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
    LOWBIT_ALWAYS_INLINE bytes add_dwords(bytes a, bytes b) noexcept { return _mm256_add_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE bytes equal_dwords(bytes a, bytes b) noexcept { return _mm256_cmpeq_epi32(a, b); }
    LOWBIT_ALWAYS_INLINE floats as_floats(bytes x) noexcept { return _mm256_castsi256_ps(x); }
    LOWBIT_ALWAYS_INLINE floats select_float(bytes mask, bytes yes, floats no) noexcept {
        return _mm256_blendv_ps(no, as_floats(yes), as_floats(mask));
    }
    template <int Position>
    LOWBIT_ALWAYS_INLINE bytes spread(bytes fields) noexcept {
        bytes x = fields;
        if constexpr (Position > 4) x = _mm256_srli_epi32(x, Position - 4);
        if constexpr (Position < 4) x = _mm256_slli_epi32(x, 4 - Position);
        const __m256i first = _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 0, 0, 0, 0, 4, 4, 4,
                                               4, 8, 8, 8, 8, 12, 12, 12, 12);
        return _mm256_shuffle_epi8(both(x, splat_dword(0x30)), first);
    }

    struct small_table {
        __m256i entries;
    };
    LOWBIT_ALWAYS_INLINE small_table make_small_table(const std::uint8_t* p) noexcept {
        return {_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
    }
    LOWBIT_ALWAYS_INLINE bytes look_up(const small_table& table, bytes index) noexcept {
        return _mm256_shuffle_epi8(table.entries, index);
    }

    /// Four tables of 16; bits 4 and 5 of the index, moved to the top of their bytes, choose among them.
    struct large_table {
        __m256i entries[4];
    };
    LOWBIT_ALWAYS_INLINE large_table make_large_table(const std::uint8_t* p) noexcept {
        return {{make_small_table(p).entries, make_small_table(p + 16).entries, make_small_table(p + 32).entries,
                 make_small_table(p + 48).entries}};
    }
    LOWBIT_ALWAYS_INLINE bytes look_up(const large_table& table, bytes index) noexcept {
        const __m256i bit4 = _mm256_slli_epi16(index, 3), bit5 = _mm256_slli_epi16(index, 2);
        const __m256i low = blend_bytes(_mm256_shuffle_epi8(table.entries[0], index),
                                        _mm256_shuffle_epi8(table.entries[1], index), bit4);
        const __m256i high = blend_bytes(_mm256_shuffle_epi8(table.entries[2], index),
                                         _mm256_shuffle_epi8(table.entries[3], index), bit4);
        return blend_bytes(low, high, bit5);
    }

    /// Start words (gemm_abi.hpp): sums of pairs of lanes by a product with ones, then over the group.
    template <std::size_t Group, bool Narrow>
    inline void start_row(const std::int8_t* row, std::size_t groups, int bias, std::int32_t* out,
                          std::size_t step) noexcept {
        const __m128i ones = _mm_set1_epi8(1);
        for (std::size_t g = 0; g < groups; ++g) {
            __m128i x = _mm_setzero_si128();
            for (std::size_t k = 0; k < Group; k += 16) {
                const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + g * Group + k));
                x = _mm_add_epi16(x, _mm_maddubs_epi16(ones, part));
            }
            x = _mm_add_epi16(x, _mm_shuffle_epi32(x, 0x4E));
            x = _mm_add_epi16(x, _mm_shuffle_epi32(x, 0xB1));
            if constexpr (Narrow) {
                x = _mm_mullo_epi16(x, _mm_set1_epi16(static_cast<short>(-bias)));
                *out = _mm_cvtsi128_si32(x);
            } else {
                const int sum = _mm_cvtsi128_si32(_mm_madd_epi16(x, _mm_set1_epi16(1)));
                *out = static_cast<std::int32_t>(magic_bits) - bias * sum;
            }
            out += step;
        }
    }

# include <lowbit/kernel/isa_x86_gemm.inl>

# include <lowbit/kernel/ukernel.inl>

# include <lowbit/kernel/expand.inl>

# include <lowbit/kernel/gemm_rows.inl>

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(avx2)::product
LOWBIT_TARGET_END

#endif  // LOWBIT_COMPILES_AVX2
