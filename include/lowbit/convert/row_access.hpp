// SPDX-License-Identifier: Apache-2.0
// One row of float, bfloat16 or float16 to blocks and back, through the row functions of the kernel table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <lowbit/arch/target.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/element/hif8.hpp>
#include <lowbit/kernel/table.hpp>

namespace lowbit::detail {

/// Values that pass through a stack buffer at a time where the wide side is a 16-bit type; a multiple of every block.
inline constexpr std::size_t conversion_tile = 1024;

/// Outputs of at least so many floats (32 MiB) are written past the caches, which saves reading them first. Measured on
/// Sapphire Rapids: no difference at 16 MiB, 10 against 18 GB/s at 64 MiB, 10 against 20 GB/s at 256 MiB.
inline constexpr std::size_t past_cache_floats = std::size_t{1} << 23;

inline namespace LOWBIT_BASELINE_NAMESPACE {

inline void widen(const kernel::row_functions& functions, const bfloat16* source, std::size_t count,
                  float* out) noexcept {
    functions.widen_bfloat16(source, count, out);
}
inline void widen(const kernel::row_functions& functions, const float16* source, std::size_t count,
                  float* out) noexcept {
    functions.widen_float16(source, count, out);
}
inline void narrow(const kernel::row_functions& functions, const float* source, std::size_t count,
                   bfloat16* out) noexcept {
    functions.narrow_bfloat16(source, count, out);
}
inline void narrow(const kernel::row_functions& functions, const float* source, std::size_t count,
                   float16* out) noexcept {
    functions.narrow_float16(source, count, out);
}

/// Floats whose hybrid rounding to HiF8 gives what the rule for 16-bit sources says of values widened from T
/// (element/hif8.hpp). That rule compares the two top bits cut off, F2, with T2 = 1 or 3 by the source's last bit; the
/// one for floats compares the 14 top bits cut off with the low 14 bits T of the float. With T = T2 << 12 written there
/// both agree: what T adds to the bits cut off is less than the source's step, of which T is a multiple. Inf and NaN
/// stay.
template <class T>
class hybrid_source {
  public:
    static void convert(const float* values, std::size_t count, float* out) noexcept {
        std::size_t done = 0;
        for (; count - done >= width; done += width) convert_some<width>(values + done, out + done);
        for (; done < count; ++done) convert_some<1>(values + done, out + done);
    }

  private:
    using floats = float __attribute__((vector_size(16)));  // SSE2 or NEON at any baseline
    using words = std::uint32_t __attribute__((vector_size(16)));
    static constexpr std::size_t width = 4;

    template <std::size_t Count>
    static void convert_some(const float* values, float* out) noexcept {
        words bits = {};
        std::memcpy(&bits, values, Count * sizeof(float));
        const words magnitude = bits & 0x7FFFFFFFU;
        words last = bits >> 16U;
        if constexpr (std::is_same_v<T, float16>) {
            // Below 2^-14 the last stored bit is 2^-24, the last of the sum with 1/2.
            const words sum = reinterpret_cast<words>(reinterpret_cast<floats>(magnitude) + 0.5F);
            const words subnormal = reinterpret_cast<words>(magnitude < 0x38800000U);
            last = (sum & subnormal) | (bits >> 13U & ~subnormal);
        }
        const words finite = reinterpret_cast<words>(magnitude < 0x7F800000U);
        bits |= ((last & 1U) << 13U | 0x1000U) & finite;
        std::memcpy(out, &bits, Count * sizeof(float));
    }
};

/// The table entries that a conversion between T and F needs. Made before anything is written: a LOWBIT_ISA that cannot
/// run here is reported then.
template <class F>
struct row_codec {
    const kernel::codec_functions<F>& codec = kernel::codec<F>();
    isa which = arch::active();

    /// Asked for where they are needed: a unit that converts no 16-bit floats does not compile them.
    const kernel::row_functions& rows() const noexcept { return kernel::rows(which); }

    /// Bits of the largest finite magnitude among `count` values; such bits are in the order of their floats.
    template <matrix_element T>
    std::uint32_t amax_bits(const T* source, std::size_t count) const noexcept {
        if constexpr (std::is_same_v<T, float>) {
            return to_bits(rows().amax(source, count));
        } else {
            alignas(64) float tile[conversion_tile];
            std::uint32_t largest = 0;
            for (std::size_t done = 0; done < count; done += conversion_tile) {
                const std::size_t length = (std::min)(conversion_tile, count - done);
                widen(rows(), source + done, length, tile);
                largest = (std::max)(largest, to_bits(rows().amax(tile, length)));
            }
            return largest;
        }
    }

    /// Encodes `count` values of a row, widened from T; they start at a block boundary.
    template <matrix_element T>
    void encode_widened(const float* values, std::size_t count, typename F::block* blocks,
                        const typename F::options& options, const encode_context& context) const noexcept {
        if constexpr (std::is_same_v<F, hif8> && !std::is_same_v<T, float>) {
            // Hybrid rounding looks at the bits that T has, not at those that widening adds.
            if (options.rounding == hif8_rounding::hybrid) {
                alignas(64) float prepared[conversion_tile];
                for (std::size_t done = 0; done < count; done += conversion_tile) {
                    const std::size_t length = (std::min)(conversion_tile, count - done);
                    hybrid_source<T>::convert(values + done, length, prepared);
                    codec.encode_row(prepared, length, blocks + done, options, context);
                }
                return;
            }
        }
        codec.encode_row(values, count, blocks, options, context);
    }

    /// Encodes `count` values of a row that start at a block boundary.
    template <matrix_element T>
    void encode(const T* source, std::size_t count, typename F::block* blocks, const typename F::options& options,
                encode_context context) const noexcept {
        if constexpr (std::is_same_v<T, float>) {
            codec.encode_row(source, count, blocks, options, context);
        } else {
            alignas(64) float tile[conversion_tile];
            for (std::size_t done = 0; done < count; done += conversion_tile) {
                const std::size_t length = (std::min)(conversion_tile, count - done);
                widen(rows(), source + done, length, tile);
                encode_widened<T>(tile, length, blocks + done / F::block_size, options, context);
                context.index += length;
            }
        }
    }

    /// As decode to float, past the caches, tile by tile through the first-level cache.
    void decode_past_cache(const typename F::block* blocks, std::size_t count, float* out,
                           float tensor_scale) const noexcept {
        alignas(64) float tile[conversion_tile];
        for (std::size_t done = 0; done < count; done += conversion_tile) {
            const std::size_t length = (std::min)(conversion_tile, count - done);
            codec.decode_row(blocks + done / F::block_size, length, tile, tensor_scale);
            rows().stream(tile, length, out + done);
        }
    }

    /// Decodes the first `count` values of `blocks`; writes nothing else.
    template <matrix_element T>
    void decode(const typename F::block* blocks, std::size_t count, T* out, float tensor_scale) const noexcept {
        if constexpr (std::is_same_v<T, float>) {
            codec.decode_row(blocks, count, out, tensor_scale);
        } else {
            alignas(64) float tile[conversion_tile];
            for (std::size_t done = 0; done < count; done += conversion_tile) {
                const std::size_t length = (std::min)(conversion_tile, count - done);
                codec.decode_row(blocks + done / F::block_size, length, tile, tensor_scale);
                narrow(rows(), tile, length, out + done);
            }
        }
    }
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
