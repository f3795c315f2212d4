// SPDX-License-Identifier: Apache-2.0
// Writing .safetensors files of float tensors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/io/file_sink.hpp>
#include <lowbit/io/npy.hpp>
#include <lowbit/io/safetensors_index.hpp>
#include <lowbit/io/tensor.hpp>
#include <nlohmann/json.hpp>

namespace lowbit {

/// A tensor to write: its values stay the caller's.
struct safetensors_output {
    std::string name;                        ///< unique in the file
    std::vector<std::size_t> shape;          ///< the size of each axis
    std::span<const float> values;           ///< in C order
    float_type type = float_type::bfloat16;  ///< what they are stored as
};

namespace detail {

[[nodiscard]] inline std::string_view safetensors_dtype(float_type type) noexcept {
    switch (type) {
        case float_type::float16: return "F16";
        case float_type::bfloat16: return "BF16";
        case float_type::float32: return "F32";
        case float_type::float64: return "F64";
    }
    return "";
}

template <class Bits>
void store_bits(Bits bits, std::vector<std::byte>& out) {
    for (std::size_t i = 0; i < sizeof(Bits); ++i) out.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xFFU));
}

/// Little-endian elements of `type`: the opposite of widen.
inline void narrow(std::span<const float> values, float_type type, std::vector<std::byte>& out) {
    const arch::fp_guard guard;
    out.clear();
    for (const float value : values) {
        switch (type) {
            case float_type::float16: store_bits(float16::from_float(value).bits(), out); break;
            case float_type::bfloat16: store_bits(bfloat16::from_float(value).bits(), out); break;
            case float_type::float32: store_bits(to_bits(value), out); break;
            case float_type::float64: store_bits(to_bits(static_cast<double>(value)), out); break;
        }
    }
}

/// A text as a string of JSON.
[[nodiscard]] inline std::string quoted_json(const std::string& text) {
    using nlohmann::json;
    // Bytes that are no UTF-8 are left out by one handler and replaced by the other.
    const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::ignore);
    if (quoted != json(text).dump(-1, ' ', false, json::error_handler_t::replace)) {
        fail(message("lowbit::write_safetensors: '", printable(text), "' of ", text.size(),
                     " bytes is not valid UTF-8, as names and metadata must be"));
    }
    return quoted;
}

/// A shape as an array of JSON; nlohmann's arrays allocate when they are destroyed, which may not fail.
[[nodiscard]] inline std::string shape_json(std::span<const std::size_t> shape) {
    std::string text = "[";
    for (const std::size_t size : shape) {
        if (text.size() > 1) text += ',';
        text += std::to_string(size);
    }
    return text + ']';
}

}  // namespace detail

/// Writes tensors, in this order, and `metadata` as one .safetensors file `path`, replacing what is there; the values
/// start on a multiple of 8.
///
/// Exact: float32 and float64; bfloat16 and float16 round to nearest even.
///
/// Errors: throws lowbit::error where a name repeats, is "__metadata__" or no UTF-8, or a shape does not fit its
/// values, lowbit::io_error where the file cannot be written; an old file stays what it was then.
inline void write_safetensors(const std::string& path, std::span<const safetensors_output> tensors,
                              const std::map<std::string, std::string>& metadata = {}) {
    constexpr std::string_view name = "lowbit::write_safetensors";
    std::unordered_set<std::string> names{"__metadata__"};
    std::string text = "{";
    for (const auto& [key, value] : metadata) {
        text += text.size() == 1 ? "\"__metadata__\":{" : ",";
        text += detail::quoted_json(key) + ':' + detail::quoted_json(value);
    }
    if (!metadata.empty()) text += '}';
    std::uint64_t offset = 0;
    for (const safetensors_output& tensor : tensors) {
        const std::string quoted = detail::quoted_json(tensor.name);
        const std::string subject = detail::message("tensor '", detail::printable(tensor.name), "'");
        if (!names.insert(tensor.name).second) {
            detail::fail(detail::message(
                name, ": ", subject,
                tensor.name == "__metadata__" ? " has the name of the metadata" : " stands there twice"));
        }
        detail::check_shape(name, "shape of " + subject, tensor.shape, tensor.values.size());
        detail::check_not_null(name, "data of " + subject, tensor.values.data(), tensor.values.size());
        if (size_of(tensor.type) == 0) {
            detail::fail(detail::message(name, ": type of ", subject, " is ", static_cast<unsigned>(tensor.type),
                                         ", but its last value is ", static_cast<unsigned>(float_type::float64)));
        }
        const std::uint64_t end = offset + std::uint64_t{tensor.values.size()} * size_of(tensor.type);
        if (text.size() > 1) text += ',';
        text += quoted + ":{\"dtype\":\"" + std::string(detail::safetensors_dtype(tensor.type)) +
                "\",\"shape\":" + detail::shape_json(tensor.shape) + ",\"data_offsets\":[" + std::to_string(offset) +
                "," + std::to_string(end) + "]}";
        offset = end;
    }
    text += '}';
    text.resize(round_up(text.size(), 8), ' ');

    detail::file_sink sink(name, path);
    std::vector<std::byte> raw;
    detail::store_bits(std::uint64_t{text.size()}, raw);
    sink.write(raw);
    sink.write(std::as_bytes(std::span(text)));
    for (const safetensors_output& tensor : tensors) {
        for (std::size_t done = 0; done < tensor.values.size(); done += detail::io_chunk_values) {
            const std::size_t step = (std::min)(tensor.values.size() - done, detail::io_chunk_values);
            detail::narrow(tensor.values.subspan(done, step), tensor.type, raw);
            sink.write(raw);
        }
    }
    sink.close();
}

}  // namespace lowbit
