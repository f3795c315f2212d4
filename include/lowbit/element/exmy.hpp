// SPDX-License-Identifier: Apache-2.0
// The element and scale types of the block formats, as instances of minifloat.
//
//     name   bits sign  largest  smallest normal  smallest   specials              rounding           source
//     e2m1     4   yes        6        1           0.5    none                  nearest even       OCP MX v1.0
//     e1m2     4   yes     1.75        1           0.25   none                  nearest even       (HiF4's S1P2 grid)
//     e2m3     6   yes      7.5        1           0.125  none                  nearest even       OCP MX v1.0
//     e3m2     6   yes       28        2^-2        2^-4   none                  nearest even       OCP MX v1.0
//     e4m3     8   yes      448        2^-6        2^-9   NaN 0x7F, 0xFF        nearest even       OCP OFP8
//     e5m2     8   yes    57344        2^-14       2^-16  Inf 0x7C, NaN above   nearest even       OCP OFP8
//     e8m0     8    no    2^127        2^-127      2^-127 NaN 0xFF, no zero     nearest, ties up   OCP MX v1.0
//     e6m2     8    no    49152        2^-48       2^-48  NaN 0xFF, no zero     nearest even       HiF4 paper
//     ue5m3    8    no   114688        2^-14       2^-17  NaN 0xFF              nearest even       NVFP4 variants
#pragma once

#include <lowbit/element/minifloat.hpp>

namespace lowbit {

/// The element of MXFP4, NVFP4 and M2XFP: 0 .5 1 1.5 2 3 4 6 with a sign.
using e2m1 = minifloat<minifloat_format{.exponent_bits = 2, .mantissa_bits = 1, .bias = 1}>;
/// Multiples of a quarter up to 1.75 with a sign.
using e1m2 = minifloat<minifloat_format{.exponent_bits = 1, .mantissa_bits = 2, .bias = 1}>;
/// Sign, one integer bit, two fraction bits: HiF4's element, quarters up to 1.75. The same grid and codes as e1m2.
using s1p2 = e1m2;
/// Six bits, eighths up to 7.5: the top elements of M2XFP activations.
using e2m3 = minifloat<minifloat_format{.exponent_bits = 2, .mantissa_bits = 3, .bias = 1}>;
/// Six bits, up to 28.
using e3m2 = minifloat<minifloat_format{.exponent_bits = 3, .mantissa_bits = 2, .bias = 3}>;
/// FP8 of many fraction bits, up to 448, NaN and no Inf: the scale of NVFP4.
using e4m3 = minifloat<minifloat_format{
    .exponent_bits = 4, .mantissa_bits = 3, .bias = 7, .specials = minifloat_specials::all_ones}>;
/// FP8 of much range, up to 57344, with Inf and NaN.
using e5m2 = minifloat<minifloat_format{
    .exponent_bits = 5, .mantissa_bits = 2, .bias = 15, .specials = minifloat_specials::ieee}>;
/// A power of two. Rounds to the nearest one, ties up.
using e8m0 = minifloat<minifloat_format{.has_sign = false,
                                        .exponent_bits = 8,
                                        .mantissa_bits = 0,
                                        .bias = 127,
                                        .has_subnormals = false,
                                        .specials = minifloat_specials::all_ones,
                                        .default_rounding = rounding::nearest_away}>;
/// A quarter-step power of two without sign and zero: the scale of HiF4.
using e6m2 = minifloat<minifloat_format{.has_sign = false,
                                        .exponent_bits = 6,
                                        .mantissa_bits = 2,
                                        .bias = 48,
                                        .has_subnormals = false,
                                        .specials = minifloat_specials::all_ones}>;
/// FP8 without sign, up to 114688: a scale of NVFP4 variants.
using ue5m3 = minifloat<minifloat_format{
    .has_sign = false, .exponent_bits = 5, .mantissa_bits = 3, .bias = 15, .specials = minifloat_specials::all_ones}>;

static_assert(e2m1::max_code == 0x7 && e2m1::from_bits(7).to_float() == 6.0F);
static_assert(e1m2::from_bits(7).to_float() == 1.75F && e1m2::from_bits(1).to_float() == 0.25F);
static_assert(e2m3::from_bits(31).to_float() == 7.5F && e2m3::from_bits(1).to_float() == 0.125F);
static_assert(e3m2::from_bits(31).to_float() == 28.0F);
static_assert(e4m3::max_code == 0x7E && e4m3::from_bits(0x7E).to_float() == 448.0F && e4m3::from_bits(0xFF).is_nan());
static_assert(e5m2::max_code == 0x7B && e5m2::from_bits(0x7B).to_float() == 57344.0F && e5m2::from_bits(0x7C).is_inf());
static_assert(to_bits(e8m0::from_bits(0).to_float()) == 0x00400000U && e8m0::from_bits(127).to_float() == 1.0F);
static_assert(e6m2::from_bits(0xFE).to_float() == 49152.0F && e6m2::from_bits(0).to_float() == power_of_two(-48));
static_assert(ue5m3::from_bits(0xFE).to_float() == 114688.0F && ue5m3::from_bits(1).to_float() == power_of_two(-17));
static_assert(sizeof(e2m1) == 1 && alignof(e4m3) == 1);

}  // namespace lowbit
