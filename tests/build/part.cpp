// SPDX-License-Identifier: Apache-2.0
// One unit of a program whose units differ in their flags: run_PART() does the workload of this unit.
#include "part.hpp"

#include "workload.hpp"

#define LOWBIT_TEST_JOIN_RAW(a, b) a##b
#define LOWBIT_TEST_JOIN(a, b) LOWBIT_TEST_JOIN_RAW(a, b)

part_result LOWBIT_TEST_JOIN(run_, PART)() {
    part_result result;
    workload::run([&](std::string_view, std::string_view, std::uint64_t number) { result.numbers.push_back(number); });
    lowbit::for_each_format([&]<class F>(std::type_identity<F>) {
        result.layouts.push_back(sizeof(typename F::block));
        result.layouts.push_back(alignof(typename F::block));
        result.layouts.push_back(sizeof(lowbit::quantized_matrix<F>));
        result.layouts.push_back(alignof(lowbit::quantized_matrix<F>));
    });
    result.layouts.push_back(sizeof(lowbit::matrix_view<const float>));
    result.layouts.push_back(sizeof(lowbit::executor));
    result.layouts.push_back(sizeof(lowbit::error_stats));
    return result;
}
