// SPDX-License-Identifier: Apache-2.0
// The version says the same to the preprocessor and to the compiler.
#include <lowbit/core/config.hpp>

#include <gtest/gtest.h>

namespace lowbit::test {
namespace {

static_assert(version == version_number{LOWBIT_VERSION_MAJOR, LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH});
static_assert(LOWBIT_EXCEPTIONS == 1);

TEST(config, version_fields_are_in_order) {
    EXPECT_EQ(version.major_number, LOWBIT_VERSION_MAJOR);
    EXPECT_EQ(version.minor_number, LOWBIT_VERSION_MINOR);
    EXPECT_EQ(version.patch_number, LOWBIT_VERSION_PATCH);
    EXPECT_FALSE((version == version_number{-1, 0, 0}));
}

}  // namespace
}  // namespace lowbit::test
