// SPDX-License-Identifier: Apache-2.0
// Every public function that checks its arguments, called with each kind of wrong one: the message says which function,
// which argument and which two numbers disagree, and nothing has been written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/lowbit.hpp>

#include "support/matrix_testing.hpp"

namespace lowbit::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// An enumerator that no enumeration has.
template <class Enum>
constexpr Enum none_of = static_cast<Enum>(99);

struct wrong_call {
    std::string text;  ///< of the error; "..." at its end: what follows does not matter
    std::function<void()> call;
};

void expect_texts(const std::vector<wrong_call>& calls) {
    for (const auto& [text, call] : calls) {
        const std::string got = error_text(call);
        if (text.ends_with("...")) {
            EXPECT_EQ(got.substr(0, text.size() - 3) + "...", text) << got;
        } else {
            EXPECT_EQ(got, text);
        }
    }
}

/// Operands of a product of 4 x 64 by 8 x 64, and their output.
class wrong_arguments : public testing::Test {
  protected:
    void TearDown() override {
        EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](float value) { return value == -5.0F; }));
    }

    matrix_view<const float> view(std::size_t rows, std::size_t cols) const { return {x.data(), rows, cols}; }
    matrix_view<float> output(std::size_t rows, std::size_t cols) { return {out.data(), rows, cols}; }

    std::vector<float> x = std::vector<float>(8 * 64, 1.0F), out = std::vector<float>(8 * 64, -5.0F);
    float* const no_floats = nullptr;
};

TEST_F(wrong_arguments, of_views_and_buffers) {
    auto* const odd = reinterpret_cast<float*>(reinterpret_cast<char*>(x.data()) + 2);
    expect_texts({
        {"lowbit::matrix_view: stride 3 is less than cols 4", [&] { matrix_view<float>(x.data(), 2, 4, 3); }},
        {"lowbit::matrix_view: data is null, but rows 2 x cols 4 is not empty",
         [&] { matrix_view<float>(no_floats, 2, 4); }},
        {"lowbit::matrix_view: data lies 2 bytes past an address that is aligned to 4",
         [&] { matrix_view<float>(odd, 2, 4); }},
    });
}

TEST_F(wrong_arguments, of_quantized_matrix) {
    using matrix = quantized_matrix<nvfp4>;
    const std::string from = "lowbit::quantized_matrix::from_blocks: ";
    const auto q = quantize<nvfp4>(view(4, 60), {.tensor_scale = {.kind = tensor_scale_kind::row}});
    const std::vector<float> two(2, 1.0F), one(1, 1.0F);
    const auto scaled = [&](float scale) {
        return [&q, scale] { (void)matrix::from_blocks(4, 60, q.blocks(), std::span(&scale, 1)); };
    };
    expect_texts({
        {from + "'blocks' has 16 blocks, but rows 5 x cols 60 need 20",
         [&] { (void)matrix::from_blocks(5, 60, q.blocks()); }},
        {from + "'blocks' has 16 blocks, but rows 4 x cols 65 need 20",
         [&] { (void)matrix::from_blocks(4, 65, q.blocks()); }},
        {from + "'blocks' is null, but has 16 elements",
         [&] {
             (void)matrix::from_blocks(4, 60, std::span<const nvfp4::block>(static_cast<nvfp4::block*>(nullptr), 16));
         }},
        {from + "'tensor_scales' has 2 values, but one or one a row (4) are expected",
         [&] { (void)matrix::from_blocks(4, 60, q.blocks(), two); }},
        {from + "'tensor_scales' is null, but has 4 elements",
         [&] { (void)matrix::from_blocks(4, 60, q.blocks(), std::span<const float>(no_floats, 4)); }},
        {from + "'tensor_scales' has NaN at index 0, but a tensor scale is finite and > 0", scaled(quiet_nan)},
        {from + "'tensor_scales' has inf at index 0, but a tensor scale is finite and > 0", scaled(infinity)},
        {from + "'tensor_scales' has 0 at index 0, but a tensor scale is finite and > 0", scaled(0.0F)},
        {from + "'tensor_scales' has -1 at index 0, but a tensor scale is finite and > 0", scaled(-1.0F)},
        {from + "'tensor_scales' has 1 values, but format mxfp4 has none",
         [&] { (void)quantized_matrix<mxfp4>::from_blocks(0, 0, {}, one); }},
        {"lowbit::quantized_matrix::slice_rows: first 3 and count 2 leave the rows 4 of the matrix",
         [&] { (void)q.slice_rows(3, 2); }},
        {"lowbit::quantized_matrix::slice_rows: first 5 and count 0 leave the rows 4 of the matrix",
         [&] { (void)q.slice_rows(5, 0); }},
        {"lowbit::quantized_matrix::tensor_scale: the matrix has 4 row scales, not 1 tensor scale",
         [&] { (void)q.tensor_scale(); }},
    });
}

