// SPDX-License-Identifier: Apache-2.0
// AVX-512 atoms of the matrix product: 16 columns a register. Included by isa_avx512_gemm.hpp once for each of its
// rows, after `spread` and the 64-entry look-up, which differ with VBMI.

// Tiles of 8 x 32, 7 x 32 for group 16. Two ports take vpdpbusd, of latency 5: ten accumulators hide it. A step of 4
// values needs 2 + rows loads for 2 rows vpdpbusd, far below the two loads a cycle there are. Integer and float
// accumulators of 7 rows, 2 registers of B and one of A are 31 of the 32 registers: nothing is spilled, and the kernel
// runs at the bound of its arithmetic, 2 Group / 4 of 2 Group / 4 + 4 operations a row (0.66 of the dot product's peak
// for group 16, 0.8 for 32, 0.89 for 64). With 8 rows four float sums spill, which the longer groups hide; M more often
// is a multiple of 8.
template <std::size_t Group>
inline constexpr std::size_t tile_rows = Group == 16 ? 7 : 8;
inline constexpr std::size_t tile_columns = 32;
inline constexpr std::size_t unit_columns = 16;
inline constexpr std::size_t unit_bytes = 64;
inline constexpr bool biased = true;
inline constexpr bool narrow_pairs = false;
using words = __m512i;
using lanes = __m512i;
using floats = __m512;

LOWBIT_ALWAYS_INLINE words start_words(const std::int32_t* p) noexcept { return _mm512_set1_epi32(*p); }
LOWBIT_ALWAYS_INLINE floats splat_bits(const std::int32_t* p) noexcept {
    return _mm512_castsi512_ps(_mm512_set1_epi32(*p));
}
LOWBIT_ALWAYS_INLINE lanes load_lanes(const std::uint8_t* p) noexcept { return _mm512_loadu_si512(p); }
LOWBIT_ALWAYS_INLINE lanes splat_lanes(const std::int8_t* p) noexcept {
    int four;
    std::memcpy(&four, p, 4);
    return _mm512_set1_epi32(four);
}
template <pair_sum>
LOWBIT_ALWAYS_INLINE words dot4(words acc, lanes b, lanes a) noexcept {
    // Not the intrinsic: g++ 12 copies accumulators from register to register between steps, one or two moves a
    // product.
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(b), "v"(a));
    return acc;
}
template <bool Narrow>
LOWBIT_ALWAYS_INLINE floats sums(words acc) noexcept {
    return _mm512_castsi512_ps(acc);
}
LOWBIT_ALWAYS_INLINE floats dot_of(floats x) noexcept {
    return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x4B400000)));
}
template <scale_join Join>
LOWBIT_ALWAYS_INLINE words join_base(const float* p) noexcept {
    const __m512i bits = _mm512_loadu_si512(p);
    if constexpr (Join == scale_join::add) return bits;
    return _mm512_add_epi32(bits, _mm512_and_si512(_mm512_maskz_srli_epi32(0xFFFF, bits, 20), _mm512_set1_epi32(7)));
}
template <scale_join Join>
LOWBIT_ALWAYS_INLINE words join_row(const std::int32_t* scale, const std::int32_t* offset) noexcept {
    if constexpr (Join == scale_join::add) return _mm512_set1_epi32(*offset);
    const auto* const line = reinterpret_cast<const unsigned char*>(joining.words) + *offset;
    return _mm512_add_epi32(_mm512_load_si512(line), _mm512_set1_epi32(*scale));
}
template <scale_join Join>
LOWBIT_ALWAYS_INLINE floats join(words base, words row) noexcept {
    if constexpr (Join == scale_join::add) return _mm512_castsi512_ps(_mm512_add_epi32(base, row));
    return _mm512_castsi512_ps(_mm512_add_epi32(base, _mm512_maskz_permutexvar_epi32(0xFFFF, base, row)));
}
template <class Words>
LOWBIT_ALWAYS_INLINE void settle(Words&) noexcept {}

LOWBIT_ALWAYS_INLINE floats load(const float* p) noexcept { return _mm512_loadu_ps(p); }
LOWBIT_ALWAYS_INLINE void store(float* p, floats x) noexcept { _mm512_storeu_ps(p, x); }
LOWBIT_ALWAYS_INLINE floats splat(const float* p) noexcept { return _mm512_set1_ps(*p); }
LOWBIT_ALWAYS_INLINE floats keep(floats x) noexcept {
    asm("" : "+v"(x));
    return x;
}
LOWBIT_ALWAYS_INLINE floats unmagic(words x) noexcept {
    return keep(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_set1_ps(magic_float)));
}
LOWBIT_ALWAYS_INLINE floats mul(floats a, floats b) noexcept { return keep(_mm512_mul_ps(a, b)); }
LOWBIT_ALWAYS_INLINE floats madd(floats a, floats b, floats c) noexcept { return _mm512_fmadd_ps(a, b, c); }
LOWBIT_ALWAYS_INLINE floats canonical(floats x) noexcept {
    const __m512i bits = _mm512_castps_si512(x);
    const __mmask16 nan =
        _mm512_cmpgt_epi32_mask(_mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF)), _mm512_set1_epi32(0x7F800000));
    return _mm512_castsi512_ps(_mm512_mask_mov_epi32(bits, nan, _mm512_set1_epi32(0x7FC00000)));
}

/// Whether all scales are within 2^-60 .. 2^60.
inline bool joinable(const float* scales, std::size_t count) noexcept {
    const __m512i least = _mm512_set1_epi32(static_cast<int>(joined_least_bits)),
                  width = _mm512_set1_epi32(static_cast<int>(joined_most_bits - joined_least_bits));
    __m512i most = _mm512_setzero_si512();
    for (std::size_t i = 0; i < count; i += 16) {
        most = _mm512_maskz_max_epu32(0xFFFF, most, _mm512_sub_epi32(_mm512_loadu_si512(scales + i), least));
    }
    return _mm512_cmpgt_epu32_mask(most, width) == 0;
}

