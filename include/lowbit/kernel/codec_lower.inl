// SPDX-License-Identifier: Apache-2.0
// Lowering: from floats, or from blocks, to the lanes and scales of the matrix product (lane/lane_traits.hpp).

/// 16 * selector + code for the values of a chunk, as bytes.
template <class F>
LOWBIT_ALWAYS_INLINE vb selected_codes(const typename F::block* blocks, std::size_t first) {
    using traits = lane_traits<F>;
    constexpr std::size_t size = F::block_size;
    constexpr std::size_t piece = size < chunk ? size / 2 : chunk / 2;
    const typename F::block* const block = blocks + first / size;
    const vb codes = load_nibbles<piece>(block->codes.data() + first % size / 2, sizeof(typename F::block));
    if constexpr (traits::selector == lane_selector::none) {
        return codes;
    } else if constexpr (traits::selector == lane_selector::nested) {
        const std::size_t run = first % size / 4;
        const vi place = load(hif4_bits.e1_16 + run), place8 = load(hif4_bits.e1_8 + run);
        const vi bits16 = splat(static_cast<std::uint32_t>(block->e1_16[0]) << 8 | block->e1_16[1]);
        const vi bits8 = splat(std::uint32_t{block->e1_8});
        const vi low = select(equal(bit_and(bits16, place), place), splat(0x10101010U), splat(0U));
        const vi high = select(equal(bit_and(bits8, place8), place8), splat(0x20202020U), splat(0U));
        return or_u8(codes, as_bytes(bit_or(low, high)));
    } else {
        std::uint32_t metadata[2] = {block->metadata, 0};
        if constexpr (chunk > size) metadata[1] = block[1].metadata;
        const vi field = shift_right(load_eights(metadata), load(metadata_shift + first % size / 4));
        const vb selector = as_bytes(mul_low(bit_and(field, splat(3U)), splat(0x10101010U)));
        if constexpr (traits::selector == lane_selector::run_of_8) return or_u8(codes, selector);
        return or_u8(codes, select_u8(tops_of_eights(codes), selector, splat_u8(0x10)));
    }
}

/// Lanes and scales of the blocks of `count` values, whole granules.
template <class F>
void lower_whole(const typename F::block* blocks, std::size_t count, std::int8_t* lanes, float* scales) {
    if constexpr (table_lanes<F>) {
        for (std::size_t first = 0; first < count; first += chunk) {
            store_bytes(lanes + first, lookup_64(lane_bytes<F>.entry, selected_codes<F>(blocks, first)));
        }
    }
    for (std::size_t i = 0; i < count / F::block_size; ++i) {
        if constexpr (!table_lanes<F>) {
            std::memcpy(lanes + i * F::block_size, blocks[i].codes.data(), F::block_size);
        }
        scales[i] = lane_scale<F>(blocks[i]);
        if (is_nan(scales[i])) std::memset(lanes + i * F::block_size, 0, F::block_size);
    }
}

template <class F>
void lower_blocks(const typename F::block* blocks, std::size_t count, lane_type<F>* lanes, float* scales) noexcept {
    constexpr std::size_t size = F::block_size;
    constexpr std::size_t least = granule<F>;
    if constexpr (size == 1) {
        decode_row<F>(blocks, count, lanes, 1.0F);
    } else {
        const std::size_t whole = count / least * least;
        lower_whole<F>(blocks, whole, lanes, scales);
        if (whole < count) {
            const std::size_t left = (count - whole + size - 1) / size;
            typename F::block last[least / size] = {};
            std::int8_t last_lanes[least];
            float last_scales[least / size];
            std::memcpy(last, blocks + whole / size, left * sizeof(typename F::block));
            lower_whole<F>(last, least, last_lanes, last_scales);
            std::memset(last_lanes + (count - whole), 0, least - (count - whole));
            std::memcpy(lanes + whole, last_lanes, left * size);
            std::memcpy(scales + whole / size, last_scales, left * sizeof(float));
        }
    }
}

/// Quantises to lanes through the blocks of a tile, which stay in the first-level cache: the encoder is the one of
/// encode_row, and a unit that only quantises compiles no second form of it.
template <class F>
void lower_row(const float* source, std::size_t count, lane_type<F>* lanes, float* scales,
               const typename F::options& options, const encode_context& context) noexcept {
    typename F::block blocks[tile_size / F::block_size];
    encode_context here = context;
    for (std::size_t done = 0; done < count; done += tile_size) {
        const std::size_t now = count - done < tile_size ? count - done : tile_size;
        here.index = context.index + done;
        encode_row<F>(source + done, now, blocks, options, here);
        lower_blocks<F>(blocks, now, lanes + done, F::block_size == 1 ? scales : scales + done / F::block_size);
    }
}
