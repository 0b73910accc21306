// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "argument_pack.hpp"

namespace cg {

void* ArgumentPack::append_more(std::size_t bytes) {
    if (!more_) more_ = std::make_unique<More>();
    void* place = more_->values.emplace_back(new Chunk[(bytes + sizeof(Chunk) - 1) / sizeof(Chunk)]).get();
    if (size_ == kInline) more_->pointers.assign(inline_pointers_, inline_pointers_ + kInline);
    if (size_ < kInline)
        inline_pointers_[size_] = place;
    else
        more_->pointers.push_back(place);
    ++size_;
    return place;
}

}  // namespace cg
