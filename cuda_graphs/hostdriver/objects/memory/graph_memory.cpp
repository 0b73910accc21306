// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/graph_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <unordered_set>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/node_params.hpp"
#include "hostdriver/objects/memory/device_range.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {

constexpr std::size_t kPage = 4096;
constexpr CUdevice kMaxDevices = 64;

// Returns the size to reserve, in whole pages. With checks enabled it includes a guard page.
std::size_t whole_pages(std::size_t bytes) {
    return ((bytes + kPage - 1) / kPage + (settings.any() ? 1 : 0)) * kPage;
}

// The bytes of graph memory on a device and their high watermarks.
struct MemoryUsage {
    std::mutex mutex;  // guards the fields below
    uint64_t bytes = 0;
    // Bytes of destroyed graphs. An H200 counts them until a trim and reuses them for new graphs.
    uint64_t kept = 0;
    uint64_t used_high = 0;
    uint64_t reserved_high = 0;

    // An H200 allocates graph memory in units of 32 MiB.
    static constexpr uint64_t kPiece = uint64_t{32} << 20;
    uint64_t reported() const { return (bytes + kept + kPiece - 1) / kPiece * kPiece; }

    void add(uint64_t more) {
        std::lock_guard<std::mutex> lock(mutex);
        kept -= std::min(kept, more);
        bytes += more;
        used_high = std::max(used_high, reported());
        reserved_high = std::max(reserved_high, reported());
    }
    void subtract(uint64_t less) {
        std::lock_guard<std::mutex> lock(mutex);
        bytes -= less;
    }
    void keep(uint64_t gone) {
        std::lock_guard<std::mutex> lock(mutex);
        bytes -= gone;
        kept += gone;
    }
    void drop_kept() {
        std::lock_guard<std::mutex> lock(mutex);
        kept = 0;
    }
};

MemoryUsage& usage_of(CUdevice device) {
    static MemoryUsage usages[kMaxDevices];
    return usages[device];
}

// All allocations, for trim. Never destroyed, because graphs may live until the process ends.
struct Registry {
    std::mutex mutex;
    std::unordered_set<GraphAllocation*> all;  // guarded by mutex
};

Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

}  // namespace

std::shared_ptr<GraphAllocation> GraphAllocation::create(Context& context, std::size_t bytes) {
    const std::size_t size = whole_pages(bytes);
    if (size < bytes) return nullptr;
    // Pages take memory on first access. A trim can free them while the address stays reserved.
    void* const memory = DeviceRange::map(context.device(), size);
    if (memory == nullptr) return nullptr;
    std::shared_ptr<GraphAllocation> allocation(new GraphAllocation(context, memory, bytes));
    Allocation entry;
    entry.base = allocation->address_;
    entry.size = bytes;
    entry.kind = MemoryKind::kGraph;
    entry.context = &context;
    entry.owner = allocation.get();
    AddressMap::get().add(entry);
    std::lock_guard<std::mutex> lock(registry().mutex);
    registry().all.insert(allocation.get());
    return allocation;
}

GraphAllocation::GraphAllocation(Context& context, void* memory, std::size_t bytes)
    : context_(context), address_(reinterpret_cast<CUdeviceptr>(memory)), bytes_(bytes) {}

GraphAllocation::~GraphAllocation() {
    {
        std::lock_guard<std::mutex> lock(registry().mutex);
        registry().all.erase(this);
    }
    AddressMap::get().remove(address_);
    if (settings.any()) untrack_memory(address_);
    if (reserved_) usage_of(device()).keep(whole_pages(bytes_));
    void* const memory = reinterpret_cast<void*>(address_);
    DeviceRange::holding(memory)->unmap(memory, whole_pages(bytes_));
}

CUdevice GraphAllocation::device() const {
    return context_.device();
}

std::shared_ptr<GraphAllocation> GraphAllocation::find(CUdeviceptr address) {
    const std::optional<Allocation> found = AddressMap::get().find(address, Reserved::kToo);
    if (!found || found->kind != MemoryKind::kGraph || found->base != address) return nullptr;
    return static_cast<GraphAllocation*>(found->owner)->weak_from_this().lock();
}

// ---- free nodes -----------------------------------------------------------------------------------------------------

