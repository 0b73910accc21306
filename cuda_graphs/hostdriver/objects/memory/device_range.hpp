// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The address ranges for memory of a device or of the host. They are reserved on demand, each four times as large as
// the one before. No other memory of the process is ever in them, so work that runs after a free damages nothing else.
// A large block has its own pages. Small blocks are cut from chunks and reused for blocks of the same size.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_DEVICE_RANGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_DEVICE_RANGE_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hostdriver/objects/base/free_ranges.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/shared_file.hpp"

namespace cgh {

class DeviceRange {
  public:
    // The device number of pinned and managed memory and of their pools.
    static constexpr CUdevice kHost = kMostDevices;

    // Returns the range that holds an address, or nullptr.
    static DeviceRange* holding(const void* address);

    // Returns 512-byte aligned memory of a device, or nullptr on failure. The pages of a large block are untouched.
    // give_back() needs the same `bytes`.
    static void* take(CUdevice device, std::size_t bytes);
    // Returns pages of zeros, which take memory on first access.
    static void* map(CUdevice device, std::size_t bytes);

    void give_back(void* address, std::size_t bytes);
    // The location of a block for other processes: its file, its offset, and a number that shows whether it is still
    // allocated.
    struct Shared {
        SharedFile::Locator file;
        std::uint64_t offset;
        std::uint64_t number;  // unique to this allocation
        std::uint64_t slot;    // slot that holds the number
    };
    // Moves a block to the range's file and numbers it, unless that was done before. Writes its location.
    CUresult share(void* address, std::size_t bytes, Shared* out);
    // Returns whether the block is still allocated; for another process, which has the file open.
    static bool is_still_shared(const SharedFile& file, std::uint64_t number, std::uint64_t slot);
    void unmap(void* address, std::size_t bytes);

  private:
    static constexpr std::size_t kPage = std::size_t{64} << 10;

    DeviceRange(CUdevice device, std::uintptr_t start, std::size_t size);
    // Calls `from` with each range of the device until one succeeds, and reserves another range if all fail.
    template <class From>
    static void* first_of(CUdevice device, std::size_t bytes, From from);
    static bool reserve_more(CUdevice device, std::size_t bytes, std::size_t known);

    void* take(std::size_t bytes);
    void* take_small(std::size_t size);
    void* map(std::size_t bytes, std::size_t alignment);
    CUresult open_file();
    CUresult move_shared(std::uintptr_t start, std::uintptr_t end);
    // Returns false if the file may still hold the old contents. The addresses must not be used again then.
    bool forget_shared(std::uintptr_t start, std::size_t size);
    CUresult number(void* address, Shared* out);
    void forget_number(void* address);

    const CUdevice device_;
    const std::uintptr_t start_;
    const std::size_t size_;
    std::mutex mutex_;                                           // guards the fields below
    FreeRanges free_;                                            // free address ranges
    std::uintptr_t chunk_ = 0, chunk_end_ = 0;                   // current chunk for small blocks
    std::unordered_map<std::size_t, std::vector<void*>> small_;  // free blocks by size
    SharedFile file_;                                            // created when memory is shared for the first time
    std::atomic<std::uint64_t>* numbers_ = nullptr;  // the numbers at the end of the file, by slot; 0 if free
    std::uint64_t last_number_ = 0;
    std::uint64_t slots_ = 0;                           // number of slots ever used
    std::vector<std::uint64_t> free_slots_;             // free slots among them
    std::unordered_map<void*, std::uint64_t> slot_of_;  // slot by address
    std::map<std::uintptr_t, std::size_t> shared_;      // parts that are in the file, at their offset from start_
};

}  // namespace cgh

#endif
