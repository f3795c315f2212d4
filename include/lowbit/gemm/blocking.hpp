// SPDX-License-Identifier: Apache-2.0
/// Block sizes of the matrix product, derived from the sizes of the caches.
///
/// Integer lanes. The loops, outermost first (MR x 32 is the tile that one kernel call adds to):
///
///     for ic in M by MC        A block MC x K: quantised to int8 lanes once, scales and start words beside; in L2
///       for jr in N by 32        one panel of B at a time, dealt out to the threads
///         for pc in K by KC        slice KC x 32 of the panel: 4-bit codes expanded to int8; in L2 and L1
///           for ir in MC by MR       kernel: acc[ir] += A[ir, pc] B[pc, jr];  after the last slice: epilogue
///
/// KC. The slice is read once for each tile, 16 bytes a cycle, which L2 can deliver as well as L1; what counts is that
/// the fixed costs of a slice (sums in and out, the start of a stream) are spread over many values. KC = L2 / 512,
/// between 512 and 4096: 4096 for 2 MiB, a slice of 128 KiB. (Measured with vpdpbusd, fraction of the peak at KC 256,
/// 640, 1024, 2048: group 64 0.79 0.84 0.86 0.87, group 32 0.72 0.77 0.78 0.79, group 16 0.55 0.59 0.62 0.63.)
///
/// MC. The slice's expansion (about 3 cycles for 64 values) is shared by MC rows (64 values * MC / 128 cycles): 2.3 %
/// at MC = 256, so MC should be large; but A's block is read once for each panel and must stay in L2: three quarters of
/// L2 for MC * (K + 12 K / group) bytes. Then M is cut evenly, in multiples of MR. Where the third cache is near (AMD:
/// one for 8 cores), five quarters: what does not fit streams in beside the kernel. (Zen 5, 1 MiB of L2, hif4, K =
/// 4096, milliseconds at MC 64, 96, 128, 256, 512: 30.3, 28.8, 27.2, 25.5, 25.9.)
///
/// Where K is so large that three quarters of L2 hold fewer than 64 rows, the block may grow to 2.5 MiB; beyond that A
/// is cut along K too, and each task keeps sums for its own NC columns (as with float lanes).
///
/// Scaled lanes (bfloat16, AMX): the same loops. A takes two bytes a value, and so does the slice of B, which is 256
/// KiB for KC = 4096: half of L2 remains for A's block. (Measured, multiples of vpdpbusd's peak, mxfp4, K = 4096: MC
/// 128, KC 512, 1024, 2048, 4096: 0.88 0.96 1.01 1.04; KC 4096, MC 64, 96, 128, 192, 256: 0.89 0.94 1.04 0.92 0.73.)
///
/// Float lanes (HiF8 on either side). Values are four times as large, so A's block cannot stay; tasks are MC x NC
/// blocks of C:
///
///     for each task (ic, jc)   sums MC x NC in scratch
///       for pc in K by KC        A slice MC x KC decoded to float; lives in L2
///         for jr in NC by 32       B slice KC x 32 decoded to float; lives in L1
///           for ir in MC by MR       kernel; after the last slice: epilogue
///
/// Where C is float and its old values do not count, the sums are kept in C itself: tasks can be as wide as N, so that
/// A is quantised once a thread; threads share out the columns, and rows where that would leave a thread fewer than 512
/// (each of them decodes its share of B, which costs more than quantising A again: two threads over one, Zen 5, M =
/// 512, N = K = 4096, 1.96 by columns, 1.83 by rows). The sums come from farther away then, so slices are deep, A's
/// in 3.5 MiB at most. (Measured, fraction of the FMA peak at KC 256, 512, 1024, 1408, 2048, K = 4096: 0.74 0.77 0.83
/// 0.85 0.85; sums in scratch: 0.80.)
#pragma once

#include <algorithm>
#include <cstddef>

#if defined(__linux__)
# include <unistd.h>
#endif

#include <lowbit/core/bits.hpp>
#include <lowbit/kernel/panel_layout.hpp>

namespace lowbit::detail {

struct cache_sizes {
    std::size_t l1 = 32 * 1024;
    std::size_t l2 = 1024 * 1024;
};

/// Sizes of this machine's first two data caches; the defaults where the system does not say.
[[nodiscard]] inline cache_sizes query_caches() noexcept {
    cache_sizes caches;
#if defined(__linux__) && defined(_SC_LEVEL1_DCACHE_SIZE)
    const long l1 = ::sysconf(_SC_LEVEL1_DCACHE_SIZE), l2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (l1 >= 8 * 1024) caches.l1 = static_cast<std::size_t>(l1);
    if (l2 >= 64 * 1024) caches.l2 = static_cast<std::size_t>(l2);
#endif
    return caches;
}

[[nodiscard]] inline const cache_sizes& caches() noexcept {
    static const cache_sizes sizes = query_caches();
    return sizes;
}

/// Block sizes; a zero means: choose. Tests force small ones. Rounded up to what a kernel needs.
struct blocking {
    std::size_t mc = 0;  ///< rows of A in a block
    std::size_t nc = 0;  ///< columns of C in a task, where A is cut along K
    std::size_t kc = 0;  ///< values of K in a slice of a panel, a multiple of 64
    std::size_t ka = 0;  ///< values of K of A's block, a multiple of kc; 0 or >= K: all of K

