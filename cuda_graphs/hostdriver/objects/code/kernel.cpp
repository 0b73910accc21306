// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels, their attributes, and launches of them.
#include "hostdriver/objects/code/kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "hostdriver/execution/block_runner.hpp"
#include "hostdriver/execution/clock.hpp"
#include "hostdriver/execution/wait_limit.hpp"
#include "hostdriver/loader/image.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/code/occupancy.hpp"
#include "hostdriver/objects/devices/device.hpp"

namespace cgh {

Kernel::Kernel(Image& image, const cgh_kernel& code) : image_(image), code_(code), registers_(code.registers) {
    for (unsigned axis = 0; axis < 3; ++axis)
        required_cluster_[axis].store(static_cast<int>(code.required_cluster[axis]));
}

Kernel::~Kernel() {
    if (function_ != nullptr) arena<Function>.recycle(function_);
}

bool Kernel::make_function() {
    function_ = arena<Function>.create(Function{*this});
    return function_ != nullptr;
}

void Kernel::kill() {
    arena<Kernel>.kill(this);
    if (function_ != nullptr) arena<Function>.kill(function_);
}

unsigned Kernel::max_dynamic_shared() const {
    const int set = max_dynamic_shared_.load(std::memory_order_relaxed);
    if (set >= 0) return static_cast<unsigned>(set);
    return code_.static_shared_bytes >= kSharedPerBlock ? 0 : kSharedPerBlock - code_.static_shared_bytes;
}

CUresult Kernel::attribute(CUfunction_attribute which, int* out) const {
    switch (which) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            // .reqntid has no effect on this attribute.
            *out = code_.required_block[0] != 0 ? kMaxThreadsPerBlock : static_cast<int>(code_.max_threads_per_block);
            break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
            *out = static_cast<int>(code_.static_shared_bytes);
            break;
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
            *out = static_cast<int>(code_.const_bytes);
            break;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
            *out = static_cast<int>(code_.local_bytes);
            break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            *out = static_cast<int>(registers_);
            break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
            *out = static_cast<int>(code_.ptx_version);
            break;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            *out = static_cast<int>(code_.binary_version);
            break;
        case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
            *out = 0;
            break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *out = static_cast<int>(max_dynamic_shared());
            break;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            *out = shared_carveout_.load();
            break;
        case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
            *out = required_cluster_[0].load() != 0;
            break;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
            *out = required_cluster_[0].load();
            break;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
            *out = required_cluster_[1].load();
            break;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
            *out = required_cluster_[2].load();
            break;
        case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
            *out = nonportable_cluster_.load();
            break;
        case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            *out = cluster_policy_.load();
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult Kernel::set_attribute(CUfunction_attribute which, int value) {
    switch (which) {
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            // cuda.h: "The sum of this value and the function attribute CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES cannot
            // exceed the device attribute CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN."
            if (value < 0 || static_cast<unsigned>(value) + code_.static_shared_bytes > kSharedPerBlockOptin)
                return CUDA_ERROR_INVALID_VALUE;
            max_dynamic_shared_.store(value);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
            shared_carveout_.store(value);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
            if (value < 0) return CUDA_ERROR_INVALID_VALUE;
            required_cluster_[static_cast<unsigned>(which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)].store(value);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
            if (value != 0 && value != 1) return CUDA_ERROR_INVALID_VALUE;
            nonportable_cluster_.store(value);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            if (value < 0 || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING) return CUDA_ERROR_INVALID_VALUE;
            cluster_policy_.store(value);
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;  // other attributes are read-only
    }
}

CUresult Kernel::param_info(std::size_t index, std::size_t* offset, std::size_t* size) const {
    if (offset == nullptr || index >= code_.param_count) return CUDA_ERROR_INVALID_VALUE;
    *offset = code_.params[index].offset;
    if (size != nullptr) *size = code_.params[index].size;  // cuda.h: "paramSize is optional"
    return CUDA_SUCCESS;
}

float average_cost(float known, float measured) {
    return known == 0 ? measured : 0.5f * (known + std::min(measured, 2 * known));
}

void Kernel::average_in(float measured) {
    const float counted = average_cost(ticks_per_thread(), measured);
    ticks_per_thread_.store(counted, std::memory_order_relaxed);
    const double brief = kBrief * ticks_per_microsecond() / std::max({counted, measured, 1e-3f});
    brief_threads_.store(code_.is_open_ended != 0 ? 0 : static_cast<float>(brief), std::memory_order_relaxed);
}

Kernel* find_kernel(const void* handle) {
    if (auto* kernel = cast<Kernel>(handle)) return kernel;
    const auto* function = cast<Function>(handle);
    return function != nullptr ? &function->kernel : nullptr;
}

Kernel* find_function(CUfunction handle) {
    const auto* function = cast<Function>(handle);
    return function != nullptr ? &function->kernel : nullptr;
}

ParamBlock::ParamBlock(std::size_t bytes) : size_(bytes) {
    if (bytes <= kInline) return;
    heap_ = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    if (heap_ == nullptr) throw std::bad_alloc();
}

ParamBlock::ParamBlock(const ParamBlock& other) : ParamBlock(other.size_) {
    std::memcpy(data(), other.data(), size_);
}

ParamBlock::ParamBlock(ParamBlock&& other) noexcept : heap_(other.heap_), size_(other.size_) {
    if (heap_ == nullptr) std::memcpy(inline_, other.inline_, size_);
    other.heap_ = nullptr;
    other.size_ = 0;
}

ParamBlock& ParamBlock::operator=(ParamBlock other) noexcept {
    std::free(heap_);
    heap_ = other.heap_;
    size_ = other.size_;
    if (heap_ == nullptr) std::memcpy(inline_, other.inline_, size_);
    other.heap_ = nullptr;
    return *this;
}

ParamBlock::~ParamBlock() {
    std::free(heap_);
}

namespace {

// `extra` is a list of names and values that ends with CU_LAUNCH_PARAM_END.
CUresult unpack_extra(void* const* extra, const void** buffer, std::size_t* size) {
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *static_cast<const std::size_t*>(extra[1]);
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return *buffer != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult KernelLaunch::make(Kernel& kernel, const LaunchShape& shape, void* const* params, void* const* extra,
                            KernelLaunch* out) {
    const cgh_kernel& code = kernel.code();
    out->kernel_ = &kernel;
    out->shape_ = shape;
    if (const CUresult refused = out->validate(); refused != CUDA_SUCCESS) return refused;
    // cuda.h, cuLaunchKernel: "The error CUDA_ERROR_INVALID_VALUE will be returned if kernel parameters are specified
    // with both kernelParams and extra".
    if (params != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (out->params_.size() != code.param_bytes) out->params_.reset(code.param_bytes);
    if (extra != nullptr) {
        const void* buffer = nullptr;
        std::size_t size = 0;
        if (const CUresult bad = unpack_extra(extra, &buffer, &size); bad != CUDA_SUCCESS) return bad;
        // A buffer that is too short is accepted. The missing bytes are undefined in CUDA and 0 here.
        if (size > code.param_bytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
        std::memcpy(out->params_.data(), buffer, size);
        std::memset(out->params_.data() + size, 0, code.param_bytes - size);
    } else {
        if (params == nullptr && code.param_count != 0) return CUDA_ERROR_INVALID_VALUE;
        for (std::uint32_t i = 0; i < code.param_count; ++i) {
            if (params[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
            std::memcpy(out->params_.data() + code.params[i].offset, params[i], code.params[i].size);
        }
    }
    out->image_ = Ref<Image>(&kernel.image());
    return CUDA_SUCCESS;
}

cgh_launch KernelLaunch::dims() const {
    cgh_launch dims = shape_.dims;
    const std::uint32_t* const required = kernel_->code().required_cluster;
    if (required[0] != 0 && dims.cluster[0] * dims.cluster[1] * dims.cluster[2] == 1)
        std::copy(required, required + 3, dims.cluster);
    return dims;
}

CUresult KernelLaunch::validate() const {
    const cgh_launch dims = this->dims();
    const cgh_kernel& code = kernel_->code();
    for (const std::uint32_t extent :
         {dims.grid[0], dims.grid[1], dims.grid[2], dims.block[0], dims.block[1], dims.block[2]})
        if (extent == 0) return CUDA_ERROR_INVALID_VALUE;
    if (dims.grid[0] > 0x7fffffff || dims.grid[1] > 65535 || dims.grid[2] > 65535) return CUDA_ERROR_INVALID_VALUE;
    if (dims.block[0] > 1024 || dims.block[1] > 1024 || dims.block[2] > 64) return CUDA_ERROR_INVALID_VALUE;
    const std::uint32_t threads = dims.block[0] * dims.block[1] * dims.block[2];
    if (threads > kMaxThreadsPerBlock) return CUDA_ERROR_INVALID_VALUE;
    if (threads > code.max_threads_per_block) return CUDA_ERROR_INVALID_VALUE;
    if (code.required_block[0] != 0 && !std::equal(dims.block, dims.block + 3, code.required_block))
        return CUDA_ERROR_INVALID_VALUE;
    if (dims.dynamic_shared_bytes > kernel_->max_dynamic_shared()) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t cluster = std::uint64_t{dims.cluster[0]} * dims.cluster[1] * dims.cluster[2];
    if (cluster == 0 || cluster > static_cast<std::uint64_t>(max_cluster_blocks(*kernel_)))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    // cuda.h, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: each is "a divisor of the grid" dimension.
    for (int axis = 0; axis < 3; ++axis)
        if (dims.grid[axis] % dims.cluster[axis] != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (shape_.cooperative) {
        const std::uint64_t blocks = std::uint64_t{dims.grid[0]} * dims.grid[1] * dims.grid[2];
        const int resident = blocks_per_multiprocessor(*kernel_, threads, dims.dynamic_shared_bytes);
        // cuda.h, cuLaunchCooperativeKernel: "The total number of blocks launched cannot exceed the maximum number of
        // blocks per multiprocessor ... times the number of multiprocessors".
        if (blocks > static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(multiprocessors()))
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

CUresult KernelLaunch::check_shape(Kernel& kernel, const LaunchShape& shape) {
    KernelLaunch launch;
    launch.kernel_ = &kernel;
    launch.shape_ = shape;
    return launch.validate();
}

CUresult KernelLaunch::run(const Stream* stream, void* run_context) const {
    return run_blocks(*kernel_, dims(), params_.data(), shape_.cooperative, stream, run_context);
}

bool KernelLaunch::is_brief() const {
    const cgh_launch& dims = shape_.dims;
    float threads = 1;
    for (int axis = 0; axis < 3; ++axis)
        threads *= static_cast<float>(dims.grid[axis]) * static_cast<float>(dims.block[axis]);
    return threads <= kernel_->brief_threads();
}

}  // namespace cgh
