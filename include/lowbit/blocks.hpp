// SPDX-License-Identifier: Apache-2.0
// Umbrella of the layers core, element and block: element types and one-block codecs, no vector code.
//
// All that is declared here is constexpr and needs nothing but the standard library. Whole matrices, run-time
// dispatch and products come with <lowbit/lowbit.hpp>.
#pragma once

#include <lowbit/block/registry.hpp>
#include <lowbit/core/bits.hpp>
#include <lowbit/core/config.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/float16.hpp>
#include <lowbit/core/matrix_view.hpp>
#include <lowbit/element/element.hpp>
