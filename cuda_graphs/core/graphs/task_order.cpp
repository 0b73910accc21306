// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "task_order.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace cg {

namespace {

constexpr std::size_t kBits = 64;

void set_bit(std::vector<std::uint64_t>& bits, std::size_t i) {
    if (bits.size() <= i / kBits) bits.resize(i / kBits + 1);
    bits[i / kBits] |= std::uint64_t{1} << (i % kBits);
}

bool has_bit(const std::vector<std::uint64_t>& bits, std::size_t i) noexcept {
    return i / kBits < bits.size() && (bits[i / kBits] >> (i % kBits) & 1) != 0;
}

void unite(std::vector<std::uint64_t>& bits, const std::vector<std::uint64_t>& more) {
    if (bits.size() < more.size()) bits.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) bits[i] |= more[i];
}

// Returns the first range of a map from starts to ranges that ends after the address.
template <class Map>
auto first_ending_after(Map& map, std::uint64_t address) {
    auto range = map.upper_bound(address);
    if (range != map.begin() && std::prev(range)->second.end > address) --range;
    return range;
}

}  // namespace

// ---- the accesses of one memory

void AccessedMemory::find_conflicts(const Span& span, bool writes, TaskOrder& order) const {
    const std::uint64_t end = span.end();
    for (auto it = first_ending_after(segments_, span.start); it != segments_.end() && it->first < end; ++it) {
        const auto& [start, segment] = *it;
        if (!span.axes.empty() && !overlap(span, Span(start, segment.end - start))) continue;
        if (segment.writer != kNoTask) order.meet(segment.writer);
        if (writes)
            for (const Task reader : segment.readers) order.meet(reader);
    }
    for (auto it = first_ending_after(zones_, span.start); it != zones_.end() && it->first < end; ++it)
        for (const Tile& tile : it->second.tiles)
            if ((writes || tile.writes) && overlap(span, tile.span)) order.meet(tile.task);
}

void AccessedMemory::add(const Span& span, bool writes, Task task, TaskOrder& order) {
    const std::uint64_t end = span.end();
    drop_tiles(span, writes, order);
    if (!span.axes.empty() || (writes && !is_superseded(span.start, end, task, order)))
        add_tile(span, writes, task, order);
    else if (writes)
        write(span.start, end, task, order);
    else
        read(span.start, end, task, order);
}

// Splits the segment that contains the address and does not begin there.
void AccessedMemory::split(std::uint64_t at, TaskOrder& order) {
    const auto it = first_ending_after(segments_, at);
    if (it == segments_.end() || it->first >= at) return;
    const Segment& rest = segments_.emplace_hint(std::next(it), at, it->second)->second;
    it->second.end = at;
    if (rest.writer != kNoTask) order.hold(rest.writer);
    for (const Task reader : rest.readers) order.hold(reader);
}

void AccessedMemory::release(const Segment& segment, TaskOrder& order) {
    if (segment.writer != kNoTask) order.release(segment.writer);
    for (const Task reader : segment.readers) order.release(reader);
}

bool AccessedMemory::is_superseded(std::uint64_t start, std::uint64_t end, Task by, const TaskOrder& order) const {
    const auto is_before = [&](Task task) { return task == kNoTask || task == by || order.is_before_new(task); };
    for (auto it = first_ending_after(segments_, start); it != segments_.end() && it->first < end; ++it) {
        const Segment& segment = it->second;
        if (!is_before(segment.writer)) return false;
        if (!std::all_of(segment.readers.begin(), segment.readers.end(), is_before)) return false;
    }
    return true;
}

void AccessedMemory::write(std::uint64_t start, std::uint64_t end, Task task, TaskOrder& order) {
    order.hold(task);
    auto it = first_ending_after(segments_, start);
    if (it != segments_.end() && it->first == start && it->second.end == end) {
        release(it->second, order);
        it->second.writer = task;
        it->second.readers.clear();
        return;
    }
    split(start, order);
    split(end, order);
    it = segments_.lower_bound(start);
    while (it != segments_.end() && it->first < end) {
        release(it->second, order);
        it = segments_.erase(it);
    }
    segments_.emplace_hint(it, start, Segment{end, task});
}