/// The options of `name`, which calls convert(options).
template <block_format F, class Convert>
void expect_checked_options(const std::string& name, const Convert& convert) {
    const auto with = [&](const auto& change) {
        return [&convert, change] {
            quantize_options<F> options;
            change(options);
            convert(options);
        };
    };
    std::vector<wrong_call> calls;
    if constexpr (std::is_same_v<F, hif4>) {
        calls.push_back({name + ": option 'format.rounding' is 99, but its last value is 2",
                         with([](auto& o) { o.format.rounding = none_of<hif4_rounding>; })});
    } else if constexpr (std::is_same_v<F, hif8>) {
        calls.push_back({name + ": option 'format.rounding' is 99, but its last value is 4",
                         with([](auto& o) { o.format.rounding = none_of<hif8_rounding>; })});
        calls.push_back({name + ": option 'format.overflow' is 99, but its last value is 1",
                         with([](auto& o) { o.format.overflow = none_of<overflow>; })});
    } else if constexpr (std::is_same_v<F, mxfp4>) {
        calls.push_back({name + ": option 'format.scale_rule' is 99, but its last value is 6",
                         with([](auto& o) { o.format.scale_rule = none_of<mxfp4_scale_rule>; })});
    } else if constexpr (std::is_same_v<F, nvfp4>) {
        calls.push_back({name + ": option 'format.order' is 99, but its last value is 1",
                         with([](auto& o) { o.format.order = none_of<nvfp4_order>; })});
        calls.push_back({name + ": option 'tensor_scale.kind' is 99, but its last value is 3",
                         with([](auto& o) { o.tensor_scale.kind = none_of<tensor_scale_kind>; })});
        for (const auto& [scale, text] : {std::pair{0.0F, "0"}, {-1.0F, "-1"}, {quiet_nan, "NaN"}, {infinity, "inf"}}) {
            calls.push_back({name + ": option 'tensor_scale.value' is " + text + ", but must be finite and > 0",
                             with([scale = scale](auto& o) {
                                 o.tensor_scale = {tensor_scale_kind::given, scale};
                             })});
        }
    }
    expect_texts(calls);
}

TEST_F(wrong_arguments, of_quantize_and_pack) {
    for_each_format([&]<class F>(std::type_identity<F>) {
        expect_checked_options<F>("lowbit::quantize", [&](const auto& o) { (void)quantize<F>(view(4, 64), o); });
        expect_checked_options<F>("lowbit::quantize_transposed",
                                  [&](const auto& o) { (void)quantize_transposed<F>(view(4, 64), o); });
        expect_checked_options<F>("lowbit::pack", [&](const auto& o) { (void)pack<F>(view(4, 64), o); });
    });
    // Formats without a tensor scale do not look at it.
    EXPECT_NO_THROW((void)quantize<mxfp4>(view(4, 64), {.tensor_scale = {none_of<tensor_scale_kind>, quiet_nan}}));
}

