// SPDX-License-Identifier: Apache-2.0
// Where a product's operands come from: floats quantised on the way, quantised matrices, packed matrices.
//
// The loops see rows of lanes and slices of packed panels; which of these made them is decided here, at compile time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lowbit/convert/row_access.hpp>
#include <lowbit/convert/tensor_scale.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/lane/lane_traits.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>
#include <lowbit/pack/packed_matrix.hpp>
#include <lowbit/pack/panel.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Rows of A that are quantised when they are needed; NVFP4 takes a tensor scale from each row by itself.
template <class F, class T>
class float_rows {
  public:
    using format = F;

    float_rows(const matrix_view<const T>& view, const typename F::options& options, const executor& executor,
               isa which)
        : view_(view),
          options_(options),
          codec_{kernel::codec<F>(which), which},
          contexts_(F::has_tensor_scale ? view.rows() : 0) {
        if constexpr (F::has_tensor_scale) {
            constexpr std::size_t chunk = 16;
            executor.for_each(divide_up(view_.rows(), chunk), [&](std::size_t c) {
                const arch::fp_guard guard;
                const std::size_t last = (std::min)(view_.rows(), (c + 1) * chunk);
                for (std::size_t i = c * chunk; i < last; ++i) {
                    contexts_[i] = row_scales_of<F>(codec_.amax_bits(view_.row(i), view_.cols()), options_);
                }
            });
        }
    }

    float tensor_scale(std::size_t i) const noexcept { return F::has_tensor_scale ? contexts_[i].tensor_scale : 1.0F; }

    /// Lanes of values k .. k + count - 1 of row i, zeros up to a whole block, and one scale a block. k is a multiple
    /// of 64. For formats of float lanes: the values.
    void lower(std::size_t i, std::size_t k, std::size_t count, kernel::lane_type<F>* lanes,
               float* scales) const noexcept {
        encode_context context = context_of(i, k);
        if constexpr (std::is_same_v<T, float>) {
            codec_.codec.lower_row(view_.row(i) + k, count, lanes, scales, options_, context);
        } else {
            alignas(64) float tile[conversion_tile];
            for (std::size_t done = 0; done < count; done += conversion_tile) {
                const std::size_t length = (std::min)(conversion_tile, count - done);
                widen(codec_.rows(), view_.row(i) + k + done, length, tile);
                codec_.codec.lower_row(tile, length, lanes + done,
                                       F::block_size == 1 ? scales : scales + done / F::block_size, options_, context);
                context.index += length;
            }
        }
    }
    /// The quantised values as floats, without the tensor scale.
    void decode(std::size_t i, std::size_t k, std::size_t count, float* out) const noexcept {
        if constexpr (!lane_traits<F>::integer) {
            float none[1];  // float lanes have no scales
            lower(i, k, count, out, none);
        } else {
            typename F::block blocks[conversion_tile / F::block_size];
            for (std::size_t done = 0; done < count; done += conversion_tile) {
                const std::size_t length = (std::min)(conversion_tile, count - done);
                codec_.encode(view_.row(i) + k + done, length, blocks, options_, context_of(i, k + done));
                codec_.codec.decode_row(blocks, length, out + done, 1.0F);
            }
        }
    }

  private:
    encode_context context_of(std::size_t i, std::size_t k) const noexcept {
        encode_context context;
        if constexpr (F::has_tensor_scale) context = contexts_[i];
        context.index = static_cast<std::uint64_t>(i) * view_.cols() + k;
        return context;
    }

    matrix_view<const T> view_;
    typename F::options options_;
    row_codec<F> codec_;
    aligned_buffer<encode_context> contexts_;  // one a row, for formats with a tensor scale
};

/// Rows of A that are blocks already.
template <class F>
class block_rows {
  public:
    using format = F;

    block_rows(const quantized_matrix<F>& q, isa which) noexcept : q_(&q), codec_(&kernel::codec<F>(which)) {}

