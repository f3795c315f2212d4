// SPDX-License-Identifier: Apache-2.0
/// What the loops of the matrix product know of a micro-kernel, and what a micro-kernel knows of its operands.
///
/// Operands of the integer kernel (group g of `Group` values; row r of the tile, column c of the panel):
///
///     a         int8 lanes [value / 4][rows][4], zeros where a row ends: one stream, four values of each row together
///     a_scales  for each group rows x {scale}, rows x {offset}, rows x {start}: 3 * rows words (floats by their bits)
///     b         expanded lanes [value / 4][32][4], each plus the kernel's bias, as in panel_layout.hpp
///     b_scales  float [group][32]
///     acc       float [rows][32], read and written: a tile of the sum so far
///
/// For each group, in ascending order, acc = fma(float(dot) * scale_a, scale_b, acc).
///
/// The magic start. Integer accumulators do not start at 0 but at the bits of the float 12582912 = 1.5 * 2^23, whose
/// neighbours are one apart: after the group the accumulator's bits, read as a float, are 12582912 + dot exactly
/// (|dot| < 2^22). With offset = -12582912 * scale_a the one fma
///
///     t = fma(12582912 + dot, scale_a, offset) = round(dot * scale_a)
///
/// converts and scales: the same bits as float(dot) * scale_a, as long as 12582912 * scale_a is exact and finite. So a
/// group costs two vector operations per register of results, not three. `start` also holds -bias * (sum of the row's
/// lanes in the group), which turns the unsigned weight lanes (lane + bias) of x86's dot products back into signed
/// ones.
///
/// Where the trick is not exact (scale_a above 2^102, or a zero scale under a lane that is not zero: the sign of the
/// zero would differ), packing marks the tile of rows, and `plain` does it by conversion and multiplication.
///
/// Joined scales. Where floats are added, and bytes permuted, by other ports than those of the dot product (AMD's Zen
/// 4, Zen 5), a group costs the dot product's ports one operation instead of two:
///
///     acc = fma((12582912 + dot) - 12582912, scale_a * scale_b, acc)
///
/// with scale_a * scale_b made of integer additions. The bits are the contract's, since no step but the last rounds:
/// dot * scale_a has at most 24 significant bits, and scale_a * scale_b few, both far from the ends of the exponents
/// (scales within 2^-60 .. 2^60, else `plain`). Where one of the formats has powers of two (scale_join::add)
///
///     bits(scale_a * scale_b) = bits(scale_b) + offset,    offset = bits(scale_a) - bits(1.0)
///
/// and for two scales of up to 3 fraction bits, ma of scale_a and mb of scale_b (scale_join::table)
///
///     bits(scale_a * scale_b) = bits(scale_b) + bits(scale_a) + joining[ma][mb],    offset = 64 ma, in bytes
///
/// where joining[ma] is one register, looked up by mb.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lowbit/arch/isa.hpp>
#include <lowbit/core/float16.hpp>

