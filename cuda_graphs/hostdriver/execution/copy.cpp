// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks and runs copies and fills. One-dimensional copies are rows without a pitch.
#include "copy.hpp"

#include <cstdint>
#include <cstring>

#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/pool.hpp"

namespace cgh {
namespace {

constexpr std::size_t kMaxPitch = 0x7fffffff;  // CU_DEVICE_ATTRIBUTE_MAX_PITCH

// The location of one side's bytes. `extent` is the distance from the first to the last byte, plus one.
struct Location {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
};

enum class Use : std::uint8_t { kRead, kWrite, kFill };

// Returns true if the device may access the memory. A device copies and fills memory of another device's pool only with
// access to the pool, as on H200s.
bool may_access(Use use, const Allocation& allocation, CUdevice device) {
    if (allocation.kind != MemoryKind::kPool || allocation.residence != Residence::kDevice || device == kEveryDevice)
        return true;
    const CUmemAccess_flags access = allocation.pool->access(device);
    return use == Use::kRead ? access != CU_MEM_ACCESS_FLAGS_PROT_NONE : access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

// Returns true if the memory may be used as a side of this type. cuMemSetAccess can make memory read-only. Memory of a
// host pool can be filled if the device has access to the pool, but is not device memory for copies, as on an H200.
bool is_for(Use use, CUmemorytype type, const Allocation& allocation, CUdevice device) {
    if (!may_access(use, allocation, device)) return false;
    if (use == Use::kRead) return true;
    if (allocation.is_read_only) return false;
    if (allocation.kind != MemoryKind::kPool || !allocation.on_host()) return true;
    if (use == Use::kWrite) return type != CU_MEMORYTYPE_DEVICE;
    return allocation.pool->access(allocation.context->device()) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

CUresult locate(Use use, const Location& location, std::size_t offset, std::size_t extent, CUdevice device,
                Reserved reserved, std::byte** address, bool* pageable) {
    if (location.type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
    if (location.type != CU_MEMORYTYPE_HOST && location.type != CU_MEMORYTYPE_DEVICE &&
        location.type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    const CUdeviceptr base =
        location.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(location.host) : location.device;
    if (base == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = AddressMap::get().find(base + offset, reserved);
    // A device pointer must be known, and all bytes must be inside its allocation. An unknown address can only be
    // pageable host memory, which cannot be checked.
    if (allocation && !allocation->holds(base + offset, extent)) return CUDA_ERROR_INVALID_VALUE;
    if (!allocation && location.type == CU_MEMORYTYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (allocation && !is_for(use, location.type, *allocation, device)) return CUDA_ERROR_INVALID_VALUE;
    *pageable = !allocation;
    *address = reinterpret_cast<std::byte*>(base + offset);
    return CUDA_SUCCESS;
}

// Returns the bytes from the first to the last byte; SIZE_MAX if they exceed any memory.
std::size_t extent_of(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch, std::size_t slice) {
    std::size_t rows = 0, planes = 0, extent = 0;
    const bool too_much =
        __builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &planes) ||
        __builtin_add_overflow(rows, planes, &extent) || __builtin_add_overflow(extent, width, &extent);
    return too_much ? SIZE_MAX : extent;
}

}  // namespace

CUDA_MEMCPY3D solid_of(const CUDA_MEMCPY2D& plane) {
    CUDA_MEMCPY3D solid{};
    solid.srcXInBytes = plane.srcXInBytes;
    solid.srcY = plane.srcY;
    solid.srcMemoryType = plane.srcMemoryType;
    solid.srcHost = plane.srcHost;
    solid.srcDevice = plane.srcDevice;
    solid.srcPitch = plane.srcPitch;
    solid.dstXInBytes = plane.dstXInBytes;
    solid.dstY = plane.dstY;
    solid.dstMemoryType = plane.dstMemoryType;
    solid.dstHost = plane.dstHost;
    solid.dstDevice = plane.dstDevice;
    solid.dstPitch = plane.dstPitch;
    solid.WidthInBytes = plane.WidthInBytes;
    solid.Height = plane.Height;
    solid.Depth = 1;
    return solid;
}

CUresult Copy::make(const CUDA_MEMCPY3D& params, CUdevice device, Copy* out, Reserved reserved) {
    *out = Copy();
    Copy copy;
    copy.width_ = params.WidthInBytes;
    copy.height_ = params.Height;
    copy.depth_ = params.Depth;
    if (copy.width_ == 0 || copy.height_ == 0 || copy.depth_ == 0) return CUDA_SUCCESS;  // nothing to move
    // cuda.h requires srcLOD and dstLOD of 0. libcuda does not read them if neither side is a mipmapped array.
    struct {
        Use use;
        Side* side;
        bool* pageable;
        Location location;
        std::size_t x, y, z, pitch, height;
    } sides[] = {
        {Use::kRead,
         &copy.src_,
         &copy.from_pageable_,
         {params.srcMemoryType, params.srcHost, params.srcDevice},
         params.srcXInBytes,
         params.srcY,
         params.srcZ,
         params.srcPitch,
         params.srcHeight},
        {Use::kWrite,
         &copy.dst_,
         &copy.to_pageable_,
         {params.dstMemoryType, params.dstHost, params.dstDevice},
         params.dstXInBytes,
         params.dstY,
         params.dstZ,
         params.dstPitch,
         params.dstHeight},
    };
    for (auto& [use, side, pageable, location, x, y, z, pitch, height] : sides) {
        const bool rows = copy.height_ > 1 || copy.depth_ > 1 || y > 0 || z > 0;
        const bool planes = copy.depth_ > 1 || z > 0;
        // cuda.h: "srcPitch must be greater than or equal to WidthInBytes + srcXInBytes"; and "If specified, srcHeight
        // must be greater than or equal to Height + srcY". An H200 checks both for a single row or plane too. A value
        // of 0 means no gaps.
        if (pitch == 0) pitch = copy.width_ + x;
        if (height == 0) height = copy.height_ + y;
        if (pitch > kMaxPitch || pitch < copy.width_ + x || height < copy.height_ + y) return CUDA_ERROR_INVALID_VALUE;
        side->pitch = rows ? pitch : copy.width_;
        side->slice = planes ? pitch * height : side->pitch * copy.height_;
        const std::size_t offset = x + (rows ? y * pitch : 0) + (planes ? z * side->slice : 0);
        const std::size_t extent = extent_of(copy.width_, copy.height_, copy.depth_, side->pitch, side->slice);
        if (CUresult error = locate(use, location, offset, extent, device, reserved, &side->address, pageable);
            error != CUDA_SUCCESS)
            return error;
    }
    *out = copy;
    return CUDA_SUCCESS;
}

CUresult Copy::make(const CUDA_MEMCPY2D& params, CUdevice device, Copy* out) {
    return make(solid_of(params), device, out);
}

CUresult Copy::make(CUmemorytype dst_type, void* dst, CUmemorytype src_type, const void* src, std::size_t bytes,
                    CUdevice device, Copy* out) {
    *out = Copy();
    Copy copy;
    if (bytes == 0) return CUDA_SUCCESS;
    copy.width_ = bytes;
    copy.height_ = copy.depth_ = 1;
    const Location to{dst_type, dst, reinterpret_cast<CUdeviceptr>(dst)};
    const Location from{src_type, src, reinterpret_cast<CUdeviceptr>(src)};
    if (CUresult error =
            locate(Use::kWrite, to, 0, bytes, device, Reserved::kNot, &copy.dst_.address, &copy.to_pageable_);
        error != CUDA_SUCCESS)
        return error;
    if (CUresult error =
            locate(Use::kRead, from, 0, bytes, device, Reserved::kNot, &copy.src_.address, &copy.from_pageable_);
        error != CUDA_SUCCESS)
        return error;
    *out = copy;
    return CUDA_SUCCESS;
}

void Copy::run() const {
    each_piece([](std::byte* to, const std::byte* from, std::size_t bytes) { std::memmove(to, from, bytes); });
}

CUresult Fill::make(CUdeviceptr dst, std::size_t pitch, unsigned value, unsigned element_size, std::size_t width,
                    std::size_t height, CUdevice device, Fill* out, Reserved reserved) {
    *out = Fill();
    if (element_size != 1 && element_size != 2 && element_size != 4) return CUDA_ERROR_INVALID_VALUE;
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(width, element_size, &bytes)) return CUDA_ERROR_INVALID_VALUE;
    // cuda.h, cuMemsetD32: "The dstDevice pointer must be four byte aligned". For 2-D fills this holds for dstPitch
    // too.
    if (dst % element_size != 0) return CUDA_ERROR_INVALID_VALUE;
    if (height > 1 && (pitch % element_size != 0 || pitch < bytes || pitch > kMaxPitch))
        return CUDA_ERROR_INVALID_VALUE;
    std::byte* address = nullptr;
    bool pageable = false;
    const std::size_t row_pitch = height > 1 ? pitch : bytes;
    if (CUresult error = locate(Use::kFill, {CU_MEMORYTYPE_DEVICE, nullptr, dst}, 0,
                                extent_of(bytes, height, 1, row_pitch, 0), device, reserved, &address, &pageable);
        error != CUDA_SUCCESS)
        return error;
    out->dst_ = address;
    out->pitch_ = row_pitch;
    out->width_ = width;
    out->height_ = height;
    out->value_ = value;
    out->element_size_ = element_size;
    return CUDA_SUCCESS;
}

void Fill::run() const {
    for (std::size_t row = 0; row < height_; ++row) {
        std::byte* to = dst_ + row * pitch_;
        switch (element_size_) {
            case 1:
                std::memset(to, static_cast<int>(value_ & 0xff), width_);
                break;
            case 2: {
                auto* words = reinterpret_cast<std::uint16_t*>(to);
                for (std::size_t i = 0; i < width_; ++i) words[i] = static_cast<std::uint16_t>(value_);
                break;
            }
            default: {
                auto* words = reinterpret_cast<std::uint32_t*>(to);
                for (std::size_t i = 0; i < width_; ++i) words[i] = value_;
            }
        }
    }
}

}  // namespace cgh
