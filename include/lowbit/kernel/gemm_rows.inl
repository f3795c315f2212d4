// SPDX-License-Identifier: Apache-2.0
// The rows of the product's kernel table for one instruction set; included at the end of its target region.

template <std::size_t Group, bool Narrow>
inline constexpr integer_kernel integer_row{
    tile_rows<Group>,
    tile_columns,
    Narrow&& narrow_pairs ? start_kind::pairs : start_kind::word,
    &integer_tile_kernel<Group, Narrow>,
    &plain_tile_kernel<Group, Narrow>,
    &start_row<Group, Narrow>,
    &interleave_rows<tile_rows<Group>>,
};

inline constexpr float_kernel float_row{tile_rows<1>, tile_columns, &float_tile_kernel, &interleave_rows<tile_rows<1>>};

/// The bias that B's lanes carry.
template <class F>
inline constexpr int lane_bias = biased ? lane_traits<F>::largest : 0;

template <class F>
inline constexpr expand_kernel expand_row{lane_bias<F>, &expand_record<F, lane_bias<F>>};

inline constexpr output_kernel output_row{&output_segment_kernel};
