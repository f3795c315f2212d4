// SPDX-License-Identifier: Apache-2.0
/// Saving and loading quantised and packed matrices: one matrix a file, checked in every byte.
///
/// File, version 1, all fields little endian:
///
///     0    8   magic: 0x89 "LOWBIT" 0x0A
///     8    4   version: 1
///     12   4   kind: 1 quantized_matrix, 2 packed_matrix
///     16   32  name of the format (block/registry.hpp), filled up with zero bytes
///     48   8   rows
///     56   8   columns
///     64   8   bytes of blocks (kind 1: blocks() as they are) or panels (kind 2: kernel/panel_layout.hpp)
///     72   4   tensor scales: 0 none, 1 one for the matrix, 2 one a row
///     76   12  panel layout: version, columns of a panel, values of a record; zeros for kind 1
///     88   24  zeros
///     112  8   checksum64 of everything from byte 128 to the end of the file
///     120  8   checksum64 of bytes 0 to 119
///     128      blocks or panels; zeros up to a multiple of 64; tensor scales as float32; end of the file
///
/// The data starts on a multiple of 64 bytes, so that a mapped file serves as well as a read one. A packed file is good
/// for the layout it names only: a library whose kernels read another one refuses it, and the quantised file is what to
/// keep.
///
/// Errors of reading: a file that is missing, no such file, of another version, kind, format or layout, cut short,
/// longer than it says, altered in any byte, or with other bytes where zeros must be throws io_error with file and
/// reason. Sizes are checked against the size of the file before memory is taken, so that no file can make the reader
/// allocate much more than its own length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <lowbit/block/block_format.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/io/byte_source.hpp>
#include <lowbit/io/checksum.hpp>
#include <lowbit/io/file_sink.hpp>
#include <lowbit/kernel/panel_layout.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>
#include <lowbit/pack/packed_matrix.hpp>

