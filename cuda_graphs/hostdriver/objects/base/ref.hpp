// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared ownership through a counter inside the object. `Ref<T>` is the owning pointer. When the last one is destroyed,
// the type's static `dispose(T*)` deletes the object or recycles it in its arena.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_REF_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_REF_HPP

#include <atomic>
#include <cstdint>
#include <utility>

namespace cgh {

class RefCounted {
  public:
    void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
    // Adds a reference to an object found in a list that does not own it. Returns false if the object is about to be
    // destroyed.
    bool try_retain() {
        auto count = count_.load(std::memory_order_relaxed);
        while (count != 0)
            if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
        return false;
    }
    bool release() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }  // true for the last reference

  private:
    std::atomic<std::uint32_t> count_{1};  // the creator holds the first reference
};

template <class T>
class Ref {
  public:
    Ref() = default;
    explicit Ref(T* object) : object_(object) {  // an additional reference
        if (object_ != nullptr) object_->retain();
    }
    static Ref adopt(T* object) {  // the creator's own reference
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    Ref(const Ref& other) : Ref(other.object_) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ != nullptr && object_->release()) T::dispose(object_);
    }

    T* get() const { return object_; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }
    explicit operator bool() const { return object_ != nullptr; }
    T* leak() { return std::exchange(object_, nullptr); }

  private:
    T* object_ = nullptr;
};

}  // namespace cgh

#endif
