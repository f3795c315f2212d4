// SPDX-License-Identifier: Apache-2.0
/// Loads the arrays of tests/data: little-endian .npy files of uint8 or float32 in C order, nothing else.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef LOWBIT_TEST_DATA
# define LOWBIT_TEST_DATA "tests/data"
#endif

namespace lowbit::test {

/// One array, rows x cols (a one-dimensional one has a single row).
template <class T>
struct golden_array {
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::vector<T> values;

    const T* row(std::size_t i) const { return values.data() + i * cols; }
};

namespace detail {

inline std::size_t number_at(const std::string& header, std::size_t& position) {
    std::size_t number = 0;
    for (; position < header.size() && header[position] >= '0' && header[position] <= '9'; ++position) {
        number = number * 10 + static_cast<std::size_t>(header[position] - '0');
    }
    return number;
}

}  // namespace detail

/// The array `name`.npy of tests/data. Errors: throws if the file is missing or of another type.
template <class T>
golden_array<T> golden(const std::string& name) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4);
    const std::string path = std::string(LOWBIT_TEST_DATA) + "/" + name + ".npy";
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY", 6) != 0 || bytes[6] != 1) {
        throw std::runtime_error("not a golden .npy file: " + path);
    }
    const std::size_t header_size =
        static_cast<unsigned char>(bytes[8]) + 256 * std::size_t{static_cast<unsigned char>(bytes[9])};
    const std::string header = bytes.substr(10, header_size);
    if (header.find(sizeof(T) == 1 ? "'|u1'" : "'<f4'") == std::string::npos ||
        header.find("'fortran_order': False") == std::string::npos) {
        throw std::runtime_error("unexpected element type or order: " + path);
    }
    std::size_t position = header.find("'shape': (") + 10;
    golden_array<T> result;
    result.rows = detail::number_at(header, position);
    position += header.compare(position, 2, ", ") == 0 ? 2U : 0U;
    result.cols = detail::number_at(header, position);
    if (result.cols == 0) {
        result.cols = result.rows;
        result.rows = 1;
    }
    result.values.resize(result.rows * result.cols);
    if (bytes.size() != 10 + header_size + result.values.size() * sizeof(T)) {
        throw std::runtime_error("size does not match the header: " + path);
    }
    std::memcpy(result.values.data(), bytes.data() + 10 + header_size, result.values.size() * sizeof(T));
    return result;
}

}  // namespace lowbit::test
