// SPDX-License-Identifier: Apache-2.0
// Rows of the product's kernel table that join scales (gemm_abi.hpp), for AVX-512; included after gemm_rows.inl.

template <std::size_t Group, pair_kind Kind>
constexpr integer_kernel make_joined_row() noexcept {
    constexpr pair_kind joined{pair_sum::wide, true, Kind.join};
    constexpr std::size_t rows = rows_of<Group, joined>;
    return {rows,
            tile_columns,
            start_kind::word,
            &integer_tile_kernel<Group, joined>,
            &plain_tile_kernel<Group, joined>,
            &start_row<Group, false>,
            &interleave_rows<rows>,
            joined.join,
            &joinable};
}

template <std::size_t Group, pair_kind Kind>
inline constexpr integer_kernel joined_row = make_joined_row<Group, Kind>();
