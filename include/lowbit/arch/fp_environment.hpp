// SPDX-License-Identifier: Apache-2.0
// A guard that gives numeric code the default floating-point environment, whatever the caller's is.
#pragma once

#include <cstdint>

#include <lowbit/arch/target.hpp>

namespace lowbit::arch {

/// While it lives: round to nearest even, subnormals kept (no FTZ, no DAZ), exceptions masked. Then the caller's
/// control and status word is back as it was, flags included. Every public function that computes on whole rows holds
/// one, in each thread that computes.
/// Cost: a few nanoseconds.
class fp_guard {
  public:
    fp_guard() noexcept : saved_(read()) { write(default_word); }
    ~fp_guard() { write(saved_); }
    fp_guard(const fp_guard&) = delete;
    fp_guard& operator=(const fp_guard&) = delete;

  private:
#if LOWBIT_X86 || defined(__SSE2_MATH__)  // 32-bit x86 has no kernels of its own, but MXCSR
    using word = std::uint32_t;
    static constexpr word default_word = 0x1F80;  // MXCSR: all exceptions masked
    // The memory clobbers keep the compiler from moving loads and stores, and with them the arithmetic between, across.
    static word read() noexcept {
        word value = 0;
        asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
        return value;
    }
    static void write(word value) noexcept { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
#elif LOWBIT_AARCH64
    struct word {
        std::uint64_t control;  // FPCR
        std::uint64_t status;   // FPSR: the exception flags
    };
    static constexpr word default_word = {0, 0};
    static word read() noexcept {
        word value;
        asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(value.control), "=r"(value.status) : : "memory");
        return value;
    }
    static void write(const word& value) noexcept {
        asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(value.control), "r"(value.status) : "memory");
    }
#else
    using word = std::uint32_t;
    static constexpr word default_word = 0;
    static word read() noexcept { return 0; }
    static void write(word) noexcept {}
#endif
    word saved_;
};

}  // namespace lowbit::arch
