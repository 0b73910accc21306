// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "executable_node.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "graph_memory.hpp"
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

namespace {

void put_types(CUDA_MEMCPY3D& copy, const CopyTypes& types) noexcept {
    set_source(copy, source_of(copy), types.source);
    set_destination(copy, destination_of(copy), types.destination);
}

// Returns the types as which memory at an address may be declared (tests/conformance/driver,
// patch/memory_behind_a_copy): none for pageable memory of the host.
std::vector<CUmemorytype> types_for(CUdeviceptr address) {
    int found = kUnknownMemory;
    if (find_memory_type(address, &found) != CUDA_SUCCESS || found == kUnknownMemory) return {};
    std::vector<CUmemorytype> types{CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_DEVICE};
    unsigned int managed = 0;
    if (found != CU_MEMORYTYPE_HOST)
        driver().cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);  // refused for alloc nodes
    if (found == CU_MEMORYTYPE_HOST || managed != 0) types.push_back(CU_MEMORYTYPE_HOST);
    return types;
}

}  // namespace

CUresult set_copy(const ExecTarget& exec, CUgraphNode node, CUgraphNodeParams params, CopyTypes* types) {
    CUDA_MEMCPY3D& copy = params.memcpy.copyParams;
    *types = {copy.srcMemoryType, copy.dstMemoryType};
    const CUresult refused = exec.set(node, params);
    if (refused != CUDA_ERROR_INVALID_VALUE) return refused;
    const std::vector<CUmemorytype> destinations = types_for(destination_of(copy));
    for (const CUmemorytype source : types_for(source_of(copy)))
        for (const CUmemorytype destination : destinations) {
            *types = {source, destination};
            put_types(copy, *types);
            if (exec.set(node, params) == CUDA_SUCCESS) return CUDA_SUCCESS;
        }
    return refused;
}

CUresult ExecNode::apply(const ExecTarget& exec) {
    if (is_destroyed()) return CUDA_ERROR_INVALID_HANDLE;
    if (params_.type != CU_GRAPH_NODE_TYPE_KERNEL && unknown != 0) return CUDA_SUCCESS;
    if (types_.are_known()) put_types(params_.memcpy.copyParams, types_);
    const CUresult status = exec.set(raw_, params_);
    if (status == CUDA_SUCCESS && rules.size) applied_ = size();
    return status;
}

}  // namespace cg
