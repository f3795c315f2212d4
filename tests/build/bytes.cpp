// SPDX-License-Identifier: Apache-2.0
// Prints the workload's numbers: the outputs of two builds of this program must not differ.
#include <cstdio>

#include "workload.hpp"

int main() {
    workload::run([](std::string_view format, std::string_view what, std::uint64_t number) {
        std::printf("%.*s %.*s %016llx\n", static_cast<int>(format.size()), format.data(),
                    static_cast<int>(what.size()), what.data(), static_cast<unsigned long long>(number));
    });
}
