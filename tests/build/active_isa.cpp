// SPDX-License-Identifier: Apache-2.0
// Prints the instruction set that runs here.
#include <cstdio>

#include <lowbit/arch/isa.hpp>

int main() {
    const std::string_view name = lowbit::to_string(lowbit::active_isa());
    std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
}
