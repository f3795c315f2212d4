// SPDX-License-Identifier: Apache-2.0
// Scratch for the bodies of a parallel loop, allocated before the loop begins.
//
// A body that allocates for itself may fail when others have already written their part of the output. Here as many
// pieces as bodies run at once are made beforehand: once the first body runs, nothing is left that could fail.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace lowbit::detail {

/// Lends pieces of scratch, each made by make(). A body that ends gives its piece back, and takes the same one again
/// where all threads are busy: it is still in that thread's cache.
template <class Make>
class scratch_pool {
  public:
    using piece = std::invoke_result_t<const Make&>;

    /// Errors: those of make().
    scratch_pool(std::size_t count, Make make) : make_(std::move(make)), taken_(count) {
        pieces_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) pieces_.push_back(make_());
    }

    /// Calls body(piece) with a piece that nobody else has until it returns. Where an executor runs more bodies at
    /// once than it promised, those in excess get pieces of their own, made now.
    template <class Body>
    void use(const Body& body) {
        for (std::size_t i = 0; i < taken_.size(); ++i) {
            if (taken_[i].load(std::memory_order_relaxed) || taken_[i].exchange(true, std::memory_order_acquire)) {
                continue;
            }
            const lease held{taken_[i]};
            body(pieces_[i]);
            return;
        }
        piece own = make_();
        body(own);
    }

  private:
    struct lease {
        std::atomic<bool>& taken;
        ~lease() { taken.store(false, std::memory_order_release); }
    };

    Make make_;
    std::vector<std::atomic<bool>> taken_;
    std::vector<piece> pieces_;
};

}  // namespace lowbit::detail
