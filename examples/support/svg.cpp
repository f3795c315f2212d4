// SPDX-License-Identifier: Apache-2.0
#include "svg.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text.hpp"

namespace support {

std::string colour_rules(const std::string& selector) {
    return fmt::format(R"(  {0} {{ --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; }}
  {0} {{ --s0: #0969da; --s1: #bf6a02; --s2: #1a7f37; --s3: #8250df; --s4: #cf222e; --s5: #0e7490; }}
  {0} {{ --s6: #bf3989; --s7: #6e7781; }}
  @media (prefers-color-scheme: dark) {{
    {0} {{ --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #30363d; }}
    {0} {{ --s0: #58a6ff; --s1: #e3a04b; --s2: #56d364; --s3: #bc8cff; --s4: #ff7b72; --s5: #39c5cf; }}
    {0} {{ --s6: #ff9bce; --s7: #8b949e; }}
  }}
)",
                       selector);
}

std::string class_rules() {
    std::string out =
        R"(  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px; }
  text { fill: var(--ink); }
  .title { font-size: 18px; font-weight: 600; }
  .panel { font-size: 13px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .figure { font-size: 10px; fill: var(--faint); paint-order: stroke; stroke: var(--paper); stroke-width: 2px; }
  .grid { stroke: var(--line); }
  .axis { stroke: var(--faint); }
 )";
    for (int i = 0; i < 8; ++i) {
        out += fmt::format(" .s{0} {{ fill: var(--s{0}); }} .m{0} {{ fill: var(--s{0}); stroke: var(--s{0}); }}\n ", i);
    }
    out += " .hollow { fill: var(--paper); stroke-width: 1.6px; }\n";
    out += "  .outline { fill: none; stroke: var(--faint); }";
    return out + "\n";
}

std::string svg_text(double x, double y, const std::string& attributes, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
}

std::string svg_line(const std::string& name, double x1, double y1, double x2, double y2) {
    return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", name, x1, y1,
                       x2, y2);
}

double tick_step(double largest, int parts) {
    const double raw = largest / parts;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

}  // namespace support
