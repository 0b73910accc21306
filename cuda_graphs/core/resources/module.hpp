// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Libraries (loaded code) and their kernels. A library is unloaded with the last handle of it and of its kernels. The
// box of a kernel caches its parameters: their layout, which the driver reports, with their types, which the code
// tells.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_MODULE_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_MODULE_HPP

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/handles/box.hpp"
#include "kernel_type.hpp"
#include "stream.hpp"

namespace cg {

struct LibraryBox {
    CUlibrary raw = nullptr;
    Counted<Kind::kLibrary> counted;
    bool finish() noexcept;
};

using LibraryHandle = HandleTo<LibraryBox>;

// `image` is a cubin or a fatbin, or PTX text with its terminating NUL. `prints`: its kernels may call printf.
LibraryHandle load_library(const void* image, bool prints);

// Returns whether a kernel that this library loaded or borrowed may call printf.
bool code_may_print() noexcept;

// Returns the message of the JIT compiler or loader for an image that failed to load; "" when there is no message.
// Loads the image again as a module, because only modules return their log at once.
std::string load_log(const void* image);

// Lists the names of a library's kernels, sorted. Returns false when the driver cannot list them.
bool kernel_names(const LibraryHandle& library, std::vector<std::string>& names);

// The CUfunction of a kernel in one context.
struct PlacedFunction {
    CUcontext context = nullptr;
    CUfunction function = nullptr;
};

struct ContextFunction {
    PlacedFunction place;
    std::weak_ptr<const CUcontext> context;  // tells a context from a later one at the same address

    bool is_of(const ContextHandle& wanted) const noexcept {
        return place.function != nullptr && !context.owner_before(wanted) && !wanted.owner_before(context);
    }
};

struct KernelBox {
    CUkernel raw = nullptr;
    CUfunction function = nullptr;      // function of a module, which is not a CUkernel; `raw` then has the same value
    ContextFunction likely;             // function in the context that is nearly always the current one; may be empty
    LibraryHandle library;              // empty for a kernel of foreign code
    Opaque owner;                       // owner that keeps the code of a foreign kernel loaded, or the image that
                                        // another kernel came from (a CodeImage of Python); may be empty
    std::mutex asking;                  // guards the signature, and the parameters until they are known
    std::atomic<bool> known{false};     // a failed query, as without a context, is repeated
    std::vector<KernelType> signature;  // empty if the code tells no types
    std::vector<Parameter> parameters;  // constant once `known`
    std::vector<ContextFunction> others;     // functions in further contexts
    std::atomic<const char*> name{nullptr};  // for messages; null for a kernel of foreign code; never freed
    Counted<Kind::kKernel> counted;
    ~KernelBox();
};

using KernelHandle = HandleTo<KernelBox>;

inline void note_launch(const StreamHandle& stream, const KernelHandle& kernel) noexcept {
    const char* name = box_of<KernelBox>(kernel)->name.load(std::memory_order_relaxed);
    box_of<StreamBox>(stream)->last_launch.store(reinterpret_cast<std::uintptr_t>(name), std::memory_order_relaxed);
}

// Returns the kernel of that name. All handles of a kernel share one box.
KernelHandle get_kernel(const LibraryHandle& library, const char* name);

// Sets the types of the parameters, unless the parameters are known already. They count only if the driver reports as
// many parameters, of the same sizes.
void set_signature(const KernelHandle& kernel, std::vector<KernelType> signature);

// Returns the types of the parameters in words, without a call of the driver; empty if no types are known.
std::vector<std::string> signature_texts(const KernelHandle& kernel);

// Returns the existing handle of a raw kernel if there is one, else a borrowed kernel that keeps `library` and `owner`
// (may be empty) alive.
KernelHandle create_kernel_ref(CUkernel raw, const LibraryHandle& library, const Opaque& owner = {});

// Does the same for a function of a module.
KernelHandle create_function_ref(CUfunction raw, const Opaque& owner = {});

// Returns the kernel that a node launches, from the parameters that the driver reports. An H200 fills in both; for a
// function of a module `kern` is null.
KernelHandle kernel_of_node(CUfunction func, CUkernel kern);

// Asks the driver for the kernel's CUfunction in a context, and keeps it. See function_on.
CUfunction learn_function(const KernelHandle& kernel, const ContextHandle& context);

// Returns the function argument for a launch on the stream: the kernel's CUfunction in the stream's context, queried
// once. On a default stream, and when the stream's context is not current, returns the kernel itself, which cuda.h
// allows. For a kernel, libcuda 580 on an H200 takes 0.04 us longer to capture a launch and 0.1 us longer to launch.
// Returns null with a noted error on failure. The caller holds the GIL.
inline CUfunction function_on(const KernelHandle& kernel, const StreamHandle& stream) {
    const KernelBox& box = *box_of<KernelBox>(kernel);
    if (box.function != nullptr) return box.function;
    const ContextHandle& context = box_of<StreamBox>(stream)->context;
    if (box.likely.is_of(context)) return box.likely.place.function;
    for (const ContextFunction& known : box.others)
        if (known.is_of(context)) return known.place.function;
    return context ? learn_function(kernel, context) : reinterpret_cast<CUfunction>(box.raw);
}

// Asks for the kernel's CUfunction in the current context, if there is one, and keeps it. Returns false with a noted
// error on failure. See find_likely_function.
bool learn_function_here(const KernelHandle& kernel);

// Finds a CUfunction of the kernel and its context, which is nearly always the current one; an empty place if none is
// known. For a node of this function, libcuda 580 takes 0.05 us less than for one of the kernel. Returns false
// with a noted error on failure. The caller holds the GIL.
inline bool find_likely_function(const KernelHandle& kernel, PlacedFunction* place) {
    const KernelBox& box = *box_of<KernelBox>(kernel);
    *place = {};
    if (box.function != nullptr) return true;
    // Once only: a context that nothing of this library keeps would end at once, each time.
    if (box.likely.place.function == nullptr && !learn_function_here(kernel)) return false;
    if (!box.likely.context.expired()) *place = box.likely.place;
    return true;
}

// Returns the name of a kernel in its code; "" when the driver cannot report it.
std::string kernel_name(const KernelHandle& kernel);

// Returns the parameters of a kernel, queried once; nullptr with a noted error when the driver cannot report them.
const std::vector<Parameter>* kernel_parameters(const KernelHandle& kernel);

}  // namespace cg

#endif