namespace lowbit {

/// What a matrix file holds.
enum class matrix_kind : std::uint32_t {
    quantized = 1,  ///< a quantized_matrix: blocks as the format defines them
    packed = 2      ///< a packed_matrix: kernel order, for the layout it names
};

/// What stands in front of a matrix file.
struct matrix_file_info {
    matrix_kind kind = matrix_kind::quantized;  ///< which class reads it
    std::string format;                         ///< its name, for visit_format
    std::uint64_t rows = 0;                     ///< of the matrix
    std::uint64_t cols = 0;                     ///< values of a row
    std::uint64_t data_bytes = 0;               ///< of blocks or panels
    std::uint32_t tensor_scales = 0;            ///< 0 none, 1 one, 2 one a row
    kernel::panel_layout layout{0, 0, 0};       ///< of panels
    std::uint64_t data_checksum = 0;            ///< checksum64 of all behind the header
};

namespace detail {

inline constexpr std::size_t matrix_header_bytes = 128;
inline constexpr std::uint32_t matrix_file_version = 1;
inline constexpr std::size_t format_name_bytes = 32;
inline constexpr std::array<char, 8> matrix_file_magic = {'\x89', 'L', 'O', 'W', 'B', 'I', 'T', '\n'};

using matrix_header = std::array<std::byte, matrix_header_bytes>;

template <class T>
void put(matrix_header& header, std::size_t offset, const T& value) noexcept {
    std::memcpy(header.data() + offset, &value, sizeof(T));
}

template <class T>
[[nodiscard]] T get(const matrix_header& header, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, header.data() + offset, sizeof(T));
    return value;
}

[[nodiscard]] inline std::uint64_t header_checksum(const matrix_header& header) noexcept {
    checksum64 sum;
    sum.update(std::span(header).first(120));
    return sum.value();
}

[[nodiscard]] inline matrix_header encode_header(const matrix_file_info& info) noexcept {
    matrix_header header{};
    put(header, 0, matrix_file_magic);
    put(header, 8, matrix_file_version);
    put(header, 12, info.kind);
    std::memcpy(header.data() + 16, info.format.data(), (std::min)(info.format.size(), format_name_bytes));
    put(header, 48, info.rows);
    put(header, 56, info.cols);
    put(header, 64, info.data_bytes);
    put(header, 72, info.tensor_scales);
    put(header, 76, info.layout.version);
    put(header, 80, info.layout.columns);
    put(header, 84, info.layout.record);
    put(header, 112, info.data_checksum);
    put(header, 120, header_checksum(header));
    return header;
}

[[nodiscard]] inline matrix_file_info read_matrix_header(byte_source& source) {
    if (source.size() < matrix_header_bytes) {
        source.fail("truncated: a matrix file has at least ", matrix_header_bytes, " bytes, this one ", source.size());
    }
    matrix_header header;
    source.read(0, header);
    if (get<std::array<char, 8>>(header, 0) != matrix_file_magic) source.fail("not a lowbit matrix file");
    if (const auto version = get<std::uint32_t>(header, 8); version != matrix_file_version) {
        source.fail("has version ", version, ", this library reads version ", matrix_file_version);
    }
    if (get<std::uint64_t>(header, 120) != header_checksum(header))
        source.fail("altered: the header's checksum is wrong");
    matrix_file_info info;
    info.kind = get<matrix_kind>(header, 12);
    if (info.kind != matrix_kind::quantized && info.kind != matrix_kind::packed) {
        source.fail("holds a matrix of unknown kind ", static_cast<std::uint32_t>(info.kind));
    }
    const char* const name = reinterpret_cast<const char*>(header.data()) + 16;
    info.format.assign(name, static_cast<std::size_t>(std::find(name, name + format_name_bytes, '\0') - name));
    info.rows = get<std::uint64_t>(header, 48);
    info.cols = get<std::uint64_t>(header, 56);
    info.data_bytes = get<std::uint64_t>(header, 64);
    info.tensor_scales = get<std::uint32_t>(header, 72);
    if (info.kind == matrix_kind::packed) {
        info.layout = {get<std::uint32_t>(header, 76), get<std::uint32_t>(header, 80), get<std::uint32_t>(header, 84)};
    }
    info.data_checksum = get<std::uint64_t>(header, 112);
    if (encode_header(info) != header) source.fail("malformed: bytes of its header that must be zero are not zero");
    return info;
}

/// The kind of a matrix type, and how many bytes the data of a rows x cols matrix has (nothing: more than memory can
/// hold).
template <class Matrix>
struct matrix_file_traits;

template <class F>
struct matrix_file_traits<quantized_matrix<F>> {
    static constexpr matrix_kind kind = matrix_kind::quantized;
    static constexpr std::string_view text = "a quantised matrix";

    static std::optional<std::size_t> data_bytes(std::size_t rows, std::size_t cols) noexcept {
        const auto blocks = checked_multiply(rows, divide_up(cols, F::block_size));
        const auto values = checked_multiply(rows, cols);
        return blocks && values && *values <= PTRDIFF_MAX ? checked_multiply(*blocks, sizeof(typename F::block))
                                                          : std::nullopt;
    }
    static std::span<const std::byte> data(const quantized_matrix<F>& q) noexcept { return std::as_bytes(q.bytes()); }

    using access = quantized_matrix_access<F>;
    static std::byte* data(quantized_matrix<F>& q) noexcept { return reinterpret_cast<std::byte*>(access::blocks(q)); }
};

template <class F>
struct matrix_file_traits<packed_matrix<F>> {
    static constexpr matrix_kind kind = matrix_kind::packed;
    static constexpr std::string_view text = "a packed matrix";
    using arithmetic = kernel::panel_arithmetic<F>;

