// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The limit of a wait that must end in time (hostdriver/limited_waits.h). The waiting thread itself runs only brief
// operations, so that no operation holds it. Workers run all other operations.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_WAIT_LIMIT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_WAIT_LIMIT_HPP

#include <cstddef>
#include <cstdint>

#include "clock.hpp"

namespace cgh {

constexpr double kBrief = 1000;                   // microseconds that a brief operation takes at most
constexpr std::size_t kBriefBytes = 16ull << 20;  // bytes that a brief copy or fill moves at most

class WaitLimit {
  public:
    explicit WaitLimit(std::uint64_t nanoseconds) : nanoseconds_(nanoseconds) {}

    // Returns true once the time is over. The time begins with the first call, so that a wait for little work reads no
    // clock.
    bool has_passed() {
        const auto now = static_cast<std::uint64_t>(steady_nanoseconds());
        if (begin_ == 0) begin_ = now;
        return now - begin_ >= nanoseconds_;
    }
    // Returns true for a limit of 0: the caller runs nothing that a worker can run.
    bool is_query() const { return nanoseconds_ == 0; }
    // Called before each operation that the waiting thread runs. Returns false when the time is over.
    bool count_operation() { return ++operations_ % kOperationsBetweenLooks != 0 || !has_passed(); }

  private:
    static constexpr std::uint32_t kOperationsBetweenLooks = 16;
    const std::uint64_t nanoseconds_;
    std::uint64_t begin_ = 0;
    std::uint32_t operations_ = 0;
};

}  // namespace cgh

#endif
