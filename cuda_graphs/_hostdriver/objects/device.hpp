// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What a device is: one of CUDA_GRAPHS_HOST_DEVICES virtual devices that all run on this machine's processor.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_HPP

#include <cuda.h>

#include <mutex>
#include <string>

#include "context.hpp"

namespace cgh {

class MemoryPool;

constexpr int kDriverVersion = 13000;  // CUDA 13.0
constexpr int kWarpSize = 32;
constexpr int kMaxThreadsPerBlock = 1024;
constexpr int kMaxThreadsPerMultiprocessor = 2048;
constexpr int kMaxBlocksPerMultiprocessor = 32;
constexpr int kSharedPerBlock = 48 << 10;
constexpr int kSharedPerBlockOptin = 227 << 10;
constexpr int kSharedPerMultiprocessor = 228 << 10;
constexpr int kReservedSharedPerBlock = 1 << 10;
constexpr int kMaxClusterBlocks = 8;  // portable; 16 with CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
constexpr int kMemorySyncDomains = 4;
constexpr int kMostDevices = 64;  // that CUDA_GRAPHS_HOST_DEVICES may ask for
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

int multiprocessors();  // the processor's cores that this process may use

class Device {
  public:
    explicit Device(CUdevice ordinal);

    CUdevice ordinal() const { return ordinal_; }
    std::string name() const;
    CUuuid uuid() const;
    std::string pci_bus_id() const;
    CUresult attribute(CUdevice_attribute which, int* out) const;

    // The primary context. Active between retain and the last release; the same object each time.
    CUresult retain_primary(CUcontext* out);
    CUresult release_primary();
    CUresult reset_primary();
    CUresult set_primary_flags(unsigned flags);
    static bool are_context_flags(unsigned flags);
    void primary_state(unsigned* flags, int* active);
    unsigned primary_flags();
    Context& context() { return *context_; }

    MemoryPool& default_pool() { return *default_pool_; }
    MemoryPool& pool();
    void set_pool(MemoryPool& pool);
    void forget_pool(const MemoryPool& pool);  // back to the default pool when `pool` is the current one

  private:
    const CUdevice ordinal_;
    Context* context_;
    MemoryPool* default_pool_;
    std::mutex mutex_;                 // guards the four below
    CUresult failure_ = CUDA_SUCCESS;  // the fault that a reset found
    unsigned retained_ = 0;
    unsigned flags_ = 0;
    MemoryPool* pool_;
};

// Makes the devices; by cuInit. CUDA_ERROR_NO_DEVICE when there are none.
CUresult make_devices();
int device_count();
// CUDA_ERROR_INVALID_DEVICE when there is no such device.
CUresult find_device(CUdevice ordinal, Device** out);
// The device of a context.
Device& device_of(const Context& context);

}  // namespace cgh

#endif
