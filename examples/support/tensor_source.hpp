// SPDX-License-Identifier: Apache-2.0
// The tensors of .npy files, .safetensors files and sharded models, by name, read when their turn comes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lowbit/io/tensor.hpp>

namespace support {

/// A tensor that can be read, or the reason why it is left out.
struct tensor_item {
    std::string name;
    std::string dtype;
    std::vector<std::size_t> shape;
    std::string skipped;  ///< reason, or ""
    std::function<lowbit::tensor()> load;
    std::string input;  ///< name of its activations, or ""
    std::function<lowbit::tensor()> load_input;
};

struct source_options {
    std::vector<std::string> files;     ///< .npy, .safetensors, .safetensors.index.json, or folders of them
    std::vector<std::string> patterns;  ///< names or globs; empty: all tensors
    std::string activations;            ///< a .npy file, or ""
    std::size_t least_values = 1024;    ///< smaller tensors are left out unless they are named
};

/// Lists what the files hold. A tensor NAME.input is the recorded input of the layer NAME.weight in the same file and
/// is not listed by itself unless a pattern names it; so are the files NAME.input.npy and NAME.weight.npy. A given
/// activations file serves every tensor with its K. Throws lowbit::io_error for a bad file, std::invalid_argument for a
/// file of another kind, or a pattern that fits no tensor.
std::vector<tensor_item> list_tensors(const source_options& options);

/// Whether `name` fits `pattern`: * any run of characters, ? one character.
bool glob_match(const std::string& pattern, const std::string& name);

}  // namespace support
