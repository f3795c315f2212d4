// SPDX-License-Identifier: Apache-2.0
// What the x86 rows of the matrix product share; included once in each of their target regions.

LOWBIT_ALWAYS_INLINE __m128i four_words(const std::int32_t* p) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

/// Words of `Rows` rows, `stride` apart, to out[word][row]: 4 x 4 transposes, then a pair, then a single row. Reads and
/// writes up to 3 words past the end of each row, and as many rows of out.
template <std::size_t Rows>
inline void interleave_rows(const std::int32_t* rows, std::size_t stride, std::size_t count,
                            std::int32_t* out) noexcept {
    for (std::size_t w = 0; w < count; w += 4, out += 4 * Rows) {
        for (std::size_t r = 0; r + 4 <= Rows; r += 4) {
            const std::int32_t* const p = rows + r * stride + w;
            const __m128i a = four_words(p), b = four_words(p + stride);
            const __m128i c = four_words(p + 2 * stride), d = four_words(p + 3 * stride);
            const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
            const __m128i ab_high = _mm_unpackhi_epi32(a, b), cd_high = _mm_unpackhi_epi32(c, d);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + r), _mm_unpacklo_epi64(ab, cd));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + Rows + r), _mm_unpackhi_epi64(ab, cd));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * Rows + r), _mm_unpacklo_epi64(ab_high, cd_high));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * Rows + r), _mm_unpackhi_epi64(ab_high, cd_high));
        }
        if constexpr (Rows % 4 >= 2) {
            constexpr std::size_t r = Rows / 4 * 4;
            const std::int32_t* const p = rows + r * stride + w;
            const __m128i a = four_words(p), b = four_words(p + stride);
            const __m128i low = _mm_unpacklo_epi32(a, b), high = _mm_unpackhi_epi32(a, b);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out + r), low);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out + Rows + r), _mm_unpackhi_epi64(low, low));
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 2 * Rows + r), high);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 3 * Rows + r), _mm_unpackhi_epi64(high, high));
        }
        if constexpr (Rows % 2 == 1) {
            constexpr std::size_t r = Rows - 1;
            for (std::size_t i = 0; i < 4; ++i) out[i * Rows + r] = rows[r * stride + w + i];
        }
    }
}
