// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer, for MemorySanitizer: libFuzzer's own code is not compiled with that sanitizer
// and shares std::string's with the target.
//
//     TARGET SECONDS FINDING FILE...   each file as an input, then files with a few bytes changed, for so long
//
// An input with which the program ends early is written to the file FINDING.
#include <sanitizer/common_interface_defs.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;

bytes content(const char* path) {
    bytes all;
    std::FILE* const file = std::fopen(path, "rb");
    if (file == nullptr) std::exit(2);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) all.push_back(static_cast<std::uint8_t>(c));
    std::fclose(file);
    return all;
}

const char* finding;
bytes input;
std::size_t executions = 0;

void keep_input() {
    std::FILE* const file = std::fopen(finding, "wb");
    if (file == nullptr) return;
    std::fwrite(input.data(), 1, input.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "Test unit written to %s\n", finding);
}

void run() {
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++executions;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    finding = argv[2];
    __sanitizer_set_death_callback(keep_input);
    std::signal(SIGABRT, [](int) { keep_input(); });
    std::vector<bytes> seeds;
    for (int i = 3; i < argc; ++i) seeds.push_back(content(argv[i]));
    for (const bytes& seed : seeds) {
        input = seed;
        run();
    }
    const std::time_t end = std::time(nullptr) + std::atoi(argv[1]);
    std::uint32_t state = 1;
    const auto random = [&state](std::size_t below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 8U) % below;
    };
    while (std::time(nullptr) < end) {
        input = seeds[random(seeds.size())];
        for (std::size_t changes = random(6); changes > 0 && !input.empty(); --changes) {
            input[random(input.size())] = static_cast<std::uint8_t>(random(256));
        }
        run();
    }
    std::printf("stat::number_of_executed_units: %zu\n", executions);
    return 0;
}
