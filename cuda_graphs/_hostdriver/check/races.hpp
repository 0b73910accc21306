// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Accesses that nothing orders. Each byte knows its last writer, and the readers since that none of the others comes
// after (at most two of a task and a kind: they are of different blocks, so that whoever writes races with one of
// them).
//
// The blocks of a kernel run in any order. One comes after another only where it saw what that released: it read, by a
// strong access, a place that the other wrote by one after a fence. The threads of a block count as one.
//
// Everything here is guarded by check_mutex().
#ifndef CUDA_GRAPHS_HOSTDRIVER_CHECK_RACES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_CHECK_RACES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "../image_loader.h"
#include "order.hpp"
#include "watched_memory.hpp"

namespace cgh {

// How far the blocks of tasks had come, as far as somebody knows.
using Progress = std::map<std::pair<const Task*, std::uint64_t>, std::uint32_t>;
using ProgressRef = std::shared_ptr<const Progress>;

// One block of a task; a copy or a fill is a task of one.
struct Block {
    const Task* task = nullptr;
    std::uint64_t number = 0;
    std::array<std::uint32_t, 3> place{};
    std::uint32_t phase = 0;  // of the launch: one is complete when the next begins
    std::uint32_t step = 1;   // counts what it released
    ProgressRef seen, released;
    // What it does at each site, by number, and when that was noted: in this step, or before it or another block.
    struct Noted {
        std::uint64_t when = 0;
        std::uint32_t number = 0;
    };
    std::unordered_map<const cgh_site*, Noted> accesses;
    std::uint64_t now = 1;

    // Becomes another one, of the same task.
    void become(std::uint64_t other, const std::array<std::uint32_t, 3>& its_place, std::uint32_t its_phase) {
        number = other;
        place = its_place;
        phase = its_phase;
        step = 1;
        seen = released = nullptr;
        ++now;
    }
};

// An access that is remembered.
struct Access {
    const Task* task;
    std::uint64_t block;
    std::array<std::uint32_t, 3> place;
    std::uint32_t phase;
    std::uint32_t step;
    const cgh_site* site;
};

// Looks at an access and remembers it. The first access that it races with, or nullptr; `at` gets the byte.
const Access* note_access(WatchedMemory& memory, std::uintptr_t address, std::size_t bytes, const cgh_site& site,
                          Block& block, std::uintptr_t* at);

// What strong accesses and fences do to who knows of whom: before the access, and after it.
void note_release(std::uintptr_t address, const cgh_site& site, Block& block);
void note_acquire(std::uintptr_t address, Block& block);

}  // namespace cgh

#endif
