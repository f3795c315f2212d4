// SPDX-License-Identifier: Apache-2.0
// What the tests of the readers share: bytes in memory, scratch files, the text of an io_error.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include <lowbit/core/error.hpp>

namespace lowbit_test {

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// The text of the io_error that `action` throws, or "" where it throws none. Other exceptions pass.
template <class Action>
std::string io_failure(const Action& action) {
    try {
        action();
    } catch (const lowbit::io_error& problem) {
        return problem.what();
    }
    return "";
}

/// A file name of this process; the file is removed at the end.
class scratch_file {
  public:
    explicit scratch_file(const std::string& name)
        : path_(folder() + "/lowbit_" + std::to_string(::getpid()) + "_" + name) {}
    scratch_file(const std::string& name, const std::string& content) : scratch_file(name) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~scratch_file() { std::remove(path_.c_str()); }
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;

    const std::string& path() const { return path_; }
    std::string name() const { return path_.substr(path_.rfind('/') + 1); }

  private:
    // Not by std::filesystem, whose code MemorySanitizer does not see.
    static std::string folder() {
        const char* const given = std::getenv("TMPDIR");
        return given != nullptr ? given : "/tmp";
    }

    std::string path_;
};

}  // namespace lowbit_test
