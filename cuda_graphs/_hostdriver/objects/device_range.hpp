// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a device's memory, or of the host's: ranges of its own, reserved as they are needed, each four times
// as large as the one before. No other memory of the process is ever in them, so work that runs after a free damages
// nothing else. Large blocks are pages of their own; small blocks are cut from chunks by size, and used again by blocks
// of the same size.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_RANGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICE_RANGE_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device.hpp"
#include "gaps.hpp"
#include "shared_file.hpp"

namespace cgh {

class DeviceRange {
  public:
    // The device number of pinned and managed memory, and of pools of them.
    static constexpr CUdevice kHost = kMostDevices;

    // The range that holds an address, or nullptr.
    static DeviceRange* holding(const void* address);

    // 512-byte aligned memory of a device, untouched when it is large. nullptr: no room. To be given back as it was
    // asked for.
    static void* take(CUdevice device, std::size_t bytes);
    // Pages of zeros, which appear when they are touched.
    static void* map(CUdevice device, std::size_t bytes);

    void give_back(void* address, std::size_t bytes);
    // Where other processes find what was taken: in which file, where there, and by which number they see that it was
    // not given back since.
    struct Shared {
        SharedFile::Place file;
        std::uint64_t offset;
        std::uint64_t number;  // no other memory ever has it
        std::uint64_t slot;    // that holds it
    };
    // Moves it there, if it is not there, and gives it a number, if it has none.
    CUresult share(void* address, std::size_t bytes, Shared* out);
    // In another process, which has the file.
    static bool is_still_shared(const SharedFile& file, std::uint64_t number, std::uint64_t slot);
    void unmap(void* address, std::size_t bytes);

  private:
    static constexpr std::size_t kPage = std::size_t{64} << 10;

    DeviceRange(CUdevice device, std::uintptr_t start, std::size_t size);
    // Calls `from` with the device's ranges until one has room, and reserves another range where none has.
    template <class From>
    static void* first_of(CUdevice device, std::size_t bytes, From from);
    static bool reserve_more(CUdevice device, std::size_t bytes, std::size_t known);

    void* take(std::size_t bytes);
    void* take_small(std::size_t size);
    void* map(std::size_t bytes, std::size_t alignment);
    CUresult open_file();
    CUresult move_shared(std::uintptr_t start, std::uintptr_t end);
    // false: the file may hold what was there, and so nothing may be at these addresses again.
    bool forget_shared(std::uintptr_t start, std::size_t size);
    CUresult number(void* address, Shared* out);
    void forget_number(void* address);

    const CUdevice device_;
    const std::uintptr_t start_;
    const std::size_t size_;
    std::mutex mutex_;                                           // guards what is below
    Gaps free_;                                                  // by address
    std::uintptr_t chunk_ = 0, chunk_end_ = 0;                   // the chunk that small blocks are cut from
    std::unordered_map<std::size_t, std::vector<void*>> small_;  // blocks that were given back, by size
    SharedFile file_;                                            // made when memory is shared first
    std::atomic<std::uint64_t>* numbers_ = nullptr;              // its end, by slot; 0: free
    std::uint64_t last_number_ = 0;
    std::uint64_t slots_ = 0;                           // that were used, ever
    std::vector<std::uint64_t> free_slots_;             // of these
    std::unordered_map<void*, std::uint64_t> slot_of_;  // by address
    std::map<std::uintptr_t, std::size_t> shared_;      // what is in the file, at the offset from start_
};

}  // namespace cgh

#endif