void AccessedMemory::read(std::uint64_t start, std::uint64_t end, Task task, TaskOrder& order) {
    split(start, order);
    split(end, order);
    auto it = segments_.lower_bound(start);
    while (start < end) {
        if (it == segments_.end() || it->first > start) {
            const std::uint64_t gap_end = it == segments_.end() ? end : std::min(end, it->first);
            it = segments_.emplace_hint(it, start, Segment{gap_end});
        }
        read(it->second, task, order);
        start = it->second.end;
        ++it;
    }
}

void AccessedMemory::read(Segment& segment, Task task, TaskOrder& order) {
    std::vector<Task>& readers = segment.readers;
    if (segment.writer == task || (!readers.empty() && readers.back() == task)) return;
    if (readers.size() >= segment.readers_to_review) {
        const auto is_over = [&](Task reader) {
            const bool found = order.is_before_new(reader);
            if (found) order.release(reader);
            return found;
        };
        readers.erase(std::remove_if(readers.begin(), readers.end(), is_over), readers.end());
        segment.readers_to_review = std::max(std::size_t{8}, 2 * readers.size());
    }
    order.hold(task);
    readers.push_back(task);
}

// Drops the tiles that an access supersedes. A read supersedes reads of tasks before it.
void AccessedMemory::drop_tiles(const Span& span, bool writes, TaskOrder& order) {
    const std::uint64_t end = span.end();
    const auto covers = [&](const Span& tile) {
        return span.axes.empty() ? span.start <= tile.start && tile.end() <= end : span == tile;
    };
    for (auto it = first_ending_after(zones_, span.start); it != zones_.end() && it->first < end;) {
        std::vector<Tile>& tiles = it->second.tiles;
        const auto is_over = [&](const Tile& tile) {
            const bool found = (writes || !tile.writes) && order.is_before_new(tile.task) && covers(tile.span);
            if (found) order.release(tile.task);
            return found;
        };
        tiles.erase(std::remove_if(tiles.begin(), tiles.end(), is_over), tiles.end());
        it = tiles.empty() ? zones_.erase(it) : std::next(it);
    }
}

void AccessedMemory::add_tile(const Span& span, bool writes, Task task, TaskOrder& order) {
    order.hold(task);
    merge_zones(span.start, span.end()).tiles.push_back({span, writes, task});
}

// Returns the zone that contains a range. Merges all zones that overlap it.
AccessedMemory::Zone& AccessedMemory::merge_zones(std::uint64_t start, std::uint64_t end) {
    auto it = first_ending_after(zones_, start);
    if (it != zones_.end() && it->first <= start && end <= it->second.end) return it->second;
    Zone merged{end, {}};
    while (it != zones_.end() && it->first < end) {
        start = std::min(start, it->first);
        merged.end = std::max(merged.end, it->second.end);
        std::move(it->second.tiles.begin(), it->second.tiles.end(), std::back_inserter(merged.tiles));
        it = zones_.erase(it);
    }
    return zones_.emplace(start, std::move(merged)).first->second;
}

void AccessedMemory::clear(TaskOrder& order) {
    for (const auto& [start, segment] : segments_) release(segment, order);
    for (const auto& [start, zone] : zones_)
        for (const Tile& tile : zone.tiles) order.release(tile.task);
    segments_.clear();
    zones_.clear();
}

// ---- the order

AccessedMemory& TaskOrder::memory_of(const Access& access) {
    if (access.what == Accessed::kEvent) return events_;
    if (access.what == Accessed::kCondition) return conditions_;
    return access.span.parameter.empty() ? addresses_ : parameters_[access.span.parameter];
}

void TaskOrder::meet(Task task) {
    Slot& slot = slots_[slot_of_[task]];
    if (slot.found_by == finds_) return;
    slot.found_by = finds_;
    met_.push_back(task);
}

