// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills as checked values: make() returns the error of the real driver for invalid parameters, run() moves
// the bytes. Streams and graph nodes hold the same values.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_COPY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_COPY_HPP

#include <cuda.h>

#include <cstddef>

#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {

// Converts the parameters of a 2-D copy to those of a 3-D copy of depth 1.
CUDA_MEMCPY3D solid_of(const CUDA_MEMCPY2D& plane);

// Stands for every device in the `device` parameters below, so that access to memory of pools is not checked. Peer
// copies use it, because the device of either side may perform them.
constexpr CUdevice kEveryDevice = -1;

class Copy {
  public:
    Copy() = default;
    // Makes the copy of cuMemcpy3D or of a graph node.
    static CUresult make(const CUDA_MEMCPY3D& params, CUdevice device, Copy* out, Reserved reserved = Reserved::kNot);
    static CUresult make(const CUDA_MEMCPY2D& params, CUdevice device, Copy* out);
    // Makes a one-dimensional copy. A side of type `CU_MEMORYTYPE_UNIFIED` may be any memory.
    static CUresult make(CUmemorytype dst_type, void* dst, CUmemorytype src_type, const void* src, std::size_t bytes,
                         CUdevice device, Copy* out);
    void run() const;
    // Calls piece(to, from, bytes) for each contiguous piece of the copy.
    template <class Piece>
    void each_piece(Piece piece) const {
        for (std::size_t plane = 0; plane < depth_; ++plane) {
            std::byte* const to = dst_.address + plane * dst_.slice;
            const std::byte* const from = src_.address + plane * src_.slice;
            if (height_ == 1 || (dst_.pitch == width_ && src_.pitch == width_)) {
                piece(to, from, width_ * height_);
                continue;
            }
            for (std::size_t row = 0; row < height_; ++row)
                piece(to + row * dst_.pitch, from + row * src_.pitch, width_);
        }
    }

    // Return true if the driver does not know the memory of that side, which is then pageable host memory.
    bool from_pageable() const { return from_pageable_; }
    bool to_pageable() const { return to_pageable_; }
    std::size_t bytes() const { return width_ * height_ * depth_; }
    // Returns the bytes of a copy whose source is contiguous, and 0 for other copies.
    std::size_t linear_bytes() const { return depth_ == 1 && height_ == 1 ? width_ : 0; }
    const std::byte* source() const { return src_.address; }
    const std::byte* destination() const { return dst_.address; }
    void set_source(std::byte* address) { src_.address = address; }

  private:
    struct Side {
        std::byte* address = nullptr;
        std::size_t pitch = 0;  // bytes from row to row
        std::size_t slice = 0;  // bytes from plane to plane
    };
    Side dst_, src_;
    std::size_t width_ = 0, height_ = 0, depth_ = 0;  // bytes, rows, planes
    bool from_pageable_ = false, to_pageable_ = false;
};

class Fill {
  public:
    Fill() = default;
    // Makes a fill of `height` rows that are `pitch` bytes apart. Each row has `width` elements of `element_size` (1, 2
    // or 4) bytes.
    static CUresult make(CUdeviceptr dst, std::size_t pitch, unsigned value, unsigned element_size, std::size_t width,
                         std::size_t height, CUdevice device, Fill* out, Reserved reserved = Reserved::kNot);
    void run() const;
    // Calls piece(to, bytes) for each contiguous piece of the fill.
    template <class Piece>
    void each_piece(Piece piece) const {
        for (std::size_t row = 0; row < height_; ++row) piece(dst_ + row * pitch_, width_ * element_size_);
    }
    const std::byte* destination() const { return dst_; }
    std::size_t bytes() const { return width_ * height_ * element_size_; }

  private:
    std::byte* dst_ = nullptr;
    std::size_t pitch_ = 0, width_ = 0, height_ = 0;
    unsigned value_ = 0, element_size_ = 1;
};

}  // namespace cgh

#endif
