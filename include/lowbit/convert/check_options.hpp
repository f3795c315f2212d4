// SPDX-License-Identifier: Apache-2.0
// The checks of what a caller chose about the conversion of a matrix; `name` is the public function that asks.
#pragma once

#include <string_view>

#include <lowbit/block/block_format.hpp>
#include <lowbit/convert/options.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>

namespace lowbit::detail {

/// Refuses options of a format that are none; `prefix` leads to them: "format.".
template <block_format F>
void check_format_options(std::string_view name, std::string_view prefix, const typename F::options& options) {
    if constexpr (requires { F::enumerated(options); }) {
        for (const enumerated_option& option : F::enumerated(options)) check_enumerated(name, prefix, option);
    }
}

/// Refuses a tensor scale that is not finite and > 0; `field` holds it.
inline void check_tensor_scale(std::string_view name, std::string_view field, float scale) {
    if (is_tensor_scale(scale)) return;
    fail(message(name, ": option '", field, "' is ", decimal(scale), ", but must be finite and > 0"));
}

/// All that must hold of the options of quantize and quantize_transposed.
template <block_format F>
void check_options(std::string_view name, const quantize_options<F>& options) {
    check_format_options<F>(name, "format.", options.format);
    if constexpr (F::has_tensor_scale) {
        const tensor_scale_kind kind = options.tensor_scale.kind;
        check_enumerated(name, "tensor_scale.",
                         {"kind", static_cast<unsigned>(kind), static_cast<unsigned>(tensor_scale_kind::none)});
        if (kind == tensor_scale_kind::given)
            check_tensor_scale(name, "tensor_scale.value", options.tensor_scale.value);
    }
}

}  // namespace lowbit::detail
