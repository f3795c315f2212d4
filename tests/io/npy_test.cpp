// SPDX-License-Identifier: Apache-2.0
#include <lowbit/io/npy.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "io/io_support.hpp"

namespace {

using lowbit_test::bytes_of;
using lowbit_test::io_failure;
using lowbit_test::scratch_file;

std::string npy(const std::string& dictionary, const std::string& values, char major = 1) {
    std::string out("\x93NUMPY", 6);
    out += major;
    out += '\0';
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i) out += static_cast<char>((dictionary.size() >> (8 * i)) & 0xFF);
    return out + dictionary + values;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string values(const std::vector<T>& list, bool big_endian = false) {
    std::string out;
    for (const T value : list) {
        std::string one(reinterpret_cast<const char*>(&value), sizeof(T));
        out += big_endian ? std::string(one.rbegin(), one.rend()) : one;
    }
    return out;
}

lowbit::tensor read(const std::string& file) { return lowbit::read_npy(bytes_of(file), "test.npy"); }

std::string failure(const std::string& file) {
    return io_failure([&] { static_cast<void>(read(file)); });
}

std::vector<float> list(const lowbit::tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }

TEST(npy, reads_float32_of_both_byte_orders) {
    const std::vector<float> want{1.0F, -0.5F, 3.25F, 1e-45F, 3.4e38F, -0.0F};
    for (const bool big : {false, true}) {
        const lowbit::tensor got = read(npy(header(big ? ">f4" : "<f4", "(2, 3)"), values(want, big)));
        EXPECT_EQ(got.rows(), 2U);
        EXPECT_EQ(got.cols(), 3U);
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(lowbit::to_bits(got.values()[i]), lowbit::to_bits(want[i]));
    }
}

TEST(npy, reads_float64_rounding_once_and_float16_exactly) {
    const std::vector<double> wide{1.0 + 0x1p-24, 1.0 + 0x1.8p-23, 1e300, -0x1p-150, 0x1.8p-149};
    for (const bool big : {false, true}) {
        const lowbit::tensor got = read(npy(header(big ? ">f8" : "<f8", "(5,)"), values(wide, big)));
        const std::vector<std::uint32_t> want{0x3F800000, 0x3F800002, 0x7F800000, 0x80000000, 0x00000002};
        for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(lowbit::to_bits(got.values()[i]), want[i]) << i;
    }
    for (const bool big : {false, true}) {
        const std::vector<std::uint16_t> half{0x3C00, 0xC000, 0x0001, 0x7BFF};
        EXPECT_EQ(list(read(npy(header(big ? ">f2" : "<f2", "(4,)"), values(half, big)))),
                  (std::vector<float>{1.0F, -2.0F, 0x1p-24F, 65504.0F}));
    }
}

TEST(npy, last_axis_is_k_at_any_rank) {
    const auto shape_of = [&](const std::string& shape, std::size_t count) {
        const lowbit::tensor got = read(npy(header("<f4", shape), values(std::vector<float>(count, 1.0F))));
        return std::pair(got.rows(), got.cols());
    };
    EXPECT_EQ(shape_of("()", 1), std::pair(std::size_t{1}, std::size_t{1}));
    EXPECT_EQ(shape_of("(7,)", 7), std::pair(std::size_t{1}, std::size_t{7}));
    EXPECT_EQ(shape_of("(2, 3, 4)", 24), std::pair(std::size_t{6}, std::size_t{4}));
    EXPECT_EQ(shape_of("(2,3,4,)", 24), std::pair(std::size_t{6}, std::size_t{4}));
    EXPECT_EQ(shape_of("(2L, 3L)", 6), std::pair(std::size_t{2}, std::size_t{3}));
    EXPECT_EQ(shape_of("(0, 5)", 0), std::pair(std::size_t{0}, std::size_t{5}));
    EXPECT_EQ(shape_of("(5, 0)", 0), std::pair(std::size_t{5}, std::size_t{0}));
}

TEST(npy, fortran_order_is_turned_around) {
    // the array [[0,1,2],[3,4,5]] and a 2 x 3 x 4 one whose value is its C index
    EXPECT_EQ(list(read(npy(header("<f4", "(2, 3)", "True"), values<float>({0, 3, 1, 4, 2, 5})))),
              (std::vector<float>{0, 1, 2, 3, 4, 5}));
    std::vector<float> cube;
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 2; ++i) cube.push_back(static_cast<float>(i * 12 + j * 4 + k));
        }
    }
    const lowbit::tensor got = read(npy(header("<f4", "(2, 3, 4)", "True"), values(cube)));
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(got.values()[i], static_cast<float>(i));
}

TEST(npy, accepts_every_header_that_numpy_writes) {
    const std::string data = values<float>({1, 2});
    EXPECT_EQ(list(read(npy(header("<f4", "(2,)"), data, 2))), (std::vector<float>{1, 2}));
    EXPECT_EQ(list(read(npy(header("<f4", "(2,)"), data, 3))), (std::vector<float>{1, 2}));
    EXPECT_EQ(list(read(npy("{\"shape\": (2,), \"fortran_order\": True, \"descr\": \"=f4\"}", data))),
              (std::vector<float>{1, 2}));
    EXPECT_EQ(list(read(npy(header("<f4", "(2,)"), data + "more"))), (std::vector<float>{1, 2}));
}