namespace lowbit::kernel {

inline constexpr float magic_float = 12582912.0F;
inline constexpr std::uint32_t magic_bits = 0x4B400000U;
/// Scales of A up to this one keep 12582912 * scale finite.
inline constexpr std::uint32_t magic_limit_bits = (127U + 102U) << 23U;

/// What `start` of a row and group holds.
enum class start_kind : std::uint8_t {
    word,   ///< int32: magic_bits - bias * sum of the lanes
    pairs,  ///< two int16, modulo 2^16: -bias * (sum of lanes 4s, 4s + 1), -bias * (sum of lanes 4s + 2, 4s + 3)
};

/// How scale_a * scale_b is made without a multiplication.
enum class scale_join : std::uint8_t { none, add, table };

/// The scales that can be joined: 2^-60 .. 2^60.
inline constexpr std::uint32_t joined_least_bits = (127U - 60U) << 23U, joined_most_bits = (127U + 60U) << 23U;

struct integer_tile {
    const std::int8_t* a;
    const std::int32_t* a_scales;
    const std::uint8_t* b;
    const float* b_scales;
    std::size_t groups;
    float* acc;
    std::size_t columns;  ///< valid columns from here on; kernels whose width divides 32 may ignore it
};

/// The float kernel: acc = fma(a, b, acc) for each k in ascending order; a as float [k][rows], b as float [k][32].
struct float_tile {
    const float* a;
    const float* b;
    std::size_t depth;
    float* acc;
    std::size_t columns;
    std::size_t acc_step = 32;  ///< floats from row to row of acc
    bool fresh = false;         ///< acc starts at +0 and is not read
};

/// One instruction set's kernels for one group size and pair of lane bounds.
struct integer_kernel {
    std::size_t rows;     ///< of a tile
    std::size_t columns;  ///< of a tile: a panel is worked off in strips of so many
    start_kind start;
    void (*tile)(const integer_tile&) noexcept;
    void (*plain)(const integer_tile&) noexcept;
    /// Start words of one row: for each of `groups` groups what start_kind says, `step` words apart.
    void (*starts)(const std::int8_t* lanes, std::size_t groups, int bias, std::int32_t* out,
                   std::size_t step) noexcept;
    /// `count` words (4 lanes, or a float) of each of `rows` rows, `stride` words apart, to out[word][row]. Rows and
    /// out have room up to the next multiple of 4 words.
    void (*interleave)(const std::int32_t* rows, std::size_t stride, std::size_t count, std::int32_t* out) noexcept;
    scale_join join = scale_join::none;  ///< what `tile` wants as offsets
    /// Whether all of `count` scales of B (a multiple of 32) can be joined; null where join is none.
    bool (*joinable)(const float* scales, std::size_t count) noexcept = nullptr;
};

struct float_kernel {
    std::size_t rows;
    std::size_t columns;
    void (*tile)(const float_tile&) noexcept;
    void (*interleave)(const std::int32_t* rows, std::size_t stride, std::size_t count, std::int32_t* out) noexcept;
};

/// The kernel of scaled lanes (isa_amx_gemm.hpp): every lane is multiplied by its scale beforehand and kept in
/// bfloat16.
///
///     a    bfloat16 [group][rows][Group];  b  bfloat16 [value / 2][32][2];  acc as above
///
/// for `tiles` tiles of A, a_step values apart, whose sums lie one after the other.
struct scaled_tiles {
    const bfloat16* a;
    std::size_t a_step;
    const bfloat16* b;
    std::size_t groups;
    float* acc;
    std::size_t tiles;
};

struct scaled_kernel {
    std::size_t rows;  ///< of a tile
    void (*tiles)(const scaled_tiles&) noexcept;
    /// One row of A: lanes times scales (one for `repeats` groups), a group to each `step` values of out.
    void (*scale_row)(const std::int8_t* lanes, const float* scales, std::size_t repeats, std::size_t groups,
                      bfloat16* out, std::size_t step) noexcept;
    /// Expanded lanes, scaled_bias added, times their scales. False where a scale is out of range: out is of no use.
    bool (*scale_panel)(const std::uint8_t* lanes, const float* scales, std::size_t groups, bfloat16* out) noexcept;
};

/// The bias that the lanes of B carry on their way to scale_panel.
inline constexpr int scaled_bias = 128;
/// The scales that the kernel takes, beside 0 and NaN: 2^-48 .. 2^48.
inline constexpr std::uint32_t scaled_least_bits = (127U - 48U) << 23U, scaled_most_bits = (127U + 48U) << 23U;

/// Expands records of a packed panel of one format to lanes and scales.
struct expand_kernel {
    int bias;  ///< what is added to each lane
    /// `blocks` blocks of one record, whose parts lie at codes, selectors and scales: writes blocks * block * 32 lanes,
    /// and for each group (`repeats` of them a block) 32 scales.
    void (*record)(const std::uint8_t* codes, const std::uint8_t* selectors, const std::uint8_t* scales,
                   std::size_t blocks, std::size_t repeats, std::uint8_t* lanes, float* lane_scales) noexcept;
};

/// One row segment of the result: what is added to it and how it is scaled (see gemm/epilogue.hpp).
struct output_segment {
    const float* acc;      ///< `count` sums
    const float* b_scale;  ///< tensor scale of each column
    float a_scale;         ///< tensor scale of the row
    float alpha;
    const float* bias;  ///< of each column, or null
    float beta;         ///< C is read only if its bits are not those of a zero
    const float* c;     ///< old values, as float; read only if beta is not zero
    float* out;         ///< may be c
    std::size_t count;  ///< up to 32
};

struct output_kernel {
    /// y = fma((a_scale * b_scale) * alpha, acc, bias or -0); y = fma(beta, c, y) unless beta is 0; NaN -> 0x7FC00000.
    void (*segment)(const output_segment&) noexcept;
};

}  // namespace lowbit::kernel
