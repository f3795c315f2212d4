// SPDX-License-Identifier: Apache-2.0
// Texts and types of errors, and the handler of builds without exceptions.
#include <lowbit/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>

namespace lowbit::test {
namespace {

TEST(error, message_joins_text_and_integers) {
    const std::string name = "out";
    EXPECT_EQ(detail::message("lowbit::quantize: rows ", 3, " of output '", name, "' do not match rows ",
                              std::size_t{4}, " of input 'q'"),
              "lowbit::quantize: rows 3 of output 'out' do not match rows 4 of input 'q'");
    EXPECT_EQ(detail::message(std::numeric_limits<std::int64_t>::min(), ' ', std::numeric_limits<std::uint64_t>::max()),
              "-9223372036854775808 18446744073709551615");
    EXPECT_EQ(detail::message(std::uint8_t{7}, std::string_view(" bytes")), "7 bytes");
    EXPECT_EQ(detail::message(), "");
}

TEST(error, types) {
    static_assert(std::is_base_of_v<std::invalid_argument, error> && std::is_base_of_v<std::runtime_error, io_error>);
    static_assert(!std::is_base_of_v<error, io_error>);
}

TEST(error, fail_throws_the_text) {
    try {
        detail::fail(detail::message("rows ", 3));
        FAIL();
    } catch (const std::invalid_argument& caught) {
        EXPECT_STREQ(caught.what(), "rows 3");
        EXPECT_NE(dynamic_cast<const error*>(&caught), nullptr);
    }
    EXPECT_THROW(detail::fail("x"), error);
    EXPECT_THROW(detail::fail_io("x"), io_error);
}

void first_handler(const char*) {}

TEST(error, set_error_handler_returns_the_one_before) {
    const error_handler original = set_error_handler(&first_handler);
    EXPECT_EQ(set_error_handler(nullptr), &first_handler);
    EXPECT_EQ(set_error_handler(original), original);  // null restored the default
}

// What a build with -fno-exceptions calls instead of throwing.
TEST(error_death_test, case73_handler_gets_the_text_and_its_return_aborts) {
    const auto printing = [](const char* text) {
        std::fprintf(stderr, "handler: %s\n", text);
        std::fflush(stderr);
    };
    EXPECT_DEATH(
        {
            set_error_handler(printing);
            detail::call_error_handler("rows 3");
        },
        "handler: rows 3");
    // The default prints nothing (qemu-user tells of the signal by itself).
    EXPECT_DEATH(detail::call_error_handler("rows 3"), "^$|^qemu: ");
}

}  // namespace
}  // namespace lowbit::test
