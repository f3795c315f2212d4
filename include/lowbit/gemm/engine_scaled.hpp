// SPDX-License-Identifier: Apache-2.0
// Products of scaled lanes: each lane times its scale in bfloat16, for a kernel that adds up a group without rounding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/gemm/engine_integer.hpp>
#include <lowbit/kernel/gemm_abi.hpp>
#include <lowbit/kernel/gemm_table.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// The engine of A x B for two formats whose scaled lanes are exact in bfloat16; see engine_integer.hpp for what the
/// loops expect. A tile of A or a slice of B with a scale out of the kernel's range is multiplied by the integer
/// engine, which lowers its rows and expands its panel anew: slow, and rare.
template <class ASource, class BSource>
class scaled_engine {
  public:
    using a_format = typename ASource::format;
    using b_format = typename BSource::format;
    using integer = integer_engine<ASource, BSource>;
    static constexpr bool takes_many_tiles = true;
    static constexpr std::size_t group = common_group<a_format, b_format>;

    scaled_engine(const ASource& a, const BSource& b, const kernel::scaled_product& kernels,
                  const kernel::integer_product& others) noexcept
        : kernels_(kernels), integer_(a, b, others) {}

    std::size_t tile_rows() const noexcept { return kernels_.kernel->rows; }
    const kernel::output_kernel& output() const noexcept { return integer_.output(); }
    const ASource& a() const noexcept { return integer_.a(); }
    const BSource& b() const noexcept { return integer_.b(); }

    /// Tiles of rows of A, each [group][rows][Group].
    struct a_block {
        /// Which rows and from which value of K on; whether a scale leaves the kernel's range.
        struct tile_source {
            std::size_t first_row, rows, k;
            bool outside;
        };
        std::size_t tile_values;
        aligned_buffer<bfloat16> values;
        aligned_buffer<tile_source> tiles;
    };
    a_block make_block(std::size_t rows, std::size_t depth, std::size_t = 0) const {
        const std::size_t tiles = divide_up(rows, tile_rows());
        const std::size_t tile_values = tile_rows() * round_up(depth, kernel::record_values);
        return {tile_values, aligned_buffer<bfloat16>(tiles * tile_values),
                aligned_buffer<typename a_block::tile_source>(tiles)};
    }

    /// A row on its way into a block.
    struct rows_in_order {
        aligned_buffer<std::int8_t> lanes;
        aligned_buffer<float> scales;
    };
    rows_in_order make_rows(std::size_t depth) const {
        return {aligned_buffer<std::int8_t>(round_up(depth, 64)),
                aligned_buffer<float>(divide_up(depth, a_format::block_size))};
    }

    void pack(a_block& block, std::size_t tile, std::size_t first_row, std::size_t rows, std::size_t k,
              std::size_t count, rows_in_order& on_the_way) const noexcept {
        const std::size_t groups = divide_up(count, group), blocks = divide_up(count, a_format::block_size);
        std::int8_t* const lanes = on_the_way.lanes.data();
        float* const scales = on_the_way.scales.data();
        bfloat16* const out = block.values.data() + tile * block.tile_values;
        bool outside = false;
        for (std::size_t r = 0; r < tile_rows(); ++r) {
            if (r < rows) {
                a().lower(first_row + r, k, count, lanes, scales);
                for (std::size_t n = 0; n < blocks; ++n) {
                    if (!leaves_range(scales[n])) continue;
                    const std::int8_t* const block_lanes = lanes + n * a_format::block_size;
                    if (std::all_of(block_lanes, block_lanes + a_format::block_size, [](int x) { return x == 0; })) {
                        scales[n] = 0.0F;  // a block of zeros, whose scale is the least there is, adds nothing
                    } else {
                        outside = true;
                    }
                }
            } else if (r == rows) {
                std::fill_n(lanes, round_up(count, 64), std::int8_t{0});
                std::fill_n(scales, blocks, 0.0F);
            }
            kernels_.kernel->scale_row(lanes, scales, a_format::block_size / group, groups, out + r * group,
                                       tile_rows() * group);
        }
        block.tiles[tile] = {first_row, rows, k, outside};
    }

