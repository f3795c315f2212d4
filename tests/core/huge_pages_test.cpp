// SPDX-License-Identifier: Apache-2.0
#include <lowbit/core/huge_pages.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include <lowbit/core/aligned_buffer.hpp>

namespace {

TEST(advise_huge_pages, leaves_memory_usable_whatever_its_size_and_place) {
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{4} << 20U, (std::size_t{9} << 20U) + 12345}) {
        for (const std::size_t offset : {0U, 64U, 4096U}) {
            lowbit::aligned_buffer<unsigned char> buffer(bytes + offset + 1);
            lowbit::detail::advise_huge_pages(buffer.data() + offset, bytes);
            for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<unsigned char>(i);
            for (std::size_t i = 0; i < buffer.size(); i += 509) {
                ASSERT_EQ(buffer[i], static_cast<unsigned char>(i));
            }
        }
    }
    lowbit::detail::advise_huge_pages(nullptr, 0);
}

}  // namespace
