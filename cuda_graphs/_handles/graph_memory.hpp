// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Which memory an address is in, for the operands of nodes. The driver tells, except for what alloc nodes reserved
// and no launch has mapped yet: those ranges are on record here. What neither knows is pageable host memory, which a
// memcpy node would take for device memory, so it has to be refused.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_MEMORY_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "box.hpp"

namespace cg {

// Not a CUmemorytype: neither the driver nor a graph knows the address.
constexpr int kUnknownMemory = 0;

// The range that an alloc node reserved, on record while this lives. The node owns it (user_object.hpp), so it is there
// as long as any clone or executable that may still map the range. Made before the node is, whose address it gets.
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

// `type` becomes a CUmemorytype (host, device or unified), or kUnknownMemory. Without the GIL.
CUresult find_memory_type(CUdeviceptr address, int* type);

// `end` becomes where the memory ends that the address is in, 0 where neither knows. Without the GIL.
CUresult find_memory_end(CUdeviceptr address, CUdeviceptr* end);

}  // namespace cg

#endif
