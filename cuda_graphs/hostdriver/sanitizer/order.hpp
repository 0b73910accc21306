// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of tasks that the program requested, independent of the order of this run. A task accesses memory: it is an
// operation of a stream, or a node of a graph launch. Operations are ordered by their stream, by waits for events, and
// by the rules of the legacy default stream. The host orders two operations if it waited for the first before it queued
// the second. Vector clocks over streams represent this order. Nodes of one launch are ordered by paths of edges.
//
// check_mutex() guards all of this state.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_ORDER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_ORDER_HPP

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {

struct ExecNode;
struct Section;
struct Structure;

std::mutex& check_mutex();

// Positions of streams by stream id: the work before a point.
using Clock = std::map<std::uint64_t, std::uint64_t>;
using ClockRef = std::shared_ptr<const Clock>;

struct Task {
    // The operation that this task is, or that contains it.
    Context* context = nullptr;
    std::uint64_t stream = 0, position = 0;
    ClockRef before;
    // For a node: the enclosing task, the structure of its section, and its index in the section.
    const Task* around = nullptr;
    std::shared_ptr<const Structure> structure;
    std::uint64_t run = 0;  // number of the section run
    std::uint32_t node = 0;
    // The description for reports, and the image that contains the sites.
    std::string what;
    Ref<Image> image;

    std::string name() const;  // for example "kernel `k` (node 2 of its graph)"
};

// Records the clock of an `operation` when it is queued. It will be complete at `position`.
void note_pushed(const Stream& stream, std::uint64_t position, const Operation& operation);
// Record that the host knows that the stream has reached a position, or all streams of the context.
void note_host_waited(const Stream& stream, std::uint64_t position);
void note_host_waited_for_all(const Context& context);

// Returns a new task for the operation that a stream runs until end_operation().
Task* begin_operation(const Stream& stream, std::uint64_t position);
void end_operation();
// Returns a new task for a node of a section that runs inside `around`.
Task* begin_node(const Task& around, const Section& section, const ExecNode& node, std::uint64_t run);
std::uint64_t next_section_run();

// Returns true if `a` is complete before `b` begins in every legal execution.
bool comes_before(const Task& a, const Task& b);

// Record the order that values of memory operations create: a task that saw a value comes after all work before its
// write.
void note_value_written(std::uintptr_t address, const Task& by);
void note_value_seen(std::uintptr_t address, const Task& by);

// Returns the epoch. It grows when all tasks so far precede all future work; these tasks are then deleted.
std::uint64_t order_epoch();

}  // namespace cgh

#endif
