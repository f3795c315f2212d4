// SPDX-License-Identifier: Apache-2.0
// Atoms of few_lanes.inl for instruction sets whose table look-ups need clean indices.

inline constexpr bool one_look_up = false;  // of 64 entries

template <lane_selector Kind>
LOWBIT_ALWAYS_INLINE auto make_few_table(const std::uint8_t* p) noexcept {
    if constexpr (Kind == lane_selector::none) {
        return make_small_table(p);
    } else {
        return make_large_table(p);
    }
}
template <lane_selector Kind, int Position>
LOWBIT_ALWAYS_INLINE bytes low_index(bytes line, bytes fields) noexcept {
    if constexpr (Kind == lane_selector::none) return low_nibbles(line);
    return either(low_nibbles(line), spread<Position>(fields));
}
template <lane_selector Kind, int Position>
LOWBIT_ALWAYS_INLINE bytes high_index(bytes line, bytes fields) noexcept {
    if constexpr (Kind == lane_selector::none) return high_nibbles(line);
    return either(high_nibbles(line), spread<Position>(fields));
}
template <lane_selector Kind>
LOWBIT_ALWAYS_INLINE bytes few_fields(const std::uint8_t* planes) noexcept {
    return selector_fields<Kind>(planes);
}

/// HiF8 to floats: none, the row codec serves.
inline constexpr decode_kernel decode_hif8{};
