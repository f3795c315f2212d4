// SPDX-License-Identifier: Apache-2.0
// Runs the library's loops in the caller's oneTBB arena. Opt-in: include it where oneTBB is at hand, and link it.
#pragma once

#include <cstddef>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <lowbit/core/function_ref.hpp>

namespace lowbit {

/// A parallel-for on oneTBB: `tbb_executor threads; quantize<hif4>(x, {.executor = threads});`
/// Loops run in the arena of the calling thread, or in a given one, and share its workers with whatever runs there: a
/// loop inside a TBB task adds no threads. While it waits, the calling thread takes up no unrelated work.
class tbb_executor {
  public:
    /// The arena of whoever calls.
    tbb_executor() noexcept = default;
    /// `arena` must outlive the executor.
    explicit tbb_executor(tbb::task_arena& arena) noexcept : arena_(&arena) {}

    /// Threads that the arena has.
    [[nodiscard]] std::size_t concurrency() const {
        const int threads = arena_ != nullptr ? arena_->max_concurrency() : tbb::this_task_arena::max_concurrency();
        return threads > 0 ? static_cast<std::size_t>(threads) : 1;
    }

    /// Calls body(i) once for each i in [0, count).
    /// Errors: an exception that a body throws reaches the caller; indices not yet begun are then skipped.
    void for_each(std::size_t count, function_ref<void(std::size_t)> body) const {
        if (arena_ != nullptr) {
            arena_->execute([&] { loop(count, body); });
        } else {
            loop(count, body);
        }
    }

  private:
    static void loop(std::size_t count, function_ref<void(std::size_t)> body) {
        tbb::this_task_arena::isolate(
            [&] { tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { body(i); }); });
    }

    tbb::task_arena* arena_ = nullptr;
};

}  // namespace lowbit
