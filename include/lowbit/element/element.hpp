// SPDX-License-Identifier: Apache-2.0
// Umbrella of the element layer: every small number type, rounding modes, nibbles.
#pragma once

#include <lowbit/element/exmy.hpp>
#include <lowbit/element/hif8.hpp>
#include <lowbit/element/minifloat.hpp>
#include <lowbit/element/nibble.hpp>
#include <lowbit/element/rounding.hpp>
