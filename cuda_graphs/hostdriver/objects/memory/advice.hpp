// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Advice about pages of managed memory (cuMemAdvise) and their last prefetch location. The host driver has one memory,
// so pages never move. The map records the advice page by page and answers queries.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_ADVICE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_ADVICE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "hostdriver/objects/memory/memory.hpp"

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
    // Applies `change` to the advice for each page that the range overlaps.
    void change(const Allocation& allocation, CUdeviceptr start, std::size_t bytes,
                const std::function<void(Advice&)>& change);
    // Returns the advice for the range, piece by piece in address order.
    std::vector<Advice> of(const Allocation& allocation, CUdeviceptr start, std::size_t bytes) const;
    void forget(const Allocation& allocation);

  private:
    // Advice by start address. A piece extends to the next one, the last piece to the end of the allocation.
    using Pieces = std::map<CUdeviceptr, Advice>;

    mutable std::mutex mutex_;               // guards known_
    std::map<std::uint64_t, Pieces> known_;  // pieces by the allocation's id
};

}  // namespace cgh

#endif
