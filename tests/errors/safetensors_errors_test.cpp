// SPDX-License-Identifier: Apache-2.0
// .safetensors files: wrong arguments, and memory that runs out at each of the allocations.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <lowbit/io/safetensors.hpp>
#include <lowbit/io/safetensors_write.hpp>

#include "support/failing_allocator.hpp"
#include "support/matrix_testing.hpp"

namespace lowbit::test {
namespace {

std::vector<safetensors_output> two_tensors(const std::vector<float>& values) {
    return {{"a tensor with a name that is too long for a short string", {30, 40}, values, float_type::float32},
            {"another", {1200}, values, float_type::bfloat16}};
}
const std::map<std::string, std::string> metadata{{"format", "pt"}, {"a key", "with a value that takes some memory"}};

TEST(a_failed_allocation, in_safetensors_files) {
    const std::vector<float> values(1200, 1.5F);
    const auto tensors = two_tensors(values);
    const scratch_folder folder("safetensors");
    write_fails_cleanly(folder, "w.safetensors",
                        [&](const std::string& path) { write_safetensors(path, tensors, metadata); });
    const std::string path = folder.path("w.safetensors"), bytes = content_of(path);
    fails_cleanly("read_safetensors_index of a file", [&] { (void)read_safetensors_index(path); });
    fails_cleanly("read_safetensors_index", [&] { (void)read_safetensors_index(std::as_bytes(std::span(bytes))); });
    const auto index = read_safetensors_index(path);
    fails_cleanly("read_safetensors",
                  [&] { (void)read_safetensors(std::as_bytes(std::span(bytes)), index.tensors.at(1)); });
    write_text(folder.path("model.safetensors.index.json"),
               R"({"weight_map": {"another": "w.safetensors", ")" + tensors[0].name + R"(": "w.safetensors"}})");
    for (const std::string& file : {path, folder.path("model.safetensors.index.json")}) {
        fails_cleanly("safetensors_model", [&] { safetensors_model model(file); });
        safetensors_model model(file);
        fails_cleanly("safetensors_model::read", [&] { (void)model.read("another"); });
        EXPECT_EQ(model.read("another").values()[7], 1.5F);
    }
}

TEST(wrong_arguments, of_write_safetensors) {
    const std::vector<float> values(6, 1.0F);
    const scratch_folder folder("safetensors_arguments");
    const std::string path = folder.path("w.safetensors"), name = "lowbit::write_safetensors: ";
    write_text(path, "old");
    const auto refused = [&](const std::string& text, const std::vector<safetensors_output>& tensors,
                             const std::map<std::string, std::string>& with = {}) {
        EXPECT_EQ(error_text([&] { write_safetensors(path, tensors, with); }), text);
    };
    refused(name + "shape of tensor 'w' holds 8 elements, but there are 6 values", {{"w", {2, 4}, values}});
    refused(name + "shape of tensor 'w' holds 2^64 or more elements, but there are 6 values",
            {{"w", {std::size_t{1} << 63, 2}, values}});
    refused(name + "data of tensor 'w' is null, but has 6 elements",
            {{"w", {2, 3}, std::span<const float>(static_cast<const float*>(nullptr), 6)}});
    refused(name + "type of tensor 'w' is 99, but its last value is 3",
            {{"w", {2, 3}, values, static_cast<float_type>(99)}});
    refused(name + "tensor 'w' stands there twice", {{"w", {6}, values}, {"w", {6}, values}});
    refused(name + "tensor '__metadata__' has the name of the metadata", {{"__metadata__", {6}, values}});
    refused(name + "'w?' of 2 bytes is not valid UTF-8, as names and metadata must be", {{"w\xFF", {6}, values}});
    refused(name + "'k?' of 2 bytes is not valid UTF-8, as names and metadata must be", {}, {{"k\x80", "v"}});
    refused(name + "'v?(' of 3 bytes is not valid UTF-8, as names and metadata must be", {}, {{"k", "v\xC3("}});
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(folder.files(), std::vector<std::string>{"w.safetensors"});
    // What is valid, with quotes and control characters, survives.
    const std::map<std::string, std::string> odd{{"k\"\n", "\xC3\xA9\\"}, {"z", ""}};
    write_safetensors(path, std::vector<safetensors_output>{{"\xE2\x82\xAC \"w\"", {6}, values}}, odd);
    const auto index = read_safetensors_index(path);
    EXPECT_EQ(index.metadata, odd);
    EXPECT_EQ(index.tensors.at(0).name, "\xE2\x82\xAC \"w\"");
}

TEST(wrong_arguments, of_safetensors_readers) {
    const std::vector<float> values(1200, 1.5F);
    const scratch_folder folder("safetensors_readers");
    const std::string path = folder.path("w.safetensors");
    write_safetensors(path, two_tensors(values));
    const std::string content = content_of(path);
    const auto bytes = std::as_bytes(std::span(content));
    const auto index = read_safetensors_index(bytes);
    const std::span<const std::byte> nothing(static_cast<const std::byte*>(nullptr), 9);
    EXPECT_EQ(error_text([&] { (void)read_safetensors_index(nothing); }),
              "lowbit::read_safetensors_index: 'bytes' is null, but has 9 elements");
    EXPECT_EQ(error_text([&] { (void)read_safetensors(nothing, index.tensors[0]); }),
              "lowbit::read_safetensors: 'bytes' is null, but has 9 elements");

    // Entries that are not of this file: no memory is taken for what they claim.
    const auto with = [&](const auto& change) {
        safetensors_entry entry = index.tensors.at(1);
        change(entry);
        return io_error_text([&] { (void)read_safetensors(bytes, entry); });
    };
    const std::string name = "lowbit::read_safetensors: 'memory': tensor 'another': ";
    EXPECT_EQ(with([](auto& entry) { entry.bytes = ~std::uint64_t{0}; }),
              name + "its shape does not take 18446744073709551615 bytes of BF16");
    EXPECT_EQ(with([](auto& entry) { entry.shape = {7}; }), name + "its shape does not take 2400 bytes of BF16");
    EXPECT_EQ(with([](auto& entry) {
                  entry.shape = {std::size_t{1} << 60};
                  entry.bytes = std::uint64_t{1} << 61;
              }),
              name + "2305843009213693952 bytes wanted at offset " + std::to_string(index.tensors[1].begin) +
                  ", but the file has " + std::to_string(content.size()));
    EXPECT_EQ(
        with([](auto& entry) { entry.begin = ~std::uint64_t{0}; }),
        name + "2400 bytes wanted at offset 18446744073709551615, but the file has " + std::to_string(content.size()));
    EXPECT_EQ(with([](auto& entry) { entry.dtype = "I64"; }), name + "element type I64 is not F64, F32, F16 or BF16");

    // A file of another kind, whatever its name; a name that the model does not have.
    const std::string npy = folder.path("w.npy");
    write_text(npy, std::string("\x93NUMPY\x01\x00\x76\x00{", 11));
    EXPECT_EQ(io_error_text([&] { safetensors_model model(npy); }),
              "lowbit::safetensors_model: '" + npy +
                  "': header of 379676406402707 bytes, more than 100000000; is this .safetensors?");
    const std::string json = folder.path("model.safetensors.index.json");
    write_text(json, R"({"weight_map": {"another": "w.safetensors"}})");
    for (const std::string& file : {path, json}) {
        safetensors_model model(file);
        EXPECT_EQ(io_error_text([&] { (void)model.read("third"); }),
                  "lowbit::safetensors_model: '" + file + "': there is no tensor 'third' among its 2");
    }
}

}  // namespace
}  // namespace lowbit::test