    /// Scaled lanes of a slice of a panel, [value / 2][32][2].
    struct b_slice {
        aligned_buffer<bfloat16> values;
        aligned_buffer<std::uint8_t> packed;
        std::size_t panel = 0;
        bool outside = false;
        // For the integer engine, untouched unless it is needed.
        typename integer::a_block integer_block;
        typename integer::rows_in_order integer_rows;
        typename integer::b_slice integer_slice;
        aligned_buffer<float> sums;
    };
    b_slice make_slice(std::size_t depth) const {
        return {aligned_buffer<bfloat16>(round_up(depth, kernel::record_values) * kernel::panel_columns),
                aligned_buffer<std::uint8_t>(BSource::scratch_bytes(depth)),
                0,
                false,
                integer_.make_block(integer_.tile_rows(), depth),
                integer_.make_rows(depth),
                integer_.make_slice(depth),
                aligned_buffer<float>(integer_.tile_rows() * kernel::panel_columns)};
    }
    void load(b_slice& slice, std::size_t panel, std::size_t k, std::size_t count) const noexcept {
        using arithmetic = kernel::panel_arithmetic<b_format>;
        constexpr std::size_t repeats = b_format::block_size / group;
        alignas(64) std::uint8_t lanes[kernel::record_values * kernel::panel_columns];
        alignas(64) float scales[kernel::record_values / group * kernel::panel_columns];
        const std::uint8_t* const records = b().slice(panel, k, count, slice.packed.data());
        slice.panel = panel;
        slice.outside = false;
        for (std::size_t i = 0; i < count; i += kernel::record_values) {
            const std::size_t blocks = arithmetic::blocks_at(i, count);
            const std::uint8_t* const record = records + arithmetic::record_at(i);
            kernels_.expand->record(record, record + arithmetic::selectors_at(blocks),
                                    record + arithmetic::scales_at(blocks), blocks, repeats, lanes, scales);
            slice.outside |= !kernels_.kernel->scale_panel(lanes, scales, blocks * repeats,
                                                           slice.values.data() + i * kernel::panel_columns);
        }
    }
    /// One call of the kernel for all tiles: setting up the tile unit takes as long as a few groups.
    void multiply(const a_block& block, std::size_t first, std::size_t last, std::size_t offset, std::size_t count,
                  b_slice& slice, float* acc, std::size_t columns) const noexcept {
        const std::size_t acc_size = tile_rows() * kernel::panel_columns;
        for (std::size_t tile = first, next = first; tile < last; tile = next) {
            next = tile + 1;
            float* const sums = acc + (tile - first) * acc_size;
            if (slice.outside || block.tiles[tile].outside) {
                multiply_integers(block.tiles[tile], slice, offset, count, sums, columns);
                continue;
            }
            while (next < last && !block.tiles[next].outside) ++next;
            kernels_.kernel->tiles({block.values.data() + tile * block.tile_values + offset * tile_rows(),
                                    block.tile_values, slice.values.data(), divide_up(count, group), sums,
                                    next - tile});
        }
    }

  private:
    static bool leaves_range(float scale) noexcept {
        const std::uint32_t bits = abs_bits(scale);
        return bits - kernel::scaled_least_bits > kernel::scaled_most_bits - kernel::scaled_least_bits && bits != 0 &&
               !is_nan(scale);
    }

    void multiply_integers(const typename a_block::tile_source& rows, b_slice& slice, std::size_t offset,
                           std::size_t count, float* acc, std::size_t columns) const noexcept {
        const std::size_t k = rows.k + offset, tile = integer_.tile_rows();
        integer_.load(slice.integer_slice, slice.panel, k, count);
        aligned_buffer<float>& sums = slice.sums;
        for (std::size_t r = 0; r < rows.rows; r += tile) {
            const std::size_t here = (std::min)(tile, rows.rows - r);
            integer_.pack(slice.integer_block, 0, rows.first_row + r, here, k, count, slice.integer_rows);
            float* const out = acc + r * kernel::panel_columns;
            std::fill(std::copy_n(out, here * kernel::panel_columns, sums.data()), sums.end(), 0.0F);
            integer_.multiply(slice.integer_block, 0, 0, count, slice.integer_slice, sums.data(), columns);
            std::copy_n(sums.data(), here * kernel::panel_columns, out);
        }
    }

    kernel::scaled_product kernels_;
    integer integer_;
};

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
