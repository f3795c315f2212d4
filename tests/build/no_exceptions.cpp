// SPDX-License-Identifier: Apache-2.0
// Case 73: with -fno-exceptions -fno-rtti everything works, and the error of every public function reaches the
// replaceable handler with its text. A handler must not return, so each error has a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include <lowbit/core/thread_pool.hpp>
#include <lowbit/io/matrix_file.hpp>
#if __has_include(<nlohmann/json.hpp>)
# include <lowbit/io/safetensors.hpp>
# include <lowbit/io/safetensors_write.hpp>
#endif

#include "workload.hpp"

namespace {

using lowbit::hif4;
using lowbit::matrix_view;
using lowbit::nvfp4;

const char* expected = nullptr;
int failures = 0;

void handler(const char* text) {
    const bool good = std::strstr(text, expected) != nullptr;
    if (!good) std::printf("'%s' does not hold '%s'\n", text, expected);
    std::fflush(stdout);
    std::_Exit(good ? 0 : 1);
}

/// call() must end in the handler, with a text that holds `part`.
template <class Call>
void expect_error(const char* part, Call call) {
    expected = part;
    const pid_t child = fork();
    if (child == 0) {
        lowbit::set_error_handler(&handler);
        call();
        std::printf("no error, expected '%s'\n", part);
        std::fflush(stdout);
        std::_Exit(2);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) ++failures;
}

void arguments() {
    constexpr std::size_t big = std::numeric_limits<std::size_t>::max() / 2;
    constexpr float no_scale = -1.0F;
    std::vector<float> source(4 * 64, 1.0F);
    std::vector<float> out(4 * 64, 0.0F);
    const matrix_view<const float> x(source.data(), 4, 64);
    const matrix_view<float> three(out.data(), 3, 64);
    const auto q = lowbit::quantize<hif4>(x);
    const auto rows = lowbit::quantize<nvfp4>(x, {.tensor_scale = {.kind = lowbit::tensor_scale_kind::row}});

    expect_error("lowbit::matrix_view: stride 3", [&] { matrix_view<const float>(source.data(), 2, 4, 3); });
    expect_error("lowbit::matrix_view: data is null", [] { matrix_view<const float>(nullptr, 2, 4); });
    expect_error("lowbit::aligned_buffer: count", [] { lowbit::aligned_buffer<float> buffer(big); });
    expect_error("lowbit::quantized_matrix::size_bytes",
                 [] { (void)lowbit::quantized_matrix<hif4>::size_bytes(big, big); });
    expect_error("lowbit::quantized_matrix::from_blocks",
                 [&] { (void)lowbit::quantized_matrix<hif4>::from_blocks(5, 64, q.blocks()); });
    expect_error("lowbit::quantized_matrix::from_blocks: 'tensor_scales' has -1", [&] {
        (void)lowbit::quantized_matrix<nvfp4>::from_blocks(4, 64, rows.blocks(), {&no_scale, 1});
    });
    expect_error("lowbit::quantized_matrix::slice_rows", [&] { (void)q.slice_rows(3, 2); });
    expect_error("lowbit::quantized_matrix::tensor_scale", [&] { (void)rows.tensor_scale(); });
    const lowbit::quantize_options<nvfp4> given{
        .tensor_scale = {.kind = lowbit::tensor_scale_kind::given, .value = no_scale}};
    expect_error("lowbit::quantize: option 'tensor_scale.value' is -1",
                 [&] { (void)lowbit::quantize<nvfp4>(x, given); });
    expect_error("lowbit::quantize_transposed: option 'tensor_scale.value' is -1",
                 [&] { (void)lowbit::quantize_transposed<nvfp4>(x, given); });
    expect_error("lowbit::dequantize: rows 3 of output 'out' do not match rows 4",
                 [&] { lowbit::dequantize(q, three); });
    expect_error("lowbit::compare: rows 3 of 'restored' do not match rows 4", [&] { (void)lowbit::compare(x, three); });
    expect_error("lowbit::gemm: rows 3 of output 'c' do not match rows 4",
                 [&] { lowbit::gemm(x, q, matrix_view<float>(out.data(), 3, 4)); });
}

void files() {
    const std::vector<float> source(64, 1.0F);
    const matrix_view<const float> x(source.data(), 1, 64);
    const std::array<std::byte, 4> garbage{};
    const char* const missing = "/no such folder/file";
    expect_error("lowbit::read_npy: '/no such folder/file': cannot open", [&] { (void)lowbit::read_npy(missing); });
    expect_error("lowbit::read_npy: 'memory': not a .npy file", [&] { (void)lowbit::read_npy(std::span(garbage)); });
    expect_error("lowbit::read_npy_header", [&] { (void)lowbit::read_npy_header(missing); });
    expect_error("lowbit::write_npy: '/no such folder/file': cannot create", [&] { lowbit::write_npy(missing, x); });
    using matrix = lowbit::quantized_matrix<hif4>;
    expect_error("cannot open", [&] { (void)lowbit::read_matrix<matrix>(missing); });
    expect_error("truncated", [&] { (void)lowbit::read_matrix<matrix>(std::span(garbage)); });
    expect_error("cannot open", [&] { (void)lowbit::read_matrix_info(missing); });
    expect_error("cannot create", [&] { lowbit::write_matrix(missing, lowbit::quantize<hif4>(x)); });
#if __has_include(<nlohmann/json.hpp>)
    expect_error("cannot open", [&] { lowbit::safetensors_model model(missing); });
    expect_error("not a .safetensors file", [&] { (void)lowbit::read_safetensors_index(std::span(garbage)); });
    const char text[] = "\x05\0\0\0\0\0\0\0{\"a\":";
    expect_error("no valid JSON",
                 [&] { (void)lowbit::read_safetensors_index(std::as_bytes(std::span(text)).first(13)); });
    const std::vector<lowbit::safetensors_output> wrong{{.name = "w", .shape = {65}, .values = source}};
    expect_error("lowbit::write_safetensors: shape of tensor 'w' holds 65",
                 [&] { lowbit::write_safetensors(missing, wrong); });
#endif
}

}  // namespace

int main() {
    static_assert(LOWBIT_EXCEPTIONS == 0);
    expect_error("LOWBIT_ISA=mmx is not one of", [] {
        setenv("LOWBIT_ISA", "mmx", 1);
        (void)lowbit::active_isa();
    });
    arguments();
    files();

    // And what is right works.
    if (workload::conversion<hif4>(true) == 0) ++failures;
    lowbit::thread_pool pool(2);
    std::vector<int> marks(100, 0);
    pool.for_each(marks.size(), [&](std::size_t i) { marks[i] = 1; });
    for (const int mark : marks) failures += mark == 1 ? 0 : 1;
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
