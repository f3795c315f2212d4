// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a file of a quantised or packed matrix. The first byte chooses:
//   'f'  the rest is the file          'c'  the same, with the checksums made right
//   else the header is made to fit too: kind, format, shape and tensor scales come from the input
// Either io_error, or a matrix that can be used in every way, gives the same products on every instruction set, and is
// written as the bytes that it was read from; with any one byte changed, those are refused.
#include <unistd.h>

#include <string>

#include <lowbit/convert/dequantize.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/io/matrix_file.hpp>
#include <lowbit/pack/pack.hpp>

#include "fuzzing.hpp"

namespace {

using namespace lowbit;
using file_bytes = std::vector<std::uint8_t>;

/// What write_matrix writes; that it cannot is a finding, too.
template <class Matrix>
file_bytes written(const Matrix& matrix) {
    const std::string path = "/tmp/lowbit_fuzz_" + std::to_string(::getpid());
    try {
        write_matrix(path, matrix);
    } catch (const io_error&) {
        fuzz::require(false, "cannot write");
    }
    file_bytes bytes;
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    fuzz::require(file != nullptr, "nothing was written");
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) bytes.push_back(static_cast<std::uint8_t>(c));
    std::fclose(file);
    std::remove(path.c_str());
    return bytes;
}

/// Formats that products are tried with: each shape of a record, tensor scales, the engine of floats. All eight would
/// take minutes to compile.
template <class F>
constexpr bool is_multiplied =
    std::is_same_v<F, hif4> || std::is_same_v<F, nvfp4> || std::is_same_v<F, int8_block> || std::is_same_v<F, hif8>;

template <class F>
void use(const quantized_matrix<F>& q, const packed_matrix<F>& p) {
    std::vector<float> values(q.rows() * q.cols());
    dequantize(q, matrix_view<float>(values.data(), q.rows(), q.cols()));
    if constexpr (is_multiplied<F>) {
        const quantized_matrix<F> a = q.slice_rows(0, (std::min)(q.rows(), std::size_t{2}));
        std::vector<float> wanted;
        for (const isa which : arch::available()) {
            std::vector<float> got(a.rows() * p.rows(), -7.0F);
            detail::gemm_blocks(a, p, matrix_view<float>(got.data(), a.rows(), p.rows()), {}, {which});
            if (wanted.empty()) wanted = got;
            fuzz::require_same(got, wanted, F::name, which);
        }
    }
}
template <class F>
void use(const quantized_matrix<F>& q) {
    use(q, pack(q));
}
template <class F>
void use(const packed_matrix<F>& p) {
    use(unpack(p), p);
}

/// No byte of a file that was read can be another: some of them, one at a time.
template <class Matrix>
void expect_change_refused(file_bytes file) {
    std::uint64_t seed;
    std::memcpy(&seed, file.data() + 120, sizeof(seed));  // the header's checksum
    for (std::uint64_t i = 0; i < 8; ++i) {
        std::uint8_t& changed = file[random_bits24({seed, 2 * i}) % file.size()];
        const std::uint8_t before = changed;
        changed = static_cast<std::uint8_t>(before ^ (1U + random_bits24({seed, 2 * i + 1}) % 255U));
        bool refused = false;
        try {
            static_cast<void>(read_matrix<Matrix>(std::as_bytes(std::span(file))));
        } catch (const io_error&) {
            refused = true;
        }
        fuzz::require(refused, "a changed byte is not noticed");
        changed = before;
    }
}

template <class Matrix>
void read_as(const file_bytes& file) {
    const Matrix matrix = read_matrix<Matrix>(std::as_bytes(std::span(file)));
    expect_change_refused<Matrix>(file);
    // Rows of no columns, or columns of no rows, may be more than a product can have.
    const bool is_small = matrix.rows() <= 4096 && matrix.cols() <= 4096;
    for (std::size_t r = 0; is_small && r < matrix.rows(); ++r) {
        fuzz::require(detail::is_tensor_scale(matrix.tensor_scale(r)), "a tensor scale out of range was read");
    }
    // One tensor scale a row, of no rows, is written as one for the matrix.
    if (matrix.rows() != 0) fuzz::require_same(written(matrix), file, "what was written", isa::scalar);
    if (is_small) use(matrix);
}

void make_checksums_right(file_bytes& file) {
    if (file.size() < detail::matrix_header_bytes) return;
    checksum64 data;
    data.update(std::as_bytes(std::span(file).subspan(detail::matrix_header_bytes)));
    const std::uint64_t data_sum = data.value();
    std::memcpy(file.data() + 112, &data_sum, sizeof(data_sum));
    checksum64 header;
    header.update(std::as_bytes(std::span(file).first(120)));
    const std::uint64_t header_sum = header.value();
    std::memcpy(file.data() + 120, &header_sum, sizeof(header_sum));
}

/// A file whose sizes agree.
template <class F>
file_bytes made(fuzz::input in) {
    matrix_file_info info{in.one_of({matrix_kind::quantized, matrix_kind::packed}), std::string(F::name)};
    info.rows = in.length(100);
    info.cols = in.length(200);
    const bool packed = info.kind == matrix_kind::packed;
    info.data_bytes = packed ? packed_matrix<F>::size_bytes(info.rows, info.cols)
                             : quantized_matrix<F>::size_bytes(info.rows, info.cols);
    info.tensor_scales = F::has_tensor_scale ? 1 + in.byte() % 2 : 0;
    if (packed) info.layout = kernel::native_layout;
    const detail::matrix_header header = detail::encode_header(info);
    const std::size_t scales = info.tensor_scales == 2 ? info.rows : info.tensor_scales;
    const std::size_t scales_at = round_up(info.data_bytes, 64) + header.size();
    file_bytes file(scales_at + scales * sizeof(float));
    std::memcpy(file.data(), header.data(), header.size());
    in.fill(std::span(file).subspan(header.size(), info.data_bytes));
    in.fill(std::span(file).subspan(scales_at));
    for (std::size_t i = 0; i < scales; ++i) file[scales_at + 4 * i + 3] &= 0x3FU;  // finite, not negative
    if (scales != 0 && in.byte() % 8 == 7) {
        const float infinity = float_from_bits(0x7F800000U);
        const float refused = in.one_of({quiet_nan, -quiet_nan, infinity, -infinity, 0.0F, -1.0F});
        std::memcpy(file.data() + scales_at + 4 * in.up_to(scales - 1), &refused, sizeof(refused));
    }
    make_checksums_right(file);
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    const std::uint8_t choice = in.byte();
    file_bytes file(data + (size != 0 ? 1 : 0), data + size);
    if (choice == 'c') make_checksums_right(file);
    if (choice != 'c' && choice != 'f') {
        fuzz::visit_any_format(in.byte(), [&]<class F>(std::type_identity<F>) { file = made<F>(in); });
    }
    try {
        detail::memory_source source("fuzz", std::as_bytes(std::span(file)), "memory");
        const matrix_file_info info = detail::read_matrix_header(source);
        visit_format(info.format, [&]<class F>(std::type_identity<F>) {
            if (info.kind == matrix_kind::packed) {
                read_as<packed_matrix<F>>(file);
            } else {
                read_as<quantized_matrix<F>>(file);
            }
        });
    } catch (const io_error&) {
    }
    return 0;
}
