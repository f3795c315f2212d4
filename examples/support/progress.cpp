// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "text.hpp"

namespace support {
namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void on_interrupt(int signal_number) {
    requested = 1;
    std::signal(signal_number, SIG_DFL);
}

}  // namespace

void catch_interrupt() {
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
}

bool stop_requested() { return requested != 0; }

progress_line::progress_line() : terminal_(::isatty(STDERR_FILENO) != 0) {}

void progress_line::show(std::size_t done, std::size_t total, const std::string& what) {
    if (!terminal_) return;
    fmt::print(stderr, "\r\033[K[{}/{}] {}", done + 1, total, fit(what, 80));
    std::fflush(stderr);
    shown_ = true;
}

void progress_line::clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
}

}  // namespace support
