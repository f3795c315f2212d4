// SPDX-License-Identifier: Apache-2.0
// The function tables through which whole-matrix code reaches the vector code.
//
// Rows are plain pointers and counts, need no alignment, read and write nothing outside what is stated, allocate
// nothing and do not throw. They expect the default floating-point environment (arch/fp_environment.hpp). Every
// instruction set's function gives the same bytes and the same floats as the scalar one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lowbit/block/block_format.hpp>
#include <lowbit/core/float16.hpp>

namespace lowbit::kernel {

/// What a micro-kernel sees of a value: int8 lanes for the block formats, the float itself for formats of one (hif8).
template <class F>
using lane_type = std::conditional_t<F::block_size == 1, float, std::int8_t>;

/// Row codecs of one format.
template <class F>
struct codec_functions {
    /// Quantises `count` floats (any count) to ceil(count / block_size) blocks; the last block is filled up with zeros
    /// before its scale is chosen. `context.index` is the element index of source[0].
    void (*encode_row)(const float* source, std::size_t count, typename F::block* blocks,
                       const typename F::options& options, const encode_context& context) noexcept;
    /// Decodes the first `count` values; writes `count` floats only.
    void (*decode_row)(const typename F::block* blocks, std::size_t count, float* out, float tensor_scale) noexcept;
    /// encode_row, then lower_blocks, without the blocks: quantises to lanes and one scale a block (the scale of a
    /// lane). Writes whole blocks of lanes, those from `count` on 0; `scales` is not touched where the lanes are
    /// floats.
    void (*lower_row)(const float* source, std::size_t count, lane_type<F>* lanes, float* scales,
                      const typename F::options& options, const encode_context& context) noexcept;
    /// Lanes and scales of blocks, as lower_row of lane/lower.hpp. Formats of one value decode instead: `count` floats.
    void (*lower_blocks)(const typename F::block* blocks, std::size_t count, lane_type<F>* lanes,
                         float* scales) noexcept;
};

/// Row functions that know no format.
struct row_functions {
    /// Largest magnitude of the finite values; NaN and Inf are ignored; 0 where there are none.
    float (*amax)(const float* source, std::size_t count) noexcept;
    /// Exact; every NaN becomes 0x7FC00000.
    void (*widen_bfloat16)(const bfloat16* source, std::size_t count, float* out) noexcept;
    void (*widen_float16)(const float16* source, std::size_t count, float* out) noexcept;
    /// Nearest, ties to even, overflow to Inf; as bfloat16::from_float and float16::from_float.
    void (*narrow_bfloat16)(const float* source, std::size_t count, bfloat16* out) noexcept;
    void (*narrow_float16)(const float* source, std::size_t count, float16* out) noexcept;
    /// Copies with stores that bypass the caches where there are such; arch::stream_fence() before others read it.
    void (*stream)(const float* source, std::size_t count, float* out) noexcept;
    /// Turns a tile on its side: out[c * pitch + r] = source[r * stride + c], bit for bit, for r < rows and c < cols.
    /// Of each row of `out` it may also write what follows up to the next multiple of 16.
    void (*turn)(const float* source, std::size_t stride, std::size_t rows, std::size_t cols, float* out,
                 std::size_t pitch) noexcept;
};

}  // namespace lowbit::kernel
