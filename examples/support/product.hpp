// SPDX-License-Identifier: Apache-2.0
// The output of a layer in double arithmetic: what the products of quantised operands are compared with.
#pragma once

#include <vector>

#include <lowbit/core/executor.hpp>
#include <lowbit/core/matrix_view.hpp>

namespace support {

using float_view = lowbit::matrix_view<const float>;

/// y = x w^T in double precision, row-major x.rows() by w.rows(); sums run over k in ascending order.
std::vector<double> product(float_view x, float_view w, const lowbit::executor& runner);

}  // namespace support
