// SPDX-License-Identifier: Apache-2.0
/// The only list of block formats: by type at compile time, by name at run time.
///
/// Everything that must treat all formats (tables of codecs, file input, reports, tests) walks this list. A new format
/// is its header and one entry of all_formats.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <lowbit/block/block_format.hpp>
#include <lowbit/block/hif4.hpp>
#include <lowbit/block/int8_block.hpp>
#include <lowbit/block/m2xfp.hpp>
#include <lowbit/block/mxfp4.hpp>
#include <lowbit/block/mxint8.hpp>
#include <lowbit/block/nvfp4.hpp>
#include <lowbit/element/hif8.hpp>

namespace lowbit {

static_assert(block_format<hif8>);

/// A list of block formats as a type.
template <block_format... Formats>
struct format_list {
    static constexpr std::size_t size = sizeof...(Formats);                          ///< how many
    static constexpr std::array<std::string_view, size> names = {Formats::name...};  ///< in the list's order
};

/// Every block format of the library.
using all_formats = format_list<hif4, hif8, mxfp4, nvfp4, m2xfp_activation, m2xfp_weight, mxint8, int8_block>;

namespace detail {

template <class Visitor, class... Formats>
constexpr void for_each_of(format_list<Formats...>, Visitor& visitor) {
    (static_cast<void>(visitor(std::type_identity<Formats>{})), ...);
}

template <class Visitor, class... Formats>
constexpr bool visit_one_of(format_list<Formats...>, std::string_view name, Visitor& visitor) {
    return ((name == Formats::name && (static_cast<void>(visitor(std::type_identity<Formats>{})), true)) || ...);
}

template <class F, class... Formats>
constexpr std::size_t index_in(format_list<Formats...>) noexcept {
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<F, Formats> || (++index, false)) || ...));
    return index;
}

}  // namespace detail

/// Calls visitor(std::type_identity<F>{}) for every format, in the order of all_formats.
template <class Visitor>
constexpr void for_each_format(Visitor&& visitor) {
    detail::for_each_of(all_formats{}, visitor);
}

/// Calls visitor(std::type_identity<F>{}) for the format of this name; false, and no call, where there is none.
///
///     visit_format("mxfp4", [&]<class F>(std::type_identity<F>) { use<F>(); });
template <class Visitor>
constexpr bool visit_format(std::string_view name, Visitor&& visitor) {
    return detail::visit_one_of(all_formats{}, name, visitor);
}

/// Position of F in all_formats (all_formats::size where it is not in the list).
template <block_format F>
inline constexpr std::size_t format_index = detail::index_in<F>(all_formats{});

static_assert(format_index<hif4> == 0 && format_index<int8_block> + 1 == all_formats::size);

}  // namespace lowbit
