// SPDX-License-Identifier: Apache-2.0
// Misuse that the compiler has to refuse: one #ifdef FAULT_name each, with what the compiler says about it.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <lowbit/lowbit.hpp>

namespace user {

// What is right stands here, so that a fault below fails for its own reason.
inline float good(lowbit::hif8 h, lowbit::bfloat16 b, std::span<const float, 64> values) {
    const lowbit::hif4::block block = lowbit::hif4::encode(values);
    std::array<float, 64> out{};
    lowbit::hif4::decode(block, out);
    return h.to_float() + b.to_float() + out[0];
}

#ifdef FAULT_hif8_to_float
// says: cannot convert|no viable conversion
inline float fault(lowbit::hif8 h) { return h; }
#endif

#ifdef FAULT_float_to_hif8
// says: conversion from|no viable conversion|could not convert
inline lowbit::hif8 fault(float f) { return f; }
#endif

#ifdef FAULT_bits_to_e4m3
// says: conversion from|no viable conversion|could not convert
inline lowbit::e4m3 fault() { return std::uint8_t{0x7E}; }
#endif

#ifdef FAULT_arithmetic_on_bfloat16
// says: no match for|invalid operands
inline auto fault(lowbit::bfloat16 a, lowbit::bfloat16 b) { return a + b; }
#endif

#ifdef FAULT_arithmetic_on_hif8
// says: no match for|invalid operands
inline auto fault(lowbit::hif8 a, lowbit::hif8 b) { return a * b; }
#endif

#ifdef FAULT_float16_is_not_bfloat16
// says: cannot convert|no viable conversion|could not convert|conversion from
inline lowbit::float16 fault(lowbit::bfloat16 b) { return b; }
#endif

#ifdef FAULT_decode_block_of_another_format
// says: cannot convert|no matching function|no viable conversion|invalid initialization
inline void fault(const lowbit::nvfp4::block& block, std::span<float, 64> out) { lowbit::hif4::decode(block, out); }
#endif

#ifdef FAULT_encode_wrong_number_of_values
// says: cannot convert|no matching function|could not convert|no viable conversion
inline lowbit::hif4::block fault(std::span<const float, 32> values) { return lowbit::hif4::encode(values); }
#endif

#ifdef FAULT_options_of_another_format
// says: no matching function|cannot convert|could not convert|no viable conversion
inline auto fault(std::span<const float, 32> values) { return lowbit::mxfp4::encode(values, lowbit::hif4::options{}); }
#endif

#ifdef FAULT_quantize_to_something_that_is_no_format
// says: constraint|no matching function
inline auto fault(lowbit::matrix_view<const float> view) { return lowbit::quantize<int>(view); }
#endif

#ifdef FAULT_quantized_matrices_of_two_formats
// says: could not convert|cannot convert|conversion from|no viable
inline lowbit::quantized_matrix<lowbit::mxfp4> fault(const lowbit::quantized_matrix<lowbit::nvfp4>& q) { return q; }
#endif

#ifdef FAULT_packed_matrices_of_two_formats
// says: could not convert|cannot convert|conversion from|no viable
inline lowbit::packed_matrix<lowbit::mxfp4> fault(const lowbit::packed_matrix<lowbit::nvfp4>& p) { return p; }
#endif

#ifdef FAULT_product_with_the_options_of_another_format
// says: no matching function|cannot convert|could not convert|no viable conversion
inline void fault(lowbit::matrix_view<const float> x, const lowbit::packed_matrix<lowbit::hif4>& p,
                  lowbit::matrix_view<float> y) {
    lowbit::gemm<lowbit::mxfp4>(x, p, y, {}, lowbit::hif4::options{});
}
#endif

#ifdef FAULT_product_with_blocks_for_weights
// says: constraint|no matching function
inline void fault(lowbit::matrix_view<const float> x, const lowbit::hif4::block& w, lowbit::matrix_view<float> y) {
    lowbit::gemm(x, w, y);
}
#endif

#ifdef FAULT_dequantize_into_const
// says: no matching function|constraint|invalid
inline void fault(const lowbit::quantized_matrix<lowbit::hif4>& q, lowbit::matrix_view<const float> out) {
    lowbit::dequantize(q, out);
}
#endif

#ifdef FAULT_drop_const_of_a_view
// says: cannot convert|could not convert|no viable conversion|conversion from
inline lowbit::matrix_view<float> fault(lowbit::matrix_view<const float> view) { return view; }
#endif

// Case 69: our headers leave the warnings and the target of the user's code as they were.

#ifdef FAULT_warning_sign_conversion
// says: Wsign-conversion|Werror=sign-conversion
inline unsigned fault(int i) { return i; }
#endif

#ifdef FAULT_warning_conversion
// says: Werror=conversion|Wimplicit-int-conversion
inline short fault(int i) { return i; }
#endif

#ifdef FAULT_warning_float_conversion
// says: float-conversion
inline float fault(double d) { return d; }
#endif

#ifdef FAULT_warning_shadow
// says: shadow
inline int fault(int i) {
    {
        int i = 1;
        return i;
    }
}
#endif

#ifdef FAULT_warning_old_style_cast
// says: old-style-cast
inline int fault(double d) { return (int)d; }
#endif

#ifdef FAULT_target_region_left_open
// says: target specific option mismatch|requires target feature|needs target feature|without support
# if defined(__x86_64__)
#  include <immintrin.h>
int fault(const __m256i* in) { return _mm256_extract_epi32(_mm256_add_epi8(*in, *in), 0); }
# else
#  error "target specific option mismatch: this fault is one of x86-64"
# endif
#endif

}  // namespace user
