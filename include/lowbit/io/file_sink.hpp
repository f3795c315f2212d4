// SPDX-License-Identifier: Apache-2.0
// Where the writers put their bytes: a new file beside the old one, which takes its place once it is whole.
#pragma once

#include <sys/stat.h>
#if !defined(_WIN32)
# include <unistd.h>
#endif

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <lowbit/core/error.hpp>

namespace lowbit::detail {

/// A file being written. Until close() the old file of that name is what it was, and it stays so where anything fails:
/// the bytes go to PATH.0.part (or .1.part, ...), which is removed then. Permissions of the old file and a link to it
/// are kept. What is no regular file (a pipe, a device) is written directly.
/// Errors of the disk are reported by write() or, at the latest, by close().
class file_sink {
  public:
    file_sink(std::string_view function, const std::string& path) : function_(function), name_(path), target_(path) {
#if !defined(_WIN32)
        struct stat old;
        const bool exists = ::stat(path.c_str(), &old) == 0;
        if (exists && !S_ISREG(old.st_mode)) {
            file_ = std::fopen(path.c_str(), "wb");
            if (file_ == nullptr) fail("cannot create: ");
            return;
        }
        if (exists) {
            if (::access(path.c_str(), W_OK) != 0) fail("cannot replace: ");
            const resolved_path resolved{::realpath(path.c_str(), nullptr)};
            if (resolved.text != nullptr) target_ = resolved.text;
        }
#endif
        for (int i = 0; file_ == nullptr && i < most_parts; ++i) {
            part_ = target_ + '.' + std::to_string(i) + ".part";
            file_ = std::fopen(part_.c_str(), "wbx");
            if (file_ == nullptr && errno != EEXIST) break;
        }
        if (file_ == nullptr) {
            part_.clear();
            fail("cannot create: ");
        }
#if !defined(_WIN32)
        if (exists) static_cast<void>(::fchmod(::fileno(file_), old.st_mode & 07777U));
#endif
    }
    ~file_sink() {
        if (file_ != nullptr) std::fclose(file_);
        if (!part_.empty()) std::remove(part_.c_str());
    }
    file_sink(const file_sink&) = delete;
    file_sink& operator=(const file_sink&) = delete;

    void write(std::span<const std::byte> bytes) {
        if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("cannot write: ");
    }
    /// Puts the new file in the old one's place.
    void close() {
        if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("cannot write: ");
        if (part_.empty()) return;
#if defined(_WIN32)
        std::remove(target_.c_str());
#endif
        if (std::rename(part_.c_str(), target_.c_str()) != 0) fail("cannot replace: ");
        part_.clear();
    }

  private:
    static constexpr int most_parts = 100;  // left behind by programs that were killed, or being written right now

    struct resolved_path {
        char* text;
        ~resolved_path() { std::free(text); }
    };

    [[noreturn, gnu::cold]] void fail(std::string_view what) const {
        fail_io(message(function_, ": '", name_, "': ", what, std::generic_category().message(errno)));
    }

    std::string_view function_;  // a literal
    std::string name_;
    std::string target_;  // the file itself where `name_` is a link
    std::string part_;    // exists; empty: none does
    std::FILE* file_ = nullptr;
};

}  // namespace lowbit::detail
