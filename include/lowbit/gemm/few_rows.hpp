// SPDX-License-Identifier: Apache-2.0
// Products with few rows of A against packed weights: the loops over the kernels that expand codes in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/core/scratch_pool.hpp>
#include <lowbit/gemm/engine_integer.hpp>
#include <lowbit/gemm/loops.hpp>
#include <lowbit/kernel/few_rows_table.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/kernel/table.hpp>
#include <lowbit/lane/lane_traits.hpp>

namespace lowbit::detail {

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Kernels work off whole blocks of B. Where A's blocks are smaller, the groups between the end of its rows and that of
/// B's last block get lanes of 0 and a scale of -0: t = fma(12582912, -0, -0) = -0, and -0 * scale_b adds nothing to
/// any sum, not even to a -0.
template <class ABlock>
void fill_up(ABlock& block, std::size_t tile, std::size_t tile_rows, std::size_t group, std::size_t first,
             std::size_t last, const kernel::integer_kernel& packing) noexcept {
    const std::int8_t zeros[64] = {};
    std::int32_t* const lanes = block.lanes.data() + tile * block.tile_lanes / 4;
    for (std::size_t g = first; g < last; ++g) {
        std::fill_n(lanes + g * group / 4 * tile_rows, group / 4 * tile_rows, 0);
        std::int32_t* const words = block.scales.data() + tile * block.tile_words + g * 3 * tile_rows;
        std::fill_n(words, 2 * tile_rows, (std::numeric_limits<std::int32_t>::min)());
        for (std::size_t r = 0; r < tile_rows; ++r) packing.starts(zeros, 1, 0, words + 2 * tile_rows + r, 1);
    }
}

/// Computes C for up to a few tiles of rows; returns false, with nothing written, where a scale of A leaves the range
/// of the fast kernels, which only the general path handles. Each panel is read once for every tile of rows, all tiles
/// while it is in cache.
template <class ASource, class BSource, class Epilogue>
[[nodiscard]] bool run_few_rows(const ASource& a, const BSource& b, const kernel::few_rows_product& kernels,
                                const Epilogue& epilogue, const product_shape& shape, const executor& executor) {
    using engine_type = integer_engine<ASource, BSource>;
    const engine_type engine(a, b, {&kernels.kernel->packing, kernels.expand, kernels.output});
    const std::size_t tile_rows = engine.tile_rows(), tiles = divide_up(shape.m, tile_rows);
    constexpr std::size_t group = engine_type::group, size = BSource::format::block_size;
    const std::size_t groups = divide_up(shape.k, group), whole_groups = divide_up(shape.k, size) * (size / group);
    auto block = engine.make_block(shape.m, whole_groups * group);
    const auto rows_of = [&](std::size_t tile) { return (std::min)(tile_rows, shape.m - tile * tile_rows); };
    executor.for_each(tiles, [&](std::size_t tile) {
        const arch::fp_guard guard;
        auto rows = engine.make_rows(shape.k);
        engine.pack(block, tile, tile * tile_rows, rows_of(tile), 0, shape.k, rows);
        fill_up(block, tile, tile_rows, group, groups, whole_groups, kernels.kernel->packing);
    });
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        if (block.plain[tile] != 0) return false;
    }
    const std::size_t panels = divide_up(shape.n, kernel::panel_columns), threads = executor.concurrency();
    const std::size_t runs = (std::min)(divide_up(panels, Epilogue::panel_step), threads > 1 ? 16 * threads : 1);
    scratch_pool strips((std::min)(threads, runs), [&] { return epilogue.make_strip(tiles * tile_rows); });
    const auto multiply = [&](std::size_t run, typename Epilogue::strip& strip) {
        const arch::fp_guard guard;
        alignas(64) float acc[kernel::largest_few_rows_tile * kernel::panel_columns], b_scales[kernel::panel_columns];
        const panel_run share = share_of_panels(panels, Epilogue::panel_step, run, runs);
        for (std::size_t panel = share.first; panel < share.last; ++panel) {
            const std::size_t column = panel * kernel::panel_columns;
            const std::size_t columns = (std::min)(kernel::panel_columns, shape.n - column);
            column_scales(b, panel, shape.n, b_scales);
            for (std::size_t tile = 0; tile < tiles; ++tile) {
                std::fill_n(acc, tile_rows * kernel::panel_columns, 0.0F);
                kernels.kernel->panel(
                    {reinterpret_cast<const std::int8_t*>(block.lanes.data()) + tile * block.tile_lanes,
                     block.scales.data() + tile * block.tile_words, b.slice(panel, 0, shape.k, nullptr), shape.k,
                     rows_of(tile), tile == 0 ? kernel::few_rows_ahead : 0, acc});
                epilogue.write(
                    acc, tile * tile_rows, rows_of(tile), column, columns, b_scales,
                    [&](std::size_t i) noexcept { return a.tensor_scale(i); }, strip);
            }
        }
    };
    executor.for_each(runs, [&](std::size_t run) { strips.use([&](auto& strip) { multiply(run, strip); }); });
    return true;
}

