// SPDX-License-Identifier: Apache-2.0
#include <lowbit/io/matrix_file.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lowbit/block/registry.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/pack/pack.hpp>

#include "io/io_support.hpp"

namespace {

using lowbit::mxfp4;
using lowbit::nvfp4;
using lowbit::packed_matrix;
using lowbit::quantized_matrix;
using lowbit_test::bytes_of;
using lowbit_test::io_failure;
using lowbit_test::scratch_file;

std::vector<float> random_values(std::size_t count) {
    std::mt19937 engine(3);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = normal(engine);
    return values;
}

template <class F>
quantized_matrix<F> random_matrix(std::size_t rows, std::size_t cols) {
    const auto values = random_values(rows * cols);
    return lowbit::quantize<F>(lowbit::matrix_view<const float>(values.data(), rows, cols));
}

quantized_matrix<nvfp4> with_row_scales(std::size_t rows, std::size_t cols) {
    const auto values = random_values(rows * cols);
    lowbit::quantize_options<nvfp4> options;
    options.tensor_scale.kind = lowbit::tensor_scale_kind::row;
    return lowbit::quantize<nvfp4>(lowbit::matrix_view<const float>(values.data(), rows, cols), options);
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Matrix>
std::string saved(const Matrix& matrix) {
    const scratch_file file("saved.lowbit");
    lowbit::write_matrix(file.path(), matrix);
    return content(file.path());
}

template <class F>
void expect_equal(const packed_matrix<F>& a, const packed_matrix<F>& b) {
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.cols(), b.cols());
    EXPECT_EQ(a.row_scales(), b.row_scales());
    for (std::size_t i = 0; i < a.rows(); ++i) EXPECT_EQ(a.tensor_scale(i), b.tensor_scale(i));
    ASSERT_EQ(a.bytes().size(), b.bytes().size());
    EXPECT_TRUE(a.bytes().empty() || std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

// What a hostile writer would do: the header changed, and its checksum right again.
std::string resealed(std::string bytes) {
    lowbit::checksum64 sum;
    sum.update(bytes_of(bytes).first(120));
    put(bytes, 120, sum.value());
    return bytes;
}

// The same, with other data too.
std::string resealed_all(std::string bytes) {
    lowbit::checksum64 sum;
    sum.update(bytes_of(bytes).subspan(128));
    put(bytes, 112, sum.value());
    return resealed(std::move(bytes));
}

template <class Matrix>
std::string failure_of(const std::string& bytes) {
    return io_failure([&] { static_cast<void>(lowbit::read_matrix<Matrix>(bytes_of(bytes), "file")); });
}

TEST(matrix_file, every_format_and_shape_comes_back) {
    lowbit::for_each_format([]<class F>(std::type_identity<F>) {
        for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{0, 0},
                                         {0, 70},
                                         {3, 0},
                                         {1, 1},
                                         {5, 33},
                                         {32, 64},
                                         {33, 129},
                                         {70, 200}}) {
            const auto q = random_matrix<F>(rows, cols);
            const scratch_file file("matrix.lowbit");
            lowbit::write_matrix(file.path(), q);
            EXPECT_EQ(lowbit::read_matrix<quantized_matrix<F>>(file.path()), q) << F::name;
            const auto packed = lowbit::pack(q);
            lowbit::write_matrix(file.path(), packed);
            expect_equal(lowbit::read_matrix<packed_matrix<F>>(file.path()), packed);
            const auto info = lowbit::read_matrix_info(file.path());
            EXPECT_EQ(info.kind, lowbit::matrix_kind::packed);
            EXPECT_EQ(info.format, F::name);
            EXPECT_EQ(info.rows, rows);
            EXPECT_EQ(info.cols, cols);
        }
    });
}

TEST(matrix_file, tensor_scales_of_the_matrix_and_of_rows_come_back) {
    for (const std::size_t rows : {0U, 1U, 2U, 35U}) {
        const auto q = with_row_scales(rows, 80);
        EXPECT_EQ(lowbit::read_matrix<quantized_matrix<nvfp4>>(bytes_of(saved(q))), q);
        expect_equal(lowbit::read_matrix<packed_matrix<nvfp4>>(bytes_of(saved(lowbit::pack(q)))), lowbit::pack(q));
    }
}

TEST(matrix_file, case53_bytes_are_as_documented) {
    const float scale = 0.5F;
    const nvfp4::block block{0x38, {0x21, 0x43, 0x65, 0x07, 0, 0, 0, 0x80}};
    const auto q = quantized_matrix<nvfp4>::from_blocks(1, 16, std::span(&block, 1), std::span(&scale, 1));
    const std::string bytes = saved(q);
    ASSERT_EQ(bytes.size(), 128U + 64U + 4U);
    std::string wanted(196, '\0');
    wanted.replace(0, 16, std::string("\x89LOWBIT\n\1\0\0\0\1\0\0\0", 16));
    wanted.replace(16, 5, "nvfp4");
    wanted[48] = 1;   // rows
    wanted[56] = 16;  // columns
    wanted[64] = 9;   // bytes of blocks
    wanted[72] = 1;   // one tensor scale
    wanted.replace(112, 16, bytes.substr(112, 16));
    wanted.replace(128, 9, std::string("\x38\x21\x43\x65\x07\0\0\0\x80", 9));
    wanted.replace(192, 4, std::string("\0\0\0\x3F", 4));
    EXPECT_EQ(bytes, wanted);
}

TEST(matrix_file, every_flipped_byte_is_found) {
    for (const std::string& original :
         {saved(with_row_scales(2, 40)), saved(lowbit::pack(random_matrix<mxfp4>(1, 32)))}) {
        const bool packed = original[12] == 2;
        for (std::size_t i = 0; i < original.size(); ++i) {
            for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
                std::string bytes = original;
                bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ flip);
                const std::string text =
                    packed ? failure_of<packed_matrix<mxfp4>>(bytes) : failure_of<quantized_matrix<nvfp4>>(bytes);
                ASSERT_NE(text, "") << "byte " << i;
                ASSERT_NE(text.find("'file'"), std::string::npos);
            }
        }
    }
}

