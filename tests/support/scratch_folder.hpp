// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, and what its files hold.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace lowbit::test {

/// Removed with all that is in it at the end.
class scratch_folder {
  public:
    explicit scratch_folder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() / ("lowbit_" + std::to_string(::getpid()) + "_" + name)) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directory(path_);
    }
    ~scratch_folder() { std::filesystem::remove_all(path_); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    std::string path(const std::string& file) const { return (path_ / file).string(); }
    /// The names of its files, in order.
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            names.push_back(entry.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

  private:
    std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace lowbit::test
