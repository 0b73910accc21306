// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The address map: which allocation holds an address. Device memory is process memory, so the map is what makes a
// pointer a device pointer: its CUDA memory type, device, context and extent.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

namespace cgh {

class Context;
class MemoryPool;

enum class MemoryKind : std::uint8_t {
    kDevice,      // cuMemAlloc
    kPool,        // cuMemAllocAsync
    kGraph,       // an allocation node
    kGlobal,      // a module's variable
    kManaged,     // cuMemAllocManaged
    kPinned,      // cuMemAllocHost, cuMemHostAlloc
    kRegistered,  // cuMemHostRegister
    kMapped,      // cuMemMap
    kOpened,      // cuIpcOpenMemHandle
};

// Where memory of a pool is at home.
enum class Residence : std::uint8_t { kDevice, kHost, kManaged };

// Memory that other processes see as well: they have it from this one, or this one from them.
enum class Sharing : std::uint8_t { kNone, kExported, kImported };

struct Allocation {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    MemoryKind kind = MemoryKind::kDevice;
    Context* context = nullptr;
    MemoryPool* pool = nullptr;                // of kPool, and of kGraph where there is one
    Residence residence = Residence::kDevice;  // of kPool and kMapped
    Sharing sharing = Sharing::kNone;          // of kPool and kOpened
    unsigned flags = 0;                        // of kPinned, kRegistered and kManaged
    std::uint64_t id = 0;                      // CU_POINTER_ATTRIBUTE_BUFFER_ID; given by the map
    bool is_synchronous = false;               // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    bool is_read_only = false;                 // of kMapped
    // kGraph: what cuMemFree and cuMemFreeAsync do instead of giving the memory back themselves. Called when the
    // free takes effect in stream order, with no lock held. `check` is called first, at the time of the call, and
    // may refuse.
    struct Owner {
        virtual ~Owner() = default;
        virtual CUresult check_free(CUdeviceptr address) = 0;
        // Is there memory behind the address just now? If not, only graph nodes may name it.
        virtual bool is_allocated() const = 0;
        // Has the graph that allocates it a free node for it?
        virtual bool is_freed_inside() const = 0;
        virtual void free(CUdeviceptr address) = 0;
    };
    Owner* owner = nullptr;

    bool on_host() const {
        return kind == MemoryKind::kPinned || kind == MemoryKind::kRegistered || residence == Residence::kHost;
    }
    bool is_managed() const { return kind == MemoryKind::kManaged || residence == Residence::kManaged; }
    CUmemorytype type() const { return on_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; }
    bool holds(CUdeviceptr address, std::size_t bytes) const {
        return address - base <= size && bytes <= size - (address - base);
    }
};

// Whether an address may be one that is only reserved: memory of an allocation node that no launch has allocated, or
// that was freed again. On an H200 such an address is unknown to everything but graph nodes. kUnfreed: unless the graph
// that allocates it has a free node for it.
enum class Reserved : std::uint8_t { kNot, kToo, kUnfreed };

class AddressMap {
  public:
    static AddressMap& get();
    void add(Allocation allocation);
    // The same, unless it overlaps one that is there; then false.
    bool add_apart(Allocation allocation);
    // Takes out the allocation that begins at `base`; empty when there is none.
    std::optional<Allocation> remove(CUdeviceptr base);
    // Forgets what begins in a range.
    void remove_range(CUdeviceptr start, std::size_t size);
    // Gives back the memory of a context that is destroyed: all but that of pools and graphs, which belong to a device.
    void release_all_of(const Context& context);
    std::optional<Allocation> find(CUdeviceptr address, Reserved reserved = Reserved::kNot) const;
    // Whether it is of memory that the graph that allocates it frees as well.
    bool is_freed_inside(CUdeviceptr address) const {
        return !find(address, Reserved::kUnfreed) && find(address, Reserved::kToo);
    }
    std::optional<Allocation> find(const void* address) const { return find(reinterpret_cast<CUdeviceptr>(address)); }
    // Whether copies of it without a stream wait for their end in any case; false: it is not there any more.
    bool set_synchronous(CUdeviceptr base, bool is_synchronous);
    bool has_memory_of(const MemoryPool& pool) const;
    std::size_t size() const;

  private:
    mutable std::shared_mutex mutex_;  // guards the two below
    std::map<CUdeviceptr, Allocation> by_base_;
    std::uint64_t last_id_ = 0;
};

constexpr std::size_t kMemoryAlignment = 512;            // of cuMemAlloc on real devices
constexpr std::size_t kOwnPages = std::size_t{1} << 20;  // blocks of so many bytes or more are pages of their own
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Memory of the host, and managed memory: 512-byte aligned, large blocks untouched until they are used. nullptr when
// `bytes` (not 0) is more than the machine has. `bytes` is to be given back as it was asked for.
void* reserve_memory(std::size_t bytes);
// The same of a device, in the range of addresses that is the device's own.
void* reserve_memory_of(CUdevice device, std::size_t bytes);
// Where bugs are looked for, what is behind one memory is no other.
std::size_t with_gap(std::size_t bytes);
// Of either. Where bugs are looked for it is held back for a while.
void return_memory(void* address, std::size_t bytes);
void return_memory_at_once(void* address, std::size_t bytes);

// Bytes of memory of the machine: what a device reports as its own.
std::size_t machine_memory();

}  // namespace cgh

#endif