/// Decodes `values` values of K from a record of a packed panel of format F; HiF8 without a kernel of its own takes
/// the row codec.
template <class F>
class record_decoder {
  public:
    explicit record_decoder(isa which) noexcept
        : kernel_(&kernel::decode_kernels<F>(which)), codec_(&kernel::codec<F>(which)) {}

    void operator()(const std::uint8_t* record, std::size_t values, float* out) const noexcept {
        if constexpr (!lane_traits<F>::integer) {
            if (kernel_->record == nullptr) {
                for (std::size_t line = 0; line < values * kernel::panel_columns; line += 64) {
                    __builtin_prefetch(record + kernel::few_rows_ahead + line);
                }
                codec_->decode_row(reinterpret_cast<const typename F::block*>(record), values * kernel::panel_columns,
                                   out, 1.0F);
                return;
            }
        }
        kernel_->record(record, values, kernel::few_rows_ahead, out);
    }
    /// For tiles of 1, 2 or 4 rows.
    const kernel::abreast_kernel& abreast(std::size_t rows) const noexcept { return kernel_->abreast[rows / 2]; }
    /// 32 sums in the order of the columns.
    void put_in_order(float* acc) const noexcept {
        if (kernel_->order == nullptr) return;
        alignas(64) float moved[kernel::panel_columns];
        std::copy_n(acc, kernel::panel_columns, moved);
        for (std::size_t i = 0; i < kernel::panel_columns; ++i) acc[kernel_->order[i]] = moved[i];
    }

  private:
    const kernel::decode_kernel* kernel_;
    const kernel::codec_functions<F>* codec_;
};

