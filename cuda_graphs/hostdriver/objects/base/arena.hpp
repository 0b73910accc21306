// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for driver objects, and the check of handles.
//
// Each object type has one arena: a few address ranges, divided into slots of equal size. A handle is the address of
// the object in its slot. A value is a handle of type T if it lies in one of T's ranges, at the start of a slot, and
// the slot says "live". cast<T>() checks this in constant time and without a lock. It reads no memory at the value
// before it knows that the arena owns that memory. Slots are never unmapped.
//
// An arena reserves its first range for its first object. When all ranges are full, it reserves another one, eight
// times as large, or smaller near the limit of the address space (ulimit -v). Most programs need one range of each
// type.
//
// The life of an object ends in two steps. kill() ends the handle: calls with it are errors from then on. recycle()
// destroys the object and frees its slot. Objects that work in flight still uses (streams, kernels, graphs) are killed
// first and recycled when their last user is done.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_ARENA_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_ARENA_HPP

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace cgh {

template <class T>
class Arena {
  public:
    constexpr Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Creates a live object. Returns nullptr if the machine's memory or the process's address space is exhausted.
    template <class... Args>
    T* create(Args&&... args) {
        Slot* slot = take_slot();
        if (slot == nullptr) return nullptr;
        T* object;
        try {
            object = new (slot->storage) T(std::forward<Args>(args)...);
        } catch (const std::bad_alloc&) {
            give_back(slot);
            return nullptr;
        }
        live_count_.fetch_add(1, std::memory_order_relaxed);
        slot->live.store(kLive, std::memory_order_release);
        return object;
    }

    // Ends the handle. Returns false if the handle was already dead, so only one of two threads that destroy it
    // succeeds.
    bool kill(T* object) {
        if (slot_of(object)->live.exchange(kDead, std::memory_order_acq_rel) != kLive) return false;
        live_count_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

    // hide() ends the handle and show() revives it, for objects that stay in memory (primary contexts).
    void hide(T* object) { kill(object); }
    void show(T* object) {
        if (slot_of(object)->live.exchange(kLive, std::memory_order_acq_rel) != kLive)
            live_count_.fetch_add(1, std::memory_order_relaxed);
    }

    // Destroys the object and frees its slot.
    void recycle(T* object) {
        kill(object);
        object->~T();
        give_back(slot_of(object));
    }

    // Returns the object behind a handle, or nullptr if the value is null, not a handle of this type, or dead.
    T* cast(const void* handle) const {
        const auto address = reinterpret_cast<std::uintptr_t>(handle);
        return ranges_[0].has(address) ? ranges_[0].object(address) : cast_beyond_first(address);
    }

    // Returns the number of live handles, for leak checks.
    std::size_t live_count() const { return live_count_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t kLive = 0x4c495645;  // "LIVE"
    static constexpr std::uint32_t kDead = 0;           // also the content of fresh pages

    struct alignas(std::max(alignof(T), alignof(void*))) Slot {
        std::atomic<std::uint32_t> live;
        Slot* next;  // next slot in the free list
        alignas(T) std::byte storage[sizeof(T)];
    };
    static constexpr std::size_t kObjectOffset = offsetof(Slot, storage);
    static constexpr std::size_t kSlots = std::size_t{1} << 24;  // 16 M objects per type
    static constexpr std::size_t kPage = 4096;
    static constexpr std::size_t kCommitBytes = std::max(16 * sizeof(Slot), std::size_t{1} << 16);
    static constexpr std::size_t kFirstBytes = std::max(kCommitBytes, std::size_t{4} << 20);
    static constexpr std::size_t kGrowth = 8;  // size of a range relative to the one before
    static constexpr std::size_t kMostRanges = 16;

    // `base` is a multiple of the page size. It is written once, before any bytes are committed.
    struct Range {
        std::atomic<std::uintptr_t> base{0};
        std::atomic<std::size_t> committed{0};

        std::uintptr_t offset(std::uintptr_t handle) const {
            return handle - base.load(std::memory_order_acquire) - kObjectOffset;
        }
        bool has(std::uintptr_t handle) const { return offset(handle) < committed.load(std::memory_order_acquire); }
        // Returns the object behind a handle that lies in the range, or nullptr if it is not a live handle.
        T* object(std::uintptr_t handle) const {
            if (offset(handle) % sizeof(Slot) != 0) return nullptr;
            auto* slot = reinterpret_cast<Slot*>(handle - kObjectOffset);
            if (slot->live.load(std::memory_order_acquire) != kLive) return nullptr;
            return std::launder(reinterpret_cast<T*>(slot->storage));
        }
    };

    [[gnu::noinline]] T* cast_beyond_first(std::uintptr_t handle) const {
        for (const Range& range : ranges_)
            if (range.has(handle)) return range.object(handle);
        return nullptr;
    }

    static Slot* slot_of(T* object) {
        return reinterpret_cast<Slot*>(reinterpret_cast<std::byte*>(object) - kObjectOffset);
    }

    // Returns a free slot. Slots are reused in the order in which they were freed, so a handle stays dead as long as
    // possible.
    Slot* take_slot() {
        std::lock_guard<std::mutex> lock(mutex_);
        if (first_free_ != nullptr) {
            Slot* slot = first_free_;
            first_free_ = slot->next;
            if (first_free_ == nullptr) last_free_ = nullptr;
            return slot;
        }
        if (used_ == capacity_ && !reserve_more()) return nullptr;
        Range& range = ranges_[made_ - 1];
        if ((used_ + 1) * sizeof(Slot) > range.committed.load(std::memory_order_relaxed) && !commit_more(range))
            return nullptr;
        return reinterpret_cast<Slot*>(range.base.load(std::memory_order_relaxed)) + used_++;
    }

    void give_back(Slot* slot) {
        std::lock_guard<std::mutex> lock(mutex_);
        slot->next = nullptr;
        (last_free_ != nullptr ? last_free_->next : first_free_) = slot;
        last_free_ = slot;
    }

    // Reserves another range, eight times as large as the last one, or smaller if address space is short.
    bool reserve_more() {
        if (made_ == kMostRanges || total_ >= kSlots) return false;
        std::size_t slots = made_ == 0 ? kFirstBytes / sizeof(Slot) : capacity_ * kGrowth;
        for (slots = std::min(slots, kSlots - total_); slots * sizeof(Slot) >= kCommitBytes; slots /= kGrowth) {
            const std::size_t bytes = whole_pages(slots * sizeof(Slot));
            void* found = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (found == MAP_FAILED) continue;
            ranges_[made_++].base.store(reinterpret_cast<std::uintptr_t>(found), std::memory_order_release);
            capacity_ = slots;
            total_ += slots;
            used_ = 0;
            return true;
        }
        return false;
    }

    // Commits more of a range: an eighth of the committed size, so a million nodes need few system calls.
    bool commit_more(Range& range) {
        const std::size_t done = range.committed.load(std::memory_order_relaxed);
        const std::size_t left = whole_pages(capacity_ * sizeof(Slot)) - done;
        const std::size_t more =
            std::min(whole_pages(std::max(kCommitBytes, (total_ - capacity_) * sizeof(Slot) / 8 + done / 8)), left);
        void* const start = reinterpret_cast<void*>(range.base.load(std::memory_order_relaxed) + done);
        if (mprotect(start, more, PROT_READ | PROT_WRITE) != 0) return false;
        range.committed.store(done + more, std::memory_order_release);
        return true;
    }

    static constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

    std::array<Range, kMostRanges> ranges_{};
    std::atomic<std::size_t> live_count_{0};
    std::mutex mutex_;          // guards the fields below
    std::size_t made_ = 0;      // number of ranges
    std::size_t total_ = 0;     // slots of all ranges
    std::size_t capacity_ = 0;  // slots of the last range
    std::size_t used_ = 0;      // slots of the last range that ever held an object
    Slot* first_free_ = nullptr;
    Slot* last_free_ = nullptr;
};

// The arena of a type. It is constant-initialised and never destroyed, so it can be used at any time of the process.
template <class T>
inline Arena<T> arena;

template <class T>
T* cast(const void* handle) {
    return arena<T>.cast(handle);
}

}  // namespace cgh

#endif
