// SPDX-License-Identifier: Apache-2.0
// Umbrella of the whole library, but for the headers that need a package (io/safetensors.hpp, the OpenMP and oneTBB
// executors) or threads of their own (core/thread_pool.hpp): include those by name.
#pragma once

#include <lowbit/arch/isa.hpp>
#include <lowbit/blocks.hpp>
#include <lowbit/convert/dequantize.hpp>
#include <lowbit/convert/quantize.hpp>
#include <lowbit/convert/transpose.hpp>
#include <lowbit/core/executor.hpp>
#include <lowbit/gemm/gemm.hpp>
#include <lowbit/gemm/gemm_quantized.hpp>
#include <lowbit/gemm/weight_only.hpp>
#include <lowbit/io/matrix_file.hpp>
#include <lowbit/io/npy.hpp>
#include <lowbit/matrix/quantized_matrix.hpp>
#include <lowbit/metrics/error_stats.hpp>
#include <lowbit/pack/pack.hpp>
