// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "executable_node.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "core/handles/error.hpp"
#include "node_spec.hpp"

namespace cg {

CUresult ExecNode::load(const NodeRecord& source) {
    const NodeParameters& parameters = *source.metadata->parameters;
    if (source.kind != NodeKind::kKernel) return load(parameters.wanted);
    NodeSpec spec;
    spec.begin(source.kind);
    const CUresult status = load_node(source.raw, spec);
    if (status != CUDA_SUCCESS) return status;
    return load(spec.params);
}

CUresult ExecNode::load(const CUgraphNodeParams& params) {
    params_ = params;
    if (params.type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_SUCCESS;
    applied_ = size();
    // With a function, or without a context, the driver uses the current context of the thread that sets the node.
    // Therefore a kernel is set by its CUkernel and a context. A function of a module has no CUkernel.
    if (params.kernel.kern != nullptr) params_.kernel.func = nullptr;
    const CUresult status = params.kernel.ctx == nullptr ? current_context(&params_.kernel.ctx) : CUDA_SUCCESS;
    return status == CUDA_SUCCESS ? keep_arguments() : status;
}

// Copies the argument values that the parameters point to.
CUresult ExecNode::keep_arguments() {
    CUDA_KERNEL_NODE_PARAMS_v3& kernel = params_.kernel;
    KernelHandle code = kernel_of_node(kernel.func, kernel.kern);
    const std::vector<Parameter>* const layout = kernel_parameters(code);
    if (layout == nullptr) return take_noted_error().status;
    const auto words = [](const Parameter& p) { return (p.size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); };
    std::size_t count = 0;
    for (const Parameter& parameter : *layout) count += words(parameter);
    std::vector<std::uint64_t> copy(count);
    std::vector<void*> pointers;
    std::uint64_t* value = copy.data();
    for (std::size_t i = 0; i < layout->size(); ++i) {
        std::memcpy(value, kernel.kernelParams[i], (*layout)[i].size);
        pointers.push_back(value);
        value += words((*layout)[i]);
    }
    kernel_ = std::move(code);
    layout_ = layout;
    words_ = std::move(copy);  // moving a vector keeps the addresses of its elements
    pointers_ = std::move(pointers);
    kernel.kernelParams = pointers_.data();
    return CUDA_SUCCESS;
}

void ExecNode::write(const KernelArguments& arguments) noexcept {
    if (params_.kernel.gridDimX != arguments.grid) {
        params_.kernel.gridDimX = arguments.grid;
        is_pending = true;
    }
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
        const void* const value = arguments.values[i];
        const std::size_t size = (*layout_)[i].size;
        if (value == nullptr || std::memcmp(pointers_[i], value, size) == 0) continue;
        std::memcpy(pointers_[i], value, size);
        is_pending = true;
    }
}

CUresult ExecNode::apply(const ExecTarget& exec) {
    if (is_destroyed()) return CUDA_ERROR_INVALID_HANDLE;
    if (params_.type != CU_GRAPH_NODE_TYPE_KERNEL && unknown != 0) return CUDA_SUCCESS;
    const CUresult status = exec.set(raw_, params_);
    if (status == CUDA_SUCCESS && rules.size) applied_ = size();
    return status;
}

}  // namespace cg
