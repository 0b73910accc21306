// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "dlpack.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cg {

namespace {

// A tensor with the arrays that it points to.
template <class Tensor>
struct Export {
    Tensor tensor{};
    PointerHandle memory;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;  // elements
};

template <class Tensor>
void drop(Tensor* tensor) noexcept {
    delete static_cast<Export<Tensor>*>(tensor->manager_ctx);
}

std::vector<std::int64_t> packed_strides(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
    return strides;
}

template <class Tensor>
Tensor* make_export(const PointerHandle& memory, const ArrayForm& form, int device_type, int device_id) {
    auto made = std::make_unique<Export<Tensor>>();
    made->memory = memory;
    made->shape = form.shape;
    made->strides = packed_strides(form.shape);
    made->tensor.manager_ctx = made.get();
    made->tensor.deleter = [](Tensor* tensor) { drop(tensor); };
    DLTensor& array = made->tensor.dl_tensor;
    array.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(raw_of(memory)));
    array.device = {device_type, device_id};
    array.ndim = static_cast<std::int32_t>(form.shape.size());
    array.dtype = {form.code, form.bits, 1};
    array.shape = made->shape.data();
    array.strides = made->strides.data();
    return &made.release()->tensor;
}

}  // namespace

DLManagedTensor* export_array(const PointerHandle& memory, const ArrayForm& form, int device_type, int device_id) {
    return make_export<DLManagedTensor>(memory, form, device_type, device_id);
}

DLManagedTensorVersioned* export_array_versioned(const PointerHandle& memory, const ArrayForm& form, int device_type,
                                                 int device_id) {
    auto* tensor = make_export<DLManagedTensorVersioned>(memory, form, device_type, device_id);
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
