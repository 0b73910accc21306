// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel, and a launch of a kernel as a value. A CUkernel is the address of a Kernel. A CUfunction is the address of
// the kernel's Function. As in libcuda the two are different handles of the same kernel.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CODE_KERNEL_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CODE_KERNEL_HPP

#include <cuda.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hostdriver/execution/clock.hpp"
#include "hostdriver/image_loader.h"
#include "hostdriver/objects/base/ref.hpp"

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
    // Creates the CUfunction handle. Returns false if memory is exhausted.
    bool make_function();
    // Ends both handles.
    void kill();

    CUkernel handle() { return reinterpret_cast<CUkernel>(this); }
    CUfunction function() { return reinterpret_cast<CUfunction>(function_); }
    Image& image() const { return image_; }
    const cgh_kernel& code() const { return code_; }

    CUresult attribute(CUfunction_attribute which, int* out) const;
    CUresult set_attribute(CUfunction_attribute which, int value);
    // Writes offset and size (bytes) of a parameter. Returns CUDA_ERROR_INVALID_VALUE past the last parameter.
    CUresult param_info(std::size_t index, std::size_t* offset, std::size_t* size) const;
    // Returns the registers per thread: the loader's estimate, or the limit set at load time if that is less.
    std::uint32_t registers() const { return registers_; }
    void limit_registers(std::uint32_t most) { registers_ = std::min(registers_, most); }
    // Returns the largest dynamic shared memory of a launch, in bytes.
    unsigned max_dynamic_shared() const;

    // The cost of one thread in clock ticks, as a moving average; 0 before the first measurement.
    float ticks_per_thread() const { return ticks_per_thread_.load(std::memory_order_relaxed); }
    // Returns true if the cost of the next run of one block is measured.
    bool is_measured_now() { return single_runs_.takes_next(); }
    // Returns the largest number of threads with which a launch is brief (wait_limit.hpp); 0 if that is unknown.
    float brief_threads() const { return brief_threads_.load(std::memory_order_relaxed); }
    // Counts the ticks that a run of `threads` threads took. Of runs that cost about what is known, only some count.
    void note_cost(float ticks, float threads) {
        const float known = ticks_per_thread() * threads;
        const bool is_usual = ticks > 0.5f * known && ticks < 1.25f * known;
        if (!is_usual || usual_runs_.takes_next()) average_in(ticks / threads);
    }

  private:
    void average_in(float measured);

    Image& image_;  // owns the kernel
    const cgh_kernel& code_;
    Function* function_ = nullptr;
    std::uint32_t registers_;                  // at least 1
    std::atomic<int> max_dynamic_shared_{-1};  // bytes; -1 if cuFuncSetAttribute did not set it
    std::atomic<int> shared_carveout_{CU_SHAREDMEM_CARVEOUT_DEFAULT};
    std::array<std::atomic<int>, 3> required_cluster_{};
    std::atomic<int> nonportable_cluster_{0};
    std::atomic<int> cluster_policy_{0};
    std::atomic<float> ticks_per_thread_{0};
    std::atomic<float> brief_threads_{0};
    Sampling single_runs_;  // of one block
    Sampling usual_runs_;   // that cost about what is known
};

// Returns the moving average of a cost after a measurement, which counts as at most twice the average so far: a launch
// whose thread was preempted can measure a thousand times its real cost. A real increase still takes effect within a
// few launches. `known` is 0 before the first measurement.
float average_cost(float known, float measured);

// Returns the kernel of a CUfunction, or of a CUkernel given in its place; nullptr if the handle is invalid or dead.
Kernel* find_kernel(const void* handle);
// Returns the kernel of a CUfunction.
Kernel* find_function(CUfunction handle);

// The parameter block of a launch. A small block needs no heap allocation.
class ParamBlock {
  public:
    ParamBlock() = default;
    explicit ParamBlock(std::size_t bytes);
    ParamBlock(const ParamBlock& other);
    ParamBlock(ParamBlock&& other) noexcept;
    ParamBlock& operator=(ParamBlock other) noexcept;
    ~ParamBlock();
    // Resizes the block to `bytes` and discards its contents.
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

// The dimensions and options of a launch.
struct LaunchShape {
    cgh_launch dims{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, nullptr};
    bool cooperative = false;
};

class KernelLaunch {
  public:
    KernelLaunch() = default;
    // Checks the launch and copies the arguments from `params` (one address per parameter) or from the packed `extra`.
    static CUresult make(Kernel& kernel, const LaunchShape& shape, void* const* params, void* const* extra,
                         KernelLaunch* out);

    // Returns the dimensions. If the launch sets no cluster, they include the cluster that the kernel was compiled for.
    cgh_launch dims() const;
    // Returns the error with which libcuda rejects this grid, block, cluster or shared memory size, or CUDA_SUCCESS.
    CUresult validate() const;
    static CUresult check_shape(Kernel& kernel, const LaunchShape& shape);
    // Runs every thread of every block; other OS threads may run some of the blocks. Returns CUDA_SUCCESS or the fault
    // (trap, assert). Each OS thread sets thread_state.run_context to `run_context` while it runs the kernel.
    CUresult run(const Stream* stream, void* run_context = nullptr) const;
    // Returns true if the kernel took so little per thread that this launch is brief (wait_limit.hpp).
    bool is_brief() const;

    Kernel* kernel() const { return kernel_; }
    const LaunchShape& shape() const { return shape_; }
    LaunchShape& shape() { return shape_; }
    const ParamBlock& params() const { return params_; }

  private:
    Kernel* kernel_ = nullptr;
    Ref<Image> image_;  // keeps the code of launches and graphs alive after cuLibraryUnload
    LaunchShape shape_;
    ParamBlock params_;
};

}  // namespace cgh

#include "hostdriver/loader/image.hpp"  // IWYU pragma: keep. A launch owns its image, so its users need the complete type.

#endif
