// SPDX-License-Identifier: Apache-2.0
// Where the readers get their bytes: a regular file read at 64-bit offsets, or bytes in memory.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <lowbit/core/error.hpp>

namespace lowbit::detail {

/// Bytes with random access. Errors carry the name of the public function, the file and the reason.
class byte_source {
  public:
    virtual ~byte_source() = default;
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Fills `out` from `offset` on; running past the end is an error.
    void read(std::uint64_t offset, std::span<std::byte> out) {
        if (offset > size_ || out.size() > size_ - offset) {
            fail("truncated: ", out.size(), " bytes wanted at offset ", offset, ", but the file has ", size_);
        }
        if (!out.empty()) fetch(offset, out);
    }

    /// Throws io_error "FUNCTION: 'NAME': reason".
    template <class... Parts>
    [[noreturn, gnu::cold]] void fail(const Parts&... parts) const {
        fail_io(message(function_, ": '", name_, "': ", parts...));
    }

  protected:
    byte_source(std::string_view function, std::string name) : function_(function), name_(std::move(name)) {}
    virtual void fetch(std::uint64_t offset, std::span<std::byte> out) = 0;
    std::uint64_t size_ = 0;

  private:
    std::string_view function_;  // a literal
    std::string name_;
};

/// Bytes that somebody else keeps alive.
class memory_source final : public byte_source {
  public:
    memory_source(std::string_view function, std::span<const std::byte> bytes, std::string name)
        : byte_source(function, std::move(name)), bytes_(bytes) {
        check_not_null(function, "'bytes'", bytes.data(), bytes.size());
        size_ = bytes.size();
    }

  private:
    void fetch(std::uint64_t offset, std::span<std::byte> out) override {
        std::memcpy(out.data(), bytes_.data() + static_cast<std::size_t>(offset), out.size());
    }
    std::span<const std::byte> bytes_;
};

/// A regular file; pipes and directories have no size to check a header against and are refused.
class file_source final : public byte_source {
  public:
    file_source(std::string_view function, const std::string& path)
        : byte_source(function, path), file_{std::fopen(path.c_str(), "rb")} {
        if (file_.stream == nullptr) fail("cannot open: ", std::generic_category().message(errno));
#if defined(_WIN32)
        struct _stat64 status;
        const bool known = _fstat64(_fileno(file_.stream), &status) == 0 && (status.st_mode & _S_IFREG) != 0;
#else
        struct stat status;
        static_assert(sizeof(status.st_size) >= 8,
                      "lowbit needs 64-bit file offsets: compile with -D_FILE_OFFSET_BITS=64");
        const bool known = ::fstat(::fileno(file_.stream), &status) == 0 && S_ISREG(status.st_mode);
#endif
        if (!known) fail("not a regular file");
        size_ = static_cast<std::uint64_t>(status.st_size);
    }

  private:
    struct open_file {
        std::FILE* stream;
        ~open_file() {
            if (stream != nullptr) std::fclose(stream);
        }
    };

    void fetch(std::uint64_t offset, std::span<std::byte> out) override {
#if defined(_WIN32)
        const bool placed = _fseeki64(file_.stream, static_cast<__int64>(offset), SEEK_SET) == 0;
#else
        const bool placed = ::fseeko(file_.stream, static_cast<off_t>(offset), SEEK_SET) == 0;
#endif
        if (!placed) fail("cannot seek to offset ", offset, ": ", std::generic_category().message(errno));
        const std::size_t got = std::fread(out.data(), 1, out.size(), file_.stream);
        if (got == out.size()) return;
        if (std::ferror(file_.stream) != 0) fail("cannot read: ", std::generic_category().message(errno));
        fail("truncated while it was read: ", out.size(), " bytes wanted at offset ", offset, ", got ", got);
    }

    open_file file_;
};

}  // namespace lowbit::detail
