// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A virtual device. All CUDA_GRAPHS_HOST_DEVICES devices run on this machine's processor.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_DEVICE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_DEVICE_HPP

#include <cuda.h>

#include <mutex>
#include <string>

#include "hostdriver/objects/devices/context.hpp"

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
constexpr int kMostDevices = 64;  // upper bound of CUDA_GRAPHS_HOST_DEVICES
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

int multiprocessors();  // number of processor cores that this process may use, at least 2

class Device {
  public:
    explicit Device(CUdevice ordinal);

    CUdevice ordinal() const { return ordinal_; }
    std::string name() const;
    CUuuid uuid() const;
    std::string pci_bus_id() const;
    CUresult attribute(CUdevice_attribute which, int* out) const;

    // The primary context is active from retain to the last release. It is the same object each time.
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
    void forget_pool(const MemoryPool& pool);  // restores the default pool if `pool` is current

  private:
    const CUdevice ordinal_;
    Context* context_;
    MemoryPool* default_pool_;
    std::mutex mutex_;                 // guards the fields below
    CUresult failure_ = CUDA_SUCCESS;  // the fault that a reset found; it stays for the life of the process
    unsigned retained_ = 0;
    unsigned flags_ = 0;
    MemoryPool* pool_;
};

// Creates the devices, for cuInit. Returns CUDA_ERROR_NO_DEVICE if their number is 0.
CUresult make_devices();
int device_count();
// Writes the device with an ordinal. Returns CUDA_ERROR_INVALID_DEVICE for an unknown ordinal.
CUresult find_device(CUdevice ordinal, Device** out);
// Returns the device of a context.
Device& device_of(const Context& context);

}  // namespace cgh

#endif
