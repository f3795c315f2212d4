// SPDX-License-Identifier: Apache-2.0
// Reading .safetensors files one tensor at a time, models of several files included, and writing them.
//
//     lowbit::safetensors_model model("model.safetensors");      // or "model.safetensors.index.json"
//     for (const auto& entry : model.tensors()) ...                // names, types and shapes; no values are read
//     lowbit::tensor w = model.read("layers.0.attn.q_proj.weight");
//
// Needs nlohmann_json: link with the CMake target lowbit::safetensors. Not part of lowbit.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <lowbit/core/bits.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/io/byte_source.hpp>
#include <lowbit/io/npy.hpp>
#include <lowbit/io/safetensors_index.hpp>
#include <lowbit/io/safetensors_shards.hpp>
#include <lowbit/io/tensor.hpp>

namespace lowbit {
namespace detail {

inline tensor read_tensor(byte_source& source, const safetensors_entry& entry) {
    if (!entry.type()) {
        source.fail("tensor '", printable(entry.name), "': element type ", printable(entry.dtype),
                    " is not F64, F32, F16 or BF16");
    }
    const std::size_t width = size_of(*entry.type());
    if (shape_product(entry.shape) != entry.bytes / width || entry.bytes % width != 0) {
        source.fail("tensor '", printable(entry.name), "': its shape does not take ", entry.bytes, " bytes of ",
                    printable(entry.dtype));
    }
    if (entry.begin > source.size() || entry.bytes > source.size() - entry.begin) {
        source.fail("tensor '", printable(entry.name), "': ", entry.bytes, " bytes wanted at offset ", entry.begin,
                    ", but the file has ", source.size());
    }
    std::vector<float> values(static_cast<std::size_t>(entry.bytes) / width);
    read_values(source, entry.begin, *entry.type(), false, values);
    return {entry.shape, std::move(values)};
}

}  // namespace detail

/// Reads and checks the header of the .safetensors file `path`.
/// Errors: throws lowbit::io_error with file and reason; see the head of safetensors_index.hpp for what is checked.
[[nodiscard]] inline safetensors_index read_safetensors_index(const std::string& path) {
    detail::file_source source("lowbit::read_safetensors_index", path);
    return detail::read_safetensors_index(source);
}

/// The same for a file that is already in memory; `name` stands for the file in errors.
[[nodiscard]] inline safetensors_index read_safetensors_index(std::span<const std::byte> bytes,
                                                              std::string name = "memory") {
    detail::memory_source source("lowbit::read_safetensors_index", bytes, std::move(name));
    return detail::read_safetensors_index(source);
}

/// The values of one tensor of a file in memory (`bytes`), as float32. `entry` is one that read_safetensors_index gave
/// for it; `name` stands for the file in errors.
/// Errors: throws lowbit::io_error where the element type is none of F64 F32 F16 BF16, and where shape, type and place
/// of the entry do not fit each other or the file.
[[nodiscard]] inline tensor read_safetensors(std::span<const std::byte> bytes, const safetensors_entry& entry,
                                             std::string name = "memory") {
    detail::memory_source source("lowbit::read_safetensors", bytes, std::move(name));
    return detail::read_tensor(source, entry);
}

/// A model: one .safetensors file, or all that a model.safetensors.index.json names. Holds its files open.
class safetensors_model {
  public:
    /// Opens the file `path`, or the files that an index `path` names, and reads the headers only, however large the
    /// values are. Errors: throws lowbit::io_error with file and reason: headers as in safetensors_index.hpp; an index
    /// that names a file outside its own directory, a tensor that its file lacks, or a tensor twice.
    explicit safetensors_model(const std::string& path) : path_(path) {
        if (!path.ends_with(".json")) {
            add_file(path);
            index_names(path);
            return;
        }
        detail::file_source source("lowbit::safetensors_model", path);
        const std::map<std::string, std::string> shards = detail::read_shard_map(source);
        const std::size_t slash = path.find_last_of("/\\");
        const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
        std::vector<std::string> files;
        for (const auto& [tensor_name, file] : shards) files.push_back(file);
        std::sort(files.begin(), files.end());
        files.erase(std::unique(files.begin(), files.end()), files.end());
        for (const std::string& file : files) add_file(directory + file);
        index_names(path);
        for (const auto& [tensor_name, file] : shards) {
            const auto found = places_.find(tensor_name);
            if (found == places_.end() || files_[owner_[found->second]]->name() != directory + file) {
                source.fail("tensor '", detail::printable(tensor_name), "' is not in '", detail::printable(file), "'");
            }
        }
    }

    /// All tensors, file by file, in the order of their values.
    [[nodiscard]] const std::vector<safetensors_entry>& tensors() const noexcept { return tensors_; }
    /// The metadata of all files; where a key repeats, that of the last.
    [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
    /// The tensor of this name, or null.
    [[nodiscard]] const safetensors_entry* find(const std::string& name) const noexcept {
        const auto found = places_.find(name);
        return found == places_.end() ? nullptr : &tensors_[found->second];
    }

    /// Reads the values of one tensor as float32; the rest of the file is not touched.
    /// Exact: F32, F16 and BF16; F64 is rounded to nearest even.
    /// Errors: throws lowbit::io_error for an unknown name, an element type that is not a float, a file that shrank.
    [[nodiscard]] tensor read(const std::string& name) {
        const auto found = places_.find(name);
        if (found == places_.end()) {
            detail::fail_io(detail::message("lowbit::safetensors_model: '", path_, "': there is no tensor '",
                                            detail::printable(name), "' among its ", tensors_.size()));
        }
        return detail::read_tensor(*files_[owner_[found->second]], tensors_[found->second]);
    }

  private:
    void add_file(const std::string& path) {
        files_.push_back(std::make_unique<detail::file_source>("lowbit::safetensors_model", path));
        safetensors_index index = detail::read_safetensors_index(*files_.back());
        for (safetensors_entry& entry : index.tensors) {
            tensors_.push_back(std::move(entry));
            owner_.push_back(files_.size() - 1);
        }
        for (auto& [key, value] : index.metadata) metadata_.insert_or_assign(key, std::move(value));
    }

    void index_names(const std::string& path) {
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            if (!places_.emplace(tensors_[i].name, i).second) {
                detail::fail_io(detail::message("lowbit::safetensors_model: '", path, "': tensor '",
                                                detail::printable(tensors_[i].name), "' is in more than one file"));
            }
        }
    }

    std::string path_;
    std::vector<std::unique_ptr<detail::file_source>> files_;
    std::vector<safetensors_entry> tensors_;
    std::vector<std::size_t> owner_;  // tensors_[i] lies in files_[owner_[i]]
    std::unordered_map<std::string, std::size_t> places_;
    std::map<std::string, std::string> metadata_;
};

}  // namespace lowbit
