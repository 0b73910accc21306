// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The lock of what threads share. In a child that fork() made, a lock that another thread held is never given back, and
// what it guards may be half changed. So a Lock is false there, and whoever made it does without what it guards.
#ifndef CUDA_GRAPHS_HANDLES_LOCK_HPP
#define CUDA_GRAPHS_HANDLES_LOCK_HPP

#include <mutex>

#include "_driver/table.hpp"

namespace cg {

class [[nodiscard]] Lock {
  public:
    explicit Lock(std::mutex& mutex) {
        if (!driver_is_lost()) lock_ = std::unique_lock(mutex);
    }
    explicit operator bool() const noexcept { return lock_.owns_lock(); }

  private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace cg

#endif
