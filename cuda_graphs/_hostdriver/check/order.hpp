// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Who comes before whom, by what the program asked for and not by what happened to run first. A task is whoever
// accesses memory: an operation of a stream, or a node of a graph that one runs. Operations are ordered by their
// stream, by waits for events, by the rules of the legacy default stream, and by the host where it waited for one
// before it handed in the other: vector clocks over streams. Nodes of one launch are ordered by paths of edges.
//
// Everything here is guarded by check_mutex().
#ifndef CUDA_GRAPHS_HOSTDRIVER_CHECK_ORDER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_CHECK_ORDER_HPP

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "../objects/kernel.hpp"
#include "../objects/stream.hpp"

namespace cgh {

struct ExecNode;
struct Section;
struct Structure;

std::mutex& check_mutex();

// Positions of streams, by their id: what lies before a point.
using Clock = std::map<std::uint64_t, std::uint64_t>;
using ClockRef = std::shared_ptr<const Clock>;

struct Task {
    // The operation that this is, or belongs to.
    Context* context = nullptr;
    std::uint64_t stream = 0, position = 0;
    ClockRef before;
    // Of a node: where in its section, and the task around that; the node of the section's graph in creation order.
    const Task* around = nullptr;
    std::shared_ptr<const Structure> structure;
    std::uint64_t run = 0;  // counts the runs of sections
    std::uint32_t node = 0;
    // What it does, for reports, and what its sites live in.
    std::string what;
    Ref<Image> image;

    std::string name() const;  // kernel `k` (node 2 of the graph)
};

// How the host handed in `operation`, which will be complete at `position`.
void note_pushed(const Stream& stream, std::uint64_t position, const Operation& operation);
// The host knows that the stream has reached a position.
void note_host_waited(const Stream& stream, std::uint64_t position);
void note_host_waited_for_all(const Context& context);

// The task of the operation that a stream runs now, until end_operation().
Task* begin_operation(const Stream& stream, std::uint64_t position);
void end_operation();
// The task of a node of a section that runs inside `around`.
Task* begin_node(const Task& around, const Section& section, const ExecNode& node, std::uint64_t run);
std::uint64_t next_section_run();

// Whether `a` is complete before `b` begins, whatever happens.
bool comes_before(const Task& a, const Task& b);

// What the values of memory operations order: who saw one comes after all that came before its write.
void note_value_written(std::uintptr_t address, const Task& by);
void note_value_seen(std::uintptr_t address, const Task& by);

// Grows when all tasks so far lie before everything that may come: they are gone then.
std::uint64_t order_epoch();

}  // namespace cgh

#endif