TEST(npy, case77_element_types_are_not_guessed) {
    for (const std::string type : {"<V1", "<V2", "|u1", "<i4", "<c8", "<f16", "|b1", "", "f4", "<f4 ", "|f4"}) {
        const std::string text = failure(npy(header(type, "(1,)"), std::string(16, '\0')));
        EXPECT_NE(text.find("element type"), std::string::npos) << type << ": " << text;
        EXPECT_NE(text.find("'test.npy'"), std::string::npos) << text;
    }
    EXPECT_NE(
        failure(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")).find("structured"),
        std::string::npos);
}

TEST(npy, the_header_of_another_element_type_can_be_read) {
    const scratch_file file("integers.npy", npy(header("<i4", "(2, 3)"), std::string(24, '\0')));
    const lowbit::npy_header got = lowbit::read_npy_header(file.path());
    EXPECT_FALSE(got.type.has_value());
    EXPECT_EQ(got.dtype, "<i4");
    EXPECT_EQ(got.shape, (std::vector<std::size_t>{2, 3}));
}

TEST(npy, case50_shape_products_that_wrap_are_refused) {
    for (const std::string shape :
         {"(4294967296, 4294967296)", "(9223372036854775808, 2)", "(18446744073709551615,)",
          "(4294967296, 4294967296, 0)", "(4611686018427387904,)", "(99999999999999999999999,)"}) {
        const std::string text = failure(npy(header("<f4", shape), std::string(64, '\0')));
        EXPECT_NE(text.find("64 bits"), std::string::npos) << shape << ": " << text;
    }
    EXPECT_NE(failure(npy(header("<f4", "(1000000000000,)"), "1234")).find("truncated"), std::string::npos);
}

TEST(npy, every_cut_of_a_file_is_an_error) {
    const std::string whole = npy(header("<f4", "(2, 3)"), values<float>({1, 2, 3, 4, 5, 6}));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_NE(failure(whole.substr(0, size)), "") << size;
    }
    EXPECT_EQ(failure(whole), "");
}

TEST(npy, malformed_headers_are_errors) {
    const std::string data(64, '\0');
    for (const std::string text : {"",
                                   "{",
                                   "{}",
                                   "[]",
                                   "{'descr'}",
                                   "{'descr': }",
                                   "{'descr': '<f4'}",
                                   "{'descr': '<f4",
                                   "{'shape': (1,)}",
                                   "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
                                   "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                                   "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (1,"}) {
        EXPECT_NE(failure(npy(text, data)), "") << text;
    }
    std::string axes = "(";
    for (int i = 0; i < 65; ++i) axes += "1,";
    EXPECT_NE(failure(npy(header("<f4", axes + ")"), data)), "");
    EXPECT_NE(failure(npy(header("<f4", "(1,)"), data, 4)).find("version"), std::string::npos);
    std::string minor = npy(header("<f4", "(1,)"), data);
    minor[7] = 1;
    EXPECT_NE(failure(minor).find("version"), std::string::npos);
    EXPECT_NE(failure("PK\x03\x04 zip file, .npz").find("not a .npy file"), std::string::npos);
    std::string huge = npy(header("<f4", "(1,)"), data, 2);
    huge[11] = '\x7F';  // a header of 2 GiB
    EXPECT_NE(failure(huge).find("more than"), std::string::npos);
}

TEST(npy, writes_what_it_reads) {
    const scratch_file file("round_trip.npy");
    std::vector<float> data(35);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i) / 7;
    const lowbit::matrix_view<const float> part(data.data(), 5, 6, 7);
    lowbit::write_npy(file.path(), part);
    const lowbit::tensor got = lowbit::read_npy(file.path());
    ASSERT_EQ(got.rows(), 5U);
    ASSERT_EQ(got.cols(), 6U);
    for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(got.view()(i, j), part(i, j));
    }
    EXPECT_EQ(lowbit::read_npy_header(file.path()).data_offset % 64, 0U);
    const std::vector<double> wide{1.5, 2.5};
    lowbit::write_npy(file.path(), lowbit::matrix_view<const double>(wide.data(), 1, 2));
    EXPECT_EQ(lowbit::read_npy_header(file.path()).type, lowbit::float_type::float64);
    EXPECT_EQ(list(lowbit::read_npy(file.path())), (std::vector<float>{1.5F, 2.5F}));
    const std::vector<lowbit::float16> half{lowbit::float16::from_bits(0x3C00)};
    lowbit::write_npy(file.path(), lowbit::matrix_view<const lowbit::float16>(half.data(), 1, 1));
    EXPECT_EQ(list(lowbit::read_npy(file.path())), (std::vector<float>{1.0F}));
    lowbit::write_npy(file.path(), lowbit::matrix_view<const float>(nullptr, 3, 0));
    EXPECT_EQ(lowbit::read_npy(file.path()).rows(), 3U);
}

TEST(npy, files_that_cannot_be_opened_are_errors) {
    const auto read_path = [](const std::string& path) { return io_failure([&] { (void)lowbit::read_npy(path); }); };
    EXPECT_NE(read_path("/nonexistent/x.npy").find("'/nonexistent/x.npy': cannot open"), std::string::npos);
    EXPECT_NE(read_path(".").find("not a regular file"), std::string::npos);
    EXPECT_NE(read_path("/dev/null").find("not a regular file"), std::string::npos);
    const float one = 1;
    const std::string text =
        io_failure([&] { lowbit::write_npy("/nonexistent/y.npy", lowbit::matrix_view<const float>(&one, 1, 1)); });
    EXPECT_NE(text.find("lowbit::write_npy: '/nonexistent/y.npy': cannot create"), std::string::npos) << text;
}

}  // namespace
