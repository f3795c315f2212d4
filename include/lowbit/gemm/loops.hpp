// SPDX-License-Identifier: Apache-2.0
// The loops of the matrix product, over an engine that knows formats and kernels; blocking.hpp derives their block
// sizes.
//
// Every sum is added up in ascending order of K by one thread, so that neither the blocks nor the number of threads can
// change a bit. All scratch is made before C is touched: a product that runs out of memory has written nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/core/scratch_pool.hpp>
#include <lowbit/gemm/blocking.hpp>
#include <lowbit/kernel/panel_layout.hpp>

namespace lowbit::detail {

/// m x n x k of a product.
struct product_shape {
    std::size_t m;
    std::size_t n;
    std::size_t k;
};

inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Tensor scales of the 32 columns of panel `panel`; 1 past the last column.
template <class BSource>
void column_scales(const BSource& b, std::size_t panel, std::size_t n, float* scales) noexcept {
    for (std::size_t c = 0; c < kernel::panel_columns; ++c) {
        const std::size_t j = panel * kernel::panel_columns + c;
        scales[c] = j < n ? b.tensor_scale(j) : 1.0F;
    }
}

/// Panels first .. last - 1 of a run; none where first == last.
struct panel_run {
    std::size_t first;
    std::size_t last;
};
/// Run `run` of `runs` in `panels`, in multiples of `step`. Runs are taken in ascending order and become shorter, the
/// last ones a step or nothing, so that threads end together: (1 - run / runs)^2 of the panels lie at or after a run.
[[nodiscard]] constexpr panel_run share_of_panels(std::size_t panels, std::size_t step, std::size_t run,
                                                  std::size_t runs) noexcept {
    const std::size_t units = divide_up(panels, step);
    const auto first = [&](std::size_t r) {
        // units * left^2 / runs^2, rounded up, in two steps that do not overflow.
        const std::size_t left = runs - r;
        return (std::min)((units - divide_up(divide_up(units * left, runs) * left, runs)) * step, panels);
    };
    return {first(run), first(run + 1)};
}

/// Tiles of rows and a panel meet: adds a slice to the tiles' sums and, after the last one, writes C.
template <class Engine, class Epilogue>
struct tile_worker {
    const Engine& engine;
    const Epilogue& epilogue;
    const product_shape& shape;

    /// Where along K a slice lies: `offset` in the A block, `count` values, the `index`-th of `slices`.
    struct slice_place {
        std::size_t offset, count, index, slices;
    };

