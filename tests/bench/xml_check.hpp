// SPDX-License-Identifier: Apache-2.0
// Whether a text is well-formed XML, as far as the pages of this project use it: tags that match, attributes in quotes,
// entities that exist, one root.
#pragma once

#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace xml_detail {

inline bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':' || c == '_';
}

/// What is wrong with the entities of a text or an attribute, or "".
inline std::string entity_fault(const std::string& text) {
    for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
        const std::size_t end = text.find(';', at);
        const std::string name = end == std::string::npos ? "" : text.substr(at + 1, end - at - 1);
        const bool numeric =
            name.size() > 1 && name[0] == '#' && name.find_first_not_of("0123456789", 1) == std::string::npos;
        if (!numeric && name != "amp" && name != "lt" && name != "gt" && name != "quot") return "bare & in: " + text;
    }
    return "";
}

/// Reads the attributes of a tag's inside from `at` on.
inline std::string attribute_fault(const std::string& tag, std::size_t at) {
    std::set<std::string> seen;
    for (;;) {
        while (at < tag.size() && std::isspace(static_cast<unsigned char>(tag[at])) != 0) ++at;
        if (at == tag.size()) return "";
        const std::size_t begin = at;
        while (at < tag.size() && is_name(tag[at])) ++at;
        const std::string name = tag.substr(begin, at - begin);
        if (name.empty() || tag.compare(at, 2, "=\"") != 0) return "attribute without value in: " + tag;
        if (!seen.insert(name).second) return "attribute " + name + " twice in: " + tag;
        const std::size_t end = tag.find('"', at + 2);
        if (end == std::string::npos) return "open quote in: " + tag;
        const std::string value = tag.substr(at + 2, end - at - 2);
        if (value.find('<') != std::string::npos) return "< in an attribute of: " + tag;
        if (std::string fault = entity_fault(value); !fault.empty()) return fault;
        at = end + 1;
    }
}

}  // namespace xml_detail

/// The first fault, or "".
inline std::string xml_fault(const std::string& text) {
    std::vector<std::string> open;
    std::size_t roots = 0;
    std::size_t at = text.rfind("<!DOCTYPE html>\n", 0) == 0 ? 16 : 0;
    while (at < text.size()) {
        const std::size_t begin = text.find('<', at);
        const std::string between = text.substr(at, begin == std::string::npos ? std::string::npos : begin - at);
        if (std::string fault = xml_detail::entity_fault(between); !fault.empty()) return fault;
        if (open.empty() && between.find_first_not_of(" \n") != std::string::npos) return "text outside: " + between;
        if (begin == std::string::npos) break;
        const std::size_t end = text.find('>', begin);
        if (end == std::string::npos) return "open tag at the end";
        std::string tag = text.substr(begin + 1, end - begin - 1);
        at = end + 1;
        if (!tag.empty() && tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) {
                return "</" + tag.substr(1) + "> closes <" + (open.empty() ? "" : open.back()) + ">";
            }
            open.pop_back();
            continue;
        }
        const bool empty = !tag.empty() && tag.back() == '/';
        if (empty) tag.pop_back();
        std::size_t name_end = 0;
        while (name_end < tag.size() && xml_detail::is_name(tag[name_end])) ++name_end;
        if (name_end == 0) return "no name in: <" + tag + ">";
        if (std::string fault = xml_detail::attribute_fault(tag, name_end); !fault.empty()) return fault;
        if (open.empty()) ++roots;
        if (!empty) open.push_back(tag.substr(0, name_end));
    }
    if (!open.empty()) return "<" + open.back() + "> is not closed";
    return roots == 1 ? "" : std::to_string(roots) + " roots";
}
