// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: reserved addresses, physical memory, and the mappings between them. Physical memory is a
// file without a name, so it can be mapped at several addresses. Kernels fault at addresses without memory or without
// access rights, and API calls reject such addresses.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_VIRTUAL_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_VIRTUAL_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "hostdriver/objects/base/ref.hpp"

namespace cgh {

class Context;

// Granularity of addresses and sizes in bytes, as on an H200.
constexpr std::size_t kVirtualGranularity = std::size_t{2} << 20;

// The host as a key of Mapping::access; all other keys are devices.
constexpr CUdevice kHostAccess = -1;

class PhysicalMemory : public RefCounted {
  public:
    // Creates memory. Returns CUDA_ERROR_OUT_OF_MEMORY if the system has too little.
    static CUresult make(std::size_t size, const CUmemAllocationProp& properties, Context& context,
                         PhysicalMemory** out);
    // Opens a file that this or another process exported. Returns CUDA_ERROR_INVALID_VALUE for any other file.
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
    int handles = 1;  // handles created or retained and not released; guarded by VirtualSpace
};

class VirtualSpace {
  public:
    static VirtualSpace& get();

    CUresult reserve(std::size_t size, std::size_t alignment, CUdeviceptr wish, CUdeviceptr* out);
    CUresult free(CUdeviceptr start, std::size_t size);
    CUresult map(CUdeviceptr start, std::size_t size, PhysicalMemory& memory);
    CUresult unmap(CUdeviceptr start, std::size_t size);
    // Sets the access rights of a device. Waits for work that may use the memory before it removes rights.
    CUresult set_access(CUdeviceptr start, std::size_t size, CUdevice device, CUmemAccess_flags flags);
    CUresult access(CUdeviceptr address, CUdevice device, CUmemAccess_flags* out) const;
    CUresult retain(CUdeviceptr address, CUmemGenericAllocationHandle* out);
    CUresult release(CUmemGenericAllocationHandle handle);

  private:
    struct Mapping {
        std::size_t size;
        Ref<PhysicalMemory> memory;
        std::map<CUdevice, CUmemAccess_flags> access;
        bool grants(CUmemAccess_flags flags) const;  // to any device or the host
        int rights() const;  // PROT_... flags; the union of all rights, because all devices use the process's pages
    };
    using Mappings = std::map<CUdeviceptr, Mapping>;
    struct Reservation {
        std::size_t size;
        Mappings mappings;
    };
    using Reservations = std::map<CUdeviceptr, Reservation>;

    Reservations::iterator reservation_of(CUdeviceptr start, std::size_t size);
    // Finds the mappings that cover a range. Returns CUDA_ERROR_INVALID_VALUE unless the range consists of whole
    // mappings.
    CUresult find_mappings(CUdeviceptr start, std::size_t size, Reservations::iterator* reservation,
                           Mappings::iterator* first, Mappings::iterator* past);
    const Mapping* mapping_at(CUdeviceptr address) const;
    CUresult wait_for_users(CUdeviceptr start, std::size_t size);
    // Adds each contiguous run of accessible memory to the address map, as one allocation.
    void publish(CUdeviceptr start, const Reservation& reservation);

    mutable std::mutex mutex_;  // guards reservations_ and PhysicalMemory::handles
    Reservations reservations_;
};

}  // namespace cgh

#endif
