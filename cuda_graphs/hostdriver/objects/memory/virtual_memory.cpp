// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/virtual_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {
namespace {

bool is_whole(std::size_t value) {
    return value != 0 && value % kVirtualGranularity == 0;
}

void* pointer(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

// Replaces a range by inaccessible addresses without memory. Returns false on failure.
bool clear(CUdeviceptr start, std::size_t size) {
    return mmap(pointer(start), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

}  // namespace

CUresult PhysicalMemory::make(std::size_t size, const CUmemAllocationProp& properties, Context& context,
                              PhysicalMemory** out) {
    REQUIRE(is_whole(size), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(size <= machine_memory(), CUDA_ERROR_OUT_OF_MEMORY);
    const int file = memfd_create("cuda_graphs device memory", MFD_CLOEXEC);
    REQUIRE(file >= 0, CUDA_ERROR_OUT_OF_MEMORY);
    if (ftruncate(file, static_cast<off_t>(size)) != 0) {
        close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = arena<PhysicalMemory>.create(file, size, properties, context);
    if (*out == nullptr) close(file);
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult PhysicalMemory::from_file(int file, const CUmemAllocationProp& properties, Context& context,
                                   PhysicalMemory** out) {
    struct stat facts{};
    REQUIRE(fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && is_whole(static_cast<std::size_t>(facts.st_size)),
            CUDA_ERROR_INVALID_VALUE);
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    REQUIRE(own >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *out = arena<PhysicalMemory>.create(own, static_cast<std::size_t>(facts.st_size), properties, context);
    if (*out == nullptr) close(own);
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

PhysicalMemory::~PhysicalMemory() {
    close(file);
}

void PhysicalMemory::dispose(PhysicalMemory* memory) {
    arena<PhysicalMemory>.recycle(memory);
}

bool VirtualSpace::Mapping::grants(CUmemAccess_flags flags) const {
    return std::any_of(access.begin(), access.end(), [&](const auto& one) { return one.second == flags; });
}

int VirtualSpace::Mapping::rights() const {
    if (grants(CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) return PROT_READ | PROT_WRITE;
    return grants(CU_MEM_ACCESS_FLAGS_PROT_READ) ? PROT_READ : PROT_NONE;
}

VirtualSpace& VirtualSpace::get() {
    static auto* space = new VirtualSpace;
    return *space;
}

CUresult VirtualSpace::reserve(std::size_t size, std::size_t alignment, CUdeviceptr wish, CUdeviceptr* out) {
    REQUIRE(is_whole(size) && (alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(wish % kVirtualGranularity == 0, CUDA_ERROR_INVALID_VALUE);
    alignment = std::max(alignment, kVirtualGranularity);
    std::size_t length = 0;
    REQUIRE(!__builtin_add_overflow(size, alignment, &length), CUDA_ERROR_OUT_OF_MEMORY);
    void* const mapped = mmap(pointer(wish), length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(mapped != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    const auto start = reinterpret_cast<CUdeviceptr>(mapped);
    const CUdeviceptr aligned = (start + alignment - 1) / alignment * alignment;
    if (aligned != start) munmap(mapped, aligned - start);
    if (const std::size_t behind = start + length - (aligned + size); behind != 0)
        munmap(pointer(aligned + size), behind);
    const std::lock_guard<std::mutex> lock(mutex_);
    reservations_[aligned] = {size, {}};
    *out = aligned;
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::free(CUdeviceptr start, std::size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = reservations_.find(start);
    REQUIRE(found != reservations_.end() && found->second.size == size, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(found->second.mappings.empty(), CUDA_ERROR_INVALID_VALUE);
    munmap(pointer(start), size);
    reservations_.erase(found);
    return CUDA_SUCCESS;
}

VirtualSpace::Reservations::iterator VirtualSpace::reservation_of(CUdeviceptr start, std::size_t size) {
    auto after = reservations_.upper_bound(start);
    if (after == reservations_.begin()) return reservations_.end();
    const auto found = std::prev(after);
    const CUdeviceptr offset = start - found->first;
    return offset < found->second.size && size <= found->second.size - offset ? found : reservations_.end();
}

CUresult VirtualSpace::map(CUdeviceptr start, std::size_t size, PhysicalMemory& memory) {
    REQUIRE(is_whole(size) && start % kVirtualGranularity == 0 && size <= memory.size, CUDA_ERROR_INVALID_VALUE);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = reservation_of(start, size);
    REQUIRE(found != reservations_.end(), CUDA_ERROR_INVALID_VALUE);
    auto& mappings = found->second.mappings;
    const auto after = mappings.lower_bound(start);
    const bool is_free =
        (after == mappings.end() || after->first >= start + size) &&
        (after == mappings.begin() || std::prev(after)->first + std::prev(after)->second.size <= start);
    REQUIRE(is_free, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(mmap(pointer(start), size, PROT_NONE, MAP_SHARED | MAP_FIXED, memory.file, 0) != MAP_FAILED,
            CUDA_ERROR_OUT_OF_MEMORY);
    mappings.emplace(start, Mapping{size, Ref<PhysicalMemory>(&memory), {}});
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::find_mappings(CUdeviceptr start, std::size_t size, Reservations::iterator* reservation,
                                     Mappings::iterator* first, Mappings::iterator* past) {
    *reservation = reservation_of(start, size);
    REQUIRE(size != 0 && *reservation != reservations_.end(), CUDA_ERROR_INVALID_VALUE);
    auto& mappings = (*reservation)->second.mappings;
    *first = mappings.find(start);
    *past = mappings.lower_bound(start + size);
    REQUIRE(*first != mappings.end(), CUDA_ERROR_INVALID_VALUE);
    const auto last = std::prev(*past);
    REQUIRE(last->first + last->second.size == start + size, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::wait_for_users(CUdeviceptr start, std::size_t size) {
    Reservations::iterator found;
    Mappings::iterator first, past;
    std::set<CUdevice> users;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        TRY(find_mappings(start, size, &found, &first, &past));
        for (auto at = first; at != past; ++at) {
            users.insert(at->second.memory->context.device());
            for (const auto& [device, flags] : at->second.access) users.insert(device);
        }
    }
    // The wait is without a lock, because it may run host functions of the program.
    for (Context* const context : Context::all())
        if (users.count(context->device()) != 0) context->synchronize();
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::unmap(CUdeviceptr start, std::size_t size) {
    TRY(wait_for_users(start, size));
    Reservations::iterator found;
    Mappings::iterator first, past;
    const std::lock_guard<std::mutex> lock(mutex_);
    TRY(find_mappings(start, size, &found, &first, &past));
    for (auto at = first; at != past; ++at) REQUIRE(clear(at->first, at->second.size), CUDA_ERROR_OUT_OF_MEMORY);
    found->second.mappings.erase(first, past);
    publish(found->first, found->second);
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::set_access(CUdeviceptr start, std::size_t size, CUdevice device, CUmemAccess_flags flags) {
    REQUIRE(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            CUDA_ERROR_INVALID_VALUE);
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) TRY(wait_for_users(start, size));
    const std::lock_guard<std::mutex> lock(mutex_);
    Reservations::iterator found;
    Mappings::iterator first, past;
    TRY(find_mappings(start, size, &found, &first, &past));
    CUdeviceptr reached = start;
    for (auto at = first; at != past; reached += at->second.size, ++at) {
        REQUIRE(at->first == reached, CUDA_ERROR_INVALID_VALUE);
        // The host has no access to memory of a device, as on an H200.
        REQUIRE(device != kHostAccess || flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || at->second.memory->is_on_host(),
                CUDA_ERROR_NOT_SUPPORTED);
    }
    for (auto at = first; at != past; ++at) {
        at->second.access[device] = flags;
        REQUIRE(mprotect(pointer(at->first), at->second.size, at->second.rights()) == 0, CUDA_ERROR_OUT_OF_MEMORY);
    }
    publish(found->first, found->second);
    return CUDA_SUCCESS;
}

void VirtualSpace::publish(CUdeviceptr start, const Reservation& reservation) {
    AddressMap::get().remove_range(start, reservation.size);
    Allocation run;
    run.kind = MemoryKind::kMapped;
    const auto finish = [&] {
        if (run.size != 0) AddressMap::get().add(run);
        run.size = 0;
    };
    for (const auto& [address, mapping] : reservation.mappings) {
        if (mapping.rights() == PROT_NONE) continue;
        const bool read_only = mapping.rights() == PROT_READ;
        const Residence residence = mapping.memory->is_on_host() ? Residence::kHost : Residence::kDevice;
        if (run.base + run.size != address || run.is_read_only != read_only || run.residence != residence) finish();
        if (run.size == 0) {
            run.base = address;
            run.context = &mapping.memory->context;
            run.is_read_only = read_only;
            run.residence = residence;
        }
        run.size += mapping.size;
    }
    finish();
}

const VirtualSpace::Mapping* VirtualSpace::mapping_at(CUdeviceptr address) const {
    const auto reservation = reservations_.upper_bound(address);
    if (reservation == reservations_.begin()) return nullptr;
    const auto& mappings = std::prev(reservation)->second.mappings;
    const auto after = mappings.upper_bound(address);
    if (after == mappings.begin()) return nullptr;
    const auto found = std::prev(after);
    return address - found->first < found->second.size ? &found->second : nullptr;
}

CUresult VirtualSpace::access(CUdeviceptr address, CUdevice device, CUmemAccess_flags* out) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const found = mapping_at(address);
    REQUIRE(found != nullptr, CUDA_ERROR_INVALID_VALUE);
    const auto set = found->access.find(device);
    *out = set != found->access.end() ? set->second : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::retain(CUdeviceptr address, CUmemGenericAllocationHandle* out) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const found = mapping_at(address);
    REQUIRE(found != nullptr, CUDA_ERROR_INVALID_VALUE);
    PhysicalMemory* const memory = found->memory.get();
    if (memory->handles++ == 0) {  // the handle was released and becomes valid again
        memory->retain();
        arena<PhysicalMemory>.show(memory);
    }
    *out = reinterpret_cast<CUmemGenericAllocationHandle>(memory);
    return CUDA_SUCCESS;
}

CUresult VirtualSpace::release(CUmemGenericAllocationHandle handle) {
    Ref<PhysicalMemory> last;
    const std::lock_guard<std::mutex> lock(mutex_);
    auto* memory = cast<PhysicalMemory>(reinterpret_cast<void*>(handle));
    REQUIRE(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
    if (--memory->handles != 0) return CUDA_SUCCESS;
    arena<PhysicalMemory>.hide(memory);
    last = Ref<PhysicalMemory>::adopt(memory);
    return CUDA_SUCCESS;
}

}  // namespace cgh
