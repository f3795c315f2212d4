// SPDX-License-Identifier: Apache-2.0
#include <lowbit/io/safetensors.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <lowbit/io/safetensors_write.hpp>

#include "io/io_support.hpp"

namespace {

using lowbit_test::bytes_of;
using lowbit_test::io_failure;
using lowbit_test::scratch_file;

std::string file_of(const std::string& json, const std::string& values = "") {
    std::string out;
    for (int i = 0; i < 8; ++i) out += static_cast<char>((std::uint64_t{json.size()} >> (8 * i)) & 0xFF);
    return out + json + values;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape, int begin, int end) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
           std::to_string(begin) + "," + std::to_string(end) + "]}";
}

std::string failure(const std::string& file) {
    return io_failure([&] { static_cast<void>(lowbit::read_safetensors_index(bytes_of(file), "test.safetensors")); });
}

void expect_failure(const std::string& file, const std::string& part) {
    const std::string text = failure(file);
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    EXPECT_EQ(text.rfind("lowbit::read_safetensors_index: 'test.safetensors': ", 0), 0U) << text;
}

TEST(safetensors, reads_index_metadata_and_values) {
    const std::string file =
        file_of("{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "BF16", "[2,2]", 4, 12) + "," +
                    entry("a", "F16", "[2]", 0, 4) + "," + entry("d", "F64", "[]", 16, 24) + "," +
                    entry("c", "F32", "[1,1,1]", 12, 16) + "}   ",
                std::string("\x00\x3C\x00\xC0", 4) + std::string("\x80\x3F\x00\x40\x40\x40\x80\xC0", 8) +
                    std::string("\x00\x00\x20\x41", 4) + std::string("\x00\x00\x00\x00\x00\x00\xE0\x3F", 8));
    const lowbit::safetensors_index index = lowbit::read_safetensors_index(bytes_of(file));
    ASSERT_EQ(index.tensors.size(), 4U);
    EXPECT_EQ(index.metadata.at("format"), "pt");
    const std::vector<std::string> names{"a", "b", "c", "d"};
    const std::vector<std::vector<float>> want{{1, -2}, {1, 2, 3, -4}, {10}, {0.5F}};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(index.tensors[i].name, names[i]);
        const lowbit::tensor got = lowbit::read_safetensors(bytes_of(file), index.tensors[i]);
        EXPECT_EQ(got.shape(), index.tensors[i].shape);
        EXPECT_EQ(std::vector<float>(got.values().begin(), got.values().end()), want[i]);
    }
    EXPECT_EQ(index.tensors[1].rows(), 2U);
    EXPECT_EQ(index.tensors[3].cols(), 1U);
}

TEST(safetensors, other_element_types_are_listed_and_not_read) {
    const std::string file =
        file_of("{" + entry("i", "I64", "[1]", 0, 8) + "," + entry("f8", "F8_E4M3", "[3]", 8, 11) + "," +
                    entry("f4", "F4", "[2]", 11, 12) + "," + entry("new", "Q3_K", "[5]", 12, 16) + "}",
                std::string(16, '\0'));
    const lowbit::safetensors_index index = lowbit::read_safetensors_index(bytes_of(file));
    ASSERT_EQ(index.tensors.size(), 4U);
    for (const lowbit::safetensors_entry& tensor : index.tensors) {
        EXPECT_FALSE(tensor.type());
        const std::string text = io_failure([&] { (void)lowbit::read_safetensors(bytes_of(file), tensor); });
        EXPECT_NE(text.find("is not F64, F32, F16 or BF16"), std::string::npos) << text;
    }
}

TEST(safetensors, empty_files_and_empty_tensors) {
    EXPECT_TRUE(lowbit::read_safetensors_index(bytes_of(file_of("{}"))).tensors.empty());
    const std::string file = file_of("{" + entry("e", "F32", "[0,7]", 0, 0) + "," + entry("x", "F32", "[1]", 0, 4) +
                                         "," + entry("z", "BF16", "[5,0]", 4, 4) + "}",
                                     "1234");
    const lowbit::safetensors_index index = lowbit::read_safetensors_index(bytes_of(file));
    ASSERT_EQ(index.tensors.size(), 3U);
    EXPECT_EQ(lowbit::read_safetensors(bytes_of(file), index.tensors[0]).cols(), 7U);
}

TEST(safetensors, every_cut_of_a_file_is_an_error) {
    const std::string whole = file_of("{" + entry("a", "F32", "[2]", 0, 8) + "}", "12345678");
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(failure(whole.substr(0, size)), "") << size;
    EXPECT_EQ(failure(whole), "");
    expect_failure(whole + "x", "1 bytes behind the last tensor");
}

