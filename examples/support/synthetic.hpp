// SPDX-License-Identifier: Apache-2.0
// Synthetic data of known distributions, the same values on every machine for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lowbit/io/tensor.hpp>

namespace support {

struct synthetic_options {
    std::size_t rows = 1024;
    std::size_t cols = 1024;
    std::uint64_t seed = 1;
    double degrees = 4;           ///< of freedom, student-t
    double outlier_share = 0.01;  ///< of the channels (columns), outliers
    double outlier_size = 30;     ///< factor on their values
};

/// "gaussian", "student-t", "outliers", "relu".
std::vector<std::string> synthetic_names();

/// rows x cols values of the kind `name` with unit scale, rounded to bfloat16.
///   gaussian   normal, mean 0, sigma 1          student-t   heavy tails: normal / sqrt(chi^2 / degrees)
///   outliers   normal, some columns times `outlier_size`: the activations of large language models look so
///   relu       max(0, normal): half of the values are zero
lowbit::tensor make_synthetic(const std::string& name, const synthetic_options& options);

/// Normal values of mean 0 and this sigma, rounded to bfloat16.
lowbit::tensor make_gaussian(std::size_t rows, std::size_t cols, double sigma, std::uint64_t seed);

}  // namespace support
