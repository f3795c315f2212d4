// SPDX-License-Identifier: Apache-2.0
// Conversions, packing, statistics, files and pools that run out of memory, at each of their allocations:
// std::bad_alloc comes out, operands and outputs keep every bit, nothing leaks, an old file stays what it was.
#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/convert/transpose.hpp>
#include <lowbit/core/thread_pool.hpp>
#include <lowbit/io/matrix_file.hpp>
#include <lowbit/io/npy.hpp>
#include <lowbit/metrics/error_stats.hpp>
#include <lowbit/pack/pack.hpp>

#include "support/failing_allocator.hpp"

namespace lowbit::test {
namespace {

// Several parts for two threads, and a tail in each row.
constexpr std::size_t rows = 150, cols = 500;

std::vector<float> values(std::size_t count) {
    std::vector<float> out(count);
    std::mt19937 engine(5);
    for (float& value : out) value = (static_cast<float>(engine() >> 8U) - 8388608.0F) * 0x1p-22F;
    return out;
}

/// result = make() at each of its allocations: result keeps what it had.
template <class Result, class Make>
void result_survives(const std::string& what, Result& result, const Make& make) {
    const Result kept = [&]() -> Result {
        if constexpr (std::is_copy_constructible_v<Result>) {
            return result;
        } else {
            return result.clone();
        }
    }();
    const auto same = [](const Result& a, const Result& b) {
        if constexpr (std::equality_comparable<Result>) {
            return a == b;
        } else {
            return a.rows() == b.rows() && a.cols() == b.cols() && a.bytes().size() == b.bytes().size() &&
                   std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
        }
    };
    const void* const memory = result.bytes().data();
    fails_cleanly(
        what,
        [&] {
            Result made = make();
            if (!same(made, kept)) throw std::logic_error(what + ": another result than before");
        },
        [&](const std::string& place) {
            ASSERT_TRUE(same(result, kept)) << place;
            ASSERT_EQ(result.bytes().data(), memory) << place;
        });
}

template <block_format F>
void expect_clean_conversions() {
    const std::string name(F::name);
    const std::vector<float> source = values(rows * cols);
    const std::vector<float> kept = source;
    const matrix_view<const float> view(source.data(), rows, cols);
    std::vector<bfloat16> narrow(rows * cols);
    for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = bfloat16::from_float(source[i]);
    thread_pool pool(2);
    for (const tensor_scale_kind kind : {tensor_scale_kind::matrix, tensor_scale_kind::row}) {
        if (kind == tensor_scale_kind::row && !F::has_tensor_scale) continue;
        for (const bool threads : {false, true}) {
            quantize_options<F> options;
            options.tensor_scale.kind = kind;
            if (threads) options.executor = pool;
            auto q = quantize<F>(view, options);
            result_survives("quantize " + name, q, [&] { return quantize<F>(view, options); });
            auto turned = quantize_transposed<F>(view, options);
            result_survives("quantize_transposed " + name, turned,
                            [&] { return quantize_transposed<F>(view, options); });
            auto of_16_bit = quantize<F>(matrix_view<const bfloat16>(narrow.data(), rows, cols), options);
            result_survives("quantize bfloat16 " + name, of_16_bit, [&] {
                return quantize<F>(matrix_view<const bfloat16>(narrow.data(), rows, cols), options);
            });
            auto packed = pack(q, options.executor);
            result_survives("pack " + name, packed, [&] { return pack(q, options.executor); });
            result_survives("pack of floats " + name, packed, [&] { return pack<F>(view, options); });
            result_survives("unpack " + name, q, [&] { return unpack(packed, options.executor); });
            result_survives("clone " + name, packed, [&] { return packed.clone(); });
            result_survives("copy " + name, q, [&] { return q; });
            result_survives("slice_rows " + name, q, [&] { return q.slice_rows(0, rows); });
            std::vector<float> scales;
            for (std::size_t i = 0; i < (kind == tensor_scale_kind::row ? rows : 1); ++i) {
                if (F::has_tensor_scale) scales.push_back(q.tensor_scale(i));
            }
            result_survives("from_blocks " + name, q,
                            [&] { return quantized_matrix<F>::from_blocks(rows, cols, q.blocks(), scales); });
        }
    }
    EXPECT_EQ(std::memcmp(source.data(), kept.data(), kept.size() * sizeof(float)), 0);
}

TEST(a_failed_allocation, in_conversions_of_hif4) { expect_clean_conversions<hif4>(); }
TEST(a_failed_allocation, in_conversions_of_hif8) { expect_clean_conversions<hif8>(); }
TEST(a_failed_allocation, in_conversions_of_mxfp4) { expect_clean_conversions<mxfp4>(); }
TEST(a_failed_allocation, in_conversions_of_nvfp4) { expect_clean_conversions<nvfp4>(); }
TEST(a_failed_allocation, in_conversions_of_m2xfp) {
    expect_clean_conversions<m2xfp_activation>();
    expect_clean_conversions<m2xfp_weight>();
}
TEST(a_failed_allocation, in_conversions_of_8_bit_formats) {
    expect_clean_conversions<mxint8>();
    expect_clean_conversions<int8_block>();
}

// dequantize writes as it goes, so it must not allocate at all.
TEST(a_failed_allocation, cannot_happen_in_dequantize) {
    const std::vector<float> source = values(rows * cols);
    std::vector<float> out(rows * cols);
    std::vector<float16> narrow(rows * cols);
    thread_pool pool(2);
    for_each_format([&]<class F>(std::type_identity<F>) {
        const auto q = quantize<F>(matrix_view<const float>(source.data(), rows, cols));
        for (const bool threads : {false, true}) {
            const dequantize_options options{.executor = threads ? executor(pool) : executor()};
            dequantize(q, matrix_view<float>(out.data(), rows, cols), options);
            allocator::fail_at(1, failing::all_from_there);
            dequantize(q, matrix_view<float>(out.data(), rows, cols), options);
            dequantize(q, matrix_view<float16>(narrow.data(), rows, cols), options);
            EXPECT_EQ(allocator::stop(), 0) << F::name;
        }
    });
}

TEST(a_failed_allocation, in_compare) {
    const std::vector<float> source = values(rows * cols);
    const matrix_view<const float> view(source.data(), rows, cols);
    const auto q = quantize<hif4>(view);
    thread_pool pool(2);
    for (const bool threads : {false, true}) {
        const executor runner = threads ? executor(pool) : executor();
        const double expected = compare(view, q).mse;
        double mse = expected;
        fails_cleanly(
            "compare with blocks", [&] { mse = compare(view, q, runner).mse; },
            [&](const std::string& place) { ASSERT_EQ(mse, expected) << place; });
        fails_cleanly(
            "compare with floats", [&] { mse = expected + compare(view, view, runner).mse; },
            [&](const std::string& place) { ASSERT_EQ(mse, expected) << place; });
    }
}

TEST(a_failed_allocation, in_the_constructor_of_a_thread_pool) {
    fails_cleanly("thread_pool", [] {
        thread_pool pool(4);
        std::atomic<int> calls{0};
        pool.for_each(100, [&](std::size_t) { ++calls; });
        if (calls != 100) throw std::logic_error("a loop that is not whole");
    });
}

TEST(a_failed_allocation, in_npy_files) {
    const std::vector<float> source = values(70 * 30);
    const matrix_view<const float> view(source.data(), 70, 30);
    const scratch_folder folder("npy");
    write_fails_cleanly(folder, "w.npy", [&](const std::string& path) { write_npy(path, view); });
    const std::string path = folder.path("w.npy");
    write_npy(path, view);
    std::string fortran = content_of(path);
    fortran.replace(fortran.find("False"), 5, "True ");
    for (const std::string& bytes : {content_of(path), fortran}) {
        fails_cleanly("read_npy",
                      [&] { (void)read_npy(std::as_bytes(std::span(bytes)), "a name that is too long for a string"); });
    }
    fails_cleanly("read_npy of a file", [&] { (void)read_npy(path); });
    fails_cleanly("read_npy_header", [&] { (void)read_npy_header(path); });
}

template <class Matrix>
void expect_clean_files(const Matrix& matrix) {
    const scratch_folder folder("matrix");
    write_fails_cleanly(folder, "w.lowbit", [&](const std::string& path) { write_matrix(path, matrix); });
    const std::string path = folder.path("w.lowbit");
    write_matrix(path, matrix);
    fails_cleanly("read_matrix", [&] { (void)read_matrix<Matrix>(path); });
    fails_cleanly("read_matrix_info", [&] { (void)read_matrix_info(path); });
}

TEST(a_failed_allocation, in_matrix_files) {
    const std::vector<float> source = values(rows * cols);
    const auto q = quantize<nvfp4>(matrix_view<const float>(source.data(), rows, cols),
                                   {.tensor_scale = {.kind = tensor_scale_kind::row}});
    expect_clean_files(q);
    expect_clean_files(pack(q));
}

}  // namespace
}  // namespace lowbit::test
