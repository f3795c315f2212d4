// SPDX-License-Identifier: Apache-2.0
// The matrix product's kernels for Intel AMX, whose tile instruction multiplies 16 rows by 16 columns by 64 bytes of K
// in 16 cycles. Few rows have kernels of their own (isa_amx_few_rows.hpp); everything else of this row (codecs,
// expansion, float lanes) is that of avx512vbmi.
//
// Groups of 16 and 32: lanes with their scales, in bfloat16. A lane times its scale has few significant bits, so it is
// exact in bfloat16, and the sum over a group of the products of two such lanes is exact in float32, in any order
// (scaled_lanes in gemm_common.hpp counts the bits). TDPBF16PS adds up the products of a row and a column from zero and
// then adds that sum to the accumulator, rounding to nearest even once (Intel SDM, TDPBF16PS, operation): the very bits
// of fma(float(dot) * scale_a, scale_b, acc). So the sums stay in the tiles, and no vector instruction has to scale
// them: 3.9 and 1.9 times the rate of vpdpbusd for groups of 32 and 16. Its denormals-are-zero and flush-to-zero never
// show, as scales outside 2^-48 .. 2^48 are left to the other kernels.
//
// Groups of 64 fill two such instructions, which would round twice: there TDPBSSD forms integer dot products, and
// AVX-512 scales them (three operations on the two ports for each 16 results). The sums of four groups are stored and
// loaded together, to touch the accumulators in memory less often. Lanes of B are signed (no bias, no start words), and
// with conversions instead of a magic start any scale is exact.
#pragma once

#include <lowbit/arch/target.hpp>
#include <lowbit/kernel/isa_avx512_gemm.hpp>

#if LOWBIT_COMPILES_AMX

# include <immintrin.h>

# include <cstddef>
# include <cstdint>
# include <cstring>

