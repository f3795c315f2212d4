// SPDX-License-Identifier: Apache-2.0
// The handle by which every whole-matrix function runs its loops: serial by default, or on a pool that the caller owns.
//
// The library starts no threads and keeps none. A caller who wants several hands over something that can run a loop:
//
//     lowbit::thread_pool pool(8);                          // core/thread_pool.hpp; or openmp_executor, tbb_executor
//     quantize<hif4>(weights, {.executor = pool});          // or any class of your own with the two members below
//
// What a pool must promise: for_each(count, body) calls body(i) once for every i in [0, count), on any threads and in
// any order, returns when all calls have returned, and lets an exception of a body reach the caller (the first one;
// the remaining indices may then be skipped). What the library promises in return: bodies of one loop never wait for
// each other, and results do not depend on the number of threads, bit for bit.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <lowbit/core/function_ref.hpp>

namespace lowbit {

/// What an executor can refer to: a parallel-for and the number of threads that it may use at once.
template <class Pool>
concept parallel_pool = requires(Pool& pool, const Pool& view, std::size_t count,
                                 function_ref<void(std::size_t)> body) {
    pool.for_each(count, body);
    { view.concurrency() } -> std::convertible_to<std::size_t>;
};

namespace detail {

/// True on a thread that is inside the body of an executor loop: loops started there run serially, whatever pool
/// they name, so that nesting never asks for more threads than the outermost loop has.
inline bool& inside_parallel_loop() noexcept {
    thread_local bool inside = false;
    return inside;
}

class parallel_loop_mark {
  public:
    parallel_loop_mark() noexcept : previous_(inside_parallel_loop()) { inside_parallel_loop() = true; }
    ~parallel_loop_mark() { inside_parallel_loop() = previous_; }
    parallel_loop_mark(const parallel_loop_mark&) = delete;
    parallel_loop_mark& operator=(const parallel_loop_mark&) = delete;

  private:
    bool previous_;
};

}  // namespace detail

/// A copyable, non-owning reference to a parallel-for; default-made it runs loops on the calling thread.
/// The pool must outlive every executor that refers to it.
class executor {
  public:
    /// Serial.
    constexpr executor() noexcept = default;

    /// Refers to `pool`. Implicit, so that `{.executor = pool}` reads as it should.
    template <class Pool>
    requires(!std::same_as<std::remove_const_t<Pool>, executor> && parallel_pool<Pool>) executor(Pool& pool)
    noexcept  // NOLINT(google-explicit-constructor)
        : pool_(const_cast<void*>(static_cast<const void*>(__builtin_addressof(pool)))),
          for_each_([](void* object, std::size_t count, function_ref<void(std::size_t)> body) {
              static_cast<Pool*>(object)->for_each(count, body);
          }),
          concurrency_([](const void* object) -> std::size_t {
              return static_cast<std::size_t>(static_cast<const Pool*>(object)->concurrency());
          }) {}

    /// Calls `body(i)` once for each i in [0, count) and returns when all calls have returned.
    /// Runs serially, in ascending order, where it is the default executor, where the pool has one thread, and
    /// inside the body of another executor loop (no nested oversubscription).
    /// Errors: an exception of a body reaches the caller, the first one where several are thrown.
    void for_each(std::size_t count, function_ref<void(std::size_t)> body) const {
        if (count <= 1 || concurrency() <= 1) {
            for (std::size_t i = 0; i < count; ++i) body(i);
            return;
        }
        auto marked = [&body](std::size_t i) {
            const detail::parallel_loop_mark mark;
            body(i);
        };
        for_each_(pool_, count, marked);
    }

    /// How many bodies a loop started here and now may run at once: 1 for the default executor and inside a body.
    std::size_t concurrency() const {
        if (pool_ == nullptr || detail::inside_parallel_loop()) return 1;
        const std::size_t threads = concurrency_(pool_);
        return threads == 0 ? 1 : threads;
    }

  private:
    void* pool_ = nullptr;
    void (*for_each_)(void*, std::size_t, function_ref<void(std::size_t)>) = nullptr;
    std::size_t (*concurrency_)(const void*) = nullptr;
};

}  // namespace lowbit
