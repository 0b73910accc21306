// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "dlpack.hpp"

#include <cstdint>

namespace cg {

namespace {

constexpr std::uint8_t kDLInt = 0;

// The tensor with what its pointers point at.
template <class Tensor>
struct Export {
    Tensor tensor{};
    PointerHandle memory;
    std::int64_t shape = 0;
    std::int64_t stride = 1;
};

template <class Tensor>
void drop(Tensor* tensor) noexcept {
    delete static_cast<Export<Tensor>*>(tensor->manager_ctx);
}

template <class Tensor>
Tensor* make_export(const PointerHandle& memory, std::size_t size, int device_type, int device_id) {
    auto* made = new Export<Tensor>;
    made->memory = memory;
    made->shape = static_cast<std::int64_t>(size);
    made->tensor.manager_ctx = made;
    made->tensor.deleter = [](Tensor* tensor) { drop(tensor); };
    DLTensor& array = made->tensor.dl_tensor;
    array.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(raw_of(memory)));
    array.device = {device_type, device_id};
    array.ndim = 1;
    array.dtype = {kDLInt, 8, 1};
    array.shape = &made->shape;
    array.strides = &made->stride;
    return &made->tensor;
}

}  // namespace

DLManagedTensor* export_bytes(const PointerHandle& memory, std::size_t size, int device_type, int device_id) {
    return make_export<DLManagedTensor>(memory, size, device_type, device_id);
}

DLManagedTensorVersioned* export_bytes_versioned(const PointerHandle& memory, std::size_t size, int device_type,
                                                 int device_id) {
    auto* tensor = make_export<DLManagedTensorVersioned>(memory, size, device_type, device_id);
    tensor->version = {1, 0};
    return tensor;
}

void drop_export(DLManagedTensor* tensor) noexcept {
    drop(tensor);
}

void drop_export_versioned(DLManagedTensorVersioned* tensor) noexcept {
    drop(tensor);
}

}  // namespace cg
