// SPDX-License-Identifier: Apache-2.0
// The header of a NumPy .npy file: element type, byte order, axis order and shape, checked against the file's size.
//
//     bytes 0..5  "\x93NUMPY"     6, 7  version 1.0, 2.0 or 3.0
//     8..         length of the text: 2 bytes (version 1) or 4, little endian
//     text        {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   padded with spaces, ends in a newline
//     values
//
// The text is a Python dictionary of exactly these three keys, read here by a parser of just that grammar: any order of
// keys, either kind of quotes, Python 2's 3L, a trailing comma; nothing else. Element types that are not plain float16,
// float32 or float64 are refused by name, never guessed: '<V2' may be a bfloat16 or any two bytes.
// Source: NumPy, numpy/lib/format.py ("A Simple File Format for NumPy Arrays").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lowbit/core/bits.hpp>
#include <lowbit/io/byte_source.hpp>
#include <lowbit/io/tensor.hpp>

namespace lowbit {

/// What a .npy header says. The product of the shape is known to fit, and values of a type that is read to lie inside
/// the file.
struct npy_header {
    std::string dtype;               ///< as the file has it ('<f4'), unprintable characters as '?'
    std::optional<float_type> type;  ///< none: not float16, float32 or float64, which read_npy refuses
    bool big_endian = false;         ///< byte order of the values
    bool fortran_order = false;      ///< the first axis runs fastest
    std::vector<std::size_t> shape;  ///< the size of each axis
    std::size_t count = 0;           ///< product of the shape
    std::uint64_t data_offset = 0;   ///< where the values start
};

namespace detail {

inline constexpr std::size_t most_npy_header_bytes = std::size_t{1} << 20U;  // NumPy itself stops at 10000
inline constexpr std::size_t most_axes = 64;                                 // NumPy's own limit

/// Reads the dictionary; every way out but the right one is source.fail.
class npy_dictionary {
  public:
    npy_dictionary(std::string_view text, const byte_source& source, npy_header& header)
        : text_(text), source_(source), header_(header) {}

    void parse() {
        bool descr = false;
        bool order = false;
        bool shape = false;
        expect('{');
        while (!skip('}')) {
            const std::string_view key = quoted();
            expect(':');
            if (key == "descr") {
                once(descr, key);
                parse_descr();
            } else if (key == "fortran_order") {
                once(order, key);
                parse_order();
            } else if (key == "shape") {
                once(shape, key);
                parse_shape();
            } else {
                malformed("unexpected key");
            }
            if (!skip(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (at_ != text_.size()) malformed("text after the dictionary");
        if (!descr || !order || !shape) malformed("'descr', 'fortran_order' or 'shape' is missing");
    }

  private:
    [[noreturn, gnu::cold]] void malformed(std::string_view what) const {
        source_.fail("malformed header: ", what, " at character ", at_);
    }

    void once(bool& seen, std::string_view key) {
        if (seen) source_.fail("malformed header: key '", key, "' stands there twice");
        seen = true;
    }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
    }

    bool skip(char wanted) {
        skip_space();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!skip(wanted)) source_.fail("malformed header: '", wanted, "' expected at character ", at_);
    }

    bool skip_word(std::string_view word) {
        skip_space();
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    std::string_view quoted() {
        const char quote = skip('"') ? '"' : '\'';
        if (quote == '\'') expect(quote);
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) malformed("string without an end");
        const std::string_view inside = text_.substr(at_, end - at_);
        at_ = end + 1;
        return inside;
    }

    void parse_descr() {
        skip_space();
        if (at_ < text_.size() && text_[at_] == '[') source_.fail("structured element types are not supported");
        const std::string_view descr = quoted();
        const std::string_view type = descr.substr(descr.empty() ? 0 : 1);
        const bool order = !descr.empty() && (descr[0] == '<' || descr[0] == '>' || descr[0] == '=');
        for (const char c : descr.substr(0, 16)) header_.dtype.push_back(c >= ' ' && c <= '~' ? c : '?');
        if (order && type == "f2") header_.type = float_type::float16;
        if (order && type == "f4") header_.type = float_type::float32;
        if (order && type == "f8") header_.type = float_type::float64;
        header_.big_endian = !descr.empty() && descr[0] == '>';
    }

    void parse_order() {
        header_.fortran_order = skip_word("True");
        if (!header_.fortran_order && !skip_word("False")) malformed("True or False expected");
    }

    void parse_shape() {
        expect('(');
        while (!skip(')')) {
            if (header_.shape.size() == most_axes) malformed("more than 64 axes");
            header_.shape.push_back(number());
            if (skip(',')) continue;
            if (header_.shape.size() == 1) malformed("',' expected: (3) is no tuple");
            expect(')');
            break;
        }
    }

    std::size_t number() {
        skip_space();
        const std::size_t first = at_;
        std::optional<std::size_t> value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            value = checked_multiply(*value, 10);
            if (value) value = checked_add(*value, static_cast<std::size_t>(text_[at_] - '0'));
            if (!value) malformed("size past 64 bits");
        }
        if (at_ == first) malformed("size expected");
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;
        return *value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    const byte_source& source_;
    npy_header& header_;
};

inline npy_header read_npy_header(byte_source& source) {
    std::array<std::byte, 12> start{};
    const std::size_t known = source.size() < start.size() ? static_cast<std::size_t>(source.size()) : start.size();
    source.read(0, std::span(start).first(known));
    constexpr std::string_view magic = "\x93NUMPY";
    if (known < 10 || std::memcmp(start.data(), magic.data(), magic.size()) != 0) {
        source.fail("not a .npy file: it does not begin with \\x93NUMPY and a version");
    }
    const auto major = static_cast<unsigned>(start[6]);
    if (major < 1 || major > 3 || start[7] != std::byte{0}) {
        source.fail("version ", major, ".", static_cast<unsigned>(start[7]), " of the .npy format is not known");
    }
    const std::size_t text_offset = major == 1 ? 10 : 12;
    if (known < text_offset) source.fail("truncated inside the header");
    const std::size_t length = major == 1 ? load_bits<std::uint16_t>(&start[8], false)
                                          : std::size_t{load_bits<std::uint32_t>(&start[8], false)};
    if (length > most_npy_header_bytes) source.fail("header of ", length, " bytes, more than ", most_npy_header_bytes);
    if (length > source.size() - text_offset) source.fail("truncated inside the header");

    npy_header header;
    std::string text(length, '\0');
    source.read(text_offset, std::as_writable_bytes(std::span(text)));
    npy_dictionary(text, source, header).parse();

    const std::optional<std::size_t> count = shape_product(header.shape);
    const std::optional<std::size_t> bytes =
        count ? checked_multiply(*count, header.type ? size_of(*header.type) : 0) : std::nullopt;
    if (!bytes) source.fail("the shape's product does not fit in 64 bits");
    header.count = *count;
    header.data_offset = text_offset + length;
    if (*bytes > source.size() - header.data_offset) {
        source.fail("truncated: the shape needs ", *bytes, " bytes of values, the file has ",
                    source.size() - header.data_offset);
    }
    return header;
}

}  // namespace detail

/// Reads and checks the header of the .npy file `path`, not its values.
/// Errors: throws lowbit::io_error with file and reason.
[[nodiscard]] inline npy_header read_npy_header(const std::string& path) {
    detail::file_source source("lowbit::read_npy_header", path);
    return detail::read_npy_header(source);
}

}  // namespace lowbit
