// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the type of memory at an address, for the operands of nodes. The driver reports it, except for ranges that
// alloc nodes reserved and no launch has mapped yet: those are recorded here. An address that is in neither is pageable
// host memory. It must be refused, since a memcpy node would take it for device memory.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_GRAPH_MEMORY_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_GRAPH_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "core/handles/box.hpp"

namespace cg {

// Not a CUmemorytype: neither the driver nor a recorded range contains the address.
constexpr int kUnknownMemory = 0;

// The range that an alloc node reserved, recorded while this object lives. The node owns it (user_object.hpp), so it
// lives as long as any clone or executable that may still map the range. It is created before the node, which supplies
// the address.
class GraphMemory {
  public:
    GraphMemory() = default;
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    void record(CUdeviceptr start, std::size_t size, CUmemorytype type);

  private:
    CUdeviceptr start_ = 0;
    Counted<Kind::kGraphMemory> counted_;
};

inline std::shared_ptr<GraphMemory> create_graph_memory() {
    return std::make_shared<GraphMemory>();
}

// Sets `type` to a CUmemorytype (host, device or unified), or to kUnknownMemory. Called without the GIL.
CUresult find_memory_type(CUdeviceptr address, int* type);

// Sets `start` and `end` to those of the allocation that contains the address, or to 0 when it is unknown. Called
// without the GIL.
CUresult find_memory_range(CUdeviceptr address, CUdeviceptr* start, CUdeviceptr* end);

}  // namespace cg

#endif
