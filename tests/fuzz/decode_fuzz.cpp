// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: blocks of any bytes, decoded by every instruction set and by dequantize, against decode block by
// block.
#include <lowbit/convert/dequantize.hpp>

#include "fuzzing.hpp"

namespace {

using namespace lowbit;

template <class F, class T>
void check(fuzz::input in) {
    const std::size_t rows = in.up_to(4), cols = in.length(2100), stride = cols + in.up_to(5);
    const auto pool = in.pool();
    const quantized_matrix<F> q = in.blocks<F>(rows, cols);
    const std::vector<T> untouched(fuzz::extent(rows, cols, stride), fuzz::narrowed<T>(-7.0F));

    std::vector<T> wanted = untouched;
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t b = 0; b < q.blocks_per_row(); ++b) {
            float values[F::block_size];
            F::decode(q.row(r)[b], std::span<float, F::block_size>(values), q.tensor_scale(r));
            const std::size_t first = b * F::block_size, last = (std::min)(cols, first + F::block_size);
            for (std::size_t c = first; c < last; ++c) {
                wanted[r * stride + c] = fuzz::narrowed<T>(values[c - first]);
            }
        }
    }

    for (const isa which : arch::available()) {
        const detail::row_codec<F> codec = fuzz::codec_of<F>(which);
        std::vector<T> got = untouched;
        for (std::size_t r = 0; r < rows; ++r) {
            codec.decode(q.row(r).data(), cols, got.data() + r * stride, q.tensor_scale(r));
        }
        fuzz::require_same(got, wanted, F::name, which);
        if constexpr (std::is_same_v<T, float>) {
            got = untouched;
            for (std::size_t r = 0; r < rows; ++r) {
                codec.decode_past_cache(q.row(r).data(), cols, got.data() + r * stride, q.tensor_scale(r));
            }
            arch::stream_fence();
            fuzz::require_same(got, wanted, F::name, which);
        }
    }

    std::vector<T> got = untouched;
    dequantize(q, matrix_view<T>(got.data(), rows, cols, stride), {.executor = pool});
    fuzz::require_same(got, wanted, F::name, active_isa());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    fuzz::visit_any_format(in.byte(), [&]<class F>(std::type_identity<F>) {
        fuzz::visit_any_element(in.byte(), [&]<class T>(std::type_identity<T>) { check<F, T>(in); });
    });
    return 0;
}
