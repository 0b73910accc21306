// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Libraries (loaded code) and their kernels. A library is unloaded with the last handle of it and of its kernels. A
// kernel's box knows the layout of its parameters, which the driver tells.
#ifndef CUDA_GRAPHS_HANDLES_MODULE_HPP
#define CUDA_GRAPHS_HANDLES_MODULE_HPP

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "box.hpp"
#include "stream.hpp"

namespace cg {

struct LibraryBox {
    CUlibrary raw = nullptr;
    Counted<Kind::kLibrary> counted;
    bool finish() noexcept;
};

using LibraryHandle = HandleTo<LibraryBox>;

// `image` is a cubin or a fatbin, or PTX text with its terminating NUL.
LibraryHandle load_library(const void* image);

// What the JIT compiler or the loader says about an image that did not load; "" when it says nothing. Tries to load it
// once more as a module, because only modules give their log at once.
std::string load_log(const void* image);

// The names of a library's kernels, sorted; false when the driver does not tell.
bool kernel_names(const LibraryHandle& library, std::vector<std::string>& names);

struct Parameter {
    std::size_t offset;  // bytes, in the parameter block
    std::size_t size;    // bytes
};

// What a kernel is called in a context.
struct FunctionPlace {
    std::weak_ptr<const CUcontext> context;
    CUfunction function;
};

struct KernelBox {
    CUkernel raw = nullptr;
    CUfunction function = nullptr;      // of a function of a module, which is no CUkernel; `raw` has this value then
    LibraryHandle library;              // empty for a kernel of others
    Opaque owner;                       // of a kernel of others: what keeps its code loaded; may be empty
    std::mutex asking;                  // guards the parameters until they are known
    std::atomic<bool> known{false};     // a failed question, as without a context, is asked again
    std::vector<Parameter> parameters;  // do not change once they are `known`
    std::vector<FunctionPlace> functions;
    Counted<Kind::kKernel> counted;
    ~KernelBox();
};

using KernelHandle = HandleTo<KernelBox>;

// The same kernel gives the same box as long as one handle lives.
KernelHandle get_kernel(const LibraryHandle& library, const char* name);

// Ours, with its library, if the raw value is one of ours; else borrowed, keeping `library` and `owner` (may be empty)
// alive.
KernelHandle create_kernel_ref(CUkernel raw, const LibraryHandle& library, const Opaque& owner = {});

// The same of a function of a module.
KernelHandle create_function_ref(CUfunction raw, const Opaque& owner = {});

// What a node launches, as the driver tells. An H200 fills in both; of a function of a module `kern` is null.
KernelHandle kernel_of_node(CUfunction func, CUkernel kern);

// What a launch on the stream takes: the kernel's CUfunction in the stream's context, asked for once, with the GIL. On
// a default stream, and where the stream's context is not current, it is the kernel itself, which cuda.h allows too:
// but libcuda 580 takes 0.04 us longer to capture its launch and 0.1 us longer to launch it (H200). Null with an error
// noted.
CUfunction function_on(const KernelHandle& kernel, const StreamHandle& stream);

// The name of a kernel in its code; "" when the driver does not tell.
std::string kernel_name(const KernelHandle& kernel);

// The parameters of a kernel, asked for once; nullptr with an error noted when the driver does not tell.
const std::vector<Parameter>* kernel_parameters(const KernelHandle& kernel);

}  // namespace cg

#endif
