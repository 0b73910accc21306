// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds unordered accesses. Each byte stores its last writer and the later readers that no other stored reader follows.
// At most two readers of one task and kind are stored: they belong to different blocks, so any writer races with at
// least one of them.
//
// The blocks of a kernel run in any order. A block follows another block only after it acquired a release of that
// block: a strong access read an address that the other block wrote with a strong access after a fence. The threads of
// a block count as one.
//
// check_mutex() guards all of this state.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_RACES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_RACES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "hostdriver/image_loader.h"
#include "order.hpp"
#include "shadow_memory.hpp"

namespace cgh {

// The known progress of the blocks of tasks: the last released step of each.
using Progress = std::map<std::pair<const Task*, std::uint64_t>, std::uint32_t>;
using ProgressRef = std::shared_ptr<const Progress>;

// One block of a task. A copy or a fill is a task with one block.
struct Block {
    const Task* task = nullptr;
    std::uint64_t number = 0;
    std::array<std::uint32_t, 3> place{};
    std::uint32_t phase = 0;  // phase of the launch: a phase completes before the next begins
    std::uint32_t step = 1;   // counts the block's releases
    ProgressRef seen, released;
    // The number of the block's access at each site, and the value of `now` when the number was assigned. An older
    // value belongs to an earlier step or to another block.
    struct SiteAccess {
        std::uint64_t when = 0;
        std::uint32_t number = 0;
    };
    std::unordered_map<const cgh_site*, SiteAccess> accesses;
    std::uint64_t now = 1;

    // Turns this object into another block of the same task.
    void become(std::uint64_t other, const std::array<std::uint32_t, 3>& its_place, std::uint32_t its_phase) {
        number = other;
        place = its_place;
        phase = its_phase;
        step = 1;
        seen = released = nullptr;
        ++now;
    }
};

// A stored access.
struct Access {
    const Task* task;
    std::uint64_t block;
    std::array<std::uint32_t, 3> place;
    std::uint32_t phase;
    std::uint32_t step;
    const cgh_site* site;
};

// Checks an access and stores it. Returns the first access that it races with, or nullptr, and sets `at` to the byte.
const Access* note_access(ShadowMemory& memory, std::uintptr_t address, std::size_t bytes, const cgh_site& site,
                          Block& block, std::uintptr_t* at);

// Update the known progress of blocks for strong accesses and fences: note_release() before the access, note_acquire()
// after it.
void note_release(std::uintptr_t address, const cgh_site& site, Block& block);
void note_acquire(std::uintptr_t address, Block& block);

}  // namespace cgh

#endif
