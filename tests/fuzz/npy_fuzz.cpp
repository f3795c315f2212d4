// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a .npy file. Either a tensor comes back that is consistent, or an io_error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <lowbit/io/npy.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const lowbit::tensor got = lowbit::read_npy(std::as_bytes(std::span(data, size)));
        const lowbit::matrix_view<const float> view = got.view();
        if (view.rows() * view.cols() != got.values().size() || got.values().size() > size) std::abort();
    } catch (const lowbit::io_error&) {
    }
    return 0;
}
