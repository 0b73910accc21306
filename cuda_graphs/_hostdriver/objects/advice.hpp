// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What programs said about pages of managed memory: cuMemAdvise, and where they were prefetched to. There is one memory
// here, so that nothing moves; what was said is kept, page by page, for those who ask.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ADVICE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ADVICE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "memory.hpp"

namespace cgh {

struct Advice {
    bool read_mostly = false;
    CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, 0};
    CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, 0};
    std::set<CUdevice> accessed_by;  // CU_DEVICE_CPU is the host
};

class AdviceMap {
  public:
    static AdviceMap& get();
    // Changes what is known of the pages that the range touches.
    void change(const Allocation& allocation, CUdeviceptr start, std::size_t bytes,
                const std::function<void(Advice&)>& change);
    // What is known of them, a piece of the range after the other.
    std::vector<Advice> of(const Allocation& allocation, CUdeviceptr start, std::size_t bytes) const;
    void forget(const Allocation& allocation);

  private:
    using Pieces = std::map<CUdeviceptr, Advice>;  // each up to the next, the last up to the end of the allocation

    mutable std::mutex mutex_;               // guards the one below
    std::map<std::uint64_t, Pieces> known_;  // by the allocation's id
};

}  // namespace cgh

#endif
