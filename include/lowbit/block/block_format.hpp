// SPDX-License-Identifier: Apache-2.0
/// The contract of a block format: what every type of the registry offers, as a concept.
///
/// A format is a type without objects. It names itself, states how many values share a block, and turns one block of
/// floats into plain bytes and back:
///
///     F::name                                      how users and files call it
///     F::block_size                                values in a block
///     F::bits_per_value                            storage of whole blocks, without a tensor scale
///     F::has_tensor_scale                          one more float32 scale a matrix or a row
///     F::block                                     a struct of bytes, alignment 1, no padding
///     F::options                                   what changes the bytes, compared with ==
///     F::enumerated(options)                       of options that are enumerations: what to check (may be missing)
///     F::encode(values, options, context)          gives the block
///     F::decode(block, values, tensor_scale)       fills the values
///
/// Both functions are constexpr and noexcept: NaN and Inf in data are data. encode is the oracle that every vector
/// encoder equals byte for byte; decode accepts every byte pattern. Rows, tails and tensor scales of whole matrices are
/// the business of the layers above: encode always sees a full block, filled up with zeros where the row ends.
///
/// Exact: results do not depend on compiler, options such as -ffast-math, or contraction. Both functions expect the
/// default floating-point environment (round to nearest even, subnormals kept); whole-matrix functions see to it.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include <lowbit/core/bits.hpp>
#include <lowbit/element/rounding.hpp>

namespace lowbit {

/// A block format (see the top of this header).
template <class F>
concept block_format = requires {
    { F::name } -> std::convertible_to<std::string_view>;
    { F::block_size } -> std::convertible_to<std::size_t>;
    { F::bits_per_value } -> std::convertible_to<double>;
    { F::has_tensor_scale } -> std::convertible_to<bool>;
    requires std::is_trivially_copyable_v<typename F::block> && std::is_standard_layout_v<typename F::block>;
    requires alignof(typename F::block) == 1;
    requires std::equality_comparable<typename F::block>;
    requires std::equality_comparable<typename F::options> && std::default_initializable<typename F::options>;
}
&&requires(std::span<const float, F::block_size> values, std::span<float, F::block_size> out,
           const typename F::block& block, const typename F::options& options, const encode_context& context) {
    { F::encode(values) }
    noexcept->std::same_as<typename F::block>;
    { F::encode(values, options) }
    noexcept->std::same_as<typename F::block>;
    { F::encode(values, options, context) }
    noexcept->std::same_as<typename F::block>;
    { F::decode(block, out) }
    noexcept->std::same_as<void>;
    { F::decode(block, out, 1.0F) }
    noexcept->std::same_as<void>;
};

}  // namespace lowbit
