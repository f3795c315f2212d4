// SPDX-License-Identifier: Apache-2.0
// The umbrella of the layer gives all of it, and its types are one byte of storage with no conversion to float.
#include <lowbit/element/element.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace lowbit::test {
namespace {

template <class T>
void expect_storage_type() {
    static_assert(sizeof(T) == 1 && alignof(T) == 1);
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
    static_assert(!std::is_convertible_v<T, float> && !std::is_convertible_v<float, T> &&
                  !std::is_convertible_v<int, T>);
    static_assert(!requires(T a, T b) { a + b; });
    static_assert(std::numeric_limits<T>::is_specialized);
    EXPECT_EQ(T().bits(), 0);
}

TEST(element, case80_every_type_is_a_storage_type_of_its_own) {
    expect_storage_type<e2m1>();
    expect_storage_type<e1m2>();
    expect_storage_type<e2m3>();
    expect_storage_type<e3m2>();
    expect_storage_type<e4m3>();
    expect_storage_type<e5m2>();
    expect_storage_type<e8m0>();
    expect_storage_type<e6m2>();
    expect_storage_type<ue5m3>();
    expect_storage_type<hif8>();
    static_assert(!std::is_same_v<e2m1, e1m2> && !std::is_same_v<e8m0, e6m2> && std::is_same_v<s1p2, e1m2>);
    EXPECT_EQ(pack_nibbles(1, 2), 0x21);
}

}  // namespace
}  // namespace lowbit::test
