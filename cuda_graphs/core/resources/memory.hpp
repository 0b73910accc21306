// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and allocations. The box of an allocation records how to free it: to its pool in stream order, to the
// driver at once, to the Python resource that allocated it, or not at all.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_MEMORY_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_MEMORY_HPP

#include <cstddef>

#include "context.hpp"
#include "stream.hpp"

namespace cg {

struct PoolBox {
    CUmemoryPool raw = nullptr;
    bool owned = false;
    CUdevice device = -1;
    Counted<Kind::kPool> counted;
    bool finish() noexcept;
};

using PoolHandle = HandleTo<PoolBox>;

// Creates a pool. It keeps at most `release_threshold` bytes at a synchronisation; `max_size` 0 means no limit.
PoolHandle create_device_pool(CUdevice device, std::size_t max_size, cuuint64_t release_threshold);

// Returns the device's current pool, borrowed. A release threshold of 0 (the driver's default, which releases all
// unused memory at every synchronisation) is raised to "keep everything".
PoolHandle current_device_pool(CUdevice device);

enum class Free {
    kNever,
    kAsync,
    kDevice,
    kHost,
    kOpened,  // memory of another process: unmapped
    kCallback,
    kGraph,  // memory of an alloc node of a captured graph: freed as kAsync, but may be freed earlier with its graph
};

// Gives memory back to a Python resource. The arguments are the box's `resource`, the address, the size and the stream,
// which may be empty. Must not raise; takes the GIL itself.
using FreeCallback = void (*)(void* resource, CUdeviceptr address, std::size_t size, const StreamHandle& stream);

struct PointerBox {
    CUdeviceptr raw = 0;
    std::size_t size = 0;
    Free how = Free::kNever;
    cuuint64_t capture = 0;  // capture in which memory of a graph was allocated
    StreamHandle stream;     // stream in whose order it is freed; changed only by the Buffer that owns the box
    ContextHandle context;   // context of the default streams, made current to free the memory
    Opaque owner;            // pool, Python resource, or another owner that must outlive the memory
    void* resource = nullptr;
    FreeCallback callback = nullptr;
    Counted<Kind::kPointer> counted;
    bool finish() noexcept;
};

using PointerHandle = HandleTo<PointerBox>;

PointerHandle allocate_from_pool(const PoolHandle& pool, std::size_t size, const StreamHandle& stream);
// Captures an alloc node on a stream that is being captured. The memory exists while the graph runs.
CUresult allocate_in_graph(std::size_t size, const StreamHandle& stream, PointerHandle* memory);
// Sets `*runs` to whether the capture of a graph's memory goes on: the end of the memory then becomes a node of it.
CUresult find_running_capture(const PointerHandle& memory, bool* runs) noexcept;
PointerHandle allocate_device(const ContextHandle& context, std::size_t size);
PointerHandle allocate_pinned(const ContextHandle& context, std::size_t size);
PointerHandle allocate_managed(const ContextHandle& context, std::size_t size);

// Writes the handle by which another process of this host opens memory of allocate_device.
CUresult share_device(const PointerHandle& memory, CUipcMemHandle* out);
// Maps memory that another process has shared.
PointerHandle open_shared(const ContextHandle& context, const CUipcMemHandle& shared, std::size_t size);

// Returns a handle of foreign memory; `owner` (may be empty) lives as long as the handle.
PointerHandle create_pointer_ref(CUdeviceptr raw, std::size_t size, Opaque owner);

// Returns a handle of memory that a Python resource allocated and frees. `owner` keeps `resource` alive.
PointerHandle create_pointer_with_resource(CUdeviceptr raw, std::size_t size, Opaque owner, void* resource,
                                           FreeCallback callback);

}  // namespace cg

#endif