    static std::optional<std::size_t> data_bytes(std::size_t rows, std::size_t cols) noexcept {
        if (cols > PTRDIFF_MAX / 64) return std::nullopt;
        return checked_multiply(arithmetic::panels(rows), arithmetic::panel_bytes(cols));
    }
    static std::span<const std::byte> data(const packed_matrix<F>& p) noexcept { return std::as_bytes(p.bytes()); }

    using access = packed_matrix_access<F>;
    static std::byte* data(packed_matrix<F>& p) noexcept { return reinterpret_cast<std::byte*>(access::panel(p, 0)); }
};

template <class F>
[[nodiscard]] kernel::panel_layout layout_of(const quantized_matrix<F>&) noexcept {
    return {0, 0, 0};
}
template <class F>
[[nodiscard]] kernel::panel_layout layout_of(const packed_matrix<F>& p) noexcept {
    return p.layout();
}

template <class Matrix>
[[nodiscard]] Matrix read_matrix(byte_source& source) {
    using F = typename Matrix::format;
    using traits = matrix_file_traits<Matrix>;
    const matrix_file_info info = read_matrix_header(source);
    if (info.kind != traits::kind) {
        source.fail("holds a ", info.kind == matrix_kind::packed ? "packed" : "quantised", " matrix, not ",
                    traits::text);
    }
    if (info.format != F::name) source.fail("holds format '", info.format, "', not '", F::name, "'");
    if (info.kind == matrix_kind::packed && info.layout != kernel::native_layout) {
        source.fail("has panel layout version ", info.layout.version, " with ", info.layout.columns,
                    " columns and records of ", info.layout.record, " values, but the kernels read version ",
                    kernel::native_layout.version, ", ", kernel::native_layout.columns, " and ",
                    kernel::native_layout.record, ": pack the weights again");
    }
    if (info.tensor_scales > 2 || (info.tensor_scales != 0) != F::has_tensor_scale) {
        source.fail("malformed: ", info.tensor_scales, " as the kind of tensor scales of format '", F::name, "'");
    }
    // Where addresses have 32 bits a matrix can be larger than them all.
    const bool fits = info.rows <= SIZE_MAX && info.cols <= SIZE_MAX;
    const auto rows = static_cast<std::size_t>(info.rows);
    const auto cols = static_cast<std::size_t>(info.cols);
    const auto data_bytes = fits ? traits::data_bytes(rows, cols) : std::nullopt;
    if (!data_bytes || *data_bytes != info.data_bytes) {
        source.fail("malformed: ", info.data_bytes, " bytes of data do not match rows ", info.rows, " x cols ",
                    info.cols);
    }
    const std::size_t scale_count = info.tensor_scales == 2 ? rows : info.tensor_scales;
    const auto scale_bytes = checked_multiply(scale_count, sizeof(float));
    const auto scales_at = checked_add(*data_bytes, matrix_header_bytes + 63);
    const auto size = scales_at && scale_bytes ? checked_add(*scales_at / 64 * 64, *scale_bytes) : std::nullopt;
    if (!size || *size > source.size()) {
        source.fail("truncated: rows ", info.rows, " x cols ", info.cols, " do not fit into its ", source.size(),
                    " bytes");
    }
    if (*size != source.size()) source.fail("has ", source.size() - *size, " bytes behind its end");

    Matrix matrix = traits::access::make(rows, cols, info.tensor_scales == 2);
    checksum64 sum;
    const std::span data(traits::data(matrix), *data_bytes);
    source.read(matrix_header_bytes, data);
    const std::size_t whole = data.size() / 64 * 64;
    sum.update(data.first(whole));
    if (whole < data.size()) {
        std::array<std::byte, 64> last{};
        source.read(matrix_header_bytes + whole, last);  // with the zeros behind the data
        for (std::size_t i = data.size() % 64; i < last.size(); ++i) {
            if (last[i] != std::byte{0}) source.fail("malformed: bytes behind its data that must be zero are not zero");
        }
        sum.update(last);
    }
    aligned_buffer<float> scales(scale_count);
    source.read(*size - *scale_bytes, std::as_writable_bytes(scales.span()));
    sum.update(std::as_bytes(scales.span()));
    if (sum.value() != info.data_checksum) source.fail("altered: the checksum of its data is wrong");
    for (std::size_t i = 0; i < scale_count; ++i) {
        if (!is_tensor_scale(scales[i])) {
            source.fail("malformed: tensor scale ", decimal(scales[i]), " at index ", i, " is not finite and > 0");
        }
    }
    if (info.tensor_scales == 1) traits::access::set_tensor_scale(matrix, scales[0]);
    if (info.tensor_scales == 2) std::copy(scales.begin(), scales.end(), traits::access::row_scales(matrix));
    return matrix;
}

}  // namespace detail

