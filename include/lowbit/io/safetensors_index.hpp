// SPDX-License-Identifier: Apache-2.0
// The header of a .safetensors file: names, element types, shapes and places of its tensors, and the metadata.
//
//     bytes 0..7   N, the length of the text, little endian (at most 100 000 000)
//     N bytes      JSON: {"__metadata__": {"format": "pt"},
//                         "name": {"dtype": "BF16", "shape": [768, 256], "data_offsets": [0, 393216]}, ...}
//     values       each tensor in C order, little endian; offsets count from here
//
// A file comes from somebody else, so everything is checked before it is used: the text is read event by event and no
// document tree is built (nesting is limited by the grammar, memory by the length of the text), keys may not repeat,
// the bytes that shape and element type need must be the bytes between the two offsets, and the tensors must cover the
// values of the file from the first to the last byte without gap or overlap.
// Needs nlohmann_json: link with the CMake target lowbit::safetensors.
// Source: https://github.com/huggingface/safetensors, "Format" and safetensors/src/tensor.rs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <lowbit/core/bits.hpp>
#include <lowbit/io/byte_source.hpp>
#include <lowbit/io/tensor.hpp>
#include <nlohmann/json.hpp>

namespace lowbit {

/// One tensor of a .safetensors file, not its values.
struct safetensors_entry {
    std::string name;                ///< by which models call it
    std::string dtype;               ///< as in the file: "BF16", "I64", "F8_E4M3", ...
    std::vector<std::size_t> shape;  ///< its product is known to fit
    std::uint64_t begin = 0;         ///< where the values start, from the start of the file
    std::uint64_t bytes = 0;         ///< how many bytes they take

    /// The element type where the values can be read (F64 F32 F16 BF16), else nothing.
    [[nodiscard]] std::optional<float_type> type() const noexcept {
        if (dtype == "F32") return float_type::float32;
        if (dtype == "BF16") return float_type::bfloat16;
        if (dtype == "F16") return float_type::float16;
        if (dtype == "F64") return float_type::float64;
        return std::nullopt;
    }
    /// Product of all axes but the last.
    [[nodiscard]] std::size_t rows() const noexcept { return detail::rows_and_cols(shape).first; }
    /// The last axis, K.
    [[nodiscard]] std::size_t cols() const noexcept { return detail::rows_and_cols(shape).second; }
};

/// What the header of a .safetensors file says.
struct safetensors_index {
    std::vector<safetensors_entry> tensors;       ///< in the order of their values in the file
    std::map<std::string, std::string> metadata;  ///< what stands under "__metadata__"
};

namespace detail {

inline constexpr std::uint64_t most_safetensors_header_bytes = 100'000'000;

/// Bits of one element, 0 for a type that is not known (it is listed, its size cannot be checked).
[[nodiscard]] inline std::size_t safetensors_bits(std::string_view dtype) noexcept {
    constexpr std::array<std::pair<std::string_view, std::size_t>, 22> known{{
        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"BOOL", 8},        {"U8", 8},   {"I8", 8},
        {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},     {"I16", 16},        {"U16", 16}, {"F16", 16},
        {"BF16", 16},   {"I32", 32},    {"U32", 32},        {"F32", 32},        {"F64", 64}, {"I64", 64},
        {"U64", 64},    {"C64", 64},    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    }};
    for (const auto& [name, bits] : known) {
        if (name == dtype) return bits;
    }
    return 0;
}

/// At most 60 printable characters of a text out of a file, for use in an error.
[[nodiscard]] inline std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 60)) out.push_back(c >= ' ' && c <= '~' ? c : '?');
    if (text.size() > 60) out += "...";
    return out;
}