TEST(matrix_file, every_truncation_and_any_growth_is_found) {
    const std::string original = saved(with_row_scales(2, 40));
    for (std::size_t size = 0; size < original.size(); ++size) {
        ASSERT_NE(failure_of<quantized_matrix<nvfp4>>(original.substr(0, size)).find("truncated"), std::string::npos);
    }
    EXPECT_NE(failure_of<quantized_matrix<nvfp4>>(original + 'x').find("1 bytes behind its end"), std::string::npos);
}

TEST(matrix_file, errors_name_file_and_reason) {
    const auto q = random_matrix<mxfp4>(4, 64);
    const std::string bytes = saved(q), packed = saved(lowbit::pack(q));
    EXPECT_EQ(failure_of<quantized_matrix<nvfp4>>(bytes),
              "lowbit::read_matrix: 'file': holds format 'mxfp4', not 'nvfp4'");
    EXPECT_EQ(failure_of<packed_matrix<mxfp4>>(bytes),
              "lowbit::read_matrix: 'file': holds a quantised matrix, not a packed matrix");
    EXPECT_EQ(failure_of<quantized_matrix<mxfp4>>(packed),
              "lowbit::read_matrix: 'file': holds a packed matrix, not a quantised matrix");
    std::string other = bytes;
    put(other, 8, std::uint32_t{2});
    EXPECT_EQ(failure_of<quantized_matrix<mxfp4>>(resealed(other)),
              "lowbit::read_matrix: 'file': has version 2, this library reads version 1");
    other = packed;
    put(other, 76, std::uint32_t{99});
    EXPECT_NE(failure_of<packed_matrix<mxfp4>>(resealed(other)).find("panel layout version 99"), std::string::npos);
    EXPECT_NE(failure_of<quantized_matrix<mxfp4>>(std::string(500, 'x')).find("not a lowbit matrix file"),
              std::string::npos);
    EXPECT_NE(io_failure([] {
                  static_cast<void>(lowbit::read_matrix<quantized_matrix<mxfp4>>("/nonexistent/w.lowbit"));
              }).find("'/nonexistent/w.lowbit': cannot open"),
              std::string::npos);
    EXPECT_NE(io_failure([&] { lowbit::write_matrix("/nonexistent/w.lowbit", q); }).find("cannot create"),
              std::string::npos);
    EXPECT_NE(io_failure([] { static_cast<void>(lowbit::read_matrix_info("/")); }), "");
}

