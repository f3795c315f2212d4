// SPDX-License-Identifier: Apache-2.0
// Row codecs, written once over the atoms of an instruction set (isa_avx512.hpp says what those must do) and included
// inside that set's target region and namespace.
//
// A codec works on tiles of at most tile_size values in two passes: maxima and scales, then codes. It is a template
// over a sink, which takes the codes either to blocks or straight to the int8 lanes of the matrix product: one
// implementation of each encoder. What vectors do not handle (NaN, Inf, magnitudes that would leave a trick's range) is
// flagged block by block in the first pass and done again by the format's own scalar function.

inline constexpr std::size_t chunk = 4 * width;

/// Values that a codec takes at least: whole blocks and whole chunks.
template <class F>
inline constexpr std::size_t granule = F::block_size < chunk ? chunk : F::block_size;

/// The codec of a format: encode_tile(source, count, sink) and decode_blocks(blocks, count, out, tensor_scale).
template <class F>
struct row_codec;

/// Where an encoder's results go: blocks.
template <class F>
struct block_sink {
    typename F::block* blocks;
    const typename F::options& options;
    encode_context context;

    /// The scale bytes of the first `count` blocks.
    void scales(const std::uint32_t* bytes, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) blocks[i].scale = static_cast<std::uint8_t>(bytes[i]);
    }
    /// Scales that are floats.
    void scales(const float* values, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) std::memcpy(&blocks[i].scale, values + i, sizeof(float));
    }
    /// The codes of the chunk that begins at value `first`.
    LOWBIT_ALWAYS_INLINE void codes(std::size_t first, vb all) const {
        constexpr std::size_t piece = F::block_size < chunk ? F::block_size / 2 : chunk / 2;
        std::uint8_t* const begin = reinterpret_cast<std::uint8_t*>(blocks) + offsetof(typename F::block, codes);
        store_nibbles<piece>(begin + first / F::block_size * sizeof(typename F::block) + first % F::block_size / 2,
                             sizeof(typename F::block), all);
    }
    /// E2M1 codes from the bytes 42 + code and the sign bytes of a chunk.
    LOWBIT_ALWAYS_INLINE void e2m1(std::size_t first, vb low, vb top) const {
        codes(first, sign_codes(lookup_u8(e2m1_code_of_nibble, low), top));
    }
    /// HiF4: the exponent bits of a unit, one a run of 4, and codes 0..7 with their signs.
    LOWBIT_ALWAYS_INLINE void exponents(std::size_t unit, std::uint32_t coarse8, std::uint32_t coarse16) const {
        auto& block = blocks[unit];
        block.e1_8 = static_cast<std::uint8_t>(reversed_pairs[coarse8 & 0xFFU] | reversed_pairs[coarse8 >> 8] >> 4);
        block.e1_16 = {reversed_byte[coarse16 & 0xFFU], reversed_byte[coarse16 >> 8]};
    }
    /// The codes of a chunk, a byte each.
    LOWBIT_ALWAYS_INLINE void bytes(std::size_t first, vb all) const {
        if constexpr (F::block_size == 1) {
            store_bytes(reinterpret_cast<std::int8_t*>(blocks) + first, all);
        } else {
            constexpr std::size_t piece = F::block_size < chunk ? F::block_size : chunk;
            store_pieces<piece>(blocks[first / F::block_size].codes.data() + first % F::block_size,
                                sizeof(typename F::block), all);
        }
    }
    LOWBIT_ALWAYS_INLINE void s1p2(std::size_t first, vb magnitude, vb top) const {
        codes(first, sign_codes(magnitude, top));
    }
    /// The scalar function for block i.
    void redo(std::size_t i, const float* values) const {
        encode_context here = context;
        here.index += i * F::block_size;
        blocks[i] = F::encode(std::span<const float, F::block_size>(values, F::block_size), options, here);
    }
};

/// Quantises a row through F's codec.
template <class F>
void encode_row(const float* source, std::size_t count, typename F::block* blocks, const typename F::options& options,
                const encode_context& context) noexcept {
    constexpr std::size_t size = F::block_size;
    constexpr std::size_t least = granule<F>;
    static_assert(tile_size % least == 0);
    block_sink<F> sink{blocks, options, context};
    std::size_t done = 0;
    while (count - done >= least) {
        const std::size_t left = count - done;
        const std::size_t now = left < tile_size ? left / least * least : tile_size;
        sink.blocks = blocks + done / size;
        sink.context.index = context.index + done;
        row_codec<F>::encode_tile(source + done, now, sink);
        done += now;
    }
    if (done < count) {
        float filled[least] = {};
        typename F::block last[least / size];
        std::memcpy(filled, source + done, (count - done) * sizeof(float));
        sink.blocks = last;
        sink.context.index = context.index + done;
        row_codec<F>::encode_tile(filled, least, sink);
        std::memcpy(blocks + done / size, last, (count - done + size - 1) / size * sizeof(typename F::block));
    }
}

