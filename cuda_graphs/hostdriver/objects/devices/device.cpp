// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The virtual devices: names, the attribute table, primary contexts.
#include "hostdriver/objects/devices/device.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "hostdriver/execution/clock.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/memory/pool.hpp"

namespace cgh {
namespace {

std::vector<std::unique_ptr<Device>>& devices() {
    static auto* all = new std::vector<std::unique_ptr<Device>>;  // never destroyed; used until the process ends
    return *all;
}

std::string processor_model() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown";
}

int clock_kilohertz() {
    return static_cast<int>(ticks_per_microsecond() * 1000.0);
}

// An attribute with its value, or a function that returns it.
struct Row {
    CUdevice_attribute which;
    int value;
    int (*measure)();
};

constexpr Row kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kMaxThreadsPerBlock, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kSharedPerBlock, nullptr},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10, nullptr},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, kWarpSize, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 64 << 10, nullptr},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0, clock_kilohertz},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512, nullptr},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0, multiprocessors},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT, nullptr},
    // The device has no textures or surfaces, so their limits are 0.
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512, nullptr},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0, nullptr},  // replaced by the ordinal
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_TCC_DRIVER, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 0, clock_kilohertz},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64, nullptr},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, kMaxThreadsPerMultiprocessor, nullptr},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9, nullptr},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, kSharedPerMultiprocessor, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 64 << 10, nullptr},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2, nullptr},
    // Kernels can read pageable memory. Copies still distinguish host pointers from device pointers, as in libcuda.
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kSharedPerBlockOptin, nullptr},
    {CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, kMaxBlocksPerMultiprocessor, nullptr},
    {CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, kReservedSharedPerBlock, nullptr},
    {CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, nullptr},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, kMemorySyncDomains, nullptr},
    {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_NUMA_CONFIG, CU_DEVICE_NUMA_CONFIG_NONE, nullptr},
    {CU_DEVICE_ATTRIBUTE_NUMA_ID, -1, nullptr},
    {CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MPS_ENABLED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1, nullptr},
    {CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED, 0, nullptr},
    {CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 0, nullptr},
};

// Returns whether cuda.h reserves the number for a removed attribute: 92-94 (stream memory operations, v1) and 139.
constexpr bool retired(int which) {
    return (which >= 92 && which <= 94) || which == 139;
}

}  // namespace

int multiprocessors() {
    static const int count = [] {
        cpu_set_t set;
        const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
        const auto cores = known ? static_cast<unsigned>(CPU_COUNT(&set)) : std::thread::hardware_concurrency();
        return static_cast<int>(std::max(2u, cores));  // at least as many as workers, of which there are two or more
    }();
    return count;
}

Device::Device(CUdevice ordinal) : ordinal_(ordinal), context_(nullptr), default_pool_(nullptr), pool_(nullptr) {
    context_ = arena<Context>.create(ordinal);
    if (context_ != nullptr) default_pool_ = arena<MemoryPool>.create(*context_, /*is_default=*/true);
    if (default_pool_ == nullptr) throw std::bad_alloc();
    pool_ = default_pool_;
    arena<Context>.hide(context_);  // the handle is valid only while the primary context is retained
}

std::string Device::name() const {
    static const std::string name = "Host CPU (" + processor_model() + ")";
    return name;
}

CUuuid Device::uuid() const {
    CUuuid uuid{};
    std::memcpy(uuid.bytes, "cuda_graphs host", sizeof uuid.bytes);
    uuid.bytes[15] = static_cast<char>(ordinal_);
    return uuid;
}

std::string Device::pci_bus_id() const {
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(ordinal_) & 0xff);
    return text;
}

CUresult Device::attribute(CUdevice_attribute which, int* out) const {
    if (which == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
        *out = ordinal_;
        return CUDA_SUCCESS;
    }
    for (const Row& row : kAttributes) {
        if (row.which != which) continue;
        *out = row.measure != nullptr ? row.measure() : row.value;
        return CUDA_SUCCESS;
    }
    if (!retired(which)) return CUDA_ERROR_INVALID_VALUE;
    *out = 0;
    return CUDA_SUCCESS;
}

CUresult Device::retain_primary(CUcontext* out) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_ != CUDA_SUCCESS) return failure_;
    if (retained_++ == 0) arena<Context>.show(context_);
    *out = context_->handle();
    return CUDA_SUCCESS;
}

CUresult Device::release_primary() {
    bool last;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        // cuda.h, cuDevicePrimaryCtxRelease: "Releasing a primary context that has not been previously retained
        // will fail with CUDA_ERROR_INVALID_CONTEXT."
        if (retained_ == 0) return CUDA_ERROR_INVALID_CONTEXT;
        last = --retained_ == 0;
        if (last) arena<Context>.hide(context_);
    }
    if (!last) return CUDA_SUCCESS;
    context_->synchronize();
    context_->heap().release_all();
    return CUDA_SUCCESS;
}

CUresult Device::reset_primary() {
    const CUresult status = context_->synchronize();
    context_->heap().release_all();
    std::lock_guard<std::mutex> lock(mutex_);
    flags_ = 0;
    if (status == CUDA_SUCCESS || failure_ != CUDA_SUCCESS) return CUDA_SUCCESS;
    // A kernel's fault outlives the reset: the process cannot use the device any more, and its context becomes invalid.
    // libcuda 580 on an H200 does the same (tests/conformance, fault/reset_of_the_primary_context_heals).
    failure_ = status;
    context_->invalidate();
    return CUDA_SUCCESS;
}

bool Device::are_context_flags(unsigned flags) {
    constexpr unsigned known = CU_CTX_FLAGS_MASK;
    return (flags & ~known) == 0 && (flags & CU_CTX_SCHED_MASK) != 3;
}

CUresult Device::set_primary_flags(unsigned flags) {
    if (!are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(mutex_);
    flags_ = flags;
    return CUDA_SUCCESS;
}

void Device::primary_state(unsigned* flags, int* active) {
    std::lock_guard<std::mutex> lock(mutex_);
    *flags = flags_;
    *active = retained_ != 0;
}

unsigned Device::primary_flags() {
    std::lock_guard<std::mutex> lock(mutex_);
    return flags_;
}

MemoryPool& Device::pool() {
    std::lock_guard<std::mutex> lock(mutex_);
    return *pool_;
}

void Device::set_pool(MemoryPool& pool) {
    std::lock_guard<std::mutex> lock(mutex_);
    pool_ = &pool;
}

void Device::forget_pool(const MemoryPool& pool) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (pool_ == &pool) pool_ = default_pool_;
}

CUresult make_devices() {
    static std::mutex once;
    std::lock_guard<std::mutex> lock(once);
    if (!devices().empty()) return CUDA_SUCCESS;
    const char* text = std::getenv("CUDA_GRAPHS_HOST_DEVICES");
    const int count = text != nullptr && *text != '\0' ? std::clamp(std::atoi(text), 0, kMostDevices) : 1;
    for (int i = 0; i < count; ++i) devices().push_back(std::make_unique<Device>(i));
    return count == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

int device_count() {
    return static_cast<int>(devices().size());
}

CUresult find_device(CUdevice ordinal, Device** out) {
    if (ordinal < 0 || ordinal >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
    *out = devices()[static_cast<std::size_t>(ordinal)].get();
    return CUDA_SUCCESS;
}

Device& device_of(const Context& context) {
    return *devices()[static_cast<std::size_t>(context.device())];
}

}  // namespace cgh
