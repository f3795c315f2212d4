// SPDX-License-Identifier: Apache-2.0
// Parts of pictures: SVG text that follows the reader's light or dark colour scheme.
#pragma once

#include <string>

namespace support {

/// The colours as CSS variables of `selector` (--paper --ink --faint --line --s0 .. --s7), light and dark.
std::string colour_rules(const std::string& selector);

/// The classes that charts use: title, panel, faint, figure (texts), grid, axis (lines), s0 .. s7 (areas), m0 .. m7
/// (marks), hollow (marks) and outline (areas).
std::string class_rules();

/// A text element at (x, y) with more attributes.
std::string svg_text(double x, double y, const std::string& attributes, const std::string& text);

/// A line element of a class: "grid" or "axis".
std::string svg_line(const std::string& name, double x1, double y1, double x2, double y2);

/// A step of 1, 2 or 5 times a power of ten that cuts 0..largest into at most `parts`.
double tick_step(double largest, int parts);

}  // namespace support
