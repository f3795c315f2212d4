// SPDX-License-Identifier: Apache-2.0
// npy_to_safetensors OUT.safetensors NAME=FILE.npy...: .npy files as the bfloat16 tensors of one .safetensors file.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include <lowbit/io/npy.hpp>
#include <lowbit/io/safetensors_write.hpp>

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: npy_to_safetensors OUT.safetensors NAME=FILE.npy...\n");
        return 2;
    }
    try {
        std::vector<lowbit::tensor> values;
        std::vector<lowbit::safetensors_output> tensors;
        values.reserve(static_cast<std::size_t>(argc));  // the outputs below refer to them
        for (int i = 2; i < argc; ++i) {
            const std::string argument = argv[i];
            const std::size_t sign = argument.find('=');
            values.push_back(lowbit::read_npy(argument.substr(sign + 1)));
            tensors.push_back({argument.substr(0, sign), values.back().shape(), values.back().values()});
        }
        lowbit::write_safetensors(argv[1], tensors, {{"format", "npy"}});
    } catch (const std::exception& problem) {
        fmt::print(stderr, "npy_to_safetensors: {}\n", problem.what());
        return 1;
    }
    return 0;
}
