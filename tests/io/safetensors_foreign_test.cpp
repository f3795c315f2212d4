// SPDX-License-Identifier: Apache-2.0
// Files written by the safetensors, huggingface_hub and NumPy packages: see tests/data/foreign/make.py.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <lowbit/io/npy.hpp>
#include <lowbit/io/safetensors.hpp>

#ifndef LOWBIT_TEST_DATA
# define LOWBIT_TEST_DATA "tests/data"
#endif

namespace {

std::string path(const std::string& name) { return std::string(LOWBIT_TEST_DATA) + "/foreign/" + name; }

float value(std::size_t i) { return (i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i) / 8; }

void expect_values(const lowbit::tensor& got, std::vector<std::size_t> shape, float factor = 1) {
    EXPECT_EQ(got.shape(), shape);
    for (std::size_t i = 0; i < got.values().size(); ++i) ASSERT_EQ(got.values()[i], value(i) * factor) << i;
}

TEST(foreign_files, safetensors_of_the_reference_implementation) {
    lowbit::safetensors_model model(path("one.safetensors"));
    EXPECT_EQ(model.metadata().at("format"), "pt");
    EXPECT_EQ(model.metadata().at("note"), "\xC3\xBCmlaut \"quoted\"");
    ASSERT_EQ(model.tensors().size(), 8U);
    EXPECT_EQ(model.find("embed.weight")->dtype, "BF16");
    EXPECT_EQ(model.find("conv.weight")->rows(), 24U);
    EXPECT_EQ(model.find("position_ids")->dtype, "I64");
    EXPECT_EQ(model.find("mask")->dtype, "BOOL");
    EXPECT_EQ(model.find("codes")->dtype, "F8_E4M3");
    expect_values(model.read("conv.weight"), {4, 3, 2, 16});
    expect_values(model.read("norm.weight"), {24});
    expect_values(model.read("empty"), {0, 5});
    EXPECT_EQ(model.read("scale").values()[0], -0.125F);
    const lowbit::tensor embed = model.read("embed.weight");
    EXPECT_EQ(embed.rows(), 48U);
    for (std::size_t i = 0; i < embed.values().size(); ++i) {
        ASSERT_EQ(embed.values()[i], lowbit::bfloat16::from_float(value(i)).to_float()) << i;
    }
    EXPECT_THROW(static_cast<void>(model.read("codes")), lowbit::io_error);
}

TEST(foreign_files, sharded_model_of_huggingface_hub) {
    lowbit::safetensors_model model(path("sharded/model.safetensors.index.json"));
    ASSERT_EQ(model.tensors().size(), 3U);
    for (std::size_t layer = 0; layer < 3; ++layer) {
        const lowbit::tensor got = model.read("layers." + std::to_string(layer) + ".weight");
        EXPECT_EQ(got.shape(), (std::vector<std::size_t>{32, 32}));
        for (std::size_t i = 0; i < got.values().size(); ++i) {
            const float want = lowbit::bfloat16::from_float(value(i)).to_float();
            ASSERT_EQ(got.values()[i], want * static_cast<float>(1U << layer)) << i;
        }
    }
}

TEST(foreign_files, numpy_arrays) {
    EXPECT_TRUE(lowbit::read_npy_header(path("numpy_fortran.npy")).fortran_order);
    expect_values(lowbit::read_npy(path("numpy_fortran.npy")), {3, 4, 5});
    expect_values(lowbit::read_npy(path("numpy_half.npy")), {2, 12});
    EXPECT_TRUE(lowbit::read_npy_header(path("numpy_big_endian.npy")).big_endian);
    expect_values(lowbit::read_npy(path("numpy_big_endian.npy")), {12});
}

}  // namespace