using bytes = __m512i;
LOWBIT_ALWAYS_INLINE bytes load_bytes(const std::uint8_t* p) noexcept { return _mm512_loadu_si512(p); }
LOWBIT_ALWAYS_INLINE void store_bytes(std::uint8_t* p, bytes x) noexcept { _mm512_storeu_si512(p, x); }
LOWBIT_ALWAYS_INLINE bytes both(bytes a, bytes b) noexcept { return _mm512_and_si512(a, b); }
LOWBIT_ALWAYS_INLINE bytes either(bytes a, bytes b) noexcept { return _mm512_or_si512(a, b); }
LOWBIT_ALWAYS_INLINE bytes differ(bytes a, bytes b) noexcept { return _mm512_xor_si512(a, b); }
LOWBIT_ALWAYS_INLINE bytes splat_byte(std::uint8_t x) noexcept { return _mm512_set1_epi8(static_cast<char>(x)); }
LOWBIT_ALWAYS_INLINE bytes splat_dword(std::uint32_t x) noexcept { return _mm512_set1_epi32(static_cast<int>(x)); }
LOWBIT_ALWAYS_INLINE bytes low_nibbles(bytes x) noexcept { return both(x, splat_byte(0x0F)); }
LOWBIT_ALWAYS_INLINE bytes high_nibbles(bytes x) noexcept {
    return both(_mm512_maskz_srli_epi32(0xFFFF, x, 4), splat_byte(0x0F));
}
LOWBIT_ALWAYS_INLINE bytes largest(bytes a, bytes b) noexcept { return _mm512_maskz_max_epu8(~__mmask64{0}, a, b); }
LOWBIT_ALWAYS_INLINE bytes where_equal(bytes a, bytes b, bytes yes, bytes no) noexcept {
    return _mm512_mask_mov_epi8(no, _mm512_cmpeq_epi8_mask(a, b), yes);
}
template <unsigned N>
LOWBIT_ALWAYS_INLINE bytes left(bytes x) noexcept {
    return _mm512_maskz_slli_epi32(0xFFFF, x, N);
}
template <int N>
LOWBIT_ALWAYS_INLINE bytes rotate(bytes x) noexcept {
    return _mm512_maskz_rol_epi32(0xFFFF, x, N);
}
LOWBIT_ALWAYS_INLINE bytes left_by(bytes x, std::uint32_t n) noexcept {
    return _mm512_maskz_sllv_epi32(0xFFFF, x, _mm512_set1_epi32(static_cast<int>(n)));
}
LOWBIT_ALWAYS_INLINE bytes widen_bytes(const std::uint8_t* p) noexcept {
    return _mm512_maskz_cvtepu8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
LOWBIT_ALWAYS_INLINE bytes add_dwords(bytes a, bytes b) noexcept { return _mm512_add_epi32(a, b); }
LOWBIT_ALWAYS_INLINE bytes equal_dwords(bytes a, bytes b) noexcept {
    return _mm512_movm_epi32(_mm512_cmpeq_epi32_mask(a, b));
}
LOWBIT_ALWAYS_INLINE floats as_floats(bytes x) noexcept { return _mm512_castsi512_ps(x); }
LOWBIT_ALWAYS_INLINE floats select_float(bytes mask, bytes yes, floats no) noexcept {
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(mask, yes, _mm512_castps_si512(no), 0xCA));
}

struct small_table {
    __m512i entries;
};
LOWBIT_ALWAYS_INLINE small_table make_small_table(const std::uint8_t* p) noexcept {
    return {_mm512_maskz_broadcast_i32x4(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
LOWBIT_ALWAYS_INLINE bytes look_up(const small_table& table, bytes index) noexcept {
    return _mm512_shuffle_epi8(table.entries, index);
}

/// Start words (gemm_abi.hpp): sums of each 4 lanes by a dot product with ones, then of the dwords of each group.
template <std::size_t Group, bool Narrow>
inline void start_row(const std::int8_t* row, std::size_t groups, int bias, std::int32_t* out,
                      std::size_t step) noexcept {
    constexpr std::size_t per = 64 / Group;
    const __m512i ones = _mm512_set1_epi8(1);
    for (std::size_t g = 0; g < groups; g += per) {
        const std::size_t here = groups - g < per ? groups - g : per;
        const __mmask64 valid = ~__mmask64{0} >> (64 - here * Group);
        __m512i x = _mm512_dpbusd_epi32(_mm512_setzero_si512(), ones, _mm512_maskz_loadu_epi8(valid, row + g * Group));
        x = _mm512_add_epi32(x, _mm512_maskz_shuffle_epi32(0xFFFF, x, _MM_PERM_BADC));
        x = _mm512_add_epi32(x, _mm512_maskz_shuffle_epi32(0xFFFF, x, _MM_PERM_CDAB));
        if constexpr (Group >= 32) x = _mm512_add_epi32(x, _mm512_maskz_shuffle_i64x2(0xFF, x, x, 0xB1));
        if constexpr (Group >= 64) x = _mm512_add_epi32(x, _mm512_maskz_shuffle_i64x2(0xFF, x, x, 0x4E));
        alignas(64) std::int32_t sums_of[16];  // the sum of each 16-byte lane, four times
        _mm512_store_si512(sums_of, x);
        for (std::size_t i = 0; i < here; ++i) {
            *out = static_cast<std::int32_t>(magic_bits) - bias * sums_of[i * Group / 4];
            out += step;
        }
    }
}
