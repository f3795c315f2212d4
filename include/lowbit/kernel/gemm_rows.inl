// SPDX-License-Identifier: Apache-2.0
// The rows of the product's kernel table for one instruction set; included at the end of its target region.

/// The kind of kernels here: what 16 bits can hold matters to vpmaddubsw only.
constexpr pair_kind kind_here(pair_kind kind) noexcept {
    return {narrow_pairs ? kind.sum : pair_sum::wide, kind.magic, scale_join::none};
}

template <std::size_t Group, pair_kind Kind>
constexpr integer_kernel make_integer_row() noexcept {
    constexpr bool narrow = Kind.sum == pair_sum::narrow;
    integer_kernel row{
        tile_rows<Group>,
        tile_columns,
        narrow ? start_kind::pairs : start_kind::word,
        &integer_tile_kernel<Group, Kind>,
        &integer_tile_kernel<Group, Kind>,
        &start_row<Group, narrow>,
        &interleave_rows<tile_rows<Group>>,
    };
    if constexpr (Kind.magic) row.plain = &plain_tile_kernel<Group, Kind>;
    return row;
}

template <std::size_t Group, pair_kind Kind>
inline constexpr integer_kernel integer_row = make_integer_row<Group, kind_here(Kind)>();

inline constexpr float_kernel float_row{tile_rows<1>, tile_columns, &float_tile_kernel, &interleave_rows<tile_rows<1>>};

/// The bias that B's lanes carry.
template <class F>
inline constexpr int lane_bias = biased ? lane_traits<F>::largest : 0;

template <class F>
inline constexpr expand_kernel expand_row{lane_bias<F>, &expand_record<F, lane_bias<F>>};

inline constexpr output_kernel output_row{&output_segment_kernel};