/// A packed matrix as another version of the library would make it.
packed_matrix<mxfp4> foreign_layout(const packed_matrix<mxfp4>& packed) {
    packed_matrix<mxfp4> other = packed.clone();
    detail::packed_matrix_access<mxfp4>::set_layout(other, {2, 16, 128});
    return other;
}
const std::string of_foreign_layout =
    "has panel layout version 2 with 16 columns and records of 128 values, but the kernels read version 1, 32 and 64: "
    "pack the weights again";

TEST_F(wrong_arguments, of_dequantize_unpack_and_compare) {
    const auto q = quantize<mxfp4>(view(4, 64));
    const auto foreign = foreign_layout(pack(q));
    auto blocks = quantize<mxint8>(view(4, 64));
    const std::size_t bytes = blocks.bytes().size();
    auto* inside = reinterpret_cast<float*>(const_cast<std::uint8_t*>(blocks.bytes().data()));
    expect_texts({
        {"lowbit::dequantize: rows 3 of output 'out' do not match rows 4 of input 'q'",
         [&] { dequantize(q, output(3, 64)); }},
        {"lowbit::dequantize: cols 63 of output 'out' do not match cols 64 of input 'q'",
         [&] { dequantize(q, output(4, 63)); }},
        {"lowbit::dequantize: output 'out' (4 x 64) overlaps the blocks of input 'q' (" + std::to_string(bytes) +
             " bytes)",
         [&] { dequantize(blocks, matrix_view<float>(inside, 4, 64)); }},
        {"lowbit::unpack: input 'packed' " + of_foreign_layout, [&] { (void)unpack(foreign); }},
        {"lowbit::compare: rows 3 of 'restored' do not match rows 4 of 'reference'",
         [&] { (void)compare(view(4, 64), view(3, 64)); }},
        {"lowbit::compare: cols 64 of 'restored' do not match cols 63 of 'reference'",
         [&] { (void)compare(view(4, 63), q); }},
    });
}

/// What every product into a matrix of floats refuses; multiply(x, weights, out, options).
template <class Multiply>
void expect_checked_product(const std::string& name, std::vector<float>& x, std::vector<float>& out,
                            const Multiply& multiply) {
    const matrix_view<const float> a(x.data(), 4, 64);
    const matrix_view<float> c(out.data(), 4, 8, 10);
    const auto b = pack<mxfp4>(matrix_view<const float>(x.data(), 8, 64));
    const auto foreign = foreign_layout(b);
    auto* const inside = reinterpret_cast<float*>(const_cast<std::uint8_t*>(b.bytes().data()));
    const std::vector<float> seven(7), eight(8), residual(4 * 9);
    const std::string bytes = std::to_string(b.bytes().size());
    float* const no_floats = nullptr;
    expect_texts({
        {name + ": cols 32 of input 'a' do not match cols 64 of input 'b'",
         [&] { multiply(matrix_view<const float>(x.data(), 4, 32), b, c, {}); }},
        {name + ": rows 3 of output 'c' do not match rows 4 of input 'a'",
         [&] { multiply(a, b, matrix_view<float>(out.data(), 3, 8), {}); }},
        {name + ": cols 7 of output 'c' do not match rows 8 of input 'b'",
         [&] { multiply(a, b, matrix_view<float>(out.data(), 4, 7), {}); }},
        {name + ": option 'bias' has 7 values, but output 'c' has cols 8", [&] { multiply(a, b, c, {.bias = seven}); }},
        {name + ": option 'bias' is null, but has 8 elements",
         [&] { multiply(a, b, c, {.bias = std::span<const float>(no_floats, 8)}); }},
        {name + ": option 'activation' is 99, but its last value is 4",
         [&] { multiply(a, b, c, {.activation = none_of<activation>}); }},
        {name + ": rows 3 of option 'residual' do not match rows 4 of output 'c'",
         [&] {
             multiply(a, b, c, {.residual = {residual.data(), 3, 8}});
         }},
        {name + ": cols 9 of option 'residual' do not match cols 8 of output 'c'",
         [&] {
             multiply(a, b, c, {.residual = {residual.data(), 4, 9}});
         }},
        {name + ": input 'b' " + of_foreign_layout, [&] { multiply(a, foreign, c, {}); }},
        {name + ": output 'c' (1 rows of 32 bytes) overlaps input 'b' (1 rows of " + bytes + " bytes)",
         [&] { multiply(matrix_view<const float>(x.data(), 1, 64), b, matrix_view<float>(inside, 1, 8), {}); }},
        {name + ": output 'c' (4 rows of 32 bytes) overlaps option 'bias' (1 rows of 32 bytes)",
         [&] {
             multiply(a, b, c, {.bias = {out.data() + 15, 8}});
         }},
        {name + ": output 'c' (4 rows of 32 bytes) overlaps option 'residual' (4 rows of 32 bytes)",
         [&] {
             multiply(a, b, c, {.residual = {out.data() + 1, 4, 8}});
         }},
    });
}

