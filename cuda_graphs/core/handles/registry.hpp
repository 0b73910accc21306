// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps a raw value that the driver returns to the handle that this library made of it, so that metadata and ownership
// are never lost. Entries are weak. A box removes its entry before it destroys the resource, so that a raw value that
// the driver reuses never resolves to a dying box. Only a dead entry is ever removed, so that the new owner of a raw
// value keeps its entry. No driver call and no Python runs under the mutex. A forked child finds nothing.
#ifndef CUDA_GRAPHS_CORE_HANDLES_REGISTRY_HPP
#define CUDA_GRAPHS_CORE_HANDLES_REGISTRY_HPP

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lock.hpp"

namespace cg {

template <class Raw>
class Registry {
  public:
    using Handle = std::shared_ptr<const Raw>;

    // Returns the live handle of a raw value, or an empty handle.
    Handle find(Raw raw) {
        const Lock lock(mutex_);
        return lock ? find_locked(raw) : Handle{};
    }

    // Adds a handle. Replaces a live handle of the same raw value, since its resource cannot exist any more.
    void add(const Handle& handle) {
        const Lock lock(mutex_);
        if (lock) entries_[*handle] = handle;
    }

    // Returns the live handle of a raw value, or adds and returns the result of `make()`. `make` runs under the mutex
    // and may only allocate.
    template <class Make>
    Handle get_or_create(Raw raw, Make make) {
        const Lock lock(mutex_);
        if (!lock) return make();
        // The entry is created first: if its allocation failed after make(), the new box would call remove() under the
        // mutex.
        std::weak_ptr<const Raw>& entry = entries_[raw];
        if (Handle found = entry.lock()) return found;
        Handle made = make();
        entry = made;
        return made;
    }

    // Removes a dead entry. Called by a box's destructor before it destroys the resource.
    void remove(Raw raw) noexcept {
        const Lock lock(mutex_);
        if (!lock) return;
        const auto entry = entries_.find(raw);
        if (entry != entries_.end() && entry->second.expired()) entries_.erase(entry);
    }

    // Lists the live handles.
    std::vector<Handle> all() {
        std::vector<Handle> found;
        const Lock lock(mutex_);
        if (!lock) return found;
        for (const auto& [raw, entry] : entries_)
            if (Handle handle = entry.lock()) found.push_back(std::move(handle));
        return found;
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

// Returns the registry of one kind of raw value. It is never destroyed, because deleters may run after static
// destructors.
template <class Raw>
Registry<Raw>& registry_of_process() {
    static auto& registry = *new Registry<Raw>;
    return registry;
}

}  // namespace cg

#endif
