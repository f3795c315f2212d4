// SPDX-License-Identifier: Apache-2.0
// The scalar row of the kernel table: the formats' own one-block functions, block after block. It is the oracle of the
// other rows, which fall back on its functions for what they do not speed up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <lowbit/arch/target.hpp>
#include <lowbit/block/block_format.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/kernel/abi.hpp>
#include <lowbit/lane/lower.hpp>

namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar) {

    template <class F>
    void encode_row(const float* source, std::size_t count, typename F::block* blocks,
                    const typename F::options& options, const encode_context& context) noexcept {
        constexpr std::size_t size = F::block_size;
        encode_context here = context;
        std::size_t done = 0;
        for (; count - done >= size; done += size) {
            here.index = context.index + done;
            *blocks++ = F::encode(std::span<const float, size>(source + done, size), options, here);
        }
        if (done < count) {
            float filled[size] = {};
            for (std::size_t i = 0; done + i < count; ++i) filled[i] = source[done + i];
            here.index = context.index + done;
            *blocks = F::encode(std::span<const float, size>(filled, size), options, here);
        }
    }

    template <class F>
    void decode_row(const typename F::block* blocks, std::size_t count, float* out, float tensor_scale) noexcept {
        constexpr std::size_t size = F::block_size;
        std::size_t done = 0;
        for (; count - done >= size; done += size) {
            F::decode(*blocks++, std::span<float, size>(out + done, size), tensor_scale);
        }
        if (done < count) {
            float values[size];
            F::decode(*blocks, std::span<float, size>(values, size), tensor_scale);
            for (std::size_t i = 0; done + i < count; ++i) out[done + i] = values[i];
        }
    }

    template <class F>
    void lower_blocks(const typename F::block* blocks, std::size_t count, lane_type<F>* lanes, float* scales) noexcept {
        if constexpr (F::block_size == 1) {
            decode_row<F>(blocks, count, lanes, 1.0F);
        } else {
            lowbit::lower_row<F>(blocks, count, lanes, scales);
        }
    }

    template <class F>
    void lower_row(const float* source, std::size_t count, lane_type<F>* lanes, float* scales,
                   const typename F::options& options, const encode_context& context) noexcept {
        constexpr std::size_t tile = F::block_size == 1 ? 64 : F::block_size;
        typename F::block blocks[tile / F::block_size];
        encode_context here = context;
        for (std::size_t done = 0; done < count; done += tile) {
            const std::size_t now = count - done < tile ? count - done : tile;
            here.index = context.index + done;
            encode_row<F>(source + done, now, blocks, options, here);
            lower_blocks<F>(blocks, now, lanes + done, F::block_size == 1 ? scales : scales + done / F::block_size);
        }
    }

    inline float amax(const float* source, std::size_t count) noexcept {
        std::uint32_t largest = 0;  // magnitudes of finite floats are in the order of their bits
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t magnitude = abs_bits(source[i]);
            if (magnitude < 0x7F800000U && magnitude > largest) largest = magnitude;
        }
        return float_from_bits(largest);
    }

    inline void widen_bfloat16(const bfloat16* source, std::size_t count, float* out) noexcept {
        for (std::size_t i = 0; i < count; ++i) out[i] = source[i].to_float();
    }

    inline void widen_float16(const float16* source, std::size_t count, float* out) noexcept {
        for (std::size_t i = 0; i < count; ++i) out[i] = source[i].to_float();
    }

    inline void narrow_bfloat16(const float* source, std::size_t count, bfloat16* out) noexcept {
        for (std::size_t i = 0; i < count; ++i) out[i] = bfloat16::from_float(source[i]);
    }

    inline void narrow_float16(const float* source, std::size_t count, float16* out) noexcept {
        for (std::size_t i = 0; i < count; ++i) out[i] = float16::from_float(source[i]);
    }

    /// The scalar row of a format.
    template <class F>
    inline constexpr codec_functions<F> codec_table{&encode_row<F>, &decode_row<F>, &lower_row<F>, &lower_blocks<F>};

    inline void stream(const float* source, std::size_t count, float* out) noexcept {
        for (std::size_t i = 0; i < count; ++i) out[i] = source[i];
    }

    inline void turn(const float* source, std::size_t stride, std::size_t rows, std::size_t cols, float* out,
                     std::size_t pitch) noexcept {
        for (std::size_t c = 0; c < cols; ++c) {
            for (std::size_t r = 0; r < rows; ++r) out[c * pitch + r] = source[r * stride + c];
        }
    }

    inline constexpr row_functions row_table{&amax,           &widen_bfloat16, &widen_float16, &narrow_bfloat16,
                                             &narrow_float16, &stream,         &turn};

}  // namespace lowbit::kernel::LOWBIT_ISA_NAMESPACE(scalar)
