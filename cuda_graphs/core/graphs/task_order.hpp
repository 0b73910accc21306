// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the edges of tasks that are added in program order, from the memory that they access. Two tasks conflict when
// they access the same byte and one of them writes. A task must follow every earlier task with which it conflicts; it
// gets an edge from those of them that no other one of them follows. So no edge is redundant, and no edge is ever
// removed.
//
// A map from memory to its last accesses gives the tasks with which a new task conflicts. A write supersedes the
// earlier accesses of its bytes: whatever conflicts with these conflicts with the write, which follows them. A task is
// live while it has an access that is not superseded, or no successor. Each live task has a set of the live tasks
// before it, as bits. So the cost of a task grows with the number of live tasks, about that of arrays in use, and not
// with the number of all tasks.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_TASK_ORDER_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_TASK_ORDER_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "access.hpp"

namespace cg {

class TaskOrder;
using Task = std::uint32_t;  // tasks are numbered from 0 in program order
constexpr Task kNoTask = ~Task{0};

// The accesses of one memory that no later write supersedes. Contiguous accesses are stored as segments that do not
// overlap. Accesses with axes are stored as they are, as tiles, in zones: ranges that do not overlap. A write of a task
// that does not follow all earlier accesses of its bytes is a tile too, since it supersedes none of them.
class AccessedMemory {
  public:
    // Tells the order about the tasks that conflict with an access.
    void find_conflicts(const Span& span, bool writes, TaskOrder& order) const;
    // Adds an access of a task whose predecessors are known.
    void add(const Span& span, bool writes, Task task, TaskOrder& order);
    void clear(TaskOrder& order);

  private:
    struct Segment {
        std::uint64_t end;
        Task writer = kNoTask;
        std::vector<Task> readers = {};     // since the write
        std::size_t readers_to_review = 8;  // number of readers at which those that are before others are dropped
    };
    struct Tile {
        Span span;
        bool writes;
        Task task;
    };
    struct Zone {
        std::uint64_t end;
        std::vector<Tile> tiles;
    };
    using Segments = std::map<std::uint64_t, Segment>;
    using Zones = std::map<std::uint64_t, Zone>;

    // Returns true when the new task follows all other tasks that access the segments of a range.
    bool is_superseded(std::uint64_t start, std::uint64_t end, Task by, const TaskOrder& order) const;
    void split(std::uint64_t at, TaskOrder& order);
    void write(std::uint64_t start, std::uint64_t end, Task task, TaskOrder& order);
    void read(std::uint64_t start, std::uint64_t end, Task task, TaskOrder& order);
    void read(Segment& segment, Task task, TaskOrder& order);
    void release(const Segment& segment, TaskOrder& order);
    void add_tile(const Span& span, bool writes, Task task, TaskOrder& order);
    void drop_tiles(const Span& span, bool writes, TaskOrder& order);
    Zone& merge_zones(std::uint64_t start, std::uint64_t end);

    Segments segments_;  // by their starts
    Zones zones_;        // by their starts
};

class TaskOrder {
  public:
    // Returns the predecessors that a new task needs beside `given`, in program order.
    const std::vector<Task>& find(const NodeAccesses& accesses, const std::vector<Task>& given = {});
    // Adds a task with the edges that the last call of `find` returned and those that were given to it. The accesses
    // may be others than those of that call. Then the task may have conflicts without an order.
    Task add(const NodeAccesses& accesses);

    // Keeps a live task until `release`, so that it can be given as a predecessor of several tasks.
    void hold(Task task) noexcept { ++slots_[slot_of_[task]].uses; }
    void release(Task task);

    std::size_t size() const noexcept { return slot_of_.size(); }

  private:
    friend class AccessedMemory;
    using Bits = std::vector<std::uint64_t>;
    struct Slot {
        Task task = kNoTask;
        std::uint32_t uses = 0;
        bool has_successor = false;
        std::uint64_t found_by = 0;  // the call of `find` that found the task last
        Bits before = {};            // slots of the live tasks that the task follows
    };
    static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

    void meet(Task task);
    bool is_before_new(Task task) const noexcept;  // is the task followed by the one of the last `find`?
    void follow(Task task);
    void supersede_all(Task task);
    void add_successor(Task task);
    std::uint32_t take_slot();
    void sweep();
    AccessedMemory& memory_of(const Access& access);

    AccessedMemory addresses_, events_, conditions_;
    std::unordered_map<std::string, AccessedMemory> parameters_;
    std::vector<Task> barriers_;  // the tasks that everything after them follows

    std::vector<std::uint32_t> slot_of_;  // by task; kNoSlot for a task that is not live
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;     // slots whose bits are 0 in all sets
    std::vector<std::uint32_t> retired_;  // slots whose bits may be set

    // Of the last call of `find`.
    std::uint64_t finds_ = 0;
    std::vector<Task> given_, met_, found_;
    Bits before_;
};

}  // namespace cg

#endif
