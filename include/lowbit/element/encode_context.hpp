// SPDX-License-Identifier: Apache-2.0
/// What an encoder may know about the surroundings of a block: tensor scales and the position of its first value.
#pragma once

#include <cstdint>

namespace lowbit {

/// Passed to the encode function of every block format; each reads what concerns it.
struct encode_context {
    float tensor_scale = 1;   ///< NVFP4: what decoding multiplies by
    float encode_scale = 1;   ///< NVFP4: its counterpart for encoding, see nvfp4_scales
    std::uint64_t index = 0;  ///< row * cols + column of the block's first value: the counter of stochastic rounding
};

}  // namespace lowbit