CUresult GraphAllocation::claim_free(uint64_t graph_uid, bool inside) {
    std::lock_guard<std::mutex> lock(mutex_);
    REQUIRE(!freed_inside_, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!inside || claims_.empty(), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(std::find(claims_.begin(), claims_.end(), graph_uid) == claims_.end(), CUDA_ERROR_INVALID_VALUE);
    claims_.push_back(graph_uid);
    freed_inside_ = inside;
    return CUDA_SUCCESS;
}

void GraphAllocation::drop_claim(uint64_t graph_uid) {
    std::lock_guard<std::mutex> lock(mutex_);
    claims_.erase(std::remove(claims_.begin(), claims_.end(), graph_uid), claims_.end());
    if (claims_.empty()) freed_inside_ = false;
}

OwnedAllocation::OwnedAllocation(std::shared_ptr<GraphAllocation> allocation, Node& node)
    : allocation_(std::move(allocation)) {
    allocation_->node = &node;
}

OwnedAllocation::~OwnedAllocation() {
    if (allocation_ != nullptr) allocation_->node = nullptr;
}

FreeClaim::~FreeClaim() {
    if (allocation_ != nullptr) allocation_->drop_claim(graph_uid_);
}

// ---- allocated: in the order of the calls ---------------------------------------------------------------------------

void GraphAllocation::allocate() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (allocated_.exchange(true, std::memory_order_acq_rel)) return;
    ++holds_;
    if (keep_ == nullptr) keep_ = shared_from_this();
}

CUresult GraphAllocation::check_free(CUdeviceptr address) {
    // "If the allocation is freed in the same graph [...] these allocations cannot be freed outside the owning graph"
    // (cuda.h, cuGraphAddMemAllocNode); such an allocation is never in the state allocated between launches.
    const bool freed = address == address_ && allocated_.exchange(false, std::memory_order_acq_rel);
    return freed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void GraphAllocation::free(CUdeviceptr) {
    std::shared_ptr<GraphAllocation> last;  // released after the lock
    std::lock_guard<std::mutex> lock(mutex_);
    if (--holds_ == 0) last = std::move(keep_);
}

// ---- reserved -------------------------------------------------------------------------------------------------------

void GraphAllocation::begin_use() {
    launches_.fetch_add(1, std::memory_order_relaxed);
    reserve();
}

void GraphAllocation::end_use() {
    launches_.fetch_sub(1, std::memory_order_release);
}

void GraphAllocation::reserve() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (reserved_) return;
    reserved_ = true;
    usage_of(device()).add(whole_pages(bytes_));
}

void GraphAllocation::unreserve() {
    std::lock_guard<std::mutex> lock(mutex_);
    // "Blocks which are not in use by a graph that is either currently executing or scheduled to execute are freed back
    // to the operating system" (cuda.h, cuDeviceGraphMemTrim).
    if (!reserved_ || holds_ != 0 || launches_.load(std::memory_order_acquire) != 0) return;
    reserved_ = false;
    usage_of(device()).subtract(whole_pages(bytes_));
    madvise(reinterpret_cast<void*>(address_), whole_pages(bytes_), MADV_DONTNEED);
}

void GraphAllocation::trim(CUdevice device) {
    std::vector<std::shared_ptr<GraphAllocation>> ours;  // released after the lock
    {
        std::lock_guard<std::mutex> lock(registry().mutex);
        for (GraphAllocation* allocation : registry().all) {
            if (allocation->device() == device) ours.push_back(allocation->weak_from_this().lock());
        }
    }
    for (const auto& allocation : ours) {
        if (allocation != nullptr) allocation->unreserve();
    }
    usage_of(device).drop_kept();
}

CUresult GraphAllocation::get_attribute(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t* value) {
    MemoryUsage& usage = usage_of(device);
    std::lock_guard<std::mutex> lock(usage.mutex);
    switch (attribute) {
        case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
            *value = usage.reported();
            return CUDA_SUCCESS;
        case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
            *value = usage.used_high;
            return CUDA_SUCCESS;
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
            *value = usage.reserved_high;
            return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphAllocation::reset_attribute(CUdevice device, CUgraphMem_attribute attribute) {
    // "High watermark can only be reset to zero" (cuda.h); it then restarts from the current value.
    MemoryUsage& usage = usage_of(device);
    std::lock_guard<std::mutex> lock(usage.mutex);
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
        usage.used_high = usage.reported();
    } else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
        usage.reserved_high = usage.reported();
    } else {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

}  // namespace cgh