/// Decodes a row through F's codec.
template <class F>
void decode_row(const typename F::block* blocks, std::size_t count, float* out, float tensor_scale) noexcept {
    constexpr std::size_t size = F::block_size;
    constexpr std::size_t least = granule<F>;
    const std::size_t whole = count / least * least;
    row_codec<F>::decode_blocks(blocks, whole, out, tensor_scale);
    if (whole < count) {
        float values[least];
        typename F::block last[least / size] = {};
        std::memcpy(last, blocks + whole / size, (count - whole + size - 1) / size * sizeof(typename F::block));
        row_codec<F>::decode_blocks(last, least, values, tensor_scale);
        std::memcpy(out + whole, values, (count - whole) * sizeof(float));
    }
}

LOWBIT_ALWAYS_INLINE vi magnitude_bits(const float* p) { return bit_and(as_int(load(p)), splat(0x7FFFFFFFU)); }

/// Lane i: the largest magnitude bits of block first + i, blocks of Size floats; a block past the last one counts as
/// the last.
template <std::size_t Size>
LOWBIT_ALWAYS_INLINE vi block_maxima(const float* source, std::size_t first, std::size_t blocks) {
    vi v[width];
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < width; ++i) {
        const float* const p = source + (first + i < blocks ? first + i : blocks - 1) * Size;
        v[i] = magnitude_bits(p);
        LOWBIT_UNROLL
        for (std::size_t j = width; j < Size; j += width) v[i] = maximum(v[i], magnitude_bits(p + j));
    }
    return max_of_each(v);
}

/// 42 + code in the low byte, the sign in bit 31. q = x * inverse; `least_field` is the exponent field of 1 in the
/// scale of x, `magic` brings x's exponent field to that of 2^22 u.
LOWBIT_ALWAYS_INLINE vi e2m1_scaled(vf x, vi least_field, vf inverse, vi magic) {
    const vi u = maximum(bit_and(as_int(x), splat(0x7F800000U)), least_field);
    const vi signed_magic = or_masked(add(u, magic), as_int(x), splat(0x80000000U));
    const vi w = as_int(fma(x, inverse, as_float(signed_magic)));
    return add(w, shift_right<22>(w));
}

/// The same for a rounded quotient q.
LOWBIT_ALWAYS_INLINE vi e2m1_quotient(vf q) {
    const vi u = maximum(bit_and(as_int(q), splat(0x7F800000U)), splat(0x3F800000U));
    const vi signed_magic = or_masked(add(u, splat(e2m1_magic)), as_int(q), splat(0x80000000U));
    const vi w = as_int(add(q, as_float(signed_magic)));
    return add(w, shift_right<22>(w));
}

/// Value of the E2M1 code nearest to q >= 0.
LOWBIT_ALWAYS_INLINE vf e2m1_rounded(vf q) {
    const vi u = maximum(bit_and(as_int(q), splat(0x7F800000U)), splat(0x3F800000U));
    const vf magic = as_float(add(u, splat(e2m1_magic)));
    return minimum(sub(add(q, magic), magic), splat(6.0F));
}

/// Hands the blocks whose bits are set to the scalar function.
template <std::size_t Size, class Sink>
LOWBIT_ALWAYS_INLINE void redo_blocks(const float* source, std::size_t blocks, std::uint64_t which, const Sink& sink) {
    for (std::size_t i = 0; which != 0 && i < blocks; ++i, which >>= 1) {
        if ((which & 1U) != 0) sink.redo(i, source + i * Size);
    }
}

/// The second pass leaves the memory idle: it asks for what the tiles after this one will read. (Harmless past the
/// end.)
LOWBIT_ALWAYS_INLINE void prefetch(const float* p) {
    __builtin_prefetch(reinterpret_cast<const char*>(p) + prefetch_distance, 0, 2);
}

LOWBIT_ALWAYS_INLINE void prefetch_chunk(const float* p) {
    LOWBIT_UNROLL
    for (std::size_t i = 0; i < chunk; i += 16) prefetch(p + i);
}

/// Values of 8 columns of a row-major matrix whose rows are `stride` long: lane j of x[i] = value i of row first + j; a
/// row past the last one counts as the last.
LOWBIT_ALWAYS_INLINE void load_columns(const float* source, std::size_t stride, std::size_t first, std::size_t rows,
                                       vf (&x)[8]) {
    const float* row[width];
    for (std::size_t i = 0; i < width; ++i) row[i] = source + (first + i < rows ? first + i : rows - 1) * stride;
    load_transposed(row, x);
}

// In this order: later ones use what earlier ones define.
// clang-format off
#include <lowbit/kernel/codec_lower.inl>
#include <lowbit/kernel/codec_mxfp4.inl>
#include <lowbit/kernel/codec_nvfp4.inl>
#include <lowbit/kernel/codec_hif4.inl>
#include <lowbit/kernel/codec_m2xfp.inl>
#include <lowbit/kernel/codec_hif8.inl>
#include <lowbit/kernel/codec_int8.inl>
#include <lowbit/kernel/codec_rows.inl>
// clang-format on

/// The row of a format.
template <class F>
inline constexpr codec_functions<F> codec_table{&encode_row<F>, &decode_row<F>, &lower_row<F>, &lower_blocks<F>};
