// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "hostdriver/execution/graph_program.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"

namespace cgh {

std::mutex& check_mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
}

namespace {

struct StreamOrder {
    const Context* context = nullptr;
    std::uint64_t pushed = 0;
    std::uint64_t host_knows = 0;
    std::map<std::uint64_t, ClockRef> before;  // each clock holds from its position to the next
};

// For each node, one bit for each node that a path leads to.
struct Paths {
    std::size_t words = 0;
    std::vector<std::uint64_t> bits;
    bool lead(std::uint32_t from, std::uint32_t to) const {
        return (bits[from * words + to / 64] >> (to % 64) & 1) != 0;
    }
};

// From `position` of `stream` on, all work in `before` precedes the stream's work.
struct SeenValue {
    std::uint64_t stream, position;
    ClockRef before;
};

struct Order {
    std::map<std::uint64_t, StreamOrder> streams;
    ClockRef host = std::make_shared<const Clock>();
    std::deque<Task> tasks;
    std::unordered_map<const Structure*, Paths> paths;
    std::unordered_map<std::uintptr_t, ClockRef> written;  // the clock before the values, by address
    std::vector<SeenValue> seen;
    std::uint64_t running = 0, epoch = 0, section_runs = 0;
};

// Never destroyed: work may run until the process ends.
Order& order() {
    static auto* const found = new Order;
    return *found;
}

void join(Clock* into, const Clock& other) {
    for (const auto& [stream, position] : other) {
        std::uint64_t& known = (*into)[stream];
        known = std::max(known, position);
    }
}

bool holds(const Clock& clock, std::uint64_t stream, std::uint64_t position) {
    const auto found = clock.find(stream);
    return found != clock.end() && found->second >= position;
}

ClockRef before_of(const StreamOrder& stream, std::uint64_t position) {
    const auto after = stream.before.upper_bound(position);
    return after != stream.before.begin() ? std::prev(after)->second : nullptr;
}

// Returns `clock` joined with a position of a stream and with all work before that position.
ClockRef joined(const ClockRef& clock, std::uint64_t stream, std::uint64_t position) {
    const auto found = order().streams.find(stream);
    const ClockRef before = found != order().streams.end() ? before_of(found->second, position) : nullptr;
    if (holds(*clock, stream, position)) return clock;  // the clock then contains all work before it
    auto result = std::make_shared<Clock>(*clock);
    if (before != nullptr) join(result.get(), *before);
    std::uint64_t& known = (*result)[stream];
    known = std::max(known, position);
    return result;
}

ClockRef joined(const ClockRef& clock, const ClockRef& other) {
    if (clock == nullptr || clock == other) return other;
    const bool nothing_new = std::all_of(other->begin(), other->end(),
                                         [&](const auto& entry) { return holds(*clock, entry.first, entry.second); });
    if (nothing_new) return clock;
    auto result = std::make_shared<Clock>(*clock);
    join(result.get(), *other);
    return result;
}

// Drops all state once the host knows that all work is complete, because future work is ordered after it. The caller
// destroys `gone` without the lock, because a task holds a reference to an image.
void forget_if_all_is_known(std::deque<Task>* gone) {
    Order& all = order();
    if (all.running != 0) return;
    for (const auto& [id, stream] : all.streams)
        if (stream.host_knows < stream.pushed) return;
    all.streams.clear();
    gone->swap(all.tasks);
    all.host = std::make_shared<const Clock>();
    all.paths.clear();
    all.written.clear();
    all.seen.clear();
    ++all.epoch;
}

void host_knows(std::uint64_t stream, std::uint64_t position) {
    const auto found = order().streams.find(stream);
    if (found == order().streams.end()) return;
    const std::uint64_t reached = std::min(position, found->second.pushed);
    found->second.host_knows = std::max(found->second.host_knows, reached);
    if (reached != 0) order().host = joined(order().host, stream, reached);
}

Paths paths_of(const Structure& structure) {
    const std::size_t count = structure.dependency_count.size();
    Paths paths;
    paths.words = (count + 63) / 64;
    paths.bits.resize(count * paths.words);
    for (std::size_t from = count; from-- > 0;) {  // nodes are in a valid order
        std::uint64_t* const mine = &paths.bits[from * paths.words];
        for (std::uint32_t i = structure.first_successor[from]; i < structure.first_successor[from + 1]; ++i) {
            const std::uint32_t next = structure.successors[i];
            mine[next / 64] |= std::uint64_t{1} << (next % 64);
            for (std::size_t word = 0; word < paths.words; ++word) mine[word] |= paths.bits[next * paths.words + word];
        }
    }
    return paths;
}

// Searches for a path without a table, for large graphs.
bool search_path(const Structure& structure, std::uint32_t from, std::uint32_t to) {
    std::vector<bool> seen(structure.dependency_count.size());
    std::vector<std::uint32_t> left{from};
    while (!left.empty()) {
        const std::uint32_t node = left.back();
        left.pop_back();
        for (std::uint32_t i = structure.first_successor[node]; i < structure.first_successor[node + 1]; ++i) {
            const std::uint32_t next = structure.successors[i];
            if (next == to) return true;
            if (next < to && !seen[next]) left.push_back(next);
            seen[next] = true;
        }
    }
    return false;
}

bool path_leads(const Structure& structure, std::uint32_t from, std::uint32_t to) {
    constexpr std::size_t kMostNodesInTable = 1 << 14;
    if (structure.dependency_count.size() > kMostNodesInTable) return search_path(structure, from, to);
    auto found = order().paths.find(&structure);
    if (found == order().paths.end()) found = order().paths.emplace(&structure, paths_of(structure)).first;
    return found->second.lead(from, to);
}

unsigned depth(const Task& task) {
    unsigned count = 0;
    for (const Task* at = &task; at->around != nullptr; at = at->around) ++count;
    return count;
}

// Orders two tasks of one launch by their nodes in the innermost section that contains both.
bool node_comes_before(const Task* a, const Task* b) {
    for (unsigned too_deep = depth(*a), limit = depth(*b); too_deep > limit; --too_deep) a = a->around;
    for (unsigned too_deep = depth(*b), limit = depth(*a); too_deep > limit; --too_deep) b = b->around;
    while (a->around != b->around) {
        a = a->around;
        b = b->around;
    }
    if (a == b || a->structure == nullptr) return true;  // one task contains the other
    if (a->run != b->run) return a->run < b->run;        // iterations of a loop
    return path_leads(*a->structure, a->node, b->node);
}

}  // namespace