bool TaskOrder::is_before_new(Task task) const noexcept {
    return has_bit(before_, slot_of_[task]);
}

// Notes that the new task follows a task that is live.
void TaskOrder::follow(Task task) {
    const std::uint32_t slot = slot_of_[task];
    unite(before_, slots_[slot].before);
    set_bit(before_, slot);
}

const std::vector<Task>& TaskOrder::find(const NodeAccesses& accesses, const std::vector<Task>& given) {
    sweep();
    ++finds_;
    met_.clear();
    found_.clear();
    before_.clear();
    given_ = given;
    if (accesses.is_barrier) {
        for (const Slot& slot : slots_)
            if (slot.task != kNoTask && !slot.has_successor) meet(slot.task);
    } else if (!accesses.all.empty()) {
        for (const Task barrier : barriers_) meet(barrier);
        for (const Access& access : accesses.all)
            memory_of(access).find_conflicts(access.span, may_write(access.mode), *this);
    }
    for (const Task task : given_)
        if (slot_of_[task] != kNoSlot) follow(task);
    // A task follows only tasks before it, so the last one is surely needed.
    std::sort(met_.begin(), met_.end(), std::greater<>());
    for (const Task task : met_) {
        if (is_before_new(task)) continue;
        follow(task);
        found_.push_back(task);
    }
    std::reverse(found_.begin(), found_.end());
    return found_;
}

Task TaskOrder::add(const NodeAccesses& accesses) {
    const auto task = static_cast<Task>(slot_of_.size());
    const std::uint32_t slot = take_slot();
    slot_of_.push_back(slot);
    slots_[slot].task = task;
    slots_[slot].uses = 1;  // until it has a successor
    slots_[slot].has_successor = false;
    slots_[slot].before = before_;
    if (accesses.is_barrier)
        supersede_all(task);
    else
        for (const Access& access : accesses.all)
            memory_of(access).add(access.span, may_write(access.mode), task, *this);
    for (const Task each : found_) add_successor(each);
    for (const Task each : given_) add_successor(each);
    return task;
}

void TaskOrder::supersede_all(Task task) {
    const auto is_before = [&](const Slot& slot) {
        return slot.task == kNoTask || slot.task == task || is_before_new(slot.task);
    };
    const auto is_over = [&](Task barrier) {
        const bool found = is_before_new(barrier);
        if (found) release(barrier);
        return found;
    };
    if (std::all_of(slots_.begin(), slots_.end(), is_before)) {
        for (AccessedMemory* memory : {&addresses_, &events_, &conditions_}) memory->clear(*this);
        for (auto& [name, memory] : parameters_) memory.clear(*this);
    }
    barriers_.erase(std::remove_if(barriers_.begin(), barriers_.end(), is_over), barriers_.end());
    barriers_.push_back(task);
    hold(task);
}

void TaskOrder::add_successor(Task task) {
    if (slot_of_[task] == kNoSlot) return;
    Slot& slot = slots_[slot_of_[task]];
    if (slot.has_successor) return;
    slot.has_successor = true;
    release(task);
}

void TaskOrder::release(Task task) {
    const std::uint32_t number = slot_of_[task];
    Slot& slot = slots_[number];
    if (--slot.uses != 0) return;
    slot.task = kNoTask;
    slot.before.clear();
    slot_of_[task] = kNoSlot;
    retired_.push_back(number);
}

std::uint32_t TaskOrder::take_slot() {
    if (free_.empty()) {
        slots_.emplace_back();
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
}

// Clears the bits of retired slots, many at a time.
void TaskOrder::sweep() {
    const std::size_t live = slots_.size() - free_.size() - retired_.size();
    if (retired_.size() < kBits + live / 4) return;
    Bits gone;
    for (const std::uint32_t slot : retired_) set_bit(gone, slot);
    for (Slot& slot : slots_)
        for (std::size_t i = 0; i < std::min(slot.before.size(), gone.size()); ++i) slot.before[i] &= ~gone[i];
    free_.insert(free_.end(), retired_.begin(), retired_.end());
    retired_.clear();
}

}  // namespace cg
