// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that kernels may access, with a shadow for each byte: whether it was written, its last writer, and its
// readers since then. Freed memory is poisoned and held back for a while. It counts as freed until its addresses are
// used again.
//
// Memory that the host can write without a call begins with a pattern that depends on the address. A byte that no
// longer has the pattern was written. Memory that the driver does not own, and variables of modules, count as written.
//
// Shadows are pages that are allocated on first access. check_mutex() guards all of this state.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_SHADOW_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_SHADOW_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {

// An anonymous mapping that begins as zeros.
class Pages {
  public:
    explicit Pages(std::size_t bytes);
    ~Pages();
    Pages(Pages&& other) noexcept : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    Pages& operator=(Pages&&) = delete;
    template <class T>
    T* as() const {
        return static_cast<T*>(start_);
    }

  private:
    void* start_ = nullptr;
    std::size_t bytes_;
};

// The accesses to a byte, by number (hostdriver/sanitizer/races.hpp); 0 for none.
struct ByteAccesses {
    std::uint32_t writer;
    std::uint32_t readers;
};

struct ShadowMemory {
    ShadowMemory(std::uintptr_t base, std::size_t size, const char* origin, bool host_may_write, bool is_ours);

    const std::uintptr_t base;
    const std::size_t size;
    const char* const origin;   // the call that allocated it
    const bool host_may_write;  // the checks do not see these writes
    const bool is_ours;         // the driver allocated it and frees it
    bool live = true;
    bool may_be_written = false;  // uninstrumented code has run, or other processes share it
    std::string freed_by;
    Pages touched;  // one ByteAccesses per byte, if races are checked
    Pages written;  // one bool per byte, if reads of unwritten bytes are checked
    // The range of bytes that were accessed so far.
    std::size_t first_touched = SIZE_MAX, end_touched = 0;

    // Return true if a write to the byte, or to any byte of the range, is known or must be assumed.
    bool is_written(std::size_t offset);
    bool any_written(std::size_t offset, std::size_t bytes);

    bool holds(std::uintptr_t address, std::size_t bytes) const {
        return address - base <= size && bytes <= size - (address - base);
    }
};

class ShadowMap {
  public:
    static ShadowMap& get();

    // Register memory whose contents are unwritten.
    void add(const Allocation& allocation);
    void add(std::uintptr_t base, std::size_t size, const char* origin, bool host_may_write, bool is_ours);
    // Marks memory as freed, and poisons it if the driver owns it. `by` names the cause of the free.
    void mark_freed(std::uintptr_t base, std::string by);
    // Removes the memory in a range from the map, without poisoning it: it no longer belongs to the driver.
    void remove(std::uintptr_t base, std::size_t size);

    // Marks all memory as written, because code without instrumentation runs from now on.
    void mark_all_written();

    // Returns the memory that contains the address, or the last memory before it, live or freed. Returns nullptr if no
    // memory starts at or before it.
    ShadowMemory* at_or_before(std::uintptr_t address);
    ShadowMemory* holding(std::uintptr_t address);  // returns live memory or nullptr

    // Holds freed memory back, so that its addresses are not reused at once. Adds the oldest blocks above the limit to
    // `too_much`; the caller frees them.
    struct Block {
        void* address;
        std::size_t bytes;
    };
    void hold_back(Block block, std::vector<Block>* too_much);

  private:
    std::map<std::uintptr_t, ShadowMemory> all_;
    ShadowMemory* last_ = nullptr;
    std::deque<Block> held_;
    std::size_t held_bytes_ = 0;
};

}  // namespace cgh

#endif
