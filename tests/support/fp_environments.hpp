// SPDX-License-Identifier: Apache-2.0
// The floating-point environments that a caller, or the threads of a pool, may have set: rounding modes, flush to zero,
// denormals are zero.
#pragma once

#include <cfenv>
#include <cstddef>
#include <cstdint>

namespace lowbit::test {

/// Number of environments that caller_environment can set up.
inline constexpr int caller_environments = 8;

/// Sets one of the environments while it lives: bits 1..0 choose the rounding mode, bit 2 FTZ and DAZ.
class caller_environment {
  public:
    explicit caller_environment(int which) noexcept : before_(word()) {
        constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        std::fesetround(modes[which & 3]);
        if ((which & 4) != 0) set_word(word() | flush);
        set_ = word();
    }
    ~caller_environment() {
        std::fesetround(FE_TONEAREST);
        set_word(before_);
    }
    caller_environment(const caller_environment&) = delete;
    caller_environment& operator=(const caller_environment&) = delete;

    /// Whether the control bits are still those that were set.
    bool unchanged() const noexcept { return ((word() ^ set_) & ~flags) == 0; }

  private:
#if defined(__SSE2_MATH__)
    static constexpr std::uint64_t flush = 0x8040;  // FTZ, DAZ
    static constexpr std::uint64_t flags = 0x3F;
    static std::uint64_t word() noexcept { return __builtin_ia32_stmxcsr(); }
    static void set_word(std::uint64_t value) noexcept { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
    static constexpr std::uint64_t flush = std::uint64_t{1} << 24;  // FZ
    static constexpr std::uint64_t flags = 0;
    static std::uint64_t word() noexcept {
        std::uint64_t value = 0;
        asm volatile("mrs %0, fpcr" : "=r"(value));
        return value;
    }
    static void set_word(std::uint64_t value) noexcept { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
    static constexpr std::uint64_t flush = 0;
    static constexpr std::uint64_t flags = 0;
    static std::uint64_t word() noexcept { return 0; }
    static void set_word(std::uint64_t) noexcept {}
#endif

    std::uint64_t before_;
    std::uint64_t set_ = 0;
};

/// A pool whose workers are in one of these environments when a body begins. (Threads take theirs from whoever starts
/// them, so those of a pool need not share that of the thread that hands out the work.)
class foreign_workers {
  public:
    explicit foreign_workers(int which) noexcept : which_(which) {}

    std::size_t concurrency() const noexcept { return 3; }
    template <class Body>
    void for_each(std::size_t count, const Body& body) {
        for (std::size_t i = 0; i < count; ++i) {
            const caller_environment environment(which_);
            body(i);
            restored_ = restored_ && environment.unchanged();
        }
    }

    /// Whether every body has left the environment as it was.
    bool restored() const noexcept { return restored_; }

  private:
    int which_;
    bool restored_ = true;
};

}  // namespace lowbit::test
