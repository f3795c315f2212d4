// SPDX-License-Identifier: Apache-2.0
// What a long run shows, and how it is ended early.
#pragma once

#include <cstddef>
#include <string>

namespace support {

/// From now on the first Ctrl-C (or SIGTERM) only sets stop_requested(); the second ends the program.
void catch_interrupt();

/// Whether the work is to end after the step at hand.
bool stop_requested();

/// The exit code of a program that was stopped so.
inline constexpr int interrupted_code = 130;

/// The line on stderr that says what is being done; nothing where stderr is no terminal.
class progress_line {
  public:
    progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;
    ~progress_line() { clear(); }

    /// "[3/17] what", done counting from 0.
    void show(std::size_t done, std::size_t total, const std::string& what);
    void clear();

  private:
    bool terminal_;
    bool shown_ = false;
};

}  // namespace support