/// Receives the events of nlohmann's parser. A handler that returns false ends the parse; `problem` then says why.
class safetensors_events : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit safetensors_events(safetensors_index& index) : index_(index) {}

    std::string problem;

    bool null() override { return stop("null"); }
    bool boolean(bool) override { return stop("a boolean"); }
    bool number_integer(number_integer_t) override { return stop("a negative number"); }
    bool number_float(number_float_t, const string_t&) override { return stop("a fraction or a number past 64 bits"); }
    bool binary(binary_t&) override { return stop("binary data"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (place_ == place::shape && index_.tensors.back().shape.size() < 64) {
            index_.tensors.back().shape.push_back(static_cast<std::size_t>(value));
            return sizeof(std::size_t) == 8 || value <= SIZE_MAX || stop("a size past the address space");
        }
        if (place_ == place::offsets && offsets_ < 2) {
            (offsets_++ == 0 ? index_.tensors.back().begin : index_.tensors.back().bytes) = value;
            return true;
        }
        return stop("a number");
    }

    bool string(string_t& value) override {
        if (place_ == place::metadata) {
            index_.metadata[key_] = value;
            return true;
        }
        if (place_ == place::tensor && key_ == "dtype" && value.size() <= 32) {
            index_.tensors.back().dtype = value;
            return true;
        }
        return stop("a string");
    }

    bool start_object(std::size_t) override {
        if (place_ == place::outside) {
            place_ = place::top;
        } else if (place_ == place::top && key_ == "__metadata__") {
            place_ = place::metadata;
        } else if (place_ == place::top) {
            index_.tensors.push_back({});
            index_.tensors.back().name = key_;
            seen_ = 0;
            place_ = place::tensor;
        } else {
            return stop("an object");
        }
        return true;
    }

    bool end_object() override {
        if (place_ == place::tensor && seen_ != 7) {
            problem =
                message("tensor '", printable(index_.tensors.back().name), "' lacks dtype, shape or data_offsets");
            return false;
        }
        place_ = place_ == place::top ? place::outside : place::top;
        return true;
    }

    bool start_array(std::size_t) override {
        if (place_ == place::tensor && key_ == "shape") {
            place_ = place::shape;
        } else if (place_ == place::tensor && key_ == "data_offsets") {
            place_ = place::offsets;
            offsets_ = 0;
        } else {
            return stop("an array");
        }
        return true;
    }

    bool end_array() override {
        if (place_ == place::offsets && offsets_ != 2) return stop("data_offsets of one number");
        place_ = place::tensor;
        return true;
    }

    bool key(string_t& name) override {
        key_ = name;
        bool fresh = true;
        if (place_ == place::top) {
            fresh = names_.insert(name).second;
        } else if (place_ == place::metadata) {
            fresh = index_.metadata.find(name) == index_.metadata.end();
        } else {
            const unsigned bit = name == "dtype" ? 1U : name == "shape" ? 2U : name == "data_offsets" ? 4U : 0U;
            if (bit == 0) return stop("an unknown key");
            fresh = (seen_ & bit) == 0;
            seen_ |= bit;
        }
        if (!fresh) problem = message("key '", printable(name), "' stands there twice");
        return fresh;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
        if (problem.empty()) problem = message("no valid JSON at byte ", position);
        return false;
    }

  private:
    enum class place { outside, top, metadata, tensor, shape, offsets };

    bool stop(std::string_view what) {
        problem = message(what, " under key '", printable(key_), "' is not expected there");
        return false;
    }

    safetensors_index& index_;
    place place_ = place::outside;
    std::string key_;
    std::unordered_set<std::string> names_;
    unsigned seen_ = 0;
    unsigned offsets_ = 0;
};

/// Checks one entry and turns its offsets from relative to absolute.
inline void check_entry(safetensors_entry& entry, std::uint64_t data_offset, const byte_source& source) {
    const std::string name = printable(entry.name);
    const std::uint64_t end = entry.bytes;  // as parsed: the second offset
    if (end < entry.begin) source.fail("tensor '", name, "': offsets ", entry.begin, " to ", end, " run backwards");
    if (end > source.size() - data_offset) {
        source.fail("tensor '", name, "': values end at ", end, ", but the file has ", source.size() - data_offset);
    }
    entry.bytes = end - entry.begin;
    const std::optional<std::size_t> count = shape_product(entry.shape);
    if (!count) source.fail("tensor '", name, "': the shape's product does not fit in 64 bits");
    const std::size_t bits = safetensors_bits(entry.dtype);
    const std::optional<std::size_t> total = bits == 0 ? std::nullopt : checked_multiply(*count, bits);
    if (bits != 0 && (!total || *total % 8 != 0 || *total / 8 != entry.bytes)) {
        source.fail("tensor '", name, "': ", *count, " elements of ", entry.dtype, " do not take ", entry.bytes,
                    " bytes");
    }
    entry.begin += data_offset;
}

inline safetensors_index read_safetensors_index(byte_source& source) {
    std::array<std::byte, 8> start{};
    if (source.size() < start.size()) source.fail("not a .safetensors file: shorter than 8 bytes");
    source.read(0, start);
    const auto length = load_bits<std::uint64_t>(start.data(), false);
    if (length > most_safetensors_header_bytes) {
        source.fail("header of ", length, " bytes, more than ", most_safetensors_header_bytes,
                    "; is this .safetensors?");
    }
    if (length > source.size() - 8) source.fail("truncated inside the header of ", length, " bytes");
    std::string text(static_cast<std::size_t>(length), '\0');
    source.read(8, std::as_writable_bytes(std::span(text)));
    if (text.empty() || text.front() != '{') source.fail("malformed header: it does not begin with '{'");

    safetensors_index index;
    safetensors_events events(index);
    if (!nlohmann::json::sax_parse(text, &events)) source.fail("malformed header: ", events.problem);

    const std::uint64_t data_offset = 8 + length;
    for (safetensors_entry& entry : index.tensors) check_entry(entry, data_offset, source);
    std::sort(index.tensors.begin(), index.tensors.end(), [](const safetensors_entry& a, const safetensors_entry& b) {
        return std::pair(a.begin, a.bytes) < std::pair(b.begin, b.bytes);
    });
    std::uint64_t covered = data_offset;
    for (const safetensors_entry& entry : index.tensors) {
        if (entry.begin != covered) {
            source.fail("tensor '", printable(entry.name), "' ",
                        entry.begin < covered ? "overlaps" : "leaves a gap behind", " the tensor before it: offset ",
                        entry.begin - data_offset, ", expected ", covered - data_offset);
        }
        covered += entry.bytes;
    }
    if (covered != source.size()) source.fail(source.size() - covered, " bytes behind the last tensor belong to none");
    return index;
}

}  // namespace detail
}  // namespace lowbit