    /// Tiles first_tile .. last_tile - 1 of the block, whose rows are C's from `row` (of tile 0) on, `rows` in all.
    /// b_scales: of the panel's columns. fetch(tile) asks for a part of what comes next. The lines of C are asked for a
    /// few at a time, over all slices.
    template <class Fetch>
    void operator()(const typename Engine::a_block& block, std::size_t first_tile, std::size_t last_tile,
                    std::size_t row, std::size_t rows, const slice_place& at, typename Engine::b_slice& slice,
                    std::size_t panel, float* acc, const float* b_scales, typename Epilogue::strip& strip,
                    const Fetch& fetch) const {
        const std::size_t mr = engine.tile_rows(), acc_size = mr * kernel::panel_columns;
        const std::size_t column = panel * kernel::panel_columns;
        const std::size_t columns = (std::min)(kernel::panel_columns, shape.n - column);
        const auto rows_of = [&](std::size_t tile) { return (std::min)(mr, rows - tile * mr); };
        const auto before = [&](std::size_t tile) {
            fetch(tile);
            if (columns == kernel::panel_columns) {
                epilogue.prefetch(row + tile * mr, rows_of(tile), column, at.index, at.slices);
            }
        };
        const auto sums_of = [&](std::size_t tile) { return acc + (tile - first_tile) * acc_size; };
        const auto after = [&](std::size_t tile) {
            if (at.index + 1 != at.slices) return;
            epilogue.write(
                sums_of(tile), row + tile * mr, rows_of(tile), column, columns, b_scales,
                [&](std::size_t i) noexcept { return engine.a().tensor_scale(i); }, strip);
        };
        if constexpr (Engine::takes_many_tiles) {
            for (std::size_t tile = first_tile; tile < last_tile; ++tile) before(tile);
            engine.multiply(block, first_tile, last_tile, at.offset, at.count, slice, acc, columns);
            for (std::size_t tile = first_tile; tile < last_tile; ++tile) after(tile);
        } else {
            for (std::size_t tile = first_tile; tile < last_tile; ++tile) {
                before(tile);
                engine.multiply(block, tile, at.offset, at.count, slice, sums_of(tile), columns);
                after(tile);
            }
        }
    }
};

/// What a task of the loops below works in.
template <class Engine, class Epilogue>
struct task_scratch {
    typename Engine::b_slice slice;
    aligned_buffer<float> acc;
    typename Epilogue::strip strip;
};
/// That of a task that makes A's blocks for itself.
template <class Engine, class Epilogue>
struct sliced_scratch {
    typename Engine::a_block block;
    typename Engine::rows_in_order tile_of_a;
    task_scratch<Engine, Epilogue> task;
};

/// A's block holds all of K: it is made once for each MC rows and shared by the threads, which share out the panels.
template <class Engine, class Epilogue>
void run_resident(const Engine& engine, const Epilogue& epilogue, const product_shape& shape, const blocking& sizes,
                  const executor& executor) {
    const std::size_t mr = engine.tile_rows(), threads = executor.concurrency();
    const std::size_t panels = divide_up(shape.n, kernel::panel_columns);
    const std::size_t block_rows = (std::min)(sizes.mc, round_up(shape.m, mr));
    const tile_worker<Engine, Epilogue> work{engine, epilogue, shape};
    // Tasks: runs of panels, and of tiles where there are few panels; 16 or more a thread, so that they end together.
    const std::size_t wanted = threads > 1 ? 16 * threads : 1;
    const std::size_t panel_runs = (std::min)(divide_up(panels, Epilogue::panel_step), wanted);
    const std::size_t most_tile_runs = divide_up(wanted, panel_runs), most_tiles = divide_up(block_rows, mr);
    const std::size_t run_tiles = divide_up(most_tiles, (std::min)(most_tiles, most_tile_runs));
    auto block = engine.make_block(block_rows, shape.k, sizes.kc);
    scratch_pool packing((std::min)(threads, most_tiles), [&] { return engine.make_rows(shape.k); });
    scratch_pool working((std::min)(threads, panel_runs * most_tile_runs), [&] {
        return task_scratch<Engine, Epilogue>{engine.make_slice((std::min)(sizes.kc, shape.k)),
                                              aligned_buffer<float>(run_tiles * mr * kernel::panel_columns),
                                              epilogue.make_strip(run_tiles * mr)};
    });
    for (std::size_t ic = 0; ic < shape.m; ic += sizes.mc) {
        const std::size_t rows = (std::min)(sizes.mc, shape.m - ic), tiles = divide_up(rows, mr);
        const auto rows_of = [&](std::size_t tile) { return (std::min)(mr, rows - tile * mr); };
        executor.for_each(tiles, [&](std::size_t tile) {
            const arch::fp_guard guard;
            packing.use([&](auto& tile_of_a) {
                engine.pack(block, tile, ic + tile * mr, rows_of(tile), 0, shape.k, tile_of_a);
            });
        });
        const std::size_t tile_runs = (std::min)(tiles, most_tile_runs);
        const auto multiply = [&](std::size_t task, task_scratch<Engine, Epilogue>& scratch) {
            const arch::fp_guard guard;
            const std::size_t tile_run = task % tile_runs;
            const std::size_t first_tile = tiles * tile_run / tile_runs, last_tile = tiles * (tile_run + 1) / tile_runs;
            auto& slice = scratch.slice;
            auto& acc = scratch.acc;
            auto& strip = scratch.strip;
            strip.first_row = ic + first_tile * mr;
            alignas(64) float b_scales[kernel::panel_columns];
            const panel_run share = share_of_panels(panels, Epilogue::panel_step, task / tile_runs, panel_runs);
            for (std::size_t panel = share.first; panel < share.last; ++panel) {
                column_scales(engine.b(), panel, shape.n, b_scales);
                std::fill_n(acc.data(), (last_tile - first_tile) * mr * kernel::panel_columns, 0.0F);
                for (std::size_t pc = 0; pc < shape.k; pc += sizes.kc) {
                    const std::size_t count = (std::min)(sizes.kc, shape.k - pc);
                    engine.load(slice, panel, pc, count);
                    const bool end = pc + count == shape.k;
                    const std::size_t next_panel = panel + (end ? 1 : 0), next_pc = end ? 0 : pc + count;
                    work(block, first_tile, last_tile, ic, rows,
                         {pc, count, pc / sizes.kc, divide_up(shape.k, sizes.kc)}, slice, panel, acc.data(), b_scales,
                         strip, [&](std::size_t tile) {
                             if (next_panel == share.last) return;
                             engine.b().prefetch(next_panel, next_pc, (std::min)(sizes.kc, shape.k - next_pc),
                                                 tile - first_tile, last_tile - first_tile);
                         });
                }
            }
        };
        executor.for_each(panel_runs * tile_runs,
                          [&](std::size_t task) { working.use([&](auto& scratch) { multiply(task, scratch); }); });
    }
}

/// A is cut along K: each task keeps the sums of its MC x NC part of C and makes A's blocks for itself.
template <class Engine, class Epilogue>
void run_sliced(const Engine& engine, const Epilogue& epilogue, const product_shape& shape, const blocking& sizes,
                const executor& executor) {
    const std::size_t mr = engine.tile_rows();
    const std::size_t nc = round_up(sizes.nc, Epilogue::panel_step * kernel::panel_columns);
    const std::size_t row_tasks = divide_up(shape.m, sizes.mc), column_tasks = divide_up(shape.n, nc);
    const std::size_t acc_size = mr * kernel::panel_columns;
    const tile_worker<Engine, Epilogue> work{engine, epilogue, shape};
    scratch_pool working((std::min)(executor.concurrency(), row_tasks * column_tasks), [&] {
        const std::size_t tiles = divide_up((std::min)(sizes.mc, shape.m), mr);
        const std::size_t panels = divide_up((std::min)(nc, shape.n), kernel::panel_columns);
        const std::size_t depth = (std::min)(sizes.ka, shape.k);
        return sliced_scratch<Engine, Epilogue>{
            engine.make_block(tiles * mr, depth, sizes.kc),
            engine.make_rows(depth),
            {engine.make_slice((std::min)(sizes.kc, shape.k)), aligned_buffer<float>(panels * tiles * acc_size),
             epilogue.make_strip(tiles * mr)}};
    });
    const auto multiply = [&](std::size_t task, sliced_scratch<Engine, Epilogue>& scratch) {
        const arch::fp_guard guard;
        const std::size_t ic = task / column_tasks * sizes.mc, jc = task % column_tasks * nc;
        const std::size_t rows = (std::min)(sizes.mc, shape.m - ic), tiles = divide_up(rows, mr);
        const std::size_t panels = divide_up((std::min)(nc, shape.n - jc), kernel::panel_columns);
        const auto rows_of = [&](std::size_t tile) { return (std::min)(mr, rows - tile * mr); };
        auto& block = scratch.block;
        auto& slice = scratch.task.slice;
        auto& acc = scratch.task.acc;
        auto& strip = scratch.task.strip;
        std::fill_n(acc.data(), panels * tiles * acc_size, 0.0F);
        strip.first_row = ic;
        alignas(64) float b_scales[kernel::panel_columns];
        for (std::size_t pa = 0; pa < shape.k; pa += sizes.ka) {
            const std::size_t depth = (std::min)(sizes.ka, shape.k - pa);
            for (std::size_t tile = 0; tile < tiles; ++tile) {
                engine.pack(block, tile, ic + tile * mr, rows_of(tile), pa, depth, scratch.tile_of_a);
            }
            for (std::size_t p = 0; p < panels; ++p) {
                const std::size_t panel = jc / kernel::panel_columns + p;
                column_scales(engine.b(), panel, shape.n, b_scales);
                for (std::size_t pc = 0; pc < depth; pc += sizes.kc) {
                    const std::size_t count = (std::min)(sizes.kc, depth - pc);
                    engine.load(slice, panel, pa + pc, count);
                    work(block, 0, tiles, ic, rows, {pc, count, (pa + pc) / sizes.kc, divide_up(shape.k, sizes.kc)},
                         slice, panel, acc.data() + p * tiles * acc_size, b_scales, strip, [&](std::size_t tile) {
                             if (p + 1 < panels) engine.b().prefetch(panel + 1, pa + pc, count, tile, tiles);
                             const float* const next =
                                 acc.data() + (p * tiles + tile + (tile + 1 < tiles ? 1 : 0)) * acc_size;
                             for (std::size_t i = 0; i < acc_size; i += 16) __builtin_prefetch(next + i, 1);
                         });
                }
            }
        }
    };
    executor.for_each(row_tasks * column_tasks,
                      [&](std::size_t task) { working.use([&](auto& scratch) { multiply(task, scratch); }); });
}

/// As run_sliced, but the sums grow in C itself: no scratch for them, so that a task can be as wide as C and makes A's
/// blocks once. C must be float and not be an operand of the epilogue (no beta, no residual).
template <class Engine, class Epilogue>
void run_in_place(const Engine& engine, const Epilogue& epilogue, const matrix_view<float>& c, std::size_t depth,
                  const blocking& sizes, const executor& executor) {
    const std::size_t mr = engine.tile_rows();
    const std::size_t row_tasks = divide_up(c.rows(), sizes.mc), column_tasks = divide_up(c.cols(), sizes.nc);
    scratch_pool working((std::min)(executor.concurrency(), row_tasks * column_tasks), [&] {
        const std::size_t rows = (std::min)(sizes.mc, c.rows()), count = (std::min)(sizes.kc, depth);
        return sliced_scratch<Engine, Epilogue>{
            engine.make_block(rows, count),
            engine.make_rows(count),
            {engine.make_slice(count), aligned_buffer<float>(mr * kernel::panel_columns, 0.0F),
             epilogue.make_strip(round_up(rows, mr))}};
    });
    const auto multiply = [&](std::size_t task, sliced_scratch<Engine, Epilogue>& scratch) {
        const arch::fp_guard guard;
        const std::size_t ic = task / column_tasks * sizes.mc, jc = task % column_tasks * sizes.nc;
        const std::size_t rows = (std::min)(sizes.mc, c.rows() - ic), tiles = divide_up(rows, mr);
        const std::size_t panels = divide_up((std::min)(sizes.nc, c.cols() - jc), kernel::panel_columns);
        const auto rows_of = [&](std::size_t tile) { return (std::min)(mr, rows - tile * mr); };
        auto& block = scratch.block;
        auto& slice = scratch.task.slice;
        auto& edge = scratch.task.acc;  // of tiles that reach over an edge of C
        auto& strip = scratch.task.strip;
        strip.first_row = ic;
        alignas(64) float b_scales[kernel::panel_columns];
        for (std::size_t k = 0; k < depth; k += sizes.kc) {
            const std::size_t count = (std::min)(sizes.kc, depth - k);
            const bool first = k == 0, last = k + count == depth;
            for (std::size_t tile = 0; tile < tiles; ++tile) {
                engine.pack(block, tile, ic + tile * mr, rows_of(tile), k, count, scratch.tile_of_a);
            }
            for (std::size_t p = 0; p < panels; ++p) {
                const std::size_t panel = jc / kernel::panel_columns + p, column = panel * kernel::panel_columns;
                const std::size_t columns = (std::min)(kernel::panel_columns, c.cols() - column);
                column_scales(engine.b(), panel, c.cols(), b_scales);
                engine.load(slice, panel, k, count);
                for (std::size_t tile = 0; tile < tiles; ++tile) {
                    const std::size_t row = ic + tile * mr, here = rows_of(tile);
                    if (p + 1 < panels) engine.b().prefetch(panel + 1, k, count, tile, tiles);
                    if (tile + 1 < tiles && columns == kernel::panel_columns) {
                        epilogue.prefetch(row + mr, rows_of(tile + 1), column, 0, 1);
                    }
                    const bool whole = here == mr && columns == kernel::panel_columns;
                    float* const sums = whole ? c.row(row) + column : edge.data();
                    const std::size_t step = whole ? c.stride() : kernel::panel_columns;
                    for (std::size_t r = 0; r < here && !whole && !first; ++r) {
                        std::copy_n(c.row(row + r) + column, columns, sums + r * step);
                    }
                    engine.multiply(block, tile, 0, count, slice, sums, columns, step, first);
                    if (last) {
                        epilogue.write(
                            sums, row, here, column, columns, b_scales,
                            [&](std::size_t i) noexcept { return engine.a().tensor_scale(i); }, strip, step);
                    } else if (!whole) {
                        for (std::size_t r = 0; r < here; ++r) {
                            std::copy_n(sums + r * step, columns, c.row(row + r) + column);
                        }
                    }
                }
            }
        }
    };
    executor.for_each(row_tasks * column_tasks,
                      [&](std::size_t task) { working.use([&](auto& scratch) { multiply(task, scratch); }); });
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace lowbit::detail
