// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Where driver objects live, and how a handle is checked.
//
// Every object type has one arena: a range of addresses reserved once, cut into slots of one size. A handle is the
// address of the object in its slot. So a value is a handle of type T exactly when it lies in T's range, at the
// start of a slot, and the slot says "live"; cast<T>() checks this in constant time, takes no lock, and never reads
// memory that the value might point to before it knows that it is ours. Slots are never unmapped.
//
// An object has two ends. kill(): the handle is dead, so that calls with it are errors. recycle(): the object is
// destroyed and its slot used again. Objects that work in flight still needs (streams, kernels, graphs) are killed
// first and recycled when their last user is done.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ARENA_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ARENA_HPP

#include <sys/mman.h>

#include <algorithm>
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

    // A live object, or nullptr when the machine or the range has no room left.
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
        const auto base = base_.load(std::memory_order_acquire);
        const auto offset = reinterpret_cast<std::uintptr_t>(handle) - base - kObjectOffset;
        if (base == 0 || offset >= committed_.load(std::memory_order_acquire) || offset % sizeof(Slot) != 0)
            return nullptr;
        auto* slot = reinterpret_cast<Slot*>(base + offset);
        if (slot->live.load(std::memory_order_acquire) != kLive) return nullptr;
        return std::launder(reinterpret_cast<T*>(slot->storage));
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
    static constexpr std::size_t kCommitSlots = std::max<std::size_t>(16, (std::size_t{1} << 16) / sizeof(Slot));

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
        if ((used_ + 1) * sizeof(Slot) > committed_.load(std::memory_order_relaxed) && !commit_more()) return nullptr;
        return reinterpret_cast<Slot*>(base_.load(std::memory_order_relaxed)) + used_++;
    }

    void give_back(Slot* slot) {
        std::lock_guard<std::mutex> lock(mutex_);
        slot->next = nullptr;
        (last_free_ != nullptr ? last_free_->next : first_free_) = slot;
        last_free_ = slot;
    }

    bool commit_more() {
        auto base = base_.load(std::memory_order_relaxed);
        if (base == 0) {
            void* range =
                mmap(nullptr, kSlots * sizeof(Slot), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (range == MAP_FAILED) return false;
            base = reinterpret_cast<std::uintptr_t>(range);
            base_.store(base, std::memory_order_release);
        }
        const std::size_t page = 4096;
        const std::size_t done = committed_.load(std::memory_order_relaxed);
        // Grow by an eighth, so that a million nodes need few system calls.
        std::size_t more = std::max(kCommitSlots * sizeof(Slot), done / 8);
        more = std::min((more + page - 1) / page * page, kSlots * sizeof(Slot) - done);
        if (more < sizeof(Slot)) return false;
        if (mprotect(reinterpret_cast<void*>(base + done), more, PROT_READ | PROT_WRITE) != 0) return false;
        committed_.store(done + more, std::memory_order_release);
        return true;
    }

    std::atomic<std::uintptr_t> base_{0};
    std::atomic<std::size_t> committed_{0};  // bytes, a multiple of the page size
    std::atomic<std::size_t> live_count_{0};
    std::mutex mutex_;  // guards the four below
    std::size_t used_ = 0;
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
