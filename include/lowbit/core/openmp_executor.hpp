// SPDX-License-Identifier: Apache-2.0
// Runs the library's loops on the caller's OpenMP threads. Opt-in: include it in units compiled with -fopenmp.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

#include <lowbit/core/config.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/function_ref.hpp>

#if !defined(_OPENMP)
# error "lowbit/core/openmp_executor.hpp needs OpenMP: compile this unit with -fopenmp"
#endif
#include <omp.h>

namespace lowbit {

/// A parallel-for on OpenMP: `openmp_executor threads; quantize<hif4>(x, {.executor = threads});`
/// Starts no threads of its own beyond the OpenMP runtime's team. Inside a parallel region it runs serially.
class openmp_executor {
  public:
    /// `threads` 0: what omp_get_max_threads() says when a loop starts (OMP_NUM_THREADS, omp_set_num_threads).
    /// Errors: a negative number.
    explicit openmp_executor(int threads = 0) : threads_(threads) {
        if (threads < 0)
            detail::fail(detail::message("lowbit::openmp_executor: threads ", threads, " are less than 0"));
    }

    /// Threads that a loop started here and now would use; 1 inside a parallel region.
    [[nodiscard]] std::size_t concurrency() const noexcept { return static_cast<std::size_t>(team()); }

    /// Calls body(i) once for each i in [0, count).
    /// Errors: the first exception that a body throws reaches the caller; indices not yet begun are then skipped.
    void for_each(std::size_t count, function_ref<void(std::size_t)> body) const {
        const int threads = team();
        if (count <= 1 || threads <= 1) {
            for (std::size_t i = 0; i < count; ++i) body(i);
            return;
        }
        std::exception_ptr failure;
        std::atomic<bool> failed{false};
#pragma omp parallel for schedule(dynamic) num_threads(threads) default(none) shared(count, body, failure, failed)
        for (std::size_t i = 0; i < count; ++i) {
#if LOWBIT_EXCEPTIONS
            if (failed.load(std::memory_order_relaxed)) continue;
            try {
                body(i);
            } catch (...) {
                if (!failed.exchange(true)) failure = std::current_exception();
            }
#else
            body(i);
#endif
        }
#if LOWBIT_EXCEPTIONS
        if (failure != nullptr) std::rethrow_exception(failure);
#endif
    }

  private:
    int team() const noexcept {
        if (omp_in_parallel() != 0) return 1;
        const int threads = threads_ > 0 ? threads_ : omp_get_max_threads();
        return threads > 0 ? threads : 1;
    }

    int threads_;
};

}  // namespace lowbit
