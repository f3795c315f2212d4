// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include <lowbit/core/error.hpp>

namespace support {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
    const std::string reason = errno != 0 ? ": " + std::generic_category().message(errno) : "";
    throw lowbit::io_error(fmt::format("'{}': cannot write{}", path, reason));
}

}  // namespace

std::string fit(const std::string& text, std::size_t width) {
    if (text.size() <= width) return text;
    const std::size_t tail = (width - 2) / 2;
    return text.substr(0, width - 2 - tail) + ".." + text.substr(text.size() - tail);
}

std::string without_trailing_spaces(const std::string& text) {
    std::string out;
    for (const char c : text) {
        while (c == '\n' && !out.empty() && out.back() == ' ') out.pop_back();
        out += c;
    }
    return out;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; }

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

void check_writable(const std::string& path) {
    errno = 0;
    if (!std::ofstream(path, std::ios::binary | std::ios::app)) cannot_write(path);
}

void write_text(const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) cannot_write(path);
}

}  // namespace support
