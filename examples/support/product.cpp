// SPDX-License-Identifier: Apache-2.0
#include "product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace support {
namespace {

constexpr std::size_t panel = 16;  // outputs computed at a time: 16 doubles stay in registers

}  // namespace

std::vector<double> product(float_view x, float_view w, const lowbit::executor& runner) {
    std::vector<double> y(x.rows() * w.rows());
    runner.for_each((w.rows() + panel - 1) / panel, [&](std::size_t block) {
        const std::size_t first = block * panel;
        const std::size_t used = std::min(panel, w.rows() - first);
        std::vector<double> columns(w.cols() * panel, 0.0);  // the panel of w, transposed
        for (std::size_t j = 0; j < used; ++j) {
            for (std::size_t k = 0; k < w.cols(); ++k) columns[k * panel + j] = static_cast<double>(w(first + j, k));
        }
        for (std::size_t i = 0; i < x.rows(); ++i) {
            std::array<double, panel> sum{};
            for (std::size_t k = 0; k < x.cols(); ++k) {
                const auto value = static_cast<double>(x(i, k));
                const double* column = columns.data() + k * panel;
                for (std::size_t j = 0; j < panel; ++j) sum[j] += value * column[j];
            }
            for (std::size_t j = 0; j < used; ++j) y[i * w.rows() + first + j] = sum[j];
        }
    });
    return y;
}

}  // namespace support