/// What the matrix file `path` holds, from its header alone: to choose the type to read it as (visit_format takes the
/// name). Errors: as read_matrix, as far as the header shows them.
[[nodiscard]] inline matrix_file_info read_matrix_info(const std::string& path) {
    detail::file_source source("lowbit::read_matrix_info", path);
    return detail::read_matrix_header(source);
}

/// Reads the file `path` that write_matrix wrote: `read_matrix<packed_matrix<hif4>>("w.lowbit")`.
/// Exact: the same shape, bytes and tensor scales.
/// Errors: throws io_error, see the top of this header.
/// Cost: one read into the matrix's own memory, and one pass over it for the checksum.
template <class Matrix>
[[nodiscard]] Matrix read_matrix(const std::string& path) {
    detail::file_source source("lowbit::read_matrix", path);
    return detail::read_matrix<Matrix>(source);
}

/// The same for a file that is in memory (mapped, say); `name` stands for the file in errors. The matrix is a copy.
template <class Matrix>
[[nodiscard]] Matrix read_matrix(std::span<const std::byte> bytes, std::string name = "memory") {
    detail::memory_source source("lowbit::read_matrix", bytes, std::move(name));
    return detail::read_matrix<Matrix>(source);
}

/// Writes `matrix`, a quantized_matrix or packed_matrix, to the file `path`, replacing what is there.
/// Errors: throws io_error where the file cannot be written; an old file stays what it was then.
template <class Matrix>
requires requires { detail::matrix_file_traits<Matrix>::kind; }
void write_matrix(const std::string& path, const Matrix& matrix) {
    using F = typename Matrix::format;
    using traits = detail::matrix_file_traits<Matrix>;
    static_assert(F::name.size() <= detail::format_name_bytes);
    const std::span<const std::byte> data = traits::data(matrix);
    matrix_file_info info{traits::kind, std::string(F::name), matrix.rows(), matrix.cols(), data.size()};
    info.tensor_scales = !F::has_tensor_scale ? 0 : matrix.row_scales() ? 2 : 1;
    info.layout = detail::layout_of(matrix);
    aligned_buffer<float> scales(info.tensor_scales == 2 ? matrix.rows() : info.tensor_scales);
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = std::as_const(matrix).tensor_scale(i);
    const std::array<std::byte, 64> zeros{};
    const std::span<const std::byte> padding = std::span(zeros).first(round_up(data.size(), 64) - data.size());

    checksum64 sum;
    const std::size_t whole = data.size() / 64 * 64;
    sum.update(data.first(whole));
    if (whole < data.size()) {
        std::array<std::byte, 64> last{};
        std::copy(data.begin() + static_cast<std::ptrdiff_t>(whole), data.end(), last.begin());
        sum.update(last);
    }
    sum.update(std::as_bytes(scales.span()));
    info.data_checksum = sum.value();

    detail::file_sink sink("lowbit::write_matrix", path);
    sink.write(detail::encode_header(info));
    sink.write(data);
    sink.write(padding);
    sink.write(std::as_bytes(scales.span()));
    sink.close();
}

}  // namespace lowbit
