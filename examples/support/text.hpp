// SPDX-License-Identifier: Apache-2.0
// Small things about text that several programs write.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// `text` on `width` columns: cut in the middle where it is longer.
std::string fit(const std::string& text, std::size_t width);

/// `text` without spaces at the ends of its lines.
std::string without_trailing_spaces(const std::string& text);

/// "768 x 256"; "scalar" for no axis.
std::string shape_text(const std::vector<std::size_t>& shape);

/// A field of a CSV line, in quotes where it needs them.
std::string csv_field(const std::string& text);

/// A number of a CSV line with nine digits, nothing where there is none.
std::string csv_number(const std::optional<double>& value);

/// `text` as the text of an XML or HTML element or attribute.
std::string escaped(const std::string& text);

/// Throws lowbit::io_error with the reason where `path` cannot be written; leaves what the file holds.
void check_writable(const std::string& path);

/// Writes `text` to `path`. Throws lowbit::io_error.
void write_text(const std::string& path, const std::string& text);

}  // namespace support