TEST_F(wrong_arguments, of_gemm) {
    expect_checked_product("lowbit::gemm", x, out,
                           [](auto a, const auto& b, auto c, const gemm_options& options) { gemm(a, b, c, options); });
    const auto b = pack<mxfp4>(view(8, 64));
    expect_texts({
        {"lowbit::gemm: output 'c' (4 rows of 32 bytes) overlaps input 'a' (4 rows of 256 bytes)",
         [&] { gemm(matrix_view<const float>(out.data(), 4, 64), b, output(4, 8)); }},
        {"lowbit::gemm: option 'format.scale_rule' is 99, but its last value is 6",
         [&] { gemm<mxfp4>(view(4, 64), b, output(4, 8), {}, {none_of<mxfp4_scale_rule>}); }},
    });
}

TEST_F(wrong_arguments, of_gemm_with_quantised_activations) {
    expect_checked_product("lowbit::gemm", x, out, [](auto a, const auto& b, auto c, const gemm_options& options) {
        gemm(quantize<mxfp4>(a), b, c, options);
    });
}

TEST_F(wrong_arguments, of_gemm_weight_only) {
    expect_checked_product(
        "lowbit::gemm_weight_only", x, out,
        [](auto a, const auto& b, auto c, const gemm_options& options) { gemm_weight_only(a, b, c, options); });
}

TEST_F(wrong_arguments, of_gemm_quantized) {
    const std::string name = "lowbit::gemm_quantized: ";
    const auto a = view(4, 64);
    const auto b = pack<mxfp4>(view(8, 64));
    const auto q = quantize<mxfp4>(a);
    const auto foreign = foreign_layout(b);
    const std::vector<float> seven(7), residual(4 * 9);
    const auto scaled = [&](float scale) {
        return [&, scale] { (void)gemm_quantized<nvfp4>(q, b, {}, {.tensor_scale = scale}); };
    };
    expect_texts({
        {name + "cols 32 of input 'a' do not match cols 64 of input 'b'",
         [&] { (void)gemm_quantized<mxfp4>(view(4, 32), b); }},
        {name + "option 'bias' has 7 values, but the result has cols 8",
         [&] { (void)gemm_quantized<mxfp4>(a, b, {.bias = seven}); }},
        {name + "option 'bias' is null, but has 8 elements",
         [&] { (void)gemm_quantized<mxfp4>(a, b, {.bias = std::span<const float>(no_floats, 8)}); }},
        {name + "option 'activation' is 99, but its last value is 4",
         [&] { (void)gemm_quantized<mxfp4>(a, b, {.activation = none_of<activation>}); }},
        {name + "option 'beta' is 0.5, but there is no old 'c' to add",
         [&] { (void)gemm_quantized<mxfp4>(a, b, {.beta = 0.5F}); }},
        {name + "rows 3 of option 'residual' do not match rows 4 of the result",
         [&] {
             (void)gemm_quantized<mxfp4>(a, b, {.residual = {residual.data(), 3, 8}});
         }},
        {name + "cols 9 of option 'residual' do not match cols 8 of the result",
         [&] {
             (void)gemm_quantized<mxfp4>(a, b, {.residual = {residual.data(), 4, 9}});
         }},
        {name + "input 'b' " + of_foreign_layout, [&] { (void)gemm_quantized<mxfp4>(a, foreign); }},
        {name + "option 'format.scale_rule' is 99, but its last value is 6",
         [&] { (void)gemm_quantized<mxfp4, mxfp4>(a, b, {}, {}, {none_of<mxfp4_scale_rule>}); }},
        {name + "option 'output.format.scale_rule' is 99, but its last value is 6",
         [&] { (void)gemm_quantized<mxfp4>(a, b, {}, {.format = {none_of<mxfp4_scale_rule>}}); }},
        {name + "option 'output.tensor_scale' is NaN, but must be finite and > 0", scaled(quiet_nan)},
        {name + "option 'output.tensor_scale' is inf, but must be finite and > 0", scaled(infinity)},
        {name + "option 'output.tensor_scale' is 0, but must be finite and > 0", scaled(0.0F)},
        {name + "option 'output.tensor_scale' is -1, but must be finite and > 0", scaled(-1.0F)},
    });
}

