// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// From a raw value that the driver gives back to the handle that we made of it, so that metadata and ownership are
// never lost. Entries are weak. A box removes its entry before it destroys the resource, so that a raw value which
// the driver uses again never resolves to a dying box; and only a dead entry is ever removed, so that the new owner
// of a raw value keeps its entry. No driver call and no Python happens under the mutex. A forked child finds nothing.
#ifndef CUDA_GRAPHS_HANDLES_REGISTRY_HPP
#define CUDA_GRAPHS_HANDLES_REGISTRY_HPP

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "lock.hpp"

namespace cg {

template <class Raw>
class Registry {
  public:
    using Handle = std::shared_ptr<const Raw>;

    // The live handle of a raw value, or an empty one.
    Handle find(Raw raw) {
        const Lock lock(mutex_);
        return lock ? find_locked(raw) : Handle{};
    }

    // Enters a handle; a live one of the same raw value is replaced, since its resource cannot exist any more.
    void add(const Handle& handle) {
        const Lock lock(mutex_);
        if (lock) entries_[*handle] = handle;
    }

    // The live handle of a raw value, or what `make()` returns, entered. `make` runs under the mutex: it may
    // allocate, and no more than that.
    template <class Make>
    Handle get_or_create(Raw raw, Make make) {
        const Lock lock(mutex_);
        if (!lock) return make();
        // Room first: were there none for what was made, its box would look for the entry under the mutex.
        std::weak_ptr<const Raw>& entry = entries_[raw];
        if (Handle found = entry.lock()) return found;
        Handle made = make();
        entry = made;
        return made;
    }

    // For a box's destructor, before it destroys the resource.
    void remove(Raw raw) noexcept {
        const Lock lock(mutex_);
        if (!lock) return;
        const auto entry = entries_.find(raw);
        if (entry != entries_.end() && entry->second.expired()) entries_.erase(entry);
    }

    std::size_t size() {
        const Lock lock(mutex_);
        return lock ? entries_.size() : 0;
    }

  private:
    Handle find_locked(Raw raw) {
        const auto entry = entries_.find(raw);
        if (entry == entries_.end()) return {};
        Handle handle = entry->second.lock();
        if (!handle) entries_.erase(entry);
        return handle;
    }

    std::mutex mutex_;
    std::unordered_map<Raw, std::weak_ptr<const Raw>> entries_;  // guarded by mutex_
};

// The registry of one kind of raw value. Never destroyed: deleters may run after static destructors.
template <class Raw>
Registry<Raw>& registry_of_process() {
    static auto& registry = *new Registry<Raw>;
    return registry;
}

}  // namespace cg

#endif
