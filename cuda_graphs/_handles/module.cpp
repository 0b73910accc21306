// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "module.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "_driver/table.hpp"
#include "context.hpp"
#include "deferred.hpp"
#include "error.hpp"
#include "gil.hpp"
#include "lost.hpp"
#include "registry.hpp"

namespace cg {

namespace {

constexpr std::size_t kLogBytes = 16 * 1024;

Registry<CUkernel>& kernels() {
    return registry_of_process<CUkernel>();
}

KernelHandle make_kernel(CUkernel raw, const LibraryHandle& library, const Opaque& owner) {
    auto box = std::make_shared<KernelBox>();
    box->raw = raw;
    box->library = library;
    box->owner = owner;
    return handle_of(std::move(box));
}

void ask_parameters(KernelBox& box) {
    for (std::size_t index = 0;; ++index) {
        Parameter parameter{};
        const CUresult status = driver().cuKernelGetParamInfo(box.raw, index, &parameter.offset, &parameter.size);
        // "CUDA_ERROR_INVALID_VALUE if paramIndex is outside the range" is how the list ends.
        if (status == CUDA_ERROR_INVALID_VALUE) return;
        box.parameter_status = status;
        if (status != CUDA_SUCCESS) return;
        box.parameters.push_back(parameter);
    }
}

}  // namespace

bool LibraryBox::finish() noexcept {
    if (raw == nullptr) return true;
    const GilRelease no_gil;
    const RelaxedCapture relaxed;
    return !must_wait(relaxed.status()) && has_ended(driver().cuLibraryUnload(raw), "cuLibraryUnload");
}

LibraryHandle load_library(const void* image) {
    drain_deferred();
    auto box = make_box<LibraryBox>();
    const RelaxedCapture relaxed;
    CU_TRY(relaxed.status());
    CU_TRY(driver().cuLibraryLoadData(&box->raw, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
    return handle_of(std::move(box));
}

std::string load_log(const void* image) {
    std::string log(kLogBytes, '\0');
    std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(std::uintptr_t{kLogBytes})};
    const RelaxedCapture relaxed;
    CUmodule module = nullptr;
    const CUresult status =
        driver().cuModuleLoadDataEx(&module, image, unsigned{options.size()}, options.data(), values.data());
    if (status == CUDA_SUCCESS) driver().cuModuleUnload(module);
    log.resize(log.find('\0') == std::string::npos ? kLogBytes : log.find('\0'));
    return log;
}

bool kernel_names(const LibraryHandle& library, std::vector<std::string>& names) {
    unsigned count = 0;
    CU_TRY(driver().cuLibraryGetKernelCount(&count, raw_of(library)));
    std::vector<CUkernel> all(count);
    if (count > 0) CU_TRY(driver().cuLibraryEnumerateKernels(all.data(), count, raw_of(library)));
    for (CUkernel kernel : all) {
        const char* name = nullptr;
        CU_TRY(driver().cuKernelGetName(&name, kernel));
        names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return true;
}

KernelBox::~KernelBox() {
    if (raw != nullptr) kernels().remove(raw);
}

KernelHandle get_kernel(const LibraryHandle& library, const char* name) {
    CUkernel raw = nullptr;
    CU_TRY(driver().cuLibraryGetKernel(&raw, raw_of(library), name));
    return create_kernel_ref(raw, library);
}

KernelHandle create_kernel_ref(CUkernel raw, const LibraryHandle& library, const Opaque& owner) {
    KernelHandle known = kernels().get_or_create(raw, [&] { return make_kernel(raw, library, owner); });
    const KernelBox& box = *box_of<KernelBox>(known);
    if (box.library || box.owner || (!library && !owner)) return known;
    // It was borrowed without what keeps it: from now on the raw value means the box that has that.
    KernelHandle keeping = make_kernel(raw, library, owner);
    kernels().add(keeping);
    return keeping;
}

namespace {

// A graph for as long as a question takes.
struct ScratchGraph {
    CUgraph raw = nullptr;
    ScratchGraph() = default;
    ScratchGraph(const ScratchGraph&) = delete;
    ScratchGraph& operator=(const ScratchGraph&) = delete;
    ~ScratchGraph() {
        if (raw != nullptr) has_ended(driver().cuGraphDestroy(raw), "cuGraphDestroy");
    }
};

// The sizes of a function's parameters in bytes; false with an error noted.
bool parameter_sizes(CUfunction function, std::vector<std::size_t>& sizes) {
    for (std::size_t index = 0;; ++index) {
        std::size_t offset = 0;
        std::size_t size = 0;
        const CUresult status = driver().cuFuncGetParamInfo(function, index, &offset, &size);
        if (status == CUDA_ERROR_INVALID_VALUE) return true;  // "if paramIndex is outside the range" (cuda.h)
        if (status != CUDA_SUCCESS) return note_error(status, "cuFuncGetParamInfo"), false;
        sizes.push_back(size);
    }
}

}  // namespace

CUkernel kernel_of_function(CUfunction function) {
    std::vector<std::size_t> sizes;
    if (!parameter_sizes(function, sizes)) return nullptr;
    const std::size_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    std::vector<char> zeros(largest + 1);
    std::vector<void*> values(sizes.size(), zeros.data());
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = values.data();
    ScratchGraph graph;
    CUgraphNode node = nullptr;
    CUDA_KERNEL_NODE_PARAMS found{};
    CU_TRY(driver().cuGraphCreate(&graph.raw, 0));
    CU_TRY(driver().cuGraphAddKernelNode(&node, graph.raw, nullptr, 0, &params));
    CU_TRY(driver().cuGraphKernelNodeGetParams(node, &found));
    if (found.kern == nullptr) note_error(CUDA_ERROR_NOT_SUPPORTED, "cuGraphKernelNodeGetParams");
    return found.kern;
}

namespace {

CUfunction learn_function(const KernelHandle& kernel, const ContextHandle& context) {
    KernelBox& box = *box_of<KernelBox>(kernel);
    CUcontext current = nullptr;
    CUfunction function = nullptr;
    {
        const GilRelease released;
        CU_TRY(driver().cuCtxGetCurrent(&current));
        if (current != *context) return reinterpret_cast<CUfunction>(box.raw);
        CU_TRY(driver().cuKernelGetFunction(&function, box.raw));
    }
    auto& places = box.functions;
    places.erase(std::remove_if(places.begin(), places.end(),
                                [](const FunctionPlace& place) { return place.context.expired(); }),
                 places.end());
    places.push_back({context, function});
    return function;
}

}  // namespace

CUfunction function_on(const KernelHandle& kernel, const StreamHandle& stream) {
    const KernelBox& box = *box_of<KernelBox>(kernel);
    const ContextHandle& context = box_of<StreamBox>(stream)->context;
    for (const FunctionPlace& place : box.functions)
        if (!place.context.owner_before(context) && !context.owner_before(place.context)) return place.function;
    return context ? learn_function(kernel, context) : reinterpret_cast<CUfunction>(box.raw);
}

std::string kernel_name(const KernelHandle& kernel) {
    const char* name = nullptr;
    const CUresult status = driver().cuKernelGetName(&name, raw_of(kernel));
    return status == CUDA_SUCCESS && name != nullptr ? name : "";
}

const std::vector<Parameter>* kernel_parameters(const KernelHandle& kernel) {
    KernelBox& box = *box_of<KernelBox>(kernel);
    // A forked child would wait for ever for a thread that was asking.
    if (driver_is_lost()) return note_error(CUDA_ERROR_NOT_INITIALIZED, "cuKernelGetParamInfo"), nullptr;
    std::call_once(box.asked, [&] { ask_parameters(box); });
    if (box.parameter_status == CUDA_SUCCESS) return &box.parameters;
    note_error(box.parameter_status, "cuKernelGetParamInfo");
    return nullptr;
}

}  // namespace cg
