// SPDX-License-Identifier: Apache-2.0
// The rows of the table of kernels for few rows of A; included after few_rows_registers.inl or few_rows_records.inl.

#include <lowbit/kernel/few_bytes.inl>

/// Words of Rows rows, `stride` apart, to out[word][row].
template <std::size_t Rows>
inline void few_interleave(const std::int32_t* rows, std::size_t stride, std::size_t count,
                           std::int32_t* out) noexcept {
    for (std::size_t w = 0; w < count; ++w) {
        for (std::size_t r = 0; r < Rows; ++r) *out++ = rows[r * stride + w];
    }
}

template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
constexpr few_rows_kernel make_few_rows_row() noexcept {
    constexpr bool narrow = Kind.sum == pair_sum::narrow;
    few_rows_kernel row{{Rows, panel_columns, narrow ? start_kind::pairs : start_kind::word, nullptr, nullptr,
                         &start_row<Group, narrow>, &few_interleave<Rows>},
                        nullptr};
    if constexpr (table_lanes<F>) {
        row.panel = &few_rows_panel<F, Group, Kind, Rows>;
    } else {
        row.panel = &few_bytes_panel<F, Group, Kind, Rows>;
    }
    return row;
}

template <class F, std::size_t Group, pair_kind Kind, std::size_t Rows>
inline constexpr few_rows_kernel few_rows_row = make_few_rows_row<F, Group, kind_here(Kind), Rows>();