TEST_F(wrong_arguments, of_readers_and_pools) {
    const std::span<const std::byte> nothing(static_cast<const std::byte*>(nullptr), 9);
    expect_texts({
        {"lowbit::tensor: 'shape' holds 6 elements, but there are 5 values",
         [] {
             tensor({2, 3}, std::vector<float>(5));
         }},
        {"lowbit::read_npy: 'bytes' is null, but has 9 elements", [&] { (void)read_npy(nothing); }},
        {"lowbit::read_matrix: 'bytes' is null, but has 9 elements",
         [&] { (void)read_matrix<quantized_matrix<hif4>>(nothing); }},
        {"lowbit::thread_pool: threads 65537 exceed the limit of 65536", [] { thread_pool pool(65537); }},
    });
}

// Files: what is no argument but a name or a content is an io_error, which says which file and why.
TEST_F(wrong_arguments, of_files) {
    const std::string missing = "/no such folder/file";
    const std::string reason = ": '" + missing + "': cannot open: No such file or directory";
    const std::string cannot_create = ": '" + missing + "': cannot create: No such file or directory";
    const auto q = quantize<mxfp4>(view(4, 64));
    EXPECT_EQ(io_error_text([&] { (void)read_npy(missing); }), "lowbit::read_npy" + reason);
    EXPECT_EQ(io_error_text([&] { (void)read_npy_header(missing); }), "lowbit::read_npy_header" + reason);
    EXPECT_EQ(io_error_text([&] { (void)read_matrix_info(missing); }), "lowbit::read_matrix_info" + reason);
    EXPECT_EQ(io_error_text([&] { (void)read_matrix<quantized_matrix<hif4>>(missing); }),
              "lowbit::read_matrix" + reason);
    EXPECT_EQ(io_error_text([&] { write_npy(missing, view(4, 64)); }), "lowbit::write_npy" + cannot_create);
    EXPECT_EQ(io_error_text([&] { write_matrix(missing, q); }), "lowbit::write_matrix" + cannot_create);
    EXPECT_EQ(io_error_text([&] { (void)read_npy("/"); }), "lowbit::read_npy: '/': not a regular file");
    const std::string text = "some other kind of file";
    const auto bytes = std::as_bytes(std::span(text));
    EXPECT_EQ(
        io_error_text([&] { (void)read_npy(bytes, "model.safetensors"); }),
        "lowbit::read_npy: 'model.safetensors': not a .npy file: it does not begin with \\x93NUMPY and a version");
    EXPECT_EQ(io_error_text([&] { (void)read_matrix<quantized_matrix<hif4>>(bytes, "w.npy"); }),
              "lowbit::read_matrix: 'w.npy': truncated: a matrix file has at least 128 bytes, this one 23");
}

}  // namespace
}  // namespace lowbit::test
