// SPDX-License-Identifier: Apache-2.0
// Shapes whose product, strides, bytes or panels leave 64 bits: refused with the numbers, before memory is asked for.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/convert/transpose.hpp>
#include <lowbit/core/aligned_buffer.hpp>
#include <lowbit/core/thread_pool.hpp>
#include <lowbit/gemm/gemm_quantized.hpp>
#include <lowbit/io/matrix_file.hpp>
#include <lowbit/io/npy.hpp>
#include <lowbit/pack/pack.hpp>

#include "support/failing_allocator.hpp"
#include "support/matrix_testing.hpp"

namespace lowbit::test {
namespace {

constexpr std::size_t largest = ~std::size_t{0};
constexpr std::size_t power(int exponent) { return std::size_t{1} << exponent; }

struct wrong_size {
    std::string text;
    std::function<void()> call;
};

void expect_refused(const std::vector<wrong_size>& sizes) {
    for (const auto& [text, call] : sizes) {
        std::string got(400, ' ');
        allocator::forget_largest();
        try {
            call();
            got = "no error";
        } catch (const error& caught) {
            const std::size_t asked = allocator::largest();
            got = caught.what();
            EXPECT_LT(asked, 1000U) << text << ": memory was asked for";
        } catch (const io_error& caught) {
            const std::size_t asked = allocator::largest();
            got = caught.what();
            EXPECT_LT(asked, 1000U) << text << ": memory was asked for";
        }
        EXPECT_EQ(got, text);
    }
}

const std::string past_bytes = " exceed the limit of 9223372036854775807 bytes";
const std::string past_values = past_bytes + " or values";

// Memory that nobody reads: the views below claim more of it than there is.
float there = 0;
matrix_view<const float> claim(std::size_t rows, std::size_t cols) { return {&there, rows, cols}; }

TEST(sizes_past_64_bits, of_views_and_buffers) {
    expect_refused({
        {"lowbit::matrix_view: rows 4294967296 with stride 4294967296 and cols 4294967296 exceed the limit of "
         "2305843009213693951 elements",
         [] { claim(power(32), power(32)); }},
        {"lowbit::matrix_view: rows 1 with stride 2305843009213693952 and cols 2305843009213693952 exceed the limit of "
         "2305843009213693951 elements",
         [] { claim(1, power(61)); }},
        {"lowbit::matrix_view: rows 2305843009213693952 with stride 1 and cols 1 exceed the limit of "
         "2305843009213693951 elements",
         [] { claim(power(61), 1); }},
        {"lowbit::matrix_view: rows 3 with stride 18446744073709551615 and cols 1 exceed the limit of "
         "2305843009213693951 elements",
         [] { matrix_view<const float>(&there, 3, 1, largest); }},
        {"lowbit::matrix_view: rows 18446744073709551615 with stride 18446744073709551615 and cols "
         "18446744073709551615 exceed the limit of 2305843009213693951 elements",
         [] { claim(largest, largest); }},
        {"lowbit::aligned_buffer: count 18446744073709551615 of elements of 4 bytes exceeds the largest object, "
         "9223372036854775807 bytes",
         [] { aligned_buffer<float> buffer(largest); }},
        {"lowbit::aligned_buffer: count 2305843009213693952 of elements of 4 bytes exceeds the largest object, "
         "9223372036854775807 bytes",
         [] { aligned_buffer<float> buffer(power(61)); }},
        {"lowbit::thread_pool: threads 18446744073709551615 exceed the limit of 65536",
         [] { thread_pool pool(largest); }},
    });
}

template <block_format F>
void expect_refused_by_matrices() {
    using quantised = quantized_matrix<F>;
    using packed = packed_matrix<F>;
    const std::string square = ": rows 4294967296 x cols 4294967296";
    const std::string wide = ": rows 2 x cols 18446744073709551615", tall = ": rows 18446744073709551615 x cols 2";
    expect_refused({
        {"lowbit::quantized_matrix::size_bytes" + square + past_values,
         [] { (void)quantised::size_bytes(power(32), power(32)); }},
        {"lowbit::quantized_matrix::size_bytes" + wide + past_values, [] { (void)quantised::size_bytes(2, largest); }},
        {"lowbit::quantized_matrix::size_bytes" + tall + past_values, [] { (void)quantised::size_bytes(largest, 2); }},
        {"lowbit::quantized_matrix::from_blocks" + square + past_values,
         [] { (void)quantised::from_blocks(power(32), power(32), {}); }},
        {"lowbit::packed_matrix::size_bytes" + square + past_bytes,
         [] { (void)packed::size_bytes(power(32), power(32)); }},
        {"lowbit::packed_matrix::size_bytes" + wide + past_bytes, [] { (void)packed::size_bytes(2, largest); }},
        {"lowbit::packed_matrix::size_bytes" + tall + past_bytes, [] { (void)packed::size_bytes(largest, 2); }},
    });
    // Columns of one value each: a view that is possible, of a matrix that is not.
    if (sizeof(typename F::block) >= 9) {
        const std::string column = ": rows 1152921504606846976 x cols 1";
        expect_refused({
            {"lowbit::quantize" + column + past_values, [] { (void)quantize<F>(claim(power(60), 1)); }},
            {"lowbit::quantize_transposed" + column + past_values,
             [] { (void)quantize_transposed<F>(claim(1, power(60))); }},
            {"lowbit::pack" + column + past_values, [] { (void)pack<F>(claim(power(60), 1)); }},
        });
    }
}

TEST(sizes_past_64_bits, of_matrices) {
    for_each_format([]<class F>(std::type_identity<F>) { expect_refused_by_matrices<F>(); });
}

// No values, but a tensor scale for each row.
TEST(sizes_past_64_bits, of_row_scales) {
    const quantize_options<nvfp4> by_row{.tensor_scale = {.kind = tensor_scale_kind::row}};
    const std::string scales =
        ": rows 4611686018427387904 with a tensor scale each exceed the limit of 9223372036854775807 bytes";
    const std::span<const float> many(&there, power(62));
    expect_refused({
        {"lowbit::quantize" + scales, [&] { (void)quantize<nvfp4>(claim(power(62), 0), by_row); }},
        {"lowbit::quantize_transposed" + scales,
         [&] { (void)quantize_transposed<nvfp4>(matrix_view<const float>(&there, 0, power(62)), by_row); }},
        {"lowbit::pack" + scales, [&] { (void)pack<nvfp4>(claim(power(62), 0), by_row); }},
        {"lowbit::quantized_matrix::from_blocks" + scales,
         [&] { (void)quantized_matrix<nvfp4>::from_blocks(power(62), 0, {}, many); }},
    });
    // Without scales of rows there is nothing to store.
    EXPECT_EQ(quantize<nvfp4>(claim(largest, 0)).rows(), largest);
    EXPECT_EQ(unpack(pack(quantize<mxfp4>(claim(largest, 0)))).rows(), largest);
}

TEST(sizes_past_64_bits, of_rows) {
    const auto q = quantize<mxfp4>(matrix_view<const float>(std::vector<float>(64).data(), 2, 32));
    expect_refused({
        {"lowbit::quantized_matrix::slice_rows: first 1 and count 18446744073709551615 leave the rows 2 of the matrix",
         [&] { (void)q.slice_rows(1, largest); }},
        {"lowbit::quantized_matrix::slice_rows: first 18446744073709551615 and count 1 leave the rows 2 of the matrix",
         [&] { (void)q.slice_rows(largest, 1); }},
    });
}

TEST(sizes_past_64_bits, of_products) {
    const std::vector<float> w(8 * 1, 1.0F);
    const auto b = quantize<mxfp4>(matrix_view<const float>(w.data(), 8, 1));
    expect_refused({
        {"lowbit::gemm_quantized: rows 1152921504606846976 x cols 8" + past_values,
         [&] { (void)gemm_quantized<mxfp4>(claim(power(60), 1), b); }},
        {"lowbit::matrix_view: rows 1152921504606846976 with stride 8 and cols 8 exceed the limit of "
         "2305843009213693951 elements",
         [&] { gemm(claim(power(60), 1), b, matrix_view<float>(&there, power(60), 8)); }},
    });
}

// What a file claims, in a few bytes.
TEST(sizes_past_64_bits, of_files) {
    const auto npy = [](const std::string& shape) {
        std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
        text.resize(118, ' ');
        return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text;
    };
    const auto read = [](std::string bytes) {
        return [bytes = std::move(bytes)] { (void)read_npy(std::as_bytes(std::span(bytes))); };
    };
    const auto header = [](std::uint64_t rows, std::uint64_t cols, matrix_kind kind) {
        matrix_file_info info{kind, "mxfp4", rows, cols, 17};
        if (kind == matrix_kind::packed) info.layout = kernel::native_layout;
        return detail::encode_header(info);
    };
    const std::string name = "lowbit::read_matrix: 'memory': malformed: 17 bytes of data do not match rows ";
    expect_refused({
        {"lowbit::read_npy: 'memory': the shape's product does not fit in 64 bits",
         read(npy("(4294967296, 4294967296)"))},
        {"lowbit::read_npy: 'memory': the shape's product does not fit in 64 bits",
         read(npy("(4611686018427387904, 1)"))},
        {"lowbit::read_npy: 'memory': truncated: the shape needs 9223372036854775808 bytes of values, the file has 0",
         read(npy("(2305843009213693952,)"))},
        {name + "4294967296 x cols 4294967296",
         [&] { (void)read_matrix<quantized_matrix<mxfp4>>(header(power(32), power(32), matrix_kind::quantized)); }},
        {name + "18446744073709551615 x cols 18446744073709551615",
         [&] { (void)read_matrix<quantized_matrix<mxfp4>>(header(largest, largest, matrix_kind::quantized)); }},
        {name + "18446744073709551615 x cols 18446744073709551615",
         [&] { (void)read_matrix<packed_matrix<mxfp4>>(header(largest, largest, matrix_kind::packed)); }},
        {name + "4611686018427387904 x cols 64",
         [&] { (void)read_matrix<packed_matrix<mxfp4>>(header(power(62), 64, matrix_kind::packed)); }},
        {"lowbit::tensor: 'shape' holds 2^64 or more elements, but there are 1 values",
         [] {
             tensor({power(32), power(32)}, std::vector<float>(1));
         }},
    });
}

}  // namespace
}  // namespace lowbit::test