TEST(matrix_file, case50_hostile_sizes_take_no_memory) {
    const std::uint64_t large[] = {std::uint64_t{1} << 33U,
                                   std::uint64_t{1} << 62U,
                                   std::uint64_t{1} << 63U,
                                   (std::numeric_limits<std::uint64_t>::max)(),
                                   5,
                                   65};
    const std::string quantised = saved(with_row_scales(2, 40)), packed = saved(lowbit::pack(with_row_scales(2, 40)));
    for (const std::uint64_t rows : large) {
        for (const std::uint64_t cols : large) {
            for (const std::uint64_t data :
                 {std::uint64_t{54}, std::uint64_t{0}, rows * cols, rows * ((cols + 15) / 16) * 9,
                  (rows + 31) / 32 * 1152 * ((cols + 63) / 64)}) {
                for (const std::uint32_t scales : {0U, 1U, 2U, 3U}) {
                    for (const bool is_packed : {false, true}) {
                        std::string bytes = is_packed ? packed : quantised;
                        put(bytes, 48, rows);
                        put(bytes, 56, cols);
                        put(bytes, 64, data);
                        put(bytes, 72, scales);
                        bytes = resealed(bytes);
                        ASSERT_NE(is_packed ? failure_of<packed_matrix<nvfp4>>(bytes)
                                            : failure_of<quantized_matrix<nvfp4>>(bytes),
                                  "");
                    }
                }
            }
        }
    }
    // Sizes that would wrap to what is there: nothing but a tensor scale.
    for (const bool is_packed : {false, true}) {
        std::string bytes = (is_packed ? packed : quantised).substr(0, 128) + std::string("\0\0\0\x3F", 4);
        put(bytes, 48, std::uint64_t{1} << 62U);
        put(bytes, 56, std::uint64_t{1} << 20U);
        put(bytes, 64, std::uint64_t{0});
        put(bytes, 72, 1U);
        bytes = resealed(bytes);
        const std::string text =
            is_packed ? failure_of<packed_matrix<nvfp4>>(bytes) : failure_of<quantized_matrix<nvfp4>>(bytes);
        EXPECT_NE(text.find("malformed"), std::string::npos) << text;
    }
    std::string empty = quantised.substr(0, 128);
    put(empty, 56, std::uint64_t{0});
    put(empty, 64, std::uint64_t{0});
    for (const std::uint64_t rows : {std::uint64_t{SIZE_MAX / 16 + 1}, std::uint64_t{SIZE_MAX / 4 + 1}}) {
        put(empty, 48, rows);
        EXPECT_NE(failure_of<quantized_matrix<nvfp4>>(resealed(empty)).find("truncated"), std::string::npos);
    }
    // Right in its low 32 bits, which are all that std::size_t has on some targets.
    for (const std::size_t offset : {48U, 56U}) {
        std::string bytes = quantised;
        bytes[offset + 4] = 1;
        EXPECT_NE(failure_of<quantized_matrix<nvfp4>>(resealed(bytes)).find("malformed"), std::string::npos);
    }
}

TEST(matrix_file, a_tensor_scale_that_cannot_be_is_refused) {
    for (const float scale : {0.0F, -1.0F, std::numeric_limits<float>::infinity(), lowbit::quiet_nan}) {
        std::string bytes = saved(random_matrix<nvfp4>(1, 16));
        put(bytes, 192, scale);
        EXPECT_NE(failure_of<quantized_matrix<nvfp4>>(resealed_all(bytes)).find("tensor scale"), std::string::npos);
    }
}

// What the format says is zero may mean something in a later version: a reader that took it for this one would be
// wrong.
TEST(matrix_file, bytes_that_must_be_zero_are_checked) {
    const std::string original = saved(random_matrix<nvfp4>(1, 40));  // 27 bytes of blocks, 37 of zeros
    ASSERT_EQ(failure_of<quantized_matrix<nvfp4>>(resealed_all(original)), "");
    std::vector<std::size_t> zeros;
    for (std::size_t i = 16 + 6; i < 48; ++i) zeros.push_back(i);     // behind the end of the name
    for (std::size_t i = 76; i < 112; ++i) zeros.push_back(i);        // the layout of panels; reserved
    for (std::size_t i = 128 + 27; i < 192; ++i) zeros.push_back(i);  // behind the blocks
    for (const std::size_t i : zeros) {
        std::string bytes = original;
        bytes[i] = 'x';
        EXPECT_NE(failure_of<quantized_matrix<nvfp4>>(resealed_all(bytes)).find("are not zero"), std::string::npos)
            << i;
    }
}

}  // namespace
