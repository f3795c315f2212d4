// SPDX-License-Identifier: Apache-2.0
// Row functions that know no format: the largest magnitude, 16-bit floats.

/// Magnitude bits where they are those of a finite value, else 0.
LOWBIT_ALWAYS_INLINE vi finite_magnitude(const float* p) {
    const vi magnitude = magnitude_bits(p);
    return select(greater(splat(0x7F800000U), magnitude), magnitude, splat(0U));
}

inline float amax(const float* source, std::size_t count) noexcept {
    vi largest[4] = {splat(0U), splat(0U), splat(0U), splat(0U)};
    std::size_t done = 0;
    for (; count - done >= chunk; done += chunk) {
        LOWBIT_UNROLL
        for (std::size_t i = 0; i < 4; ++i) {
            largest[i] = maximum(largest[i], finite_magnitude(source + done + i * width));
        }
    }
    for (; count - done >= width; done += width) largest[0] = maximum(largest[0], finite_magnitude(source + done));
    if (done < count) {
        float rest[width] = {};
        std::memcpy(rest, source + done, (count - done) * sizeof(float));
        largest[0] = maximum(largest[0], finite_magnitude(rest));
    }
    alignas(64) std::uint32_t lanes[width];
    store(lanes, maximum(maximum(largest[0], largest[1]), maximum(largest[2], largest[3])));
    std::uint32_t bits = 0;
    for (const std::uint32_t lane : lanes) bits = lane > bits ? lane : bits;
    return float_from_bits(bits);
}

inline void widen_bfloat16(const bfloat16* source, std::size_t count, float* out) noexcept {
    std::size_t done = 0;
    for (; count - done >= width; done += width) store(out + done, load_bfloat16(source + done));
    for (; done < count; ++done) out[done] = source[done].to_float();
}

inline void widen_float16(const float16* source, std::size_t count, float* out) noexcept {
    std::size_t done = 0;
    for (; count - done >= width; done += width) store(out + done, load_float16(source + done));
    for (; done < count; ++done) out[done] = source[done].to_float();
}

inline void narrow_bfloat16(const float* source, std::size_t count, bfloat16* out) noexcept {
    std::size_t done = 0;
    for (; count - done >= width; done += width) {
        const vi x = as_int(load(source + done));
        const vi odd = bit_and(shift_right<16>(x), splat(1U));
        const vi rounded = shift_right<16>(add(x, add(odd, splat(0x7FFFU))));
        const vm nan = greater(bit_and(x, splat(0x7FFFFFFFU)), splat(0x7F800000U));
        store_words(out + done, select(nan, splat(0x7FC0U), rounded));
    }
    for (; done < count; ++done) out[done] = bfloat16::from_float(source[done]);
}

inline void narrow_float16(const float* source, std::size_t count, float16* out) noexcept {
    std::size_t done = 0;
    for (; count - done >= width; done += width) store_float16(out + done, load(source + done));
    for (; done < count; ++done) out[done] = float16::from_float(source[done]);
}

inline void stream(const float* source, std::size_t count, float* out) noexcept {
    constexpr std::size_t line = width * sizeof(float);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(out) % line;
    std::size_t head = past == 0 ? 0 : (line - past) / sizeof(float);
    if (past % sizeof(float) != 0 || head > count) head = count;
    std::memcpy(out, source, head * sizeof(float));
    std::size_t done = head;
    for (; count - done >= width; done += width) store_past_cache(out + done, load(source + done));
    std::memcpy(out + done, source + done, (count - done) * sizeof(float));
}

/// Bands of `width` rows, `turned` columns at a time through registers. Rows past the last one count as the last: what
/// they give lies behind the row's values.
inline void turn(const float* source, std::size_t stride, std::size_t rows, std::size_t cols, float* out,
                 std::size_t pitch) noexcept {
    for (std::size_t r = 0; r < rows; r += width) {
        const float* row[width];
        for (std::size_t i = 0; i < width; ++i) row[i] = source + (r + i < rows ? r + i : rows - 1) * stride;
        float* to = out + r;
        std::size_t c = 0;
        for (; cols - c >= turned; c += turned) {
            vf x[turned];
            load_turned(row, x);
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < turned; ++i) store(to + i * pitch, x[i]);
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < width; ++i) row[i] += turned;
            to += turned * pitch;
        }
        if (c < cols) {
            float rest[width][turned] = {};
            vf x[turned];
            for (std::size_t i = 0; i < width; ++i) {
                std::memcpy(rest[i], row[i], (cols - c) * sizeof(float));
                row[i] = rest[i];
            }
            load_turned(row, x);
            for (std::size_t i = 0; c + i < cols; ++i) store(to + i * pitch, x[i]);
        }
    }
}

inline constexpr row_functions row_table{&amax,           &widen_bfloat16, &widen_float16, &narrow_bfloat16,
                                         &narrow_float16, &stream,         &turn};
