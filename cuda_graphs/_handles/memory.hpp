// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and allocations. An allocation's box knows how to give it back: to its pool in the order of a stream,
// to the driver at once, to the Python resource that made it, or not at all.
#ifndef CUDA_GRAPHS_HANDLES_MEMORY_HPP
#define CUDA_GRAPHS_HANDLES_MEMORY_HPP

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

// A pool of our own. Keeps at most `release_threshold` bytes over synchronisations; `max_size` 0 is no limit.
PoolHandle create_device_pool(CUdevice device, std::size_t max_size, cuuint64_t release_threshold);

// The pool that the device allocates from now. Borrowed. A release threshold of 0 (the driver's default, which gives
// memory back at every synchronisation) is raised to "keep everything".
PoolHandle current_device_pool(CUdevice device);

enum class Free {
    kNever,
    kAsync,
    kDevice,
    kHost,
    kCallback,
    kGraph,  // what an alloc node of a captured graph allocates: freed as kAsync, but it may go with its graph before
};

// Gives memory back to a Python resource: `owner` of the box, the address, the size, the stream or an empty handle.
// Must not raise; takes the GIL itself.
using FreeCallback = void (*)(void* resource, CUdeviceptr address, std::size_t size, const StreamHandle& stream);

struct PointerBox {
    CUdeviceptr raw = 0;
    std::size_t size = 0;
    Free how = Free::kNever;
    cuuint64_t capture = 0;  // that memory of a graph was allocated in
    StreamHandle stream;     // in whose order it is freed; changed only by the Buffer that owns the box
    ContextHandle context;   // entered to free it: the default streams mean the current one
    Opaque owner;            // pool, Python resource, or whatever else must outlive the memory
    void* resource = nullptr;
    FreeCallback callback = nullptr;
    Counted<Kind::kPointer> counted;
    bool finish() noexcept;
};

using PointerHandle = HandleTo<PointerBox>;

PointerHandle allocate_from_pool(const PoolHandle& pool, std::size_t size, const StreamHandle& stream);
// On a stream that is capturing: becomes an alloc node, whose memory there is while the graph runs.
CUresult allocate_in_graph(std::size_t size, const StreamHandle& stream, PointerHandle* memory);
PointerHandle allocate_device(const ContextHandle& context, std::size_t size);
PointerHandle allocate_pinned(const ContextHandle& context, std::size_t size);
PointerHandle allocate_managed(const ContextHandle& context, std::size_t size);

// Memory of others; `owner` (may be empty) lives as long as the handle.
PointerHandle create_pointer_ref(CUdeviceptr raw, std::size_t size, Opaque owner);

// Memory that a Python resource allocated and takes back. `resource` is kept alive by `owner`.
PointerHandle create_pointer_with_resource(CUdeviceptr raw, std::size_t size, Opaque owner, void* resource,
                                           FreeCallback callback);

}  // namespace cg

#endif
