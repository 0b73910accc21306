// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// User objects: a pointer, its destructor and a count. Graphs, executables and launches in flight own references, so
// that what a node uses outlives the last launch that may use it.
//
// The destructor runs once, in whichever thread drops the last reference (a caller's, or a worker's when a launch
// ends), with none of the driver's locks held, and CUDA calls inside it are refused: "Destructor callbacks cannot make
// CUDA API calls" (cuda.h, cuUserObjectCreate).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_USER_OBJECT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_USER_OBJECT_HPP

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

    // False, and nothing done, when there are fewer references than that. With the last one the object is destroyed.
    bool release(uint32_t count);

  private:
    void* payload_;
    CUhostFn destructor_;
    std::atomic<int64_t> references_;
};

// The references that one holder owns: a graph, or a program on behalf of an executable and its launches.
class UserObjectRefs {
  public:
    UserObjectRefs() = default;
    UserObjectRefs(const UserObjectRefs& other);  // new references to the same objects
    UserObjectRefs(UserObjectRefs&&) noexcept = default;
    UserObjectRefs& operator=(UserObjectRefs other) noexcept {
        entries_.swap(other.entries_);
        return *this;
    }
    ~UserObjectRefs();

    // Takes over `count` references, which the caller must own.
    void adopt(UserObject* object, uint32_t count) { entries_.push_back({object, count}); }

    // Gives back `count` references, or as many as are held: "It is undefined behavior to release references not owned
    // by the caller" (cuda.h); an H200 answers CUDA_SUCCESS.
    void release(UserObject* object, uint32_t count);

    // Further references to everything that `other` holds.
    void add(const UserObjectRefs& other);

    bool empty() const { return entries_.empty(); }

  private:
    struct Entry {
        UserObject* object;
        uint32_t count;
    };
    std::vector<Entry> entries_;  // one entry an adoption: adding never searches
};

inline CUuserObject to_handle(UserObject* object) {
    return reinterpret_cast<CUuserObject>(object);
}

}  // namespace cgh

#endif
