// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The argument values of one kernel launch, and the array of pointers to them that the driver takes. A pack lives on
// the caller's stack. Up to kInline arguments of up to kSlot bytes need no heap.
#ifndef CUDA_GRAPHS_CORE_HANDLES_ARGUMENT_PACK_HPP
#define CUDA_GRAPHS_CORE_HANDLES_ARGUMENT_PACK_HPP

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace cg {

class ArgumentPack {
  public:
    ArgumentPack() noexcept {}
    ArgumentPack(const ArgumentPack&) = delete;
    ArgumentPack& operator=(const ArgumentPack&) = delete;

    void** pointers() noexcept { return overflow_.empty() ? inline_pointers_ : overflow_.data(); }
    std::size_t size() const noexcept { return size_; }

    // Returns storage for the next argument, aligned to 16 bytes.
    void* append(std::size_t bytes) {
        void* place = nullptr;
        if (size_ < kInline && bytes <= kSlot)
            place = slots_[size_];
        else
            place = heap_.emplace_back(new Chunk[(bytes + sizeof(Chunk) - 1) / sizeof(Chunk)]).get();
        if (size_ == kInline) overflow_.assign(inline_pointers_, inline_pointers_ + kInline);
        if (size_ < kInline)
            inline_pointers_[size_] = place;
        else
            overflow_.push_back(place);
        ++size_;
        return place;
    }

    void append_copy(const void* value, std::size_t bytes) { std::memcpy(append(bytes), value, bytes); }

  private:
    static constexpr std::size_t kInline = 32;
    static constexpr std::size_t kSlot = 16;
    struct alignas(kSlot) Chunk {
        unsigned char bytes[kSlot];
    };

    // Both arrays are left uninitialised: a launch writes only the slots that it uses.
    alignas(kSlot) unsigned char slots_[kInline][kSlot];
    void* inline_pointers_[kInline];
    std::size_t size_ = 0;
    std::vector<void*> overflow_;
    std::vector<std::unique_ptr<Chunk[]>> heap_;
};

}  // namespace cg

#endif
