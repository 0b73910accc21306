// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/condition.hpp"

#include <mutex>
#include <vector>

#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/loader/services.hpp"

namespace cgh {
namespace {

constexpr uint32_t kChunkCells = 1024;
constexpr uint32_t kMaxChunks = 16384;  // 16 million live handles

struct Slab {
    std::atomic<ConditionCell*> chunks[kMaxChunks] = {};

    std::mutex mutex;
    std::vector<uint32_t> free;  // guarded by mutex
    uint32_t used = 0;           // guarded by mutex

    ConditionCell* cell(uint32_t index) {
        if (index >= kChunkCells * kMaxChunks) return nullptr;
        ConditionCell* chunk = chunks[index / kChunkCells].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + index % kChunkCells;
    }
};

// Never destroyed, because a kernel that runs while the process exits may set a condition.
Slab& slab() {
    static Slab* const instance = new Slab;
    return *instance;
}

uint32_t take_index() {
    Slab& s = slab();
    std::lock_guard<std::mutex> lock(s.mutex);
    if (!s.free.empty()) {
        const uint32_t index = s.free.back();
        s.free.pop_back();
        return index;
    }
    if (s.used == kChunkCells * kMaxChunks) return UINT32_MAX;
    const uint32_t index = s.used++;
    if (index % kChunkCells == 0) {
        s.chunks[index / kChunkCells].store(new ConditionCell[kChunkCells], std::memory_order_release);
    }
    return index;
}

uint32_t index_of(CUgraphConditionalHandle handle) {
    return static_cast<uint32_t>(handle) - 1;
}
uint32_t generation_of(CUgraphConditionalHandle handle) {
    return static_cast<uint32_t>(handle >> 32);
}

}  // namespace

std::shared_ptr<Condition> Condition::create(CUcontext context, uint32_t default_value, bool assigns_default,
                                             uint64_t graph_uid) {
    // No kernel can set a handle before the first one exists, so the hook is set here.
    static const bool hooked = (set_conditional_hook(&set_condition), true);
    static_cast<void>(hooked);
    const uint32_t index = take_index();
    if (index == UINT32_MAX) return nullptr;
    ConditionCell* cell = slab().cell(index);
    // Without a default the value is undefined until a kernel sets it (cuda.h); zero ends loops.
    cell->value.store(0, std::memory_order_relaxed);
    const uint32_t generation = cell->generation.load(std::memory_order_relaxed) + 1;
    cell->generation.store(generation, std::memory_order_release);
    const auto handle = static_cast<CUgraphConditionalHandle>(uint64_t{generation} << 32 | (uint64_t{index} + 1));
    std::shared_ptr<Condition> condition(
        new Condition(cell, handle, context, default_value, assigns_default, graph_uid));
    std::lock_guard<std::mutex> lock(slab().mutex);
    cell->condition = condition;
    return condition;
}

Condition::~Condition() {
    cell_->generation.fetch_add(1, std::memory_order_release);
    Slab& s = slab();
    std::lock_guard<std::mutex> lock(s.mutex);
    s.free.push_back(index_of(handle_));
}

std::shared_ptr<Condition> Condition::find(CUgraphConditionalHandle handle) {
    ConditionCell* cell = slab().cell(index_of(handle));
    if (cell == nullptr || generation_of(handle) % 2 == 0) return nullptr;
    std::lock_guard<std::mutex> lock(slab().mutex);
    return cell->generation.load() == generation_of(handle) ? cell->condition.lock() : nullptr;
}

bool set_condition(CUgraphConditionalHandle handle, uint32_t value) {
    if (thread_state.run_context == nullptr) return false;
    ConditionCell* cell = slab().cell(index_of(handle));
    if (cell == nullptr || generation_of(handle) % 2 == 0) return false;
    if (cell->generation.load(std::memory_order_acquire) != generation_of(handle)) return false;
    cell->value.store(value, std::memory_order_release);
    return true;
}

}  // namespace cgh