    friend constexpr bool operator==(const blocking&, const blocking&) = default;
};

/// M cut into equal blocks of at most `most` rows, in multiples of `tile`.
[[nodiscard]] constexpr std::size_t even_blocks(std::size_t m, std::size_t most, std::size_t tile) noexcept {
    most = (std::max)(most / tile * tile, tile);
    if (m <= most) return round_up((std::max)(m, std::size_t{1}), tile);
    return round_up(divide_up(m, divide_up(m, most)), tile);
}

/// What an engine's operands take: bytes of 64 values of a row of A, and the depth of a slice of B.
struct lane_sizes {
    std::size_t a_bytes;
    std::size_t kc;
    std::size_t l2_quarters = 3;  ///< share of L2 for A's block
};
[[nodiscard]] inline std::size_t slice_depth(const cache_sizes& sizes) noexcept {
    return (std::min)((std::max)(sizes.l2 / 512, std::size_t{512}), std::size_t{4096});
}
/// int8 lanes, and three words a group.
[[nodiscard]] inline lane_sizes integer_lane_sizes(std::size_t group, const cache_sizes& sizes,
                                                   bool near_l3 = false) noexcept {
    return {64 + 12 * (64 / group), slice_depth(sizes), near_l3 ? std::size_t{5} : std::size_t{3}};
}
/// bfloat16 lanes.
[[nodiscard]] inline lane_sizes scaled_lane_sizes(const cache_sizes& sizes) noexcept {
    return {128, slice_depth(sizes), 2};
}

/// Blocks for integer lanes and for scaled lanes.
[[nodiscard]] inline blocking lane_blocking(std::size_t m, std::size_t k, const lane_sizes& lanes,
                                            std::size_t tile_rows, const cache_sizes& sizes,
                                            blocking forced = {}) noexcept {
    constexpr std::size_t most_bytes = 5 * 512 * 1024;
    blocking b = forced;
    if (b.kc == 0) b.kc = lanes.kc;
    b.kc = round_up(b.kc, kernel::record_values);
    const std::size_t depth = (std::max)(k, std::size_t{1});
    if (b.ka == 0) {
        const std::size_t fits = most_bytes / 64 / (16 * lanes.a_bytes) * 1024;  // depth at which 64 rows fill it
        b.ka = depth <= fits ? depth : fits / 2;
    }
    b.ka = b.ka >= depth ? round_up(depth, b.kc) : round_up(b.ka, b.kc);
    if (b.mc == 0) {
        const std::size_t bytes = divide_up((std::min)(b.ka, depth), 64) * lanes.a_bytes;
        const std::size_t most =
            (std::max)(sizes.l2 / 4 * lanes.l2_quarters / bytes, (std::min)(most_bytes / bytes, std::size_t{64}));
        b.mc = even_blocks(m, (std::max)(most, tile_rows), tile_rows);
    }
    b.mc = round_up(b.mc, tile_rows);
    if (b.nc == 0) b.nc = 1024;
    b.nc = round_up(b.nc, kernel::panel_columns);
    return b;
}

/// Blocks for float lanes; `in_place`: C holds the sums.
[[nodiscard]] inline blocking float_blocking(std::size_t m, std::size_t n, std::size_t k, std::size_t tile_rows,
                                             std::size_t threads, bool in_place, const cache_sizes& sizes,
                                             blocking forced = {}) noexcept {
    constexpr std::size_t most_bytes = 7 * 512 * 1024;  // of A's slice in place
    blocking b = forced;
    if (b.mc == 0) {
        const bool by_rows = in_place && n < 512 * threads;
        const std::size_t share = by_rows ? (std::max)(divide_up(m, threads), std::size_t{256}) : 512;
        b.mc = even_blocks(m, (std::min)(share, std::size_t{512}), tile_rows);
    }
    b.mc = round_up(b.mc, tile_rows);
    if (b.kc == 0) {
        const std::size_t in_l1 = (std::max)(sizes.l1 / 3 * 2 / (4 * kernel::panel_columns), std::size_t{64});
        const std::size_t deepest = (std::min)(most_bytes / (4 * b.mc), std::size_t{2048});
        const std::size_t depth = (std::max)(k, std::size_t{1});
        b.kc = in_place ? divide_up(depth, divide_up(depth, (std::max)(deepest, in_l1))) : in_l1;
    }
    b.kc = round_up(b.kc, kernel::record_values);
    b.ka = b.kc;
    if (b.nc == 0) {
        const std::size_t tasks = divide_up(m, b.mc);
        const std::size_t wanted = divide_up(n, divide_up((in_place ? 1 : 2) * threads, tasks));
        b.nc = threads > 1 ? wanted : n;
        if (!in_place) b.nc = (std::min)(std::size_t{1024}, b.nc);
    }
    b.nc = (std::max)(round_up(b.nc, kernel::panel_columns), kernel::panel_columns);
    return b;
}

}  // namespace lowbit::detail
