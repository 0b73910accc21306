// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "record_memory.hpp"

#include <cstddef>
#include <mutex>
#include <new>

#include "core/handles/lock.hpp"

namespace cg {

namespace {

constexpr std::size_t kAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
constexpr std::size_t kLimit = std::size_t{1} << 20;  // bytes of free blocks

// What a free block begins with. Blocks of the same size are in use again and again, since pages and the memory of
// records grow in fixed steps.
struct FreeBlock {
    FreeBlock* next;
    std::size_t size;
};

class RecordMemory final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        if (alignment > kAlignment) return ::operator new(size, std::align_val_t(alignment));
        void* const kept = take(size);
        return kept != nullptr ? kept : ::operator new(size);
    }

    void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
        if (alignment > kAlignment) return ::operator delete(block, std::align_val_t(alignment));
        if (!keep(block, size)) ::operator delete(block);
    }

    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    void* take(std::size_t size) {
        const Lock lock(mutex_);
        if (!lock) return nullptr;
        for (FreeBlock** at = &first_; *at != nullptr; at = &(*at)->next) {
            FreeBlock* const block = *at;
            if (block->size != size) continue;
            *at = block->next;
            total_ -= size;
            return block;
        }
        return nullptr;
    }

    bool keep(void* block, std::size_t size) {
        const Lock lock(mutex_);
        if (!lock || size < sizeof(FreeBlock) || size > kLimit - total_) return false;
        first_ = new (block) FreeBlock{first_, size};
        total_ += size;
        return true;
    }

    std::mutex mutex_;
    FreeBlock* first_ = nullptr;
    std::size_t total_ = 0;
};

}  // namespace

std::pmr::memory_resource& record_memory() {
    static auto& memory = *new RecordMemory;  // never destroyed: graphs may end later than static objects
    return memory;
}

}  // namespace cg
