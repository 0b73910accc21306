// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that kernels may touch, and what is known of each byte of it: whether anybody wrote it, who wrote it last,
// who read it since. Memory that was freed is poisoned, held back for a while, and known as freed until its addresses
// are used again.
//
// Where the host writes without being seen, memory begins with a pattern that depends on the address: what does not
// show it any more was written. Memory that is not the driver's own, and variables of modules, count as written.
//
// Shadows are pages that appear when they are touched. Everything here is guarded by check_mutex().
#ifndef CUDA_GRAPHS_HOSTDRIVER_CHECK_WATCHED_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_CHECK_WATCHED_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../objects/memory.hpp"

namespace cgh {

// Zeros of their own pages.
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

// Who touched a byte: accesses by number (check/races.hpp), 0 for nobody.
struct Touched {
    std::uint32_t writer;
    std::uint32_t readers;
};

struct WatchedMemory {
    WatchedMemory(std::uintptr_t base, std::size_t size, const char* origin, bool host_may_write, bool is_ours);

    const std::uintptr_t base;
    const std::size_t size;
    const char* const origin;   // the call that made it
    const bool host_may_write;  // and nobody sees it do so
    const bool is_ours;         // the driver's own, which it gives back
    bool live = true;
    bool anybody_may_have_written = false;  // code ran that does not tell
    std::string freed_by;
    Pages touched;  // one Touched a byte, where races are looked for
    Pages written;  // one bool a byte, where reads of what nobody wrote are
    // The bytes that were touched at all.
    std::size_t first_touched = SIZE_MAX, end_touched = 0;

    // Whether somebody wrote a byte, as far as is known.
    bool is_written(std::size_t offset);
    bool any_written(std::size_t offset, std::size_t bytes);

    bool holds(std::uintptr_t address, std::size_t bytes) const {
        return address - base <= size && bytes <= size - (address - base);
    }
};

class MemoryWatch {
  public:
    static MemoryWatch& get();

    // Memory is there from now on, with contents that nobody wrote.
    void appears(const Allocation& allocation);
    void appears(std::uintptr_t base, std::size_t size, const char* origin, bool host_may_write, bool is_ours);
    // It is gone: poisoned, where it is ours. `by`: who freed it.
    void goes(std::uintptr_t base, std::string by);
    // It is not even poisoned: no longer ours.
    void vanishes(std::uintptr_t base, std::size_t size);

    // Code runs that does not tell of its accesses: from now on all memory counts as written.
    void loses_sight();

    // The memory at or before an address, live or not; nullptr when there is none.
    WatchedMemory* at_or_before(std::uintptr_t address);
    WatchedMemory* holding(std::uintptr_t address);  // live memory

    // Takes memory that is given back, so that its addresses are not used again at once. Of what it took before it
    // hands out what is too much, to be given back now; no address: nothing.
    struct Block {
        void* address;
        std::size_t bytes;
    };
    void hold_back(Block block, std::vector<Block>* too_much);

  private:
    std::map<std::uintptr_t, WatchedMemory> all_;
    WatchedMemory* last_ = nullptr;
    std::deque<Block> held_;
    std::size_t held_bytes_ = 0;
};

}  // namespace cgh

#endif
