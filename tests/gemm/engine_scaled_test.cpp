// SPDX-License-Identifier: Apache-2.0
// The engine of scaled lanes on any machine: a kernel in plain code takes the place of the tile unit, in all the loops,
// with scales in its range and out of it.
#include <lowbit/gemm/engine_scaled.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gemm_testing.hpp"

namespace lowbit::test {
namespace {

constexpr std::size_t columns = kernel::panel_columns;

/// Tiles of 6 rows; what each function must do is written at kernel::scaled_kernel.
template <std::size_t Group>
struct plain_kernel {
    static constexpr std::size_t rows = 6;

    static void tiles(const kernel::scaled_tiles& t) noexcept {
        for (std::size_t tile = 0; tile < t.tiles; ++tile) {
            const bfloat16* const a = t.a + tile * t.a_step;
            for (std::size_t g = 0; g < t.groups; ++g) {
                for (std::size_t r = 0; r < rows; ++r) {
                    for (std::size_t c = 0; c < columns; ++c) {
                        float sum = 0;  // exact
                        for (std::size_t i = 0; i < Group; ++i) {
                            const std::size_t k = g * Group + i;
                            sum += a[(g * rows + r) * Group + i].to_float() *
                                   t.b[(k / 2 * columns + c) * 2 + k % 2].to_float();
                        }
                        t.acc[(tile * rows + r) * columns + c] += sum;
                    }
                }
            }
        }
    }
    static void scale_row(const std::int8_t* lanes, const float* scales, std::size_t repeats, std::size_t groups,
                          bfloat16* out, std::size_t step) noexcept {
        for (std::size_t g = 0; g < groups; ++g) {
            for (std::size_t i = 0; i < Group; ++i) {
                out[g * step + i] =
                    bfloat16::from_float(static_cast<float>(lanes[g * Group + i]) * scales[g / repeats]);
            }
        }
    }
    static bool scale_panel(const std::uint8_t* lanes, const float* scales, std::size_t groups,
                            bfloat16* out) noexcept {
        bool inside = true;
        for (std::size_t k = 0; k < groups * Group; ++k) {
            for (std::size_t c = 0; c < columns; ++c) {
                const float scale = scales[k / Group * columns + c];
                const std::uint32_t bits = abs_bits(scale);
                inside &= bits == 0 || is_nan(scale) ||
                          (bits >= kernel::scaled_least_bits && bits <= kernel::scaled_most_bits);
                const auto lane = static_cast<std::int8_t>(lanes[k / 4 * 4 * columns + 4 * c + k % 4]);
                out[(k / 2 * columns + c) * 2 + k % 2] = bfloat16::from_float(static_cast<float>(lane) * scale);
            }
        }
        return inside;
    }
    static constexpr kernel::scaled_kernel functions{rows, &tiles, &scale_row, &scale_panel};
};

template <class A, class B>
void expect_product(scales kind) {
    static_assert(kernel::scaled_lanes<A, B>);
    constexpr std::size_t group = common_group<A, B>;
    using source = detail::block_rows<A>;
    using panels = detail::packed_panels<B>;
    namespace scalar = kernel::LOWBIT_ISA_NAMESPACE(scalar)::product;
    const std::size_t m = 20, n = 71, k = 200;
    const auto a = random_operand<A>(m, k, 1, kind);
    const auto b = random_operand<B>(n, k, 2, kind);
    const auto packed = pack(b);
    const source rows(a, isa::scalar);
    const panels weights(packed);
    const detail::scaled_engine<source, panels> engine(
        rows, weights, {&plain_kernel<group>::functions, &scalar::expand_row<B>},
        {&scalar::integer_row<group, 3, 5>, &scalar::expand_row<B>, &scalar::output_row});
    thread_pool pool(3);
    for (const bool threads : {false, true}) {
        const executor runner = threads ? executor(pool) : executor();
        const gemm_options options;
        for (const detail::blocking& blocks : {detail::blocking{24, 32, 64, 0}, {6, 32, 128, 0}, {12, 64, 64, 128}}) {
            std::vector<float> c(m * n, quiet_nan);
            const detail::epilogue<float> finish(view_of(c, m, n), options, scalar::output_row, isa::scalar);
            const auto sizes =
                detail::lane_blocking(m, k, detail::scaled_lane_sizes({}), engine.tile_rows(), {}, blocks);
            if (sizes.ka >= k) {
                detail::run_resident(engine, finish, {m, n, k}, sizes, runner);
            } else {
                detail::run_sliced(engine, finish, {m, n, k}, sizes, runner);
            }
            EXPECT_TRUE(same_bits(c, reference(a, b))) << A::name << " x " << B::name;
        }
    }
}

TEST(scaled_engine, scales_in_the_range_of_the_kernel) {
    expect_product<mxfp4, mxfp4>(scales::tame);
    expect_product<nvfp4, nvfp4>(scales::tame);
    expect_product<m2xfp_activation, mxfp4>(scales::tame);
}

TEST(scaled_engine, scales_out_of_the_range_of_the_kernel) {
    expect_product<mxfp4, mxfp4>(scales::any);
    expect_product<mxfp4, mxfp4>(scales::wild);
    expect_product<nvfp4, mxfp4>(scales::wild);
}

}  // namespace
}  // namespace lowbit::test
