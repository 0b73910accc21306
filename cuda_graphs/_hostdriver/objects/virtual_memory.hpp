// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: addresses that are reserved, memory that is made, and which of it is behind which address.
// Memory is a file without a name, so that it can be behind several addresses. Addresses without memory, and memory
// that nobody was given access to, fault in kernels and are unknown to everything else.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_VIRTUAL_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_VIRTUAL_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "ref.hpp"

namespace cgh {

class Context;

// Of addresses, sizes and memory: that of an H200.
constexpr std::size_t kVirtualGranularity = std::size_t{2} << 20;

// The host among those who have access, who are devices otherwise.
constexpr CUdevice kHostAccess = -1;

class PhysicalMemory : public Counted {
  public:
    // CUDA_ERROR_OUT_OF_MEMORY when the system has no room for it.
    static CUresult make(std::size_t size, const CUmemAllocationProp& properties, Context& context,
                         PhysicalMemory** out);
    // Of a file that another process, or this one, exported. CUDA_ERROR_INVALID_VALUE when it is no such file.
    static CUresult from_file(int file, const CUmemAllocationProp& properties, Context& context, PhysicalMemory** out);
    PhysicalMemory(int file, std::size_t size, const CUmemAllocationProp& properties, Context& context)
        : file(file), size(size), properties(properties), context(context) {}
    ~PhysicalMemory();
    static void dispose(PhysicalMemory* memory);
    bool is_on_host() const { return properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE; }

    const int file;
    const std::size_t size;
    const CUmemAllocationProp properties;
    Context& context;
    int handles = 1;  // made and retained, not yet released; guarded by VirtualSpace
};

class VirtualSpace {
  public:
    static VirtualSpace& get();

    CUresult reserve(std::size_t size, std::size_t alignment, CUdeviceptr wish, CUdeviceptr* out);
    CUresult free(CUdeviceptr start, std::size_t size);
    CUresult map(CUdeviceptr start, std::size_t size, PhysicalMemory& memory);
    CUresult unmap(CUdeviceptr start, std::size_t size);
    // Waits for work of the memory's users where it takes rights away.
    CUresult set_access(CUdeviceptr start, std::size_t size, CUdevice device, CUmemAccess_flags flags);
    CUresult access(CUdeviceptr address, CUdevice device, CUmemAccess_flags* out) const;
    CUresult retain(CUdeviceptr address, CUmemGenericAllocationHandle* out);
    CUresult release(CUmemGenericAllocationHandle handle);

  private:
    struct Mapping {
        std::size_t size;
        Ref<PhysicalMemory> memory;
        std::map<CUdevice, CUmemAccess_flags> access;
        bool grants(CUmemAccess_flags flags) const;  // to anybody
        int rights() const;                          // PROT_...: pages are process memory, and everybody's
    };
    using Mappings = std::map<CUdeviceptr, Mapping>;
    struct Reservation {
        std::size_t size;
        Mappings mappings;
    };
    using Reservations = std::map<CUdeviceptr, Reservation>;

    Reservations::iterator reservation_of(CUdeviceptr start, std::size_t size);
    // Whole mappings, from the first byte to the last: CUDA_ERROR_INVALID_VALUE if it is anything else.
    CUresult find_mappings(CUdeviceptr start, std::size_t size, Reservations::iterator* reservation,
                           Mappings::iterator* first, Mappings::iterator* past);
    const Mapping* mapping_at(CUdeviceptr address) const;
    CUresult wait_for_users(CUdeviceptr start, std::size_t size);
    // Puts runs of memory that can be used into the address map, as one allocation each.
    void publish(CUdeviceptr start, const Reservation& reservation);

    mutable std::mutex mutex_;  // guards the one below, and handles of memory
    Reservations reservations_;
};

}  // namespace cgh

#endif
