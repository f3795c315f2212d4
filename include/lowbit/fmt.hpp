// SPDX-License-Identifier: Apache-2.0
// Formatters of the {fmt} library for the elements, the 16-bit types, isa, version and error_stats. Opt-in.
//
//     fmt::print("{:.3f} {} {}\n", lowbit::hif8::from_float(1.5F), lowbit::active_isa(), lowbit::compare(w, q));
//
// Elements and 16-bit types print as their float value and take every specification of a float (for the code itself
// print x.bits()); isa, version and error_stats print as text and take those of a string. Needs {fmt} 9 or later and
// is part of no umbrella; the headers of lowbit themselves print nothing.
#pragma once

#include <string_view>

#include <fmt/format.h>

#include <lowbit/arch/isa.hpp>
#include <lowbit/core/config.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/element/hif8.hpp>
#include <lowbit/element/minifloat.hpp>
#include <lowbit/metrics/error_stats.hpp>

namespace lowbit::detail {

/// Prints x.to_float(): exact for every code; NaN prints as `nan`, whatever its sign bit.
template <class T>
struct value_formatter : fmt::formatter<float> {
    template <class Context>
    auto format(const T& x, Context& context) const {
        return fmt::formatter<float>::format(x.to_float(), context);
    }
};

}  // namespace lowbit::detail

template <lowbit::minifloat_format Format>
struct fmt::formatter<lowbit::minifloat<Format>> : lowbit::detail::value_formatter<lowbit::minifloat<Format>> {};

template <>
struct fmt::formatter<lowbit::hif8> : lowbit::detail::value_formatter<lowbit::hif8> {};

template <>
struct fmt::formatter<lowbit::bfloat16> : lowbit::detail::value_formatter<lowbit::bfloat16> {};

template <>
struct fmt::formatter<lowbit::float16> : lowbit::detail::value_formatter<lowbit::float16> {};

/// The name that LOWBIT_ISA takes: `avx512vnni`.
template <>
struct fmt::formatter<lowbit::isa> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(lowbit::isa which, Context& context) const {
        return fmt::formatter<std::string_view>::format(lowbit::to_string(which), context);
    }
};

/// `0.1.0`.
template <>
struct fmt::formatter<lowbit::version_number> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const lowbit::version_number& version, Context& context) const {
        fmt::memory_buffer text;
        fmt::format_to(fmt::appender(text), "{}.{}.{}", version.major_number, version.minor_number,
                       version.patch_number);
        return fmt::formatter<std::string_view>::format({text.data(), text.size()}, context);
    }
};

/// One line: the figures, then those of the counts that are not zero.
///     sqnr 21.72 dB, relative error 8.2 %, mse 1.3e-05, max error 0.031, cosine 0.99663; of 1024: 12 exact, 3 flushed
template <>
struct fmt::formatter<lowbit::error_stats> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const lowbit::error_stats& stats, Context& context) const {
        fmt::memory_buffer text;
        const fmt::appender out(text);
        fmt::format_to(out, "sqnr {:.2f} dB, relative error {:.3g} %, mse {:.3g}, max error {:.3g}, cosine {:.5f}",
                       stats.sqnr_db, 100 * stats.relative_error, stats.mse, stats.max_abs, stats.cosine);
        fmt::format_to(out, "; of {}: {} exact", stats.count, stats.exact);
        const auto count = [&](std::uint64_t number, std::string_view what) {
            if (number != 0) fmt::format_to(out, ", {} {}", number, what);
        };
        count(stats.flushed, "flushed");
        count(stats.saturated, "saturated");
        count(stats.sign_changed, "of the other sign");
        count(stats.nan, "became NaN");
        count(stats.infinite, "became Inf");
        count(stats.nonfinite_reference, "not finite before");
        count(stats.hidden, "of these hidden");
        return fmt::formatter<std::string_view>::format({text.data(), text.size()}, context);
    }
};