void note_pushed(const Stream& stream, std::uint64_t position, const Operation& operation) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    Order& all = order();
    StreamOrder& mine = all.streams[stream.id()];
    mine.context = &stream.context();
    ClockRef before = joined(before_of(mine, position), all.host);
    for (const Target& target : operation.awaits())
        if (target.stream) before = joined(before, target.stream->id(), target.position);
    mine.pushed = position;
    if (before != before_of(mine, position)) mine.before[position] = std::move(before);
}

void note_host_waited(const Stream& stream, std::uint64_t position) {
    std::deque<Task> gone;
    const std::lock_guard<std::mutex> lock(check_mutex());
    host_knows(stream.id(), position);
    forget_if_all_is_known(&gone);
}

void note_host_waited_for_all(const Context& context) {
    std::deque<Task> gone;
    const std::lock_guard<std::mutex> lock(check_mutex());
    for (const auto& [id, stream] : order().streams)
        if (stream.context == &context) host_knows(id, stream.pushed);
    forget_if_all_is_known(&gone);
}

Task* begin_operation(const Stream& stream, std::uint64_t position) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    Order& all = order();
    ++all.running;
    Task& task = all.tasks.emplace_back();
    task.context = &stream.context();
    task.stream = stream.id();
    task.position = position;
    task.before = before_of(all.streams[stream.id()], position);
    task.what = "an operation";
    return &task;
}

void end_operation() {
    const std::lock_guard<std::mutex> lock(check_mutex());
    --order().running;
}

std::uint64_t next_section_run() {
    const std::lock_guard<std::mutex> lock(check_mutex());
    return ++order().section_runs;
}

Task* begin_node(const Task& around, const Section& section, const ExecNode& node, std::uint64_t run) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    Task& task = order().tasks.emplace_back();
    task.context = around.context;
    task.stream = around.stream;
    task.position = around.position;
    task.before = around.before;
    task.around = &around;
    task.structure = section.structure;
    task.run = run;
    task.node = static_cast<std::uint32_t>(&node - section.nodes.data());
    task.what = node.kind != nullptr ? node.kind->name : "a child graph's end";
    return &task;
}

namespace {

bool comes_after(const Task& task, const SeenValue& seen) {
    if (task.stream == seen.stream) return task.position >= seen.position;
    return task.before != nullptr && holds(*task.before, seen.stream, seen.position);
}

}  // namespace

void note_value_written(std::uintptr_t address, const Task& by) {
    Order& all = order();
    auto before = std::make_shared<Clock>();
    if (by.before != nullptr) join(before.get(), *by.before);
    for (const SeenValue& seen : all.seen)
        if (comes_after(by, seen)) join(before.get(), *seen.before);
    (*before)[by.stream] = by.position;
    all.written[address] = joined(all.written[address], ClockRef(std::move(before)));
}

void note_value_seen(std::uintptr_t address, const Task& by) {
    const auto found = order().written.find(address);
    if (found != order().written.end()) order().seen.push_back({by.stream, by.position, found->second});
}

bool comes_before(const Task& a, const Task& b) {
    if (&a == &b) return true;
    if (a.stream == b.stream && a.position == b.position) return node_comes_before(&a, &b);
    if (a.stream == b.stream) return a.position < b.position;
    if (b.before != nullptr && holds(*b.before, a.stream, a.position)) return true;
    const std::vector<SeenValue>& values = order().seen;
    return std::any_of(values.begin(), values.end(), [&](const SeenValue& seen) {
        return comes_after(b, seen) && holds(*seen.before, a.stream, a.position);
    });
}

std::string Task::name() const {
    if (structure == nullptr) return what + " (stream " + std::to_string(stream) + ")";
    for (const GraphShape& shape : structure->shapes)
        for (std::size_t i = 0; i < shape.entries.size(); ++i)
            if (shape.entries[i].node == node) return what + " (node " + std::to_string(i) + " of its graph)";
    return what;
}

std::uint64_t order_epoch() {
    return order().epoch;
}

}  // namespace cgh