LOWBIT_TARGET_BEGIN_AMX
namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(amx)::product {

    namespace vectors = LOWBIT_ISA_NAMESPACE(avx512vbmi)::product;

    inline constexpr std::size_t tile_rows = 32, tile_columns = panel_columns;
    inline constexpr std::size_t tile_size = tile_rows * tile_columns;
    inline constexpr std::size_t group_words = 3 * tile_rows;  // of a_scales
    static_assert(panel_columns == 32);

    /// What ldtilecfg reads (palette 1).
    struct alignas(64) tile_shapes {
        std::uint8_t palette = 1;
        std::uint8_t start_row = 0;
        std::uint8_t reserved[14] = {};
        std::uint16_t row_bytes[16] = {};
        std::uint8_t rows[16] = {};
    };

    /// Tiles 0 to 3 are sums, 4 and 5 rows of A, `Bytes` of each, 6 and 7 columns of B.
    template <std::size_t Bytes>
    inline constexpr tile_shapes shapes = [] {
        tile_shapes s;
        for (int i = 0; i < 8; ++i) {
            s.rows[i] = i < 6 ? 16 : Bytes / 4;
            s.row_bytes[i] = i == 4 || i == 5 ? Bytes : 64;
        }
        return s;
    }();

    /// Dot products of `Groups` groups of 32 rows of A by 32 columns of B, each to out[32][32]. A tile is stored just
    /// before it is needed again, when its product is long done.
    template <std::size_t Group, std::size_t Groups>
    LOWBIT_ALWAYS_INLINE void multiply_groups(const std::int8_t* a, const std::uint8_t* b, std::int32_t* out) noexcept {
        constexpr std::size_t line = 4 * panel_columns;  // bytes of four values of 32 columns, and of 32 sums
        constexpr std::size_t lower = 16 * tile_columns;
        for (std::size_t g = 0; g < Groups; ++g, out += tile_size) {
            std::int32_t* const before = out - tile_size;
            if (g != 0) _tile_stored(0, before, line);
            _tile_zero(0);
            _tile_loadd(4, a, Group);
            _tile_loadd(6, b, line);
            _tile_dpbssd(0, 4, 6);
            if (g != 0) _tile_stored(1, before + 16, line);
            _tile_zero(1);
            _tile_loadd(7, b + line / 2, line);
            _tile_dpbssd(1, 4, 7);
            if (g != 0) _tile_stored(2, before + lower, line);
            _tile_zero(2);
            _tile_loadd(5, a + 16 * Group, Group);
            _tile_dpbssd(2, 5, 6);
            if (g != 0) _tile_stored(3, before + lower + 16, line);
            _tile_zero(3);
            _tile_dpbssd(3, 5, 7);
            a += tile_rows * Group;
            b += panel_columns * Group;
        }
        _tile_stored(0, out - tile_size, line);
        _tile_stored(1, out - tile_size + 16, line);
        _tile_stored(2, out - tile_size + lower, line);
        _tile_stored(3, out - tile_size + lower + 16, line);
    }

    /// acc = fma(float(dot) * scale_a, scale_b, acc) for `Groups` groups in turn.
    template <std::size_t Groups>
    LOWBIT_ALWAYS_INLINE void scale_groups(const std::int32_t* dots, const std::int32_t* a_scales,
                                           const float* b_scales, float* acc) noexcept {
        __m512 sb[2 * Groups];
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 2 * Groups; ++i) sb[i] = _mm512_loadu_ps(b_scales + 16 * i);
        for (std::size_t r = 0; r < tile_rows; ++r) {
            float* const out = acc + tile_columns * r;
            __m512 low = _mm512_loadu_ps(out), high = _mm512_loadu_ps(out + 16);
            LOWBIT_UNROLL
            for (std::size_t g = 0; g < Groups; ++g) {
                const std::int32_t* const dot = dots + g * tile_size + tile_columns * r;
                const __m512 sa = vectors::splat_bits(a_scales + g * group_words + r);
                const __m512 x = _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_load_si512(dot));
                const __m512 y = _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_load_si512(dot + 16));
                low = vectors::madd(vectors::mul(x, sa), sb[2 * g], low);
                high = vectors::madd(vectors::mul(y, sa), sb[2 * g + 1], high);
            }
            _mm512_storeu_ps(out, low);
            _mm512_storeu_ps(out + 16, high);
        }
    }

    /// acc += A B over `groups` groups; a as [group][32 rows][Group].
    template <std::size_t Group>
    inline void tile_kernel(const integer_tile& t) noexcept {
        constexpr std::size_t batch = 4;
        alignas(64) std::int32_t dots[batch * tile_size];
        asm volatile("" : : : "memory");  // g++ 12's tile loads do not say that they read memory
        _tile_loadconfig(&shapes<Group>);
        std::size_t g = 0;
        for (; g + batch <= t.groups; g += batch) {
            multiply_groups<Group, batch>(t.a + g * tile_rows * Group, t.b + g * panel_columns * Group, dots);
            scale_groups<batch>(dots, t.a_scales + g * group_words, t.b_scales + g * panel_columns, t.acc);
        }
        for (; g < t.groups; ++g) {
            multiply_groups<Group, 1>(t.a + g * tile_rows * Group, t.b + g * panel_columns * Group, dots);
            scale_groups<1>(dots, t.a_scales + g * group_words, t.b_scales + g * panel_columns, t.acc);
        }
        _tile_release();
    }

    /// Words of `Rows` rows, `stride` apart, to out [group][Rows][Group / 4].
    template <std::size_t Rows, std::size_t Group>
    inline void interleave_groups(const std::int32_t* rows, std::size_t stride, std::size_t count,
                                  std::int32_t* out) noexcept {
        for (std::size_t w = 0; w < count; w += Group / 4) {
            for (std::size_t r = 0; r < Rows; ++r, out += Group / 4) std::memcpy(out, rows + r * stride + w, Group);
        }
    }

    inline void no_starts(const std::int8_t*, std::size_t, int, std::int32_t*, std::size_t) noexcept {}

    template <std::size_t Group>
    inline constexpr integer_kernel integer_row{
        tile_rows,
        tile_columns,
        start_kind::word,
        &tile_kernel<Group>,
        &tile_kernel<Group>,
        &no_starts,
        &interleave_groups<tile_rows, Group>,
    };

    template <class F>
    inline constexpr expand_kernel expand_row{0, &vectors::expand_record<F, 0>};

    // Scaled lanes. Tiles 4 and 5 hold Group bfloat16 of 16 rows of A, tiles 6 and 7 pairs of values of 16 columns.

    /// acc += A B over `groups` groups for each tile; a as [group][32 rows][Group], b as [value / 2][32 columns][2].
    template <std::size_t Group>
    inline void scaled_tiles_kernel(const scaled_tiles& t) noexcept {
        constexpr std::size_t line = 4 * tile_columns, row = 2 * Group;  // bytes
        asm volatile("" : : : "memory");
        _tile_loadconfig(&shapes<row>);
        float* acc = t.acc;
        for (std::size_t tile = 0; tile < t.tiles; ++tile, acc += tile_size) {
            _tile_loadd(0, acc, line);
            _tile_loadd(1, acc + 16, line);
            _tile_loadd(2, acc + 16 * tile_columns, line);
            _tile_loadd(3, acc + 16 * tile_columns + 16, line);
            const bfloat16* a = t.a + tile * t.a_step;
            const bfloat16* b = t.b;
            for (std::size_t g = 0; g < t.groups; ++g) {
                _tile_loadd(4, a, row);
                _tile_loadd(6, b, line);
                _tile_dpbf16ps(0, 4, 6);
                _tile_loadd(7, b + 32, line);
                _tile_dpbf16ps(1, 4, 7);
                _tile_loadd(5, a + 16 * Group, row);
                _tile_dpbf16ps(2, 5, 6);
                _tile_dpbf16ps(3, 5, 7);
                a += tile_rows * Group;
                b += tile_columns * Group;
            }
            _tile_stored(0, acc, line);
            _tile_stored(1, acc + 16, line);
            _tile_stored(2, acc + 16 * tile_columns, line);
            _tile_stored(3, acc + 16 * tile_columns + 16, line);
        }
        _tile_release();
    }

    /// One row of A: lanes times scales, group after group `step` values apart.
    template <std::size_t Group>
    inline void scale_row(const std::int8_t* lanes, const float* scales, std::size_t repeats, std::size_t groups,
                          bfloat16* out, std::size_t step) noexcept {
        for (std::size_t g = 0; g < groups; ++g, lanes += Group, out += step) {
            const __m512 scale = _mm512_set1_ps(scales[g / repeats]);
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < Group; i += 16) {
                const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes + i));
                const __m512 x = _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_cvtepi8_epi32(0xFFFF, bytes));
                const __m512i scaled = _mm512_maskz_srli_epi32(0xFFFF, _mm512_castps_si512(vectors::mul(x, scale)), 16);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_maskz_cvtepi32_epi16(0xFFFF, scaled));
            }
        }
    }

    /// Lane `Byte` of each column, plus its bias, as a float of `magic`'s binade: magic + lane + bias.
    template <std::size_t Byte>
    LOWBIT_ALWAYS_INLINE __m512 scaled_lane(__m512i four, __m512 scale, __m512 low_offset,
                                            __m512 high_offset) noexcept {
        // In 2^23's binade the last bit of a float is worth 1, in 2^15's bit 8 is: bytes 0 and 1 need no shift.
        constexpr bool low = Byte % 2 == 0;
        const __m512i mask = _mm512_set1_epi32(low ? 0xFF : 0xFF00);
        const __m512i magic = _mm512_set1_epi32(low ? 0x4B000000 : 0x47000000);
        const __m512i x = Byte < 2 ? four : _mm512_maskz_srli_epi32(0xFFFF, four, 16);
        const __m512i bits = _mm512_ternarylogic_epi32(x, mask, magic, 0xEA);  // (x & mask) | magic
        return vectors::madd(_mm512_castsi512_ps(bits), scale, low ? low_offset : high_offset);
    }

    LOWBIT_ALWAYS_INLINE __m512i pair(__m512 first, __m512 second) noexcept {
        return _mm512_or_si512(_mm512_maskz_srli_epi32(0xFFFF, _mm512_castps_si512(first), 16),
                               _mm512_castps_si512(second));
    }

    /// Expanded lanes (plus scaled_bias) of `groups` groups of 32 columns times their scales, to [value / 2][32][2].
    /// Whether all scales are 0, NaN or within the range.
    template <std::size_t Group>
    inline bool scale_panel(const std::uint8_t* lanes, const float* scales, std::size_t groups,
                            bfloat16* out) noexcept {
        __mmask16 outside = 0;
        for (std::size_t g = 0; g < groups; ++g, scales += panel_columns) {
            LOWBIT_UNROLL
            for (std::size_t c = 0; c < 2; ++c) {
                const __m512 scale = _mm512_loadu_ps(scales + 16 * c);
                const __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(scale), _mm512_set1_epi32(0x7FFFFFFF));
                const __m512i above = _mm512_sub_epi32(magnitude, _mm512_set1_epi32(scaled_least_bits));
                const __mmask16 beyond =
                    _mm512_cmpgt_epu32_mask(above, _mm512_set1_epi32(scaled_most_bits - scaled_least_bits));
                const __mmask16 number = _mm512_cmple_epu32_mask(magnitude, _mm512_set1_epi32(0x7F800000));
                outside =
                    static_cast<__mmask16>(outside | (beyond & number & _mm512_test_epi32_mask(magnitude, magnitude)));
                const __m512 low_offset =
                    vectors::mul(scale, _mm512_set1_ps(-8388608.0F - static_cast<float>(scaled_bias)));
                const __m512 high_offset =
                    vectors::mul(scale, _mm512_set1_ps(-32768.0F - static_cast<float>(scaled_bias)));
                const std::uint8_t* in = lanes + 64 * c;
                bfloat16* to = out + 32 * c;
                LOWBIT_UNROLL
                for (std::size_t i = 0; i < Group; i += 4, in += 4 * panel_columns, to += 4 * panel_columns) {
                    const __m512i four = _mm512_loadu_si512(in);
                    _mm512_storeu_si512(to, pair(scaled_lane<0>(four, scale, low_offset, high_offset),
                                                 scaled_lane<1>(four, scale, low_offset, high_offset)));
                    _mm512_storeu_si512(to + 2 * panel_columns,
                                        pair(scaled_lane<2>(four, scale, low_offset, high_offset),
                                             scaled_lane<3>(four, scale, low_offset, high_offset)));
                }
            }
            lanes += Group * panel_columns;
            out += Group * panel_columns;
        }
        return outside == 0;
    }

    template <std::size_t Group>
    inline constexpr scaled_kernel scaled_row{tile_rows, &scaled_tiles_kernel<Group>, &scale_row<Group>,
                                              &scale_panel<Group>};

    template <class F>
    inline constexpr expand_kernel scaled_expand_row{scaled_bias, &vectors::expand_record<F, scaled_bias>};

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(amx)::product
LOWBIT_TARGET_END

#endif  // LOWBIT_COMPILES_AMX
