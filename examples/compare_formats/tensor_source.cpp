// SPDX-License-Identifier: Apache-2.0
#include "tensor_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>

#include <lowbit/io/npy.hpp>
#include <lowbit/io/safetensors.hpp>

namespace compare_formats {
namespace {

constexpr std::size_t shortest_row = 16;  // the smallest block: nvfp4

/// A name from a file as a terminal may see it: no control characters.
std::string visible(std::string name) {
    for (char& c : name) {
        if ((c >= '\0' && c < ' ') || c == '\x7F') c = '?';
    }
    return name;
}

bool ends_with(const std::string& text, const std::string& end) { return text.ends_with(end); }

std::string reason_to_skip(const tensor_item& item, std::size_t least_values) {
    const std::size_t count = *lowbit::detail::shape_product(item.shape);
    if (count < least_values) return fmt::format("too small: {} values, fewer than {}", count, least_values);
    const std::size_t cols = item.shape.empty() ? 1 : item.shape.back();
    if (cols < shortest_row) return fmt::format("last axis of {} is shorter than a block of {}", cols, shortest_row);
    return "";
}

tensor_item npy_item(const std::string& path) {
    const lowbit::npy_header header = lowbit::read_npy_header(path);
    tensor_item item;
    item.name = visible(std::filesystem::path(path).stem().string());
    item.dtype = header.type ? std::string(lowbit::to_string(*header.type)) : visible(header.dtype);
    if (!header.type) item.skipped = fmt::format("{} is not a float type that can be read", item.dtype);
    item.shape = header.shape;
    item.load = [path] { return lowbit::read_npy(path); };
    return item;
}

void add_model(const std::string& path, std::vector<tensor_item>& items, const std::vector<std::string>& patterns) {
    const auto model = std::make_shared<lowbit::safetensors_model>(path);
    const auto loader = [model](const std::string& name) { return [model, name] { return model->read(name); }; };
    for (const lowbit::safetensors_entry& entry : model->tensors()) {
        tensor_item item;
        item.name = visible(entry.name);
        item.dtype = visible(entry.dtype);
        item.shape = entry.shape;
        item.load = loader(entry.name);
        if (!entry.type()) item.skipped = fmt::format("{} is not a float type that can be read", item.dtype);
        if (ends_with(entry.name, ".weight")) {
            const std::string input = entry.name.substr(0, entry.name.size() - 6) + "input";
            const lowbit::safetensors_entry* found = model->find(input);
            if (found != nullptr && found->type() && found->cols() == entry.cols()) {
                item.input = visible(input);
                item.load_input = loader(input);
            }
        }
        const bool is_input = ends_with(entry.name, ".input") &&
                              model->find(entry.name.substr(0, entry.name.size() - 5) + "weight") != nullptr;
        const auto names_it = [&](const std::string& pattern) { return glob_match(pattern, entry.name); };
        if (is_input && std::none_of(patterns.begin(), patterns.end(), names_it)) continue;
        items.push_back(std::move(item));
    }
}

void attach_activations(const std::string& path, std::vector<tensor_item>& items) {
    if (!ends_with(path, ".npy")) {
        throw std::invalid_argument(fmt::format("--activations '{}': a .npy file is expected", path));
    }
    const tensor_item input = npy_item(path);
    if (!input.skipped.empty()) throw std::invalid_argument(fmt::format("--activations '{}': {}", path, input.skipped));
    const std::size_t cols = input.shape.empty() ? 1 : input.shape.back();
    if (*lowbit::detail::shape_product(input.shape) == 0) {
        throw std::invalid_argument(fmt::format("--activations '{}': the file holds no values", path));
    }
    bool used = false;
    std::set<std::size_t> widths;
    for (tensor_item& item : items) {
        if (!item.shape.empty() && item.skipped.empty()) widths.insert(item.shape.back());
        if (item.shape.empty() || item.shape.back() != cols) continue;
        item.input = input.name;
        item.load_input = input.load;
        used = true;
    }
    if (!used) {
        throw std::invalid_argument(fmt::format("--activations '{}': its rows have K = {}, those of the tensors {}",
                                                path, cols,
                                                widths.empty() ? "-" : fmt::format("{}", fmt::join(widths, ", "))));
    }
}

}  // namespace

bool glob_match(const std::string& pattern, const std::string& name) {
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string::npos;
    std::size_t resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string::npos;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

std::vector<tensor_item> list_tensors(const source_options& options) {
    std::vector<tensor_item> items;
    for (const std::string& path : options.files) {
        if (ends_with(path, ".npy")) {
            items.push_back(npy_item(path));
        } else {
            add_model(path, items, options.patterns);
        }
    }
    std::vector<tensor_item> chosen;
    std::vector<bool> used(options.patterns.size(), false);
    for (tensor_item& item : items) {
        bool wanted = options.patterns.empty();
        bool named = false;
        for (std::size_t i = 0; i < options.patterns.size(); ++i) {
            if (!glob_match(options.patterns[i], item.name)) continue;
            used[i] = wanted = true;
            named = named || options.patterns[i] == item.name;
        }
        if (!wanted) continue;
        if (item.skipped.empty() && !named) item.skipped = reason_to_skip(item, options.least_values);
        if (item.skipped.empty() && *lowbit::detail::shape_product(item.shape) == 0) item.skipped = "empty";
        chosen.push_back(std::move(item));
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) throw std::invalid_argument(fmt::format("--tensor '{}' fits no tensor", options.patterns[i]));
    }
    if (!options.activations.empty()) attach_activations(options.activations, chosen);
    return chosen;
}

}  // namespace compare_formats
