// SPDX-License-Identifier: Apache-2.0
#include <lowbit/convert/transposed_bytes.hpp>

#include <gtest/gtest.h>

#include <cstring>

#include "support/guarded_buffer.hpp"

namespace {

using namespace lowbit::test;

void check(std::size_t rows, std::size_t cols, flush_with flush) {
    const std::size_t stride = cols + rows % 3, pitch = rows + cols % 4;
    guarded_buffer<std::uint8_t> source(rows == 0 ? 0 : (rows - 1) * stride + cols, flush);
    guarded_buffer<std::uint8_t> out(cols == 0 ? 0 : (cols - 1) * pitch + rows, flush);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 37 + i / 251);
    if (out.size() != 0) std::memset(out.data(), 0xA5, out.size());
    lowbit::detail::turn_bytes(source.data(), stride, rows, cols, out.data(), pitch);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t c = i / pitch, r = i % pitch;
        ASSERT_EQ(out[i], r < rows ? source[r * stride + c] : 0xA5) << rows << " x " << cols;
    }
    ASSERT_TRUE(source.slack_untouched() && out.slack_untouched());
}

// Every height and width around one and two vectors, buffers at a page's edge, gaps between rows.
TEST(turn_bytes, moves_every_byte_and_no_other) {
    for (const flush_with flush : {flush_with::end, flush_with::begin}) {
        for (std::size_t rows = 0; rows <= 35; ++rows) {
            for (std::size_t cols = 0; cols <= 35; ++cols) {
                check(rows, cols, flush);
                if (HasFatalFailure()) return;
            }
        }
        check(256, 33, flush);
        check(257, 16, flush);
        check(600, 50, flush);
    }
}

}  // namespace
