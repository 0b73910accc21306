// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The address map, which finds the allocation that holds an address. Device memory is process memory. Only the map
// knows the CUDA memory type, device, context and extent of a pointer.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_MEMORY_HPP

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

// The location of a pool's memory.
enum class Residence : std::uint8_t { kDevice, kHost, kManaged };

// The direction in which memory is shared with other processes.
enum class Sharing : std::uint8_t { kNone, kExported, kImported };

struct Allocation {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    MemoryKind kind = MemoryKind::kDevice;
    Context* context = nullptr;
    MemoryPool* pool = nullptr;                // for kPool, and for kGraph with a pool
    Residence residence = Residence::kDevice;  // for kPool and kMapped
    Sharing sharing = Sharing::kNone;          // for kPool and kOpened
    unsigned flags = 0;                        // for kPinned, kRegistered and kManaged
    std::uint64_t id = 0;                      // CU_POINTER_ATTRIBUTE_BUFFER_ID; set by the map
    bool is_synchronous = false;               // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    bool is_read_only = false;                 // for kMapped
    // The owner of kGraph memory. cuMemFree and cuMemFreeAsync call check_free(), which may return an error, and then
    // free() when the free takes effect in stream order. No lock is held during free().
    struct Owner {
        virtual ~Owner() = default;
        virtual CUresult check_free(CUdeviceptr address) = 0;
        // Returns whether the address has memory now. If not, only graph nodes may use the address.
        virtual bool is_allocated() const = 0;
        // Returns whether the graph that allocates the memory also has a free node for it.
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

// The treatment of reserved addresses in a search. An address is reserved if it belongs to an allocation node and no
// launch has allocated the memory, or it was freed. On an H200 only graph nodes accept such an address. kUnfreed
// excludes memory for which the allocating graph has a free node.
enum class Reserved : std::uint8_t { kNot, kToo, kUnfreed };

class AddressMap {
  public:
    static AddressMap& get();
    void add(Allocation allocation);
    // Adds an allocation that overlaps no other one. Returns false if it does overlap.
    bool add_disjoint(Allocation allocation);
    // Removes and returns the allocation that begins at `base`. The result is empty if no allocation begins there.
    std::optional<Allocation> remove(CUdeviceptr base);
    // Removes the allocations that begin in a range.
    void remove_range(CUdeviceptr start, std::size_t size);
    // Frees the memory of a destroyed context, except memory of pools and graphs, which belongs to the device.
    void release_all_of(const Context& context);
    std::optional<Allocation> find(CUdeviceptr address, Reserved reserved = Reserved::kNot) const;
    // Returns whether the address is in memory that one graph both allocates and frees.
    bool is_freed_inside(CUdeviceptr address) const {
        return !find(address, Reserved::kUnfreed) && find(address, Reserved::kToo);
    }
    std::optional<Allocation> find(const void* address) const { return find(reinterpret_cast<CUdeviceptr>(address)); }
    // Sets whether copies of the allocation without a stream always wait for completion. Returns false if the
    // allocation was freed.
    bool set_synchronous(CUdeviceptr base, bool is_synchronous);
    bool has_memory_of(const MemoryPool& pool) const;
    std::size_t size() const;

  private:
    mutable std::shared_mutex mutex_;  // guards the fields below
    std::map<CUdeviceptr, Allocation> by_base_;
    std::uint64_t last_id_ = 0;
};

constexpr std::size_t kMemoryAlignment = 512;            // alignment of cuMemAlloc on a GPU
constexpr std::size_t kOwnPages = std::size_t{1} << 20;  // smallest block with its own pages, in bytes
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Returns host or managed memory, 512-byte aligned; large blocks are not touched. Returns nullptr if `bytes` (not 0)
// exceeds the machine's memory. return_memory() needs the same `bytes`.
void* reserve_memory(std::size_t bytes);
// Returns memory in the address range of a device, with the same rules.
void* reserve_memory_of(CUdevice device, std::size_t bytes);
// Returns the size to reserve for `bytes`. With checks enabled it includes a gap, so adjacent bytes belong to no other
// block.
std::size_t with_gap(std::size_t bytes);
// Frees host or device memory. With checks enabled the memory stays out of use for a while.
void return_memory(void* address, std::size_t bytes);
void return_memory_at_once(void* address, std::size_t bytes);

// Returns the machine's memory in bytes, which each device reports as its own.
std::size_t machine_memory();

}  // namespace cgh

#endif