    float tensor_scale(std::size_t i) const noexcept { return q_->tensor_scale(i); }
    void lower(std::size_t i, std::size_t k, std::size_t count, std::int8_t* lanes, float* scales) const noexcept {
        codec_->lower_blocks(q_->row(i).data() + k / F::block_size, count, lanes, scales);
    }
    void decode(std::size_t i, std::size_t k, std::size_t count, float* out) const noexcept {
        codec_->decode_row(q_->row(i).data() + k / F::block_size, count, out, 1.0F);
    }

  private:
    const quantized_matrix<F>* q_;
    const kernel::codec_functions<F>* codec_;
};

/// Panels of B in kernel order.
template <class F>
class packed_panels {
  public:
    using format = F;

    explicit packed_panels(const packed_matrix<F>& packed) noexcept : packed_(&packed) {}

    float tensor_scale(std::size_t j) const noexcept { return packed_->tensor_scale(j); }
    static constexpr std::size_t scratch_bytes(std::size_t) noexcept { return 0; }
    /// The records of values k .. k + count - 1 of panel p; k is a multiple of 64, k + count too or the end of the
    /// rows.
    const std::uint8_t* slice(std::size_t p, std::size_t k, std::size_t, std::uint8_t*) const noexcept {
        return packed_->panel(p) + kernel::panel_arithmetic<F>::record_at(k);
    }
    /// Reads a byte of each page of panel p, so that its address translation is at hand: Zen 5 drops prefetches of
    /// pages that its translation buffers do not hold, and no processor's own prefetching crosses into them.
    void touch(std::size_t p) const noexcept {
        const std::uint8_t* const panel = packed_->panel(p);
        for (std::size_t i = 0; i < kernel::panel_arithmetic<F>::panel_bytes(packed_->cols()); i += 4096) {
            read(panel + i);
        }
    }
    /// Asks for part `part` of `parts` of that slice.
    void prefetch(std::size_t p, std::size_t k, std::size_t count, std::size_t part, std::size_t parts) const noexcept {
        const std::size_t lines = kernel::panel_arithmetic<F>::panel_bytes(count) / 64;
        const std::uint8_t* const records = slice(p, k, count, nullptr);
        const std::size_t first = lines * part / parts, last = lines * (part + 1) / parts;
        for (std::size_t i = first; i < last; ++i) {
            const std::uint8_t* const line = records + 64 * i;
            // Zen 5 drops prefetches of pages that its translation buffers do not hold: a load brings the page in.
            if (i == first || reinterpret_cast<std::uintptr_t>(line) % 4096 == 0) {
                read(line);
            } else {
                __builtin_prefetch(line, 0, 2);
            }
        }
    }

  private:
    /// Loads a byte for nothing but its page and line.
    static void read(const std::uint8_t* p) noexcept {
        static_cast<void>(*static_cast<const volatile std::uint8_t*>(p));
    }

    const packed_matrix<F>* packed_;
};

/// Panels of a quantised matrix, put in kernel order slice by slice.
template <class F>
class quantized_panels {
  public:
    using format = F;

    explicit quantized_panels(const quantized_matrix<F>& q) noexcept : q_(&q) {}

    float tensor_scale(std::size_t j) const noexcept { return q_->tensor_scale(j); }
    static constexpr std::size_t scratch_bytes(std::size_t count) noexcept {
        return kernel::panel_arithmetic<F>::panel_bytes(count);
    }
    const std::uint8_t* slice(std::size_t p, std::size_t k, std::size_t count, std::uint8_t* scratch) const noexcept {
        const std::size_t first = p * kernel::panel_columns;
        pack_panel<F>(q_->row(first).data() + k / F::block_size, q_->blocks_per_row(),
                      (std::min)(kernel::panel_columns, q_->rows() - first), count, scratch);
        return scratch;
    }
    /// Nothing: a slice is made of rows that lie far from each other.
    void prefetch(std::size_t, std::size_t, std::size_t, std::size_t, std::size_t) const noexcept {}

  private:
    const quantized_matrix<F>* q_;
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