/// The same where either side is multiplied as float32: HiF8, and activations that are not quantised. A few panels at a
/// time are decoded, record by record, and multiplied by every tile of rows while they are in the first cache; or they
/// are decoded in registers, once for each tile, where there is a kernel for it.
template <class ASource, class BSource, class Epilogue>
void run_few_floats(const ASource& a, const BSource& b, isa which, const Epilogue& epilogue, const product_shape& shape,
                    const executor& executor) {
    using fb = typename BSource::format;
    const kernel::few_floats_kernel& kernels = kernel::few_floats_kernels(which, shape.m);
    const std::size_t tile_rows = kernels.rows, tiles = divide_up(shape.m, tile_rows);
    aligned_buffer<float> values(tiles * tile_rows * shape.k, 0.0F), row(shape.k);
    {
        const arch::fp_guard guard;
        for (std::size_t i = 0; i < shape.m; ++i) {
            a.decode(i, 0, shape.k, row.data());
            float* const out = values.data() + i / tile_rows * tile_rows * shape.k + i % tile_rows;
            for (std::size_t k = 0; k < shape.k; ++k) out[k * tile_rows] = row[k];
        }
    }
    const record_decoder<fb> decode(which);
    const std::size_t panels = divide_up(shape.n, kernel::panel_columns), threads = executor.concurrency();
    const kernel::abreast_kernel& abreast = decode.abreast(tile_rows);
    const bool in_registers = abreast.panels != 0;
    const std::size_t width = in_registers ? abreast.panels : kernels.panels, sets = divide_up(panels, width);
    // Values of K that all tiles of rows share in the cache.
    const std::size_t part = tiles == 1 ? shape.k : kernel::abreast_part;
    const std::size_t step = width % Epilogue::panel_step == 0 ? 1 : Epilogue::panel_step;  // of sets
    const std::size_t runs = (std::min)(divide_up(sets, step), threads > 1 ? 16 * threads : 1);
    scratch_pool strips((std::min)(threads, runs), [&] { return epilogue.make_strip(tiles * tile_rows); });
    const auto multiply = [&](std::size_t run, typename Epilogue::strip& strip) {
        const arch::fp_guard guard;
        alignas(64) float decoded[kernel::most_few_floats_panels * kernel::decoded_record];
        alignas(64) float acc[divide_up(kernel::most_few_float_rows, 4) * kernel::few_floats_sums];
        alignas(64) float b_scales[kernel::panel_columns];
        std::fill_n(decoded, kernels.panels * kernel::decoded_record, 0.0F);
        const panel_run share = share_of_panels(sets, step, run, runs);
        for (std::size_t set = share.first; set < share.last; ++set) {
            const std::size_t first = set * width, count = (std::min)(width, panels - first);
            std::fill_n(acc, tiles * kernel::few_floats_sums, 0.0F);
            std::size_t k = 0;
            if (in_registers) {
                for (std::size_t p = first + count; p < (std::min)(first + 2 * width, panels); ++p) b.touch(p);
                const std::size_t whole = shape.k / kernel::record_values * kernel::record_values;
                while (k < whole) {
                    const std::size_t depth = (std::min)(part, whole - k);
                    for (std::size_t tile = 0; tile < tiles; ++tile) {
                        kernel::few_floats_tile operands{values.data() + (tile * shape.k + k) * tile_rows,
                                                         {},
                                                         depth,
                                                         tile == 0 ? kernel::few_rows_ahead : 0,
                                                         acc + tile * kernel::few_floats_sums};
                        for (std::size_t p = 0; p < width; ++p) {
                            operands.panels[p] = b.slice(first + (std::min)(p, count - 1), k, depth, nullptr);
                        }
                        abreast.multiply(operands);
                    }
                    k += depth;
                }
            }
            for (; k < shape.k; k += kernel::record_values) {
                const std::size_t depth = (std::min)(kernel::record_values, shape.k - k);
                for (std::size_t p = 0; p < count; ++p) {
                    decode(b.slice(first + p, k, depth, nullptr), depth, decoded + p * kernel::decoded_record);
                }
                for (std::size_t tile = 0; tile < tiles; ++tile) {
                    const float* const rows = values.data() + tile * tile_rows * shape.k + k * tile_rows;
                    float* const sums = acc + tile * kernel::few_floats_sums;
                    for (std::size_t p = 0; p < count; p += kernels.panels) {
                        kernels.values(rows, decoded + p * kernel::decoded_record, depth,
                                       sums + p * tile_rows * kernel::panel_columns);
                    }
                }
            }
            for (std::size_t p = 0; p < count; ++p) {
                const std::size_t column = (first + p) * kernel::panel_columns;
                const std::size_t columns = (std::min)(kernel::panel_columns, shape.n - column);
                column_scales(b, first + p, shape.n, b_scales);
                for (std::size_t tile = 0; tile < tiles; ++tile) {
                    float* const sums = acc + tile * kernel::few_floats_sums + p * tile_rows * kernel::panel_columns;
                    const std::size_t rows = (std::min)(tile_rows, shape.m - tile * tile_rows);
                    for (std::size_t r = 0; r < rows; ++r) decode.put_in_order(sums + r * kernel::panel_columns);
                    epilogue.write(
                        sums, tile * tile_rows, rows, column, columns, b_scales,
                        [&](std::size_t i) noexcept { return a.tensor_scale(i); }, strip);
                }
            }
        }
    };
    executor.for_each(runs, [&](std::size_t run) { strips.use([&](auto& strip) { multiply(run, strip); }); });
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
