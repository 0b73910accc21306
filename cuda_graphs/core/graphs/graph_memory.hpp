// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the type of memory at an address, for the operands of nodes. The driver reports it, except for ranges that
// alloc nodes reserved and no launch has mapped yet: those are recorded here. An address that is in neither is pageable
// host memory. It must be refused, since a memcpy node would take it for device memory.
//
// A *place* is the memory of an alloc node that has no address yet. It has a stand-in: a range of addresses that no
// machine has. Nodes are read, compared and checked with the stand-in. It is replaced where a node gets its parameters
// for the driver (place_uses.hpp). A place gets memory of its own, and an address, when somebody reads the address. The
// driver's nodes for its alloc and free nodes are empty nodes: they only order others.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_GRAPH_MEMORY_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_GRAPH_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/handles/box.hpp"

namespace cg {

// Not a CUmemorytype: neither the driver nor a recorded range contains the address.
constexpr int kUnknownMemory = 0;

// The range that an alloc node reserved, recorded while this object lives. The node owns it (user_object.hpp), so it
// lives as long as any clone or executable that may still map the range. It is created before the node, which supplies
// the address.
class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
  public:
    GraphMemory() = default;
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    void record(CUdeviceptr start, std::size_t size, CUmemorytype type);

    // Makes this the place of an array of `size` bytes on a device. Its range is that of the stand-in.
    void become_place(std::size_t size, int device);
    bool is_place() const noexcept { return start_ >= kFirstStandIn; }
    // The handle of the alloc node, which the place does not keep.
    void set_node(const std::shared_ptr<const CUgraphNode>& node) noexcept { node_ = node; }
    std::shared_ptr<const CUgraphNode> node() const noexcept { return node_.lock(); }
    // Gives a place memory of its own. All that keeps the place keeps the owner of the memory.
    void settle(CUdeviceptr address, Opaque owner);
    bool is_settled() const noexcept { return settled_ != 0; }

    CUdeviceptr start() const noexcept { return start_; }
    std::size_t size() const noexcept { return size_; }
    CUdeviceptr settled() const noexcept { return settled_; }
    int device() const noexcept { return device_; }

    // No machine has addresses with bit 63 alone in the upper bits (bits 47 to 63 are equal, or 56 to 63).
    static constexpr CUdeviceptr kFirstStandIn = CUdeviceptr{1} << 63;

  private:
    void erase_range(CUdeviceptr start);

    CUdeviceptr start_ = 0;
    std::size_t size_ = 0;
    CUmemorytype type_{};
    int device_ = -1;
    std::weak_ptr<const CUgraphNode> node_;
    CUdeviceptr settled_ = 0;
    Opaque owner_;
    Counted<Kind::kGraphMemory> counted_;
};

using GraphMemoryRef = std::shared_ptr<GraphMemory>;

// Returns the place whose stand-in, or whose own memory, contains the address; null if there is none.
GraphMemoryRef find_place(CUdeviceptr address);

// Returns the address in the stand-in for an address in a place's own memory, and any other address itself.
CUdeviceptr stand_in_of(CUdeviceptr address);

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
