// SPDX-License-Identifier: Apache-2.0
// Rows of the 8-bit integer formats: blocks of 32, codes that are bytes, an E8M0 scale (mxint8) or a float's
// (int8_block).

/// A sum with it holds the integer nearest to the other term, ties to even, in its low bits.
inline constexpr float round_magic = 12582912.0F;  // 1.5 * 2^23

/// The codes at p as floats: a code with its top bit flipped is code + 128, the low byte of 2^23 + 128 + code.
LOWBIT_ALWAYS_INLINE vf int8_values(const std::int8_t* p) {
    const vi bytes = load_bytes(reinterpret_cast<const std::uint8_t*>(p));
    return sub(as_float(bit_xor(bytes, splat(0x4B000080U))), splat(8388736.0F));
}

template <>
struct row_codec<mxint8> {
    static constexpr std::size_t size = mxint8::block_size;

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const std::size_t blocks = count / size;
        alignas(64) std::uint32_t byte[tile_size / size + width];
        alignas(64) float inverse[tile_size / size + width];  // 2^(127 - byte), a normal float
        std::uint64_t not_finite = 0;
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            not_finite |= std::uint64_t{lanes_of(greater(maxima, splat(0x7F7FFFFFU)))} << first;
            const vi b = minimum(shift_right<23>(maxima), splat(252U));
            store(byte + first, b);
            store(inverse + first, as_float(sub(splat(254U << 23), shift_left<23>(b))));
        }
        sink.scales(byte, blocks);
        const vf most = splat(127.0F / 64.0F), least = splat(-127.0F / 64.0F);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = first + i * width;
                prefetch(source + at);
                // Exact where it matters: what underflows here is far below half a code.
                const vf relative = mul(load(source + at), splat(inverse[at / size]));
                w[i] = as_int(fma(minimum(maximum(relative, least), most), splat(64.0F), splat(round_magic)));
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            sink.bytes(first, low);
        }
        redo_blocks<size>(source, blocks, not_finite, sink);
    }

    static void decode_blocks(const mxint8::block* blocks, std::size_t count, float* out, float) {
        for (std::size_t first = 0; first < count; first += size, ++blocks) {
            const vf scale = splat(lane_scale<mxint8>(*blocks));
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < size; i += width) {
                store(out + first + i, mul(int8_values(blocks->codes.data() + i), scale));
            }
        }
    }
};

template <>
struct row_codec<int8_block> {
    static constexpr std::size_t size = int8_block::block_size;

    template <class Sink>
    [[gnu::noinline]] static void encode_tile(const float* source, std::size_t count, const Sink& sink) {
        const std::size_t blocks = count / size;
        alignas(64) float scale[tile_size / size + width];
        alignas(64) float divisor[tile_size / size + width];
        std::uint64_t not_finite = 0;
        for (std::size_t first = 0; first < blocks; first += width) {
            const vi maxima = block_maxima<size>(source, first, blocks);
            not_finite |= std::uint64_t{lanes_of(greater(maxima, splat(0x7F7FFFFFU)))} << first;
            const vi amax =
                minimum(maximum(maxima, splat(int8_block::least_amax_bits)), splat(int8_block::greatest_amax_bits));
            const vf quotient = div(as_float(amax), splat(127.0F));
            const vm zero = equal(maxima, splat(0U));
            store(scale + first, select(zero, splat(0.0F), quotient));
            store(divisor + first, select(zero, splat(1.0F), quotient));
        }
        sink.scales(scale, blocks);
        for (std::size_t first = 0; first < count; first += chunk) {
            vi w[4];
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < 4; ++i) {  // no quotient rounds past 127
                const std::size_t at = first + i * width;
                prefetch(source + at);
                w[i] = as_int(add(div(load(source + at), splat(divisor[at / size])), splat(round_magic)));
            }
            vb low, top;
            split_bytes(w[0], w[1], w[2], w[3], low, top);
            sink.bytes(first, low);
        }
        redo_blocks<size>(source, blocks, not_finite, sink);
    }

    static void decode_blocks(const int8_block::block* blocks, std::size_t count, float* out, float) {
        for (std::size_t first = 0; first < count; first += size, ++blocks) {
            const vf scale = splat(int8_block::scale_of(*blocks));
            LOWBIT_UNROLL
            for (std::size_t i = 0; i < size; i += width) {
                store(out + first + i, canonical(mul(int8_values(blocks->codes.data() + i), scale)));
            }
        }
    }
};
