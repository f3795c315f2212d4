// SPDX-License-Identifier: Apache-2.0
#include <lowbit/core/function_ref.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace {

using lowbit::function_ref;

int twice(int x) { return 2 * x; }

TEST(function_ref, calls_lambdas_functions_and_const_objects) {
    int calls = 0;
    auto counting = [&calls](int x) {
        ++calls;
        return x + 1;
    };
    const auto constant = [](int x) { return x + 2; };
    EXPECT_EQ(function_ref<int(int)>(counting)(1), 2);
    EXPECT_EQ(function_ref<int(int)>(constant)(1), 3);
    EXPECT_EQ(function_ref<int(int)>(twice)(21), 42);
    EXPECT_EQ(function_ref<int(int)>(&twice)(4), 8);
    EXPECT_EQ(calls, 1);
}

TEST(function_ref, refers_instead_of_copying) {
    struct stateful {
        int value = 0;
        void operator()(int add) { value += add; }
    } object;
    const function_ref<void(int)> reference = object;
    const function_ref<void(int)> copy = reference;
    reference(3);
    copy(4);
    EXPECT_EQ(object.value, 7);
}

TEST(function_ref, forwards_move_only_arguments_and_drops_results) {
    int seen = 0;
    auto take = [&seen](std::unique_ptr<int> p) { return seen = *p; };
    function_ref<void(std::unique_ptr<int>)> reference = take;
    reference(std::make_unique<int>(9));
    EXPECT_EQ(seen, 9);
}

TEST(function_ref, refuses_what_cannot_be_called) {
    auto wants_pointer = [](int*) {};
    static_assert(!std::is_constructible_v<function_ref<void(int)>, decltype(wants_pointer)&>);
    static_assert(std::is_constructible_v<function_ref<void(int*)>, decltype(wants_pointer)&>);
    static_assert(std::is_trivially_copyable_v<function_ref<void(int)>>);
}

}  // namespace
