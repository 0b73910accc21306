// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock of state that threads share. In a child of fork() a mutex that another thread held is never released, and the
// state that it guards may be half changed. There a Lock is false, and its user does without the guarded state.
#ifndef CUDA_GRAPHS_CORE_HANDLES_LOCK_HPP
#define CUDA_GRAPHS_CORE_HANDLES_LOCK_HPP

#include <mutex>

#include "core/driver/table.hpp"

namespace cg {

class [[nodiscard]] Lock {
  public:
    explicit Lock(std::mutex& mutex) {
        if (!is_forked_child()) lock_ = std::unique_lock(mutex);
    }
    explicit operator bool() const noexcept { return lock_.owns_lock(); }

  private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace cg

#endif
