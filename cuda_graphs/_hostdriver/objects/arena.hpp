// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Where driver objects live, and how a handle is checked.
//
// Every object type has one arena: a few ranges of addresses, cut into slots of one size. A handle is the address of
// the object in its slot. So a value is a handle of type T exactly when it lies in one of T's ranges, at the start of a
// slot, and the slot says "live"; cast<T>() checks this in constant time, takes no lock, and never reads memory that
// the value might point to before it knows that it is ours. Slots are never unmapped.
//
// An arena reserves its first range with its first object, and another one, eight times as large, when all are full.
// Most programs need one range of each type. At the limit of the process's addresses (ulimit -v) the step is smaller.
//
// An object has two ends. kill(): the handle is dead, so that calls with it are errors. recycle(): the object is
// destroyed and its slot used again. Objects that work in flight still needs (streams, kernels, graphs) are killed
// first and recycled when their last user is done.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ARENA_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ARENA_HPP

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

    // A live object, or nullptr when the machine or the process's addresses have no room left.
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

    // The handle is dead from now on. False when it was dead already: of two threads that destroy one handle, one
    // is told that it came too late.
    bool kill(T* object) {
        if (slot_of(object)->live.exchange(kDead, std::memory_order_acq_rel) != kLive) return false;
        live_count_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

    // For objects that come and go as handles but stay in memory (primary contexts).
    void hide(T* object) { kill(object); }
    void show(T* object) {
        if (slot_of(object)->live.exchange(kLive, std::memory_order_acq_rel) != kLive)
            live_count_.fetch_add(1, std::memory_order_relaxed);
    }

    // Destroys the object and gives its slot back.
    void recycle(T* object) {
        kill(object);
        object->~T();
        give_back(slot_of(object));
    }

    // The object behind a handle, or nullptr when the value is null, foreign or dead.
    T* cast(const void* handle) const {
        const auto address = reinterpret_cast<std::uintptr_t>(handle);
        return ranges_[0].has(address) ? ranges_[0].object(address) : cast_beyond_first(address);
    }

    // How many handles are live; for leak checks.
    std::size_t live_count() const { return live_count_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t kLive = 0x4c495645;  // "LIVE"
    static constexpr std::uint32_t kDead = 0;           // also what fresh pages hold

    struct alignas(std::max(alignof(T), alignof(void*))) Slot {
        std::atomic<std::uint32_t> live;
        Slot* next;  // in the free list
        alignas(T) std::byte storage[sizeof(T)];
    };
    static constexpr std::size_t kObjectOffset = offsetof(Slot, storage);
    static constexpr std::size_t kSlots = std::size_t{1} << 24;  // 16 M objects of a type
    static constexpr std::size_t kPage = 4096;
    static constexpr std::size_t kCommitBytes = std::max(16 * sizeof(Slot), std::size_t{1} << 16);
    static constexpr std::size_t kFirstBytes = std::max(kCommitBytes, std::size_t{4} << 20);
    static constexpr std::size_t kGrowth = 8;  // the next range is so many times the one before
    static constexpr std::size_t kMostRanges = 16;

    // A base is written once, before the bytes that are committed behind it: a multiple of the page size.
    struct Range {
        std::atomic<std::uintptr_t> base{0};
        std::atomic<std::size_t> committed{0};

        std::uintptr_t offset(std::uintptr_t handle) const {
            return handle - base.load(std::memory_order_acquire) - kObjectOffset;
        }
        bool has(std::uintptr_t handle) const { return offset(handle) < committed.load(std::memory_order_acquire); }
        // The live object behind a handle that lies in the range.
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

    // First freed, first used again, so that a handle stays dead for as long as possible.
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

    // Reserves another range, eight times as large as the last one, or less where addresses are short.
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

    // More of a range can be used: an eighth of what there is, so that a million nodes need few system calls.
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
    std::mutex mutex_;          // guards all below
    std::size_t made_ = 0;      // ranges
    std::size_t total_ = 0;     // slots of all of them
    std::size_t capacity_ = 0;  // slots of the last one
    std::size_t used_ = 0;      // of these, which ever held an object
    Slot* first_free_ = nullptr;
    Slot* last_free_ = nullptr;
};

// One a type; constant-initialised and never destroyed, so that it can be used at any time of the process.
template <class T>
inline Arena<T> arena;

template <class T>
T* cast(const void* handle) {
    return arena<T>.cast(handle);
}

}  // namespace cgh

#endif
