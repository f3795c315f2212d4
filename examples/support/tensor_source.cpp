// SPDX-License-Identifier: Apache-2.0
#include "tensor_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>

#include <lowbit/io/npy.hpp>
#include <lowbit/io/safetensors.hpp>

namespace support {
namespace {

constexpr std::size_t shortest_row = 16;  // the smallest block: nvfp4

/// A name from a file as a terminal may see it: no control characters.
std::string visible(std::string name) {
    for (char& c : name) {
        if ((c >= '\0' && c < ' ') || c == '\x7F') c = '?';
    }
    return name;
}

const std::string weight_end = ".weight";
const std::string input_end = ".input";

bool ends_with(const std::string& text, const std::string& end) { return text.ends_with(end); }

/// `name` without its end.
std::string stem_of(const std::string& name, const std::string& end) {
    return name.substr(0, name.size() - end.size());
}

std::string reason_to_skip(const tensor_item& item, std::size_t least_values) {
    const std::size_t count = *lowbit::detail::shape_product(item.shape);
    if (count < least_values) {
        return fmt::format("too small: {} values, fewer than {} (--min-values)", count, least_values);
    }
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
        if (ends_with(entry.name, weight_end)) {
            const std::string input = stem_of(entry.name, weight_end) + input_end;
            const lowbit::safetensors_entry* found = model->find(input);
            if (found != nullptr && found->type() && found->cols() == entry.cols()) {
                item.input = visible(input);
                item.load_input = loader(input);
            }
        }
        const bool is_input =
            ends_with(entry.name, input_end) && model->find(stem_of(entry.name, input_end) + weight_end) != nullptr;
        const auto names_it = [&](const std::string& pattern) { return glob_match(pattern, entry.name); };
        if (is_input && std::none_of(patterns.begin(), patterns.end(), names_it)) continue;
        items.push_back(std::move(item));
    }
}

/// Makes the .npy files NAME.input.npy the activations of NAME.weight.npy, as in a model; those that a pattern names
/// stay in the list, too.
void pair_npy_files(std::vector<tensor_item>& items, const std::vector<std::string>& patterns) {
    std::set<std::string> taken;
    for (tensor_item& item : items) {
        if (!ends_with(item.name, weight_end) || item.shape.empty()) continue;
        const std::string input = stem_of(item.name, weight_end) + input_end;
        for (const tensor_item& other : items) {
            const bool fits = !other.shape.empty() && other.shape.back() == item.shape.back();
            if (other.name != input || !other.skipped.empty() || !fits) continue;
            item.input = other.name;
            item.load_input = other.load;
            taken.insert(other.name);
        }
    }
    std::erase_if(items, [&](const tensor_item& item) {
        const auto names_it = [&](const std::string& pattern) { return glob_match(pattern, item.name); };
        return taken.contains(item.name) && std::none_of(patterns.begin(), patterns.end(), names_it);
    });
}

constexpr const char* model_end = ".safetensors";
constexpr const char* index_end = ".safetensors.index.json";

bool is_tensor_file(const std::string& path) {
    return ends_with(path, ".npy") || ends_with(path, model_end) || ends_with(path, index_end);
}

/// The files of a folder, in the order of their names. Where there is an index, the parts of a model
/// (NAME-00001-of-00002.safetensors) are left to it.
std::vector<std::string> files_of(const std::string& folder) {
    std::vector<std::string> files;
    bool indexed = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string path = entry.path().string();
        if (entry.is_directory() || !is_tensor_file(path)) continue;
        indexed = indexed || ends_with(path, index_end);
        files.push_back(path);
    }
    if (indexed) {
        std::erase_if(files, [](const std::string& path) { return glob_match("*-of-*.safetensors", path); });
    }
    if (files.empty()) {
        throw std::invalid_argument(
            fmt::format("'{}': the folder holds no .npy, .safetensors or .safetensors.index.json file", folder));
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Folders replaced by their files; anything else must end as a file of tensors does.
std::vector<std::string> expanded(const std::vector<std::string>& paths) {
    std::vector<std::string> out;
    for (const std::string& path : paths) {
        if (std::filesystem::is_directory(path)) {
            for (std::string& file : files_of(path)) out.push_back(std::move(file));
        } else if (is_tensor_file(path)) {
            out.push_back(path);
        } else {
            throw std::invalid_argument(fmt::format(
                "'{}': a folder or a file that ends in .npy, .safetensors or .safetensors.index.json is expected",
                visible(path)));
        }
    }
    return out;
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

std::vector<tensor_item> list_tensors(const source_options& options) {
    std::vector<tensor_item> items;
    std::vector<tensor_item> arrays;
    for (const std::string& path : expanded(options.files)) {
        if (ends_with(path, ".npy")) {
            arrays.push_back(npy_item(path));
        } else {
            add_model(path, items, options.patterns);
        }
    }
    pair_npy_files(arrays, options.patterns);
    items.insert(items.end(), std::make_move_iterator(arrays.begin()), std::make_move_iterator(arrays.end()));
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
    if (!options.activations.empty() && !chosen.empty()) attach_activations(options.activations, chosen);
    return chosen;
}

}  // namespace support
