// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// User objects: a pointer, its destructor and a reference count. Graphs, executables and launches in flight own
// references, so the resources of a node outlive the last launch that may use them.
//
// The destructor runs once, in the thread that drops the last reference: a caller's thread, or a worker when a launch
// ends. The driver holds no lock then. CUDA calls inside the destructor fail: "Destructor callbacks cannot make CUDA
// API calls" (cuda.h, cuUserObjectCreate).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_USER_OBJECT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_USER_OBJECT_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace cgh {

class UserObject {
  public:
    UserObject(void* payload, CUhostFn destructor, uint32_t references)
        : payload_(payload), destructor_(destructor), references_(references) {}

    void retain(uint32_t count) { references_.fetch_add(count, std::memory_order_relaxed); }

    // Releases `count` references and destroys the object with the last one. Returns false and changes nothing if the
    // object has fewer references.
    bool release(uint32_t count);

  private:
    void* payload_;
    CUhostFn destructor_;
    std::atomic<int64_t> references_;
};

// The references of one owner: a graph, or a program on behalf of an executable and its launches.
class UserObjectRefs {
  public:
    UserObjectRefs() = default;
    UserObjectRefs(const UserObjectRefs& other);  // adds references to the same objects
    UserObjectRefs(UserObjectRefs&&) noexcept = default;
    UserObjectRefs& operator=(UserObjectRefs other) noexcept {
        entries_.swap(other.entries_);
        return *this;
    }
    ~UserObjectRefs();

    // Takes ownership of `count` references of the caller.
    void adopt(UserObject* object, uint32_t count) { entries_.push_back({object, count}); }

    // Releases `count` references, or all of them if fewer are held: "It is undefined behavior to release references
    // not owned by the caller" (cuda.h); an H200 returns CUDA_SUCCESS.
    void release(UserObject* object, uint32_t count);

    // Adds references to every object of `other`.
    void add(const UserObjectRefs& other);

    bool empty() const { return entries_.empty(); }

  private:
    struct Entry {
        UserObject* object;
        uint32_t count;
    };
    std::vector<Entry> entries_;  // one entry per adoption, so adding never searches
};

inline CUuserObject to_handle(UserObject* object) {
    return reinterpret_cast<CUuserObject>(object);
}

}  // namespace cgh

#endif
