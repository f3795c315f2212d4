// SPDX-License-Identifier: Apache-2.0
// Products of float lanes (HiF8 on either side): A's blocks and B's slices decoded to float32.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/kernel/few_rows_table.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/gemm_table.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/kernel/table.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The engine of A x B by acc = fma(a, b, acc) over decoded values; see engine_integer.hpp for what the loops expect.
template <class ASource, class BSource>
class float_engine {
  public:
    using a_format = typename ASource::format;
    using b_format = typename BSource::format;
    static constexpr bool takes_many_tiles = false;
    static constexpr std::size_t group = 1;

    float_engine(const ASource& a, const BSource& b, isa which) noexcept
        : a_(&a), b_(&b), kernels_(kernel::float_kernels(which)), codec_(&kernel::codec<b_format>(which)) {
        if constexpr (lane_traits<b_format>::integer) decode_ = &kernel::decode_kernels<b_format>(which);
    }

    std::size_t tile_rows() const noexcept { return kernels_.kernel->rows; }
    const kernel::output_kernel& output() const noexcept { return *kernels_.output; }
    const ASource& a() const noexcept { return *a_; }
    const BSource& b() const noexcept { return *b_; }

    struct a_block {
        std::size_t tile_values;
        aligned_buffer<std::int32_t> values;  // floats by their bits
    };
    a_block make_block(std::size_t rows, std::size_t depth, std::size_t = 0) const {
        const std::size_t values = tile_rows() * round_up(depth, 4);
        return {values, aligned_buffer<std::int32_t>(divide_up(rows, tile_rows()) * values)};
    }
    /// A tile of rows on its way into a block.
    using rows_in_order = aligned_buffer<float>;
    rows_in_order make_rows(std::size_t depth) const { return rows_in_order(tile_rows() * row_stride(depth)); }

    void pack(a_block& block, std::size_t tile, std::size_t first_row, std::size_t rows, std::size_t k,
              std::size_t count, rows_in_order& values) const noexcept {
        const std::size_t stride = row_stride(count);
        for (std::size_t r = 0; r < tile_rows(); ++r) {
            if (r < rows) {
                a_->decode(first_row + r, k, count, values.data() + r * stride);
            } else {
                std::fill_n(values.data() + r * stride, count, 0.0F);
            }
        }
        kernels_.kernel->interleave(reinterpret_cast<const std::int32_t*>(values.data()), stride, count,
                                    block.values.data() + tile * block.tile_values);
    }

    struct b_slice {
        aligned_buffer<float> values;  // [k][32]
        aligned_buffer<std::uint8_t> packed;
    };
    b_slice make_slice(std::size_t depth) const {
        return {aligned_buffer<float>(round_up(depth, kernel::record_values) * kernel::panel_columns),
                aligned_buffer<std::uint8_t>(BSource::scratch_bytes(depth))};
    }
    void load(b_slice& slice, std::size_t panel, std::size_t k, std::size_t count) const noexcept {
        const std::uint8_t* const records = b_->slice(panel, k, count, slice.packed.data());
        if constexpr (!lane_traits<b_format>::integer) {
            static_assert(sizeof(typename b_format::block) == 1);
            codec_->decode_row(reinterpret_cast<const typename b_format::block*>(records),
                               count * kernel::panel_columns, slice.values.data(), 1.0F);
        } else {
            for (std::size_t i = 0; i < count; i += kernel::record_values) {
                decode_->record(records + kernel::panel_arithmetic<b_format>::record_at(i),
                                (std::min)(kernel::record_values, count - i), 0,
                                slice.values.data() + i * kernel::panel_columns);
            }
        }
    }

    /// `acc_step`: floats from row to row of acc; `fresh`: acc is not read, its sums start at +0.
    void multiply(const a_block& block, std::size_t tile, std::size_t offset, std::size_t count, const b_slice& slice,
                  float* acc, std::size_t columns, std::size_t acc_step = kernel::panel_columns,
                  bool fresh = false) const noexcept {
        const auto* const values =
            reinterpret_cast<const float*>(block.values.data() + tile * block.tile_values + offset * tile_rows());
        for (std::size_t c = 0; c < columns; c += kernels_.kernel->columns) {
            kernels_.kernel->tile({values, slice.values.data() + c, count, acc + c, columns - c, acc_step, fresh});
        }
    }

  private:
    static constexpr std::size_t row_stride(std::size_t depth) noexcept { return round_up(depth, 16) + 16; }

    const ASource* a_;
    const BSource* b_;
    kernel::float_product kernels_;
    const kernel::codec_functions<b_format>* codec_;
    const kernel::decode_kernel* decode_ = nullptr;
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
