// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports memory as a DLPack tensor in C order, in the structures of DLPack 0.x and 1.0. The tensor holds a handle of
// the memory, so a view keeps the memory alive, also after the Buffer was closed. Layout: dmlc/dlpack,
// include/dlpack/dlpack.h, version 1.0.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_DLPACK_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_DLPACK_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory.hpp"

namespace cg {

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };

struct DLDevice {
    std::int32_t device_type;
    std::int32_t device_id;
};

struct DLDataType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
    std::uint32_t major;
    std::uint32_t minor;
};

// A flag of DLManagedTensorVersioned.
constexpr std::uint64_t kDLReadOnly = 1;

struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    std::uint64_t flags;
    DLTensor dl_tensor;
};

// Type codes of DLDataType.
enum DLDataTypeCode : std::uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };

// The element type and shape of an array without gaps.
struct ArrayForm {
    DLDataTypeCode code = kDLInt;
    std::uint8_t bits = 8;
    std::vector<std::int64_t> shape;
};

DLManagedTensor* export_array(const PointerHandle& memory, const ArrayForm& form, int device_type, int device_id);
DLManagedTensorVersioned* export_array_versioned(const PointerHandle& memory, const ArrayForm& form, int device_type,
                                                 int device_id);

// Destroys the tensor of a capsule that no consumer took.
void drop_export(DLManagedTensor* tensor) noexcept;
void drop_export_versioned(DLManagedTensorVersioned* tensor) noexcept;

}  // namespace cg

#endif
