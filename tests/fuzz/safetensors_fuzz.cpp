// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a .safetensors file or as the index of a sharded model. The first byte chooses:
//   'f'  the rest is the file           's'  the rest is the index of a sharded model
//   else the rest is the JSON up to its last '}' and then the values: the length in front is made to fit, so that the
//   fuzzer need not find it out
// Either what comes back is consistent, or an io_error is thrown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <lowbit/io/safetensors.hpp>

namespace {

void read_all(const std::string& file) {
    const auto bytes = std::as_bytes(std::span(file));
    const lowbit::safetensors_index index = lowbit::read_safetensors_index(bytes);
    std::uint64_t total = 0;
    for (const lowbit::safetensors_entry& entry : index.tensors) {
        total += entry.bytes;
        if (entry.begin > file.size() || entry.bytes > file.size() - entry.begin) std::abort();
        if (!entry.type()) continue;
        const lowbit::tensor got = lowbit::read_safetensors(bytes, entry);
        if (got.view().rows() * got.view().cols() * lowbit::size_of(*entry.type()) != entry.bytes) std::abort();
    }
    if (total > file.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
    try {
        if (data[0] == 'f') {
            read_all(std::string(rest));
        } else if (data[0] == 's') {
            lowbit::detail::memory_source source("fuzz", std::as_bytes(std::span(rest)), "memory");
            for (const auto& [name, file] : lowbit::detail::read_shard_map(source)) {
                if (file.empty() || file.find('/') != std::string::npos || file[0] == '.') std::abort();
            }
        } else {
            const std::size_t end = rest.rfind('}');
            const std::size_t json = end == std::string_view::npos ? rest.size() : end + 1;
            std::string file;
            for (unsigned i = 0; i < 8; ++i) file += static_cast<char>((std::uint64_t{json} >> (8 * i)) & 0xFFU);
            read_all(file + std::string(rest));
        }
    } catch (const lowbit::io_error&) {
    }
    return 0;
}
