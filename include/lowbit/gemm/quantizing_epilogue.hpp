// SPDX-License-Identifier: Apache-2.0
// From sums to blocks of C: the epilogue of products whose result is the next layer's quantised input.
//
// Segments of 32 columns are encoded as they are finished, from a buffer on the stack; where a block is two segments
// (hif4), the first one waits in the thread's strip, 64 columns of its rows, for the second. Either way a value is
// written once, as a code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/gemm/epilogue.hpp>
#include <lowbit/gemm/options.hpp>
#include <lowbit/kernel/abi.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/kernel/table.hpp>

namespace lowbit::detail {

/// Blocks of C in format F and how to make them.
template <class F>
struct block_target {
    typename F::block* blocks;
    std::size_t row_count;
    std::size_t col_count;
    typename F::options options;
    encode_context context;  ///< the scales

    std::size_t rows() const noexcept { return row_count; }
    std::size_t cols() const noexcept { return col_count; }
};

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Writes tiles of C as blocks; the same members as epilogue<T>.
template <class F>
class quantizing_epilogue {
  public:
    static constexpr std::size_t columns_of_panel = kernel::panel_columns;
    static constexpr std::size_t panel_step = divide_up(F::block_size, columns_of_panel);
    /// Columns that are encoded together: whole blocks.
    static constexpr std::size_t width = panel_step * columns_of_panel;
    static_assert(width % F::block_size == 0);

    quantizing_epilogue(const block_target<F>& target, const gemm_options& options, const kernel::output_kernel& kernel,
                        isa which) noexcept
        : target_(target), steps_(options, kernel, which), codec_(&kernel::codec<F>(which)) {}

    struct strip {
        std::size_t first_row;
        aligned_buffer<float> values;  // [row][width]; empty where a panel holds whole blocks
    };
    static strip make_strip(std::size_t rows) { return {0, aligned_buffer<float>(panel_step > 1 ? rows * width : 0)}; }

    void prefetch(std::size_t, std::size_t, std::size_t, std::size_t, std::size_t) const noexcept {}

    template <class AScale>
    void write(const float* acc, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
               const float* b_scales, const AScale& a_scale, strip& kept) const noexcept {
        alignas(64) float buffer[batch * width];
        const std::size_t place = column % width;  // in a row of `width` values
        const bool ends = place + columns_of_panel == width || column + columns == target_.cols();
        for (std::size_t done = 0; done < rows; done += batch) {
            const std::size_t count = (std::min)(batch, rows - done), first = row + done;
            float* const values = panel_step > 1 ? kept.values.data() + (first - kept.first_row) * width : buffer;
            for (std::size_t r = 0; r < count; ++r) {
                float* const y = values + r * width + place;
                steps_(acc + (done + r) * columns_of_panel, a_scale(first + r), b_scales, first + r, column, columns,
                       nullptr, y);
                if (ends) std::fill(y + columns, values + (r + 1) * width, 0.0F);
            }
            if (ends) encode(values, first, count, column - place, place + columns);
        }
    }

  private:
    static constexpr std::size_t batch = 8;  ///< rows that are encoded by one call: row codecs like long rows

    /// `rows` rows of `width` values, zeros from `columns` on, to the blocks of C's rows from `row` on.
    void encode(const float* values, std::size_t row, std::size_t rows, std::size_t column,
                std::size_t columns) const noexcept {
        constexpr std::size_t size = F::block_size, per_width = width / size;
        const std::size_t per_row = divide_up(target_.cols(), size), count = divide_up(columns, size);
        typename F::block* out = target_.blocks + row * per_row + column / size;
        encode_context context = target_.context;
        if constexpr (size == 1) {  // rounding may depend on the place
            for (std::size_t r = 0; r < rows; ++r, out += per_row) {
                context.index = static_cast<std::uint64_t>(row + r) * target_.cols() + column;
                codec_->encode_row(values + r * width, columns, out, target_.options, context);
            }
        } else {
            typename F::block blocks[batch * per_width];
            codec_->encode_row(values, rows * width, blocks, target_.options, context);
            for (std::size_t r = 0; r < rows; ++r, out += per_row) std::copy_n(blocks + r * per_width, count, out);
        }
    }

    block_target<F> target_;
    output_steps steps_;
    const kernel::codec_functions<F>* codec_;
};

template <class F>
struct epilogue_of<block_target<F>> {
    using type = quantizing_epilogue<F>;
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
