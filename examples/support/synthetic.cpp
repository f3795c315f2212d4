// SPDX-License-Identifier: Apache-2.0
#include "synthetic.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include <lowbit/core/float16.hpp>

namespace support {
namespace {

/// SplitMix64 (Steele, Lea and Flood 2014) and Box-Muller: std::normal_distribution differs between libraries.
class generator {
  public:
    explicit generator(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U) {}

    /// In (0, 1].
    double uniform() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        z ^= z >> 31U;
        return static_cast<double>((z >> 11U) + 1) * 0x1p-53;
    }

    double normal() {
        if (spare_) {
            spare_ = false;
            return next_;
        }
        const double radius = std::sqrt(-2 * std::log(uniform()));
        const double angle = 2 * std::numbers::pi * uniform();
        next_ = radius * std::sin(angle);
        spare_ = true;
        return radius * std::cos(angle);
    }

    /// Chi-squared with k degrees of freedom, k > 0: twice a gamma variate of shape k / 2 (Marsaglia and Tsang 2000).
    double chi_squared(double k) {
        const double shape = k / 2 < 1 ? k / 2 + 1 : k / 2;
        const double d = shape - 1.0 / 3;
        const double c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = normal();
            const double v = std::pow(1 + c * x, 3);
            if (v <= 0 || std::log(uniform()) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
            const double boost = k / 2 < 1 ? std::pow(uniform(), 2 / k) : 1;
            return 2 * d * v * boost;
        }
    }

  private:
    std::uint64_t state_;
    double next_ = 0;
    bool spare_ = false;
};

template <class Draw>
lowbit::tensor fill(std::size_t rows, std::size_t cols, const Draw& draw) {
    std::vector<float> values(rows * cols);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = lowbit::bfloat16::from_double(draw(i % cols)).to_float();
    }
    return {{rows, cols}, std::move(values)};
}

}  // namespace

std::vector<std::string> synthetic_names() { return {"gaussian", "student-t", "outliers", "relu"}; }

lowbit::tensor make_gaussian(std::size_t rows, std::size_t cols, double sigma, std::uint64_t seed) {
    generator random(seed);
    return fill(rows, cols, [&](std::size_t) { return sigma * random.normal(); });
}

lowbit::tensor make_synthetic(const std::string& name, const synthetic_options& options) {
    generator random(options.seed);
    if (name == "gaussian") return make_gaussian(options.rows, options.cols, 1, options.seed);
    if (name == "student-t") {
        return fill(options.rows, options.cols, [&](std::size_t) {
            const double top = random.normal();
            return top / std::sqrt(random.chi_squared(options.degrees) / options.degrees);
        });
    }
    if (name == "outliers") {
        std::vector<double> factor(options.cols, 1);
        std::vector<bool> chosen(options.cols, false);
        const auto count =
            static_cast<std::size_t>(std::ceil(options.outlier_share * static_cast<double>(options.cols)));
        for (std::size_t done = 0; done < count && done < options.cols;) {
            const auto column =
                static_cast<std::size_t>(random.uniform() * static_cast<double>(options.cols)) % options.cols;
            if (chosen[column]) continue;
            chosen[column] = true;
            factor[column] = options.outlier_size;
            ++done;
        }
        return fill(options.rows, options.cols, [&](std::size_t column) { return factor[column] * random.normal(); });
    }
    if (name == "relu") {
        return fill(options.rows, options.cols, [&](std::size_t) { return std::fmax(0, random.normal()); });
    }
    throw std::invalid_argument("--synthetic '" + name + "' is not gaussian, student-t, outliers or relu");
}

}  // namespace support
