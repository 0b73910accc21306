// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector of trivially copyable values that stores up to N of them inside the object. Most graph nodes have one or two
// edges on each side, so a chain of 100,000 nodes needs no heap allocation for its edges.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_SMALL_VECTOR_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_SMALL_VECTOR_HPP

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace cgh {

template <class T, uint32_t N>
class SmallVector {
    static_assert(std::is_trivially_copyable<T>::value, "moved with memcpy");

  public:
    SmallVector() = default;
    SmallVector(const SmallVector&) = delete;
    SmallVector& operator=(const SmallVector&) = delete;
    ~SmallVector() {
        if (on_heap()) std::free(heap_);
    }

    T* data() { return on_heap() ? heap_ : reinterpret_cast<T*>(inline_); }
    const T* data() const { return on_heap() ? heap_ : reinterpret_cast<const T*>(inline_); }
    uint32_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](uint32_t i) { return data()[i]; }
    const T& operator[](uint32_t i) const { return data()[i]; }

    // Reserves space for one more value, so the next push_back cannot fail.
    void reserve_one() {
        if (size_ == capacity_) grow();
    }

    void push_back(const T& value) {
        reserve_one();
        std::memcpy(static_cast<void*>(data() + size_), &value, sizeof(T));
        ++size_;
    }

    // Removes a value and keeps the order of the others, because edges are reported in the order in which they were
    // added.
    void erase(T* at) {
        const auto behind = static_cast<size_t>(end() - at - 1);
        std::memmove(static_cast<void*>(at), at + 1, behind * sizeof(T));
        --size_;
    }

    void clear() { size_ = 0; }

  private:
    bool on_heap() const { return capacity_ > N; }

    void grow() {
        const uint32_t wanted = capacity_ * 2;
        T* bigger = static_cast<T*>(std::malloc(wanted * sizeof(T)));
        if (bigger == nullptr) throw std::bad_alloc();
        std::memcpy(static_cast<void*>(bigger), data(), size_ * sizeof(T));
        if (on_heap()) std::free(heap_);
        heap_ = bigger;
        capacity_ = wanted;
    }

    uint32_t size_ = 0;
    uint32_t capacity_ = N;
    union {
        alignas(T) unsigned char inline_[N * sizeof(T)];
        T* heap_;
    };
};

}  // namespace cgh

#endif
