// SPDX-License-Identifier: Apache-2.0
// A small pool of std::threads for executor: a fixed number of threads, no globals, no queue.
//
// One loop runs at a time. for_each publishes it, wakes the workers and works along; indices are handed out in chunks
// from an atomic counter, so that a slow thread delays nobody. The caller closes the loop when no index is left and
// waits for those workers only that joined: one that wakes up late finds the loop closed and goes back to sleep, so a
// short loop costs no wake-up time. Between loops workers watch for the next one for some 50 microseconds, then sleep.
//
//     caller                                    worker
//     body_, count_, next_ = 0                  wait until generation_ changes
//     gate_ = open; ++generation_, wake all     enter: gate_ + 1, only while open
//     take chunks until none is left            take chunks until none is left
//     gate_ = closed; wait until gate_ is 0     leave: gate_ - 1
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include <lowbit/core/config.hpp>
#include <lowbit/core/error.hpp>
#include <lowbit/core/function_ref.hpp>

namespace lowbit {

/// Runs loops on a fixed number of threads, the calling one included. Hand it to options: `{.executor = pool}`.
/// A loop that is started while another one runs (from another thread, or from a body) runs serially on its caller.
/// Not copyable, not movable; the destructor joins the threads. No loop may be running then.
class thread_pool {
  public:
    /// `threads` in all, so threads - 1 are started; 0 asks for std::thread::hardware_concurrency().
    /// Errors: more than 65536 threads; std::system_error if a thread cannot be started (those started before are
    /// joined).
    explicit thread_pool(std::size_t threads = 0) {
        if (threads == 0) threads = std::thread::hardware_concurrency();
        if (threads <= 1) return;
        if (threads > most_threads) {
            detail::fail(
                detail::message("lowbit::thread_pool: threads ", threads, " exceed the limit of ", most_threads));
        }
        join_on_failure guard{this};
        workers_.reserve(threads - 1);
        for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
        guard.pool = nullptr;
    }
    ~thread_pool() { stop(); }
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;

    /// Threads that a loop can use, the caller's included; at least 1.
    [[nodiscard]] std::size_t concurrency() const noexcept { return workers_.size() + 1; }

    /// Calls body(i) once for each i in [0, count), on any of the threads, and returns when all calls have returned.
    /// Errors: the first exception that a body throws reaches the caller; indices not yet begun are then skipped.
    void for_each(std::size_t count, function_ref<void(std::size_t)> body) {
        if (count == 0) return;
        if (count == 1 || workers_.empty() || busy_.exchange(true, std::memory_order_acquire)) {
            for (std::size_t i = 0; i < count; ++i) body(i);
            return;
        }
        body_ = &body;
        count_ = count;
        chunk_ = count / (32 * concurrency()) + 1;
        next_.store(0, std::memory_order_relaxed);
        gate_.store(open, std::memory_order_release);
        generation_.fetch_add(1, std::memory_order_release);
        generation_.notify_all();

        take_chunks();

        std::uint32_t inside = gate_.fetch_and(~open, std::memory_order_acq_rel) & ~open;
        for (int spin = 0; inside != 0; ++spin) {
            if (spin < spins) {
                pause();
            } else {
                gate_.wait(inside, std::memory_order_acquire);
            }
            inside = gate_.load(std::memory_order_acquire);
        }
        finish();
    }

  private:
    static constexpr std::uint32_t open = std::uint32_t{1} << 31;
    static constexpr std::size_t most_threads = 65536;
    static constexpr int spins = 1000;  // of about 50 to 150 cycles each

    struct join_on_failure {
        thread_pool* pool;
        ~join_on_failure() {
            if (pool != nullptr) pool->stop();
        }
    };

    static void pause() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb" ::: "memory");
#else
        std::this_thread::yield();
#endif
    }

    void stop() noexcept {
        stop_.store(true, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
        generation_.notify_all();
        for (std::thread& worker : workers_) worker.join();
        workers_.clear();
    }

    void work() {
        std::uint32_t seen = 0;
        while (true) {
            std::uint32_t generation = generation_.load(std::memory_order_acquire);
            for (int spin = 0; generation == seen; ++spin) {
                if (spin < spins) {
                    pause();
                } else {
                    generation_.wait(seen, std::memory_order_acquire);
                }
                generation = generation_.load(std::memory_order_acquire);
            }
            seen = generation;
            if (stop_.load(std::memory_order_relaxed)) return;
            if (!enter()) continue;
            take_chunks();
            if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.notify_one();
        }
    }

    bool enter() noexcept {
        std::uint32_t gate = gate_.load(std::memory_order_acquire);
        while ((gate & open) != 0) {
            if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
                return true;
            }
        }
        return false;
    }

    void take_chunks() noexcept {
        const function_ref<void(std::size_t)> body = *body_;
        const std::size_t count = count_;
        const std::size_t chunk = chunk_;
#if LOWBIT_EXCEPTIONS
        try {
#endif
            while (true) {
                // A relaxed look first: the counter then stays below count + threads * chunk and cannot wrap.
                if (next_.load(std::memory_order_relaxed) >= count) return;
                const std::size_t first = next_.fetch_add(chunk, std::memory_order_relaxed);
                if (first >= count) return;
                const std::size_t last = count - first < chunk ? count : first + chunk;
                for (std::size_t i = first; i < last; ++i) body(i);
            }
#if LOWBIT_EXCEPTIONS
        } catch (...) {
            next_.store(count, std::memory_order_relaxed);
            if (!failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
        }
#endif
    }

    // All workers have left: what they wrote is visible, the loop's state belongs to the caller again.
    void finish() {
        const std::exception_ptr failure = failure_;
        failure_ = nullptr;
        failed_.store(false, std::memory_order_relaxed);
        body_ = nullptr;
        busy_.store(false, std::memory_order_release);
#if LOWBIT_EXCEPTIONS
        if (failure != nullptr) std::rethrow_exception(failure);
#endif
    }

    std::vector<std::thread> workers_;
    std::atomic<bool> busy_{false};
    std::atomic<bool> stop_{false};
    std::atomic<std::uint32_t> generation_{0};
    std::atomic<std::uint32_t> gate_{0};  // workers inside, and the open bit
    std::atomic<std::size_t> next_{0};
    std::size_t count_ = 0;
    std::size_t chunk_ = 1;
    const function_ref<void(std::size_t)>* body_ = nullptr;
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
};

}  // namespace lowbit
