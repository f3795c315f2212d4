// SPDX-License-Identifier: Apache-2.0
// What the units of a mixed program tell each other, free of lowbit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct part_result {
    std::vector<std::uint64_t> numbers;
    std::vector<std::size_t> layouts;

    friend bool operator==(const part_result& a, const part_result& b) {
        return a.numbers == b.numbers && a.layouts == b.layouts;
    }
};

part_result run_plain();
part_result run_avx2();
part_result run_avx512();
part_result run_static_init();
