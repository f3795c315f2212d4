// SPDX-License-Identifier: Apache-2.0
// Figures as JSON, which knows neither infinity nor a missing number.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace support {

/// The number; "inf" or "-inf" where it is infinite.
inline nlohmann::ordered_json json_number(double value) {
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}
/// The same, null where there is none.
inline nlohmann::ordered_json json_number(const std::optional<double>& value) {
    return value ? json_number(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace support
