// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any numbers quantised with any options, along rows and along columns, by every instruction set
// against the scalar code.
#include <lowbit/convert/quantize.hpp>
#include <lowbit/convert/transpose.hpp>

#include "fuzzing.hpp"

namespace {

using namespace lowbit;

template <class F, class T>
void check(fuzz::input in) {
    const std::size_t long_side = in.length(1100), short_side = in.up_to(long_side > 200 ? 6 : 40);
    const bool wide = in.byte() % 2 != 0;
    const std::size_t rows = wide ? short_side : long_side, cols = wide ? long_side : short_side;
    const std::size_t stride = cols + in.up_to(5), turned_stride = rows + in.up_to(5);
    const auto pool = in.pool();
    const quantize_options<F> options{in.options<F>(), in.tensor_scale(), pool};
    const std::vector<T> source = in.values<T>(fuzz::extent(rows, cols, stride));
    std::vector<T> turned(fuzz::extent(cols, rows, turned_stride));
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < cols; ++c) turned[c * turned_stride + r] = source[r * stride + c];
    }
    const matrix_view<const T> view(source.data(), rows, cols, stride);
    const matrix_view<const T> turned_view(turned.data(), cols, rows, turned_stride);

    const quantized_matrix<F> wanted = detail::quantize(view, options, fuzz::codec_of<F>(isa::scalar));
    for (const isa which : arch::available()) {
        fuzz::require_same(detail::quantize(view, options, fuzz::codec_of<F>(which)), wanted, F::name, which);
        fuzz::require_same(detail::quantize_transposed(turned_view, options, fuzz::codec_of<F>(which)), wanted, F::name,
                           which);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    fuzz::visit_any_format(in.byte(), [&]<class F>(std::type_identity<F>) {
        fuzz::visit_any_element(in.byte(), [&]<class T>(std::type_identity<T>) { check<F, T>(in); });
    });
    return 0;
}
