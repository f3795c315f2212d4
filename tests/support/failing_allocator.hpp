// SPDX-License-Identifier: Apache-2.0
// Replaces the global operator new by one that counts what is alive and fails where a test says. Include it in one unit
// of a program only: replacement functions cannot be inline.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "support/scratch_folder.hpp"

namespace lowbit::test {

/// Which allocations fail: the n-th from now on, or that and all behind it.
enum class failing { one, all_from_there };

class allocator {
  public:
    static void fail_at(long n, failing kind) noexcept {
        failed_ = 0;
        kind_ = kind;
        until_failure_ = n;
    }
    /// Everything succeeds again. Returns how many allocations failed.
    static long stop() noexcept {
        until_failure_ = 0;
        return failed_;
    }
    static long alive() noexcept { return alive_; }
    /// Bytes of the largest allocation that was asked for since forget_largest().
    static std::size_t largest() noexcept { return largest_; }
    static void forget_largest() noexcept { largest_ = 0; }

    static void* take(std::size_t bytes, std::size_t alignment) {
        if (bytes > largest_) largest_ = bytes;
        if (until_failure_ > 0 && fails()) {
            ++failed_;
            throw std::bad_alloc();
        }
        void* const memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
        if (memory == nullptr) throw std::bad_alloc();
        ++alive_;
        return memory;
    }
    static void give_back(void* memory) noexcept {
        if (memory == nullptr) return;
        --alive_;
        std::free(memory);
    }

  private:
    static bool fails() noexcept {
        const long before = until_failure_.fetch_sub(1);
        if (before == 1 && kind_ == failing::all_from_there) until_failure_ = 1;
        return before == 1;
    }

    static inline std::atomic<long> alive_{0};
    static inline std::atomic<std::size_t> largest_{0};
    static inline std::atomic<long> until_failure_{0};
    static inline std::atomic<long> failed_{0};
    static inline std::atomic<failing> kind_{failing::one};
};

/// Runs prepare() and call(), with call's first allocation failing, then its second, and so on until none fails. After
/// each failure an exception must have come out and nothing may be left over; check() says whether all is as prepared.
template <class Prepare, class Call, class Check>
void fails_cleanly(const std::string& what, const Prepare& prepare, const Call& call, const Check& check) {
    prepare();
    call();  // what is made once for the whole process is made now
    for (const failing kind : {failing::one, failing::all_from_there}) {
        long n = 1;
        for (;; ++n) {
            const std::string place =
                what + ", allocation " + std::to_string(n) + (kind == failing::one ? "" : " and all behind it");
            ASSERT_LT(n, 5000) << place;
            prepare();
            const long before = allocator::alive();
            bool thrown = false;
            allocator::fail_at(n, kind);
            try {
                call();
            } catch (const std::bad_alloc&) {
                thrown = true;
            } catch (const std::exception& other) {
                allocator::stop();
                FAIL() << place << ": " << other.what();
            }
            const long failed = allocator::stop();
            ASSERT_EQ(allocator::alive(), before) << place;
            ASSERT_EQ(thrown, failed != 0) << place;
            if (failed == 0) break;
            check(place);
            if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) return;
        }
        EXPECT_GT(n, 1) << what << ": allocates nothing";
    }
}
template <class Call, class Check>
void fails_cleanly(const std::string& what, const Call& call, const Check& check) {
    fails_cleanly(
        what, [] {}, call, check);
}
template <class Call>
void fails_cleanly(const std::string& what, const Call& call) {
    fails_cleanly(what, call, [](const std::string&) {});
}

/// write(path) over an old file: where it fails, that file is what it was, and no other lies beside it.
template <class Write>
void write_fails_cleanly(const scratch_folder& folder, const std::string& name, const Write& write) {
    const std::string path = folder.path(name), old = "what was there before";
    fails_cleanly(
        "writing " + name, [&] { write_text(path, old); }, [&] { write(path); },
        [&](const std::string& place) {
            ASSERT_EQ(content_of(path), old) << place;
            ASSERT_EQ(folder.files(), std::vector<std::string>{name}) << place;
        });
    ASSERT_NE(content_of(path), old);
    ASSERT_EQ(folder.files(), std::vector<std::string>{name});
}

}  // namespace lowbit::test

void* operator new(std::size_t bytes) { return lowbit::test::allocator::take(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return lowbit::test::allocator::take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { lowbit::test::allocator::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { lowbit::test::allocator::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { lowbit::test::allocator::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    lowbit::test::allocator::give_back(memory);
}
