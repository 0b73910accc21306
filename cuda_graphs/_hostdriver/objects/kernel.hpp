// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel, and one launch of it as a value. A CUkernel is the address of a Kernel. A CUfunction is the address of the
// kernel's Function: another handle, as with libcuda, of the same thing, because there is one context a device.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_KERNEL_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_KERNEL_HPP

#include <cuda.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "../image_loader.h"
#include "ref.hpp"

namespace cgh {

class Image;
class Stream;

class Kernel;

struct Function {
    Kernel& kernel;
};

class Kernel {
  public:
    Kernel(Image& image, const cgh_kernel& code);
    ~Kernel();
    // Makes the other handle. False: no room for it.
    bool make_function();
    // Both handles are dead from now on.
    void kill();

    CUkernel handle() { return reinterpret_cast<CUkernel>(this); }
    CUfunction function() { return reinterpret_cast<CUfunction>(function_); }
    Image& image() const { return image_; }
    const cgh_kernel& code() const { return code_; }

    CUresult attribute(CUfunction_attribute which, int* out) const;
    CUresult set_attribute(CUfunction_attribute which, int value);
    // CUDA_ERROR_INVALID_VALUE past the last parameter.
    CUresult param_info(std::size_t index, std::size_t* offset, std::size_t* size) const;
    // Of a thread: the loader's estimate, or the limit that was set when the image was loaded.
    std::uint32_t registers() const { return registers_; }
    void limit_registers(std::uint32_t most) { registers_ = std::min(registers_, most); }
    // What a launch may ask for as dynamic shared memory.
    unsigned max_dynamic_shared() const;

    // The cost of one thread of it in clock ticks, a moving average; 0 as long as nothing is known.
    float ticks_per_thread() const { return ticks_per_thread_.load(std::memory_order_relaxed); }
    void note_cost(float ticks_per_thread);

  private:
    Image& image_;  // owns the kernel
    const cgh_kernel& code_;
    Function* function_ = nullptr;
    std::uint32_t registers_;                  // at least 1
    std::atomic<int> max_dynamic_shared_{-1};  // -1: as without cuFuncSetAttribute
    std::atomic<int> shared_carveout_{CU_SHAREDMEM_CARVEOUT_DEFAULT};
    std::array<std::atomic<int>, 3> required_cluster_{};
    std::atomic<int> nonportable_cluster_{0};
    std::atomic<int> cluster_policy_{0};
    std::atomic<float> ticks_per_thread_{0};
};

// A kernel argument of a launch: a CUfunction, or a CUkernel given in its place. nullptr when dead or foreign.
Kernel* find_kernel(const void* handle);
// A CUfunction only.
Kernel* find_function(CUfunction handle);

// The parameter block of a launch; small ones need no allocation.
class ParamBlock {
  public:
    ParamBlock() = default;
    explicit ParamBlock(std::size_t bytes);
    ParamBlock(const ParamBlock& other);
    ParamBlock(ParamBlock&& other) noexcept;
    ParamBlock& operator=(ParamBlock other) noexcept;
    ~ParamBlock();
    // Room for so many bytes; what was in it is gone.
    void reset(std::size_t bytes) {
        if (heap_ != nullptr || bytes > kInline) *this = ParamBlock(bytes);
        size_ = bytes;
    }

    std::byte* data() { return heap_ != nullptr ? heap_ : inline_; }
    const std::byte* data() const { return heap_ != nullptr ? heap_ : inline_; }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t kInline = 96;
    alignas(16) std::byte inline_[kInline];
    std::byte* heap_ = nullptr;  // 64-byte aligned
    std::size_t size_ = 0;
};

// What a launch asks for besides its kernel and arguments.
struct LaunchShape {
    cgh_launch dims{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, nullptr};
    bool cooperative = false;
};

class KernelLaunch {
  public:
    KernelLaunch() = default;
    // Checks, and copies the arguments: as `params` (an address a parameter) or packed as in `extra`.
    static CUresult make(Kernel& kernel, const LaunchShape& shape, void* const* params, void* const* extra,
                         KernelLaunch* out);

    // The shape with the cluster that the kernel was compiled for, if the launch asks for none.
    cgh_launch dims() const;
    // Why the real driver would refuse this grid, block, cluster or shared memory size; else CUDA_SUCCESS.
    CUresult validate() const;
    static CUresult check_shape(Kernel& kernel, const LaunchShape& shape);
    // Runs every thread of every block; other threads may help. CUDA_SUCCESS or the fault (trap, assert).
    // `run_context` is what thread_state.run_context holds in every thread while the kernel runs in it.
    CUresult run(const Stream* stream, void* run_context = nullptr) const;

    Kernel* kernel() const { return kernel_; }
    const LaunchShape& shape() const { return shape_; }
    LaunchShape& shape() { return shape_; }
    const ParamBlock& params() const { return params_; }

  private:
    Kernel* kernel_ = nullptr;
    Ref<Image> image_;  // so that code in flight, and in graphs, outlives cuLibraryUnload
    LaunchShape shape_;
    ParamBlock params_;
};

}  // namespace cgh

#include "../loader/image.hpp"  // IWYU pragma: keep. A launch owns its image, so that its users need the whole type.

#endif
