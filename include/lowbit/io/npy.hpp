// SPDX-License-Identifier: Apache-2.0
// Reading and writing NumPy .npy files.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lowbit/core/float16.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/io/byte_source.hpp>
#include <lowbit/io/file_sink.hpp>
#include <lowbit/io/npy_header.hpp>
#include <lowbit/io/tensor.hpp>

namespace lowbit {
namespace detail {

inline constexpr std::size_t io_chunk_values = 1U << 14U;

/// Values from `offset` on, through a chunk of raw bytes that is at most 128 KiB.
inline void read_values(byte_source& source, std::uint64_t offset, float_type type, bool big_endian,
                        std::span<float> out) {
    const std::size_t width = size_of(type);
    std::vector<std::byte> raw((std::min)(out.size(), io_chunk_values) * width);
    for (std::size_t done = 0; done < out.size();) {
        const std::size_t step = (std::min)(out.size() - done, io_chunk_values);
        source.read(offset + std::uint64_t{done} * width, std::span(raw).first(step * width));
        widen(raw.data(), type, big_endian, out.subspan(done, step));
        done += step;
    }
}

/// Fortran order to C order: the first axis ran fastest, now the last one does.
inline std::vector<float> from_fortran_order(std::span<const std::size_t> shape, const std::vector<float>& source) {
    std::vector<float> out(source.size());
    std::vector<std::size_t> stride(shape.size(), 1);
    for (std::size_t axis = 1; axis < shape.size(); ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
    std::vector<std::size_t> index(shape.size(), 0);
    std::size_t from = 0;
    for (float& value : out) {
        value = source[from];
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            from += stride[axis];
            if (++index[axis] < shape[axis]) break;
            from -= stride[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    return out;
}

inline tensor read_npy(byte_source& source) {
    npy_header header = read_npy_header(source);
    if (!header.type) {
        source.fail("element type '", header.dtype,
                    "' is not float16, float32 or float64 ('<f2', '<f4', '<f8', or with '>')");
    }
    std::vector<float> values(header.count);
    read_values(source, header.data_offset, *header.type, header.big_endian, values);
    if (header.fortran_order && header.shape.size() > 1) values = from_fortran_order(header.shape, values);
    return {std::move(header.shape), std::move(values)};
}

template <class T>
inline constexpr std::string_view npy_descr{};
template <>
inline constexpr std::string_view npy_descr<float16>{"<f2"};
template <>
inline constexpr std::string_view npy_descr<float>{"<f4"};
template <>
inline constexpr std::string_view npy_descr<double>{"<f8"};

}  // namespace detail

/// Reads the .npy file `path` as float32: float16, float32 or float64, either byte order, C or Fortran order, any
/// shape. Bytes behind the values are ignored, as NumPy does. Shape: as in the file; see lowbit::tensor for rows and
/// cols. Exact: float16 and float32; float64 is rounded to nearest even, to Inf past FLT_MAX. Errors: throws
/// lowbit::io_error with file and reason for a file that cannot be read, another element type, and any malformed,
/// truncated or overflowing header; memory is taken only after the shape has been checked against the size of the file.
/// Cost: one pass; twice the memory for Fortran order.
[[nodiscard]] inline tensor read_npy(const std::string& path) {
    detail::file_source source("lowbit::read_npy", path);
    return detail::read_npy(source);
}

/// The same for a file that is already in memory; `name` stands for the file in errors.
[[nodiscard]] inline tensor read_npy(std::span<const std::byte> bytes, std::string name = "memory") {
    detail::memory_source source("lowbit::read_npy", bytes, std::move(name));
    return detail::read_npy(source);
}

/// Writes a matrix as a little-endian .npy file `path` in C order, rows x cols, replacing what is there.
/// T: float, double or float16 (NumPy has no bfloat16).
/// Errors: throws lowbit::io_error where the file cannot be written; an old file stays what it was then.
template <class T>
requires(!detail::npy_descr<std::remove_const_t<T>>.empty()) void write_npy(const std::string& path,
                                                                            matrix_view<T> matrix) {
    std::string text =
        detail::message("{'descr': '", detail::npy_descr<std::remove_const_t<T>>,
                        "', 'fortran_order': False, 'shape': (", matrix.rows(), ", ", matrix.cols(), "), }");
    text.resize(round_up(10 + text.size() + 1, 64) - 10 - 1, ' ');  // the values start on a multiple of 64
    text.push_back('\n');
    std::string start("\x93NUMPY\x01\x00", 8);
    start.push_back(static_cast<char>(text.size() & 0xFFU));
    start.push_back(static_cast<char>(text.size() >> 8U));

    detail::file_sink sink("lowbit::write_npy", path);
    sink.write(std::as_bytes(std::span(start)));
    sink.write(std::as_bytes(std::span(text)));
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
        sink.write(std::as_bytes(std::span<const T>(matrix.row(row), matrix.cols())));
    }
    sink.close();
}

}  // namespace lowbit
