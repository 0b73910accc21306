// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The addresses of a device's memory, or of the host's: a range of its own, reserved once, larger than the memory of
// any machine. No address of it is ever anything else, so that work which comes too late harms nobody else's memory.
// Large blocks are pages of their own in it; small ones are cut from chunks by size, and used again by the same size.
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

#include "gaps.hpp"
#include "shared_file.hpp"

namespace cgh {

class DeviceRange {
  public:
    // That of a device; the same each time.
    static DeviceRange& of(CUdevice device);
    // That of pinned and managed memory, and of pools of them; the same each time.
    static DeviceRange& of_host();
    // The range that holds an address, or nullptr.
    static DeviceRange* holding(const void* address);

    // 512-byte aligned memory, untouched when it is large. nullptr: no room. To be given back as it was asked for.
    void* take(std::size_t bytes);
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
    // Pages of zeros, which appear when they are touched.
    void* map(std::size_t bytes, std::size_t alignment = kPage);
    void unmap(void* address, std::size_t bytes);

  private:
    static constexpr std::size_t kPage = std::size_t{64} << 10;

    DeviceRange();
    void* take_small(std::size_t size);
    CUresult open_file();
    CUresult move_shared(std::uintptr_t start, std::uintptr_t end);
    // false: the file may hold what was there, and so nothing may be at these addresses again.
    bool forget_shared(std::uintptr_t start, std::size_t size);
    CUresult number(void* address, Shared* out);
    void forget_number(void* address);

    std::uintptr_t start_ = 0;
    std::size_t size_ = 0;
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