TEST(safetensors, offsets_must_tile_the_values) {
    const std::string data(16, '\0');
    const auto two = [&](int a, int b, int c, int d) {
        return file_of("{" + entry("a", "F32", "[2]", a, b) + "," + entry("b", "F32", "[2]", c, d) + "}", data);
    };
    EXPECT_EQ(failure(two(0, 8, 8, 16)), "");
    EXPECT_EQ(failure(two(8, 16, 0, 8)), "");
    expect_failure(two(0, 8, 4, 12), "overlaps");
    expect_failure(two(0, 8, 0, 8), "overlaps");
    expect_failure(file_of("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[2]", 8, 16) + "}", data),
                   "gap");
    expect_failure(file_of("{" + entry("a", "F32", "[3]", 4, 16) + "}", data), "gap");
    expect_failure(two(8, 0, 8, 16), "run backwards");
    expect_failure(two(0, 8, 8, 24), "the file has 16");
    expect_failure(file_of("{" + entry("a", "F32", "[5]", 0, 16) + "}", data), "do not take 16 bytes");
    expect_failure(file_of("{" + entry("a", "F4", "[31]", 0, 16) + "}", data), "do not take 16 bytes");
}

TEST(safetensors, case50_shape_products_that_wrap_are_refused) {
    const std::string data(4, '\0');
    for (const std::string shape :
         {"[4294967296,4294967296]", "[9223372036854775808,2]", "[4294967296,4294967296,0]"}) {
        expect_failure(file_of("{" + entry("a", "F32", shape, 0, 4) + "}", data), "64 bits");
    }
    expect_failure(file_of("{" + entry("a", "F32", "[576460752303423489]", 0, 4) + "}", data), "do not take");
    expect_failure(file_of("{" + entry("a", "F32", "[18446744073709551616]", 0, 4) + "}", data), "past 64 bits");
    std::string axes = "[1";
    for (int i = 0; i < 64; ++i) axes += ",1";
    expect_failure(file_of("{" + entry("a", "F32", axes + "]", 0, 4) + "}", data), "a number under key");
}

TEST(safetensors, malformed_headers_are_errors) {
    const std::string good = entry("a", "F32", "[1]", 0, 4);
    expect_failure(file_of(""), "begin with '{'");
    expect_failure(file_of(" {}"), "begin with '{'");
    expect_failure(file_of("{"), "no valid JSON");
    expect_failure(file_of("{}{}"), "no valid JSON");
    expect_failure(file_of("{" + good + "," + good + "}", "1234"), "key 'a' stands there twice");
    expect_failure(file_of("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"), "key 'k' stands there twice");
    expect_failure(file_of("{\"__metadata__\":{},\"__metadata__\":{}}"), "stands there twice");
    expect_failure(
        file_of("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "1234"), "twice");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "1234"), "lacks");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", "1234"), "one number");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}", "1234"),
                   "a number under");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", "1234"), "a number under");
    expect_failure(file_of("{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", "1234"), "a number under");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", "1234"), "negative");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", "1234"), "fraction");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1e0],\"data_offsets\":[0,4]}}", "1234"), "fraction");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[[1]],\"data_offsets\":[0,4]}}", "1234"), "an array");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[null],\"data_offsets\":[0,4]}}", "1234"), "null");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[true],\"data_offsets\":[0,4]}}", "1234"), "boolean");
    expect_failure(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", "1234"),
                   "unknown key");
    expect_failure(file_of("{\"__metadata__\":{\"k\":1}}"), "a number under");
    expect_failure(file_of("{\"__metadata__\":{\"k\":{}}}"), "an object under");
    expect_failure(file_of("{\"a\":[]}"), "an array");
    expect_failure(file_of("{\"a\":\"b\"}"), "a string");
    expect_failure(file_of("{" + std::string(100000, '[') + "}"), "malformed header");
    expect_failure(file_of("{\"\xFF\":{}}"), "no valid JSON");
    std::string huge = file_of("{}");
    huge[7] = '\x7F';
    expect_failure(huge, "more than 100000000");
    huge = file_of("{}");
    huge[2] = '\x10';
    expect_failure(huge, "truncated inside the header");
}

TEST(safetensors, files_are_read_tensor_by_tensor) {
    const std::vector<float> first{1, 2, 3, 4, 5, 6};
    const std::vector<float> second{0.5F, -0.25F};
    for (const lowbit::float_type type : {lowbit::float_type::bfloat16, lowbit::float_type::float16,
                                          lowbit::float_type::float32, lowbit::float_type::float64}) {
        const scratch_file file("written.safetensors");
        const std::vector<lowbit::safetensors_output> tensors{{"x \"1\"", {2, 3}, first, type},
                                                              {"y", {2}, second, type}};
        lowbit::write_safetensors(file.path(), tensors, {{"note", "a \n b"}});
        lowbit::safetensors_model model(file.path());
        EXPECT_EQ(model.metadata().at("note"), "a \n b");
        ASSERT_EQ(model.tensors().size(), 2U);
        EXPECT_EQ(model.tensors()[0].begin % 8, 0U);
        EXPECT_EQ(model.find("x \"1\"")->type(), type);
        EXPECT_EQ(model.find("z"), nullptr);
        const lowbit::tensor x = model.read("x \"1\"");
        EXPECT_EQ(x.rows(), 2U);
        EXPECT_EQ(std::vector<float>(x.values().begin(), x.values().end()), first);
        const lowbit::tensor y = model.read("y");
        EXPECT_EQ(std::vector<float>(y.values().begin(), y.values().end()), second);
        EXPECT_NE(io_failure([&] { (void)model.read("z"); }).find("there is no tensor 'z'"), std::string::npos);
    }
}

