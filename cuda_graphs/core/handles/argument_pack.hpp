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

    void** pointers() noexcept { return size_ <= kInline ? inline_pointers_ : more_->pointers.data(); }
    std::size_t size() const noexcept { return size_; }

    // Returns storage for the next argument, aligned to 16 bytes.
    void* append(std::size_t bytes) {
        if (size_ >= kInline || bytes > kSlot) return append_more(bytes);
        void* const place = slots_[size_];
        inline_pointers_[size_++] = place;
        return place;
    }

    void append_copy(const void* value, std::size_t bytes) { std::memcpy(append(bytes), value, bytes); }

  private:
    static constexpr std::size_t kInline = 32;
    static constexpr std::size_t kSlot = 16;
    struct alignas(kSlot) Chunk {
        unsigned char bytes[kSlot];
    };

    // Arguments that are too large for a slot, and all pointers when there are more than kInline.
    struct More {
        std::vector<std::unique_ptr<Chunk[]>> values;
        std::vector<void*> pointers;
    };

    void* append_more(std::size_t bytes);

    // Both arrays are left uninitialised: a launch writes only the slots that it uses.
    alignas(kSlot) unsigned char slots_[kInline][kSlot];
    void* inline_pointers_[kInline];
    std::size_t size_ = 0;
    std::unique_ptr<More> more_;  // null when all arguments fit
};

}  // namespace cg

#endif
