// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "shadow_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <tuple>

#include "settings.hpp"

namespace cgh {
namespace {

constexpr std::size_t kMostHeld = std::size_t{256} << 20;  // bytes
constexpr std::size_t kMostHeldBlocks = 4096;
constexpr int kPoison = 0xff;  // a NaN of every floating point type, and -1

const char* origin_of(const Allocation& allocation) {
    switch (allocation.kind) {
        case MemoryKind::kDevice:
            return "cuMemAlloc";
        case MemoryKind::kPool:
            return "cuMemAllocAsync";
        case MemoryKind::kGraph:
            return "a graph's allocation node";
        case MemoryKind::kGlobal:
            return "a variable of a module";
        case MemoryKind::kManaged:
            return "cuMemAllocManaged";
        case MemoryKind::kPinned:
            return "cuMemHostAlloc";
        case MemoryKind::kRegistered:
            return "cuMemHostRegister";
        case MemoryKind::kMapped:
            return "cuMemMap";
        case MemoryKind::kOpened:
            return "cuIpcOpenMemHandle";
    }
    return "";
}

// Returns the pattern of the 8 bytes at `address`, a multiple of 8: the finalizer of SplitMix64
// (hostdriver/sanitizer/random_order.cpp).
std::uint64_t pattern_at(std::uintptr_t address) {
    std::uint64_t z = address * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    return z ^ (z >> 27);
}

// Fills memory with the pattern. Memory begins at a multiple of 8. Remaining bytes at its end have no pattern, so they
// count as written.
void show_pattern(std::uintptr_t base, std::size_t size) {
    for (std::uintptr_t at = base; at + sizeof(std::uint64_t) <= base + size; at += sizeof(std::uint64_t)) {
        const std::uint64_t pattern = pattern_at(at);
        std::memcpy(reinterpret_cast<void*>(at), &pattern, sizeof pattern);
    }
}

bool shows_pattern(std::uintptr_t address) {
    const std::uintptr_t at = address / sizeof(std::uint64_t) * sizeof(std::uint64_t);  // never crosses a page
    std::uint64_t found = 0;
    std::memcpy(&found, reinterpret_cast<const void*>(at), sizeof found);
    return found == pattern_at(at);
}

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    start_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start_ == MAP_FAILED) throw std::bad_alloc();
}

Pages::~Pages() {
    if (start_ != nullptr) munmap(start_, bytes_);
}

ShadowMemory::ShadowMemory(std::uintptr_t its_base, std::size_t its_size, const char* its_origin, bool host_writes,
                           bool ours)
    : base(its_base),
      size(its_size),
      origin(its_origin),
      host_may_write(host_writes),
      is_ours(ours),
      touched(settings.race ? its_size * sizeof(ByteAccesses) : 0),
      written(settings.init && (!host_writes || ours) ? its_size : 0) {}

bool ShadowMemory::is_written(std::size_t offset) {
    bool* const known = written.as<bool>();
    if (known == nullptr || may_be_written || known[offset]) return true;
    if (!host_may_write || shows_pattern(base + offset)) return false;
    return known[offset] = true;
}

bool ShadowMemory::any_written(std::size_t offset, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
        if (is_written(offset + i)) return true;
    return false;
}

ShadowMap& ShadowMap::get() {
    static auto* const map = new ShadowMap;  // never destroyed: work may run until the process ends
    return *map;
}

void ShadowMap::add(const Allocation& allocation) {
    // Writes of other processes are as invisible to the checks as writes of the host.
    const bool host_may_write = allocation.on_host() || allocation.is_managed() ||
                                allocation.kind == MemoryKind::kGlobal || allocation.kind == MemoryKind::kMapped ||
                                allocation.sharing != Sharing::kNone;
    const bool is_ours = allocation.kind != MemoryKind::kGlobal && allocation.kind != MemoryKind::kMapped &&
                         allocation.kind != MemoryKind::kRegistered && allocation.sharing != Sharing::kImported;
    add(allocation.base, allocation.size, origin_of(allocation), host_may_write, is_ours);
}

void ShadowMap::add(std::uintptr_t base, std::size_t size, const char* origin, bool host_may_write, bool is_ours) {
    remove(base, size);
    if (settings.init && !host_may_write) std::memset(reinterpret_cast<void*>(base), kPoison, size);
    if (settings.init && host_may_write && is_ours) show_pattern(base, size);
    all_.emplace(std::piecewise_construct, std::forward_as_tuple(base),
                 std::forward_as_tuple(base, size, origin, host_may_write, is_ours));
}

void ShadowMap::mark_freed(std::uintptr_t base, std::string by) {
    const auto found = all_.find(base);
    if (found == all_.end() || !found->second.live) return;
    ShadowMemory& memory = found->second;
    memory.live = false;
    memory.freed_by = std::move(by);
    if (memory.is_ours) std::memset(reinterpret_cast<void*>(base), kPoison, memory.size);
}

void ShadowMap::remove(std::uintptr_t base, std::size_t size) {
    last_ = nullptr;
    auto at = all_.upper_bound(base);
    if (at != all_.begin() && std::prev(at)->second.holds(base, 1)) --at;
    while (at != all_.end() && at->first < base + size) at = all_.erase(at);
}

void ShadowMap::mark_all_written() {
    for (auto& [base, memory] : all_) memory.may_be_written = true;
}

ShadowMemory* ShadowMap::at_or_before(std::uintptr_t address) {
    if (last_ != nullptr && address - last_->base < last_->size) return last_;
    const auto after = all_.upper_bound(address);
    last_ = after != all_.begin() ? &std::prev(after)->second : nullptr;
    return last_;
}

ShadowMemory* ShadowMap::holding(std::uintptr_t address) {
    ShadowMemory* const memory = at_or_before(address);
    return memory != nullptr && memory->live && memory->holds(address, 1) ? memory : nullptr;
}

void ShadowMap::hold_back(Block block, std::vector<Block>* too_much) {
    held_.push_back(block);
    held_bytes_ += block.bytes;
    while (held_bytes_ > kMostHeld || held_.size() > kMostHeldBlocks) {
        too_much->push_back(held_.front());
        held_bytes_ -= held_.front().bytes;
        held_.pop_front();
    }
}

}  // namespace cgh