TEST(safetensors, writer_checks_names_and_shapes) {
    const std::vector<float> one{1};
    const auto write = [&](const std::vector<lowbit::safetensors_output>& tensors) {
        lowbit::write_safetensors("/nonexistent/x.safetensors", tensors);
    };
    EXPECT_THROW(write({{"a", {1}, one}, {"a", {1}, one}}), lowbit::error);
    EXPECT_THROW(write({{"__metadata__", {1}, one}}), lowbit::error);
    EXPECT_THROW(write({{"a", {2}, one}}), lowbit::error);
    EXPECT_THROW(write({{"a", {1}, one}}), lowbit::io_error);
}

TEST(safetensors, values_behind_four_gigabytes_are_reached) {
    const std::uint64_t hole = (std::uint64_t{1} << 32U) + 4096;  // a sparse file: takes no space
    const scratch_file file("sparse.safetensors");
    const std::string json = "{\"hole\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(hole) +
                             "],\"data_offsets\":[0," + std::to_string(hole) +
                             "]},\"last\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" + std::to_string(hole) +
                             "," + std::to_string(hole + 4) + "]}}";
    {
        std::ofstream out(file.path(), std::ios::binary);
        out << file_of(json);
        out.seekp(static_cast<std::streamoff>(8 + json.size() + hole));
        out << std::string("\x00\x00\x28\x42", 4);
        if (!out) GTEST_SKIP() << "this file system holds no sparse file of 4 GiB";
    }
    lowbit::safetensors_model model(file.path());
    EXPECT_EQ(model.read("last").values()[0], 42.0F);
}

class sharded : public testing::Test {
  protected:
    std::string index(const std::string& second_file, const std::string& extra = "") const {
        return "{\"metadata\":{\"total_size\":8,\"list\":[1,[2]],\"x\":{\"weight_map\":{}}}," + extra +
               "\"weight_map\":{\"a\":\"" + one_.name() + "\",\"b\":\"" + second_file + "\"}}";
    }
    std::string open(const std::string& text) const {
        const scratch_file file("index.json", text);
        return io_failure([&] { lowbit::safetensors_model model(file.path()); });
    }
    scratch_file one_{"1.safetensors",
                      file_of("{" + entry("a", "F32", "[1]", 0, 4) + "}", std::string("\x00\x00\x80\x3F", 4))};
    scratch_file two_{"2.safetensors",
                      file_of("{" + entry("b", "F32", "[1]", 0, 4) + "}", std::string("\x00\x00\x00\x40", 4))};
};

TEST_F(sharded, model_of_two_files_reads_as_one) {
    const scratch_file file("index.json", index(two_.name()));
    lowbit::safetensors_model model(file.path());
    ASSERT_EQ(model.tensors().size(), 2U);
    EXPECT_EQ(model.read("a").values()[0], 1.0F);
    EXPECT_EQ(model.read("b").values()[0], 2.0F);
}

TEST_F(sharded, malformed_indexes_are_errors) {
    EXPECT_EQ(open(index(two_.name())), "");
    for (const std::string name : {"../2.safetensors", "/etc/passwd", "..", ".", "", "a\\\\b", "c:x", "x\\u0000y"}) {
        EXPECT_NE(open(index(name)).find("plain name"), std::string::npos) << name;
    }
    EXPECT_NE(open(index("missing.safetensors")).find("cannot open"), std::string::npos);
    EXPECT_NE(open(index(one_.name())).find("tensor 'b' is not in"), std::string::npos);
    EXPECT_NE(open("{}").find("no 'weight_map'"), std::string::npos);
    EXPECT_NE(open("{\"weight_map\":{}}").find("no 'weight_map'"), std::string::npos);
    EXPECT_NE(open("{\"weight_map\":[\"a\"]}").find("no 'weight_map'"), std::string::npos);
    EXPECT_NE(open("{\"weight_map\":{\"a\":1}}").find("no file name"), std::string::npos);
    EXPECT_NE(open("{\"weight_map\":{\"a\":{}}}").find("no file name"), std::string::npos);
    EXPECT_NE(open("{\"weight_map\":{\"a\":\"1\",\"a\":\"2\"}}").find("twice"), std::string::npos);
    EXPECT_NE(open(index(two_.name(), "\"weight_map\":{},")).find("twice"), std::string::npos);
    EXPECT_NE(open("{" + std::string(50, '[')).find("malformed"), std::string::npos);
    EXPECT_NE(open("{\"x\":" + std::string(50, '[') + std::string(50, ']') + "}").find("levels"), std::string::npos);
    EXPECT_NE(open("no json").find("no valid JSON"), std::string::npos);
}

TEST_F(sharded, a_tensor_in_two_files_is_an_error) {
    const scratch_file copy("3.safetensors", file_of("{" + entry("a", "F32", "[1]", 0, 4) + "}", "1234"));
    const std::string text = open(index(copy.name()));
    EXPECT_NE(text.find("'a' is in more than one file"), std::string::npos) << text;
}

}  // namespace
