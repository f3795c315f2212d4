// SPDX-License-Identifier: Apache-2.0
// Case 73: with -fno-exceptions -fno-rtti everything works and an error reaches the replaceable handler with its text.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "workload.hpp"

namespace {

// The handler must not return, so it ends the program: with success if the text is the right one.
void handler(const char* text) {
    const bool good = std::strstr(text, "lowbit::dequantize") != nullptr && std::strchr(text, '3') != nullptr &&
                      std::strchr(text, '4') != nullptr;
    std::printf("%s\n", text);
    std::_Exit(good ? 0 : 1);
}

}  // namespace

int main() {
    static_assert(LOWBIT_EXCEPTIONS == 0);
    if (workload::conversion<lowbit::hif4>(true) == 0) return 2;

    const std::vector<float> source(4 * 64, 1.0f);
    std::vector<float> out(4 * 64, 0.0f);
    const auto quantized = lowbit::quantize<lowbit::hif4>(lowbit::matrix_view<const float>(source.data(), 4, 64));
    lowbit::set_error_handler(&handler);
    lowbit::dequantize(quantized, lowbit::matrix_view<float>(out.data(), 3, 64));
    return 3;
}
