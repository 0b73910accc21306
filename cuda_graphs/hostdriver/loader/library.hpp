// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The two handles of an image: a library, which belongs to no context, and a module, which belongs to one. The module
// of a library is created on request.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_LIBRARY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_LIBRARY_HPP

#include <cuda.h>

#include <cstddef>

#include "image.hpp"

namespace cgh {

struct Library {
    Ref<Image> image;
};

struct Module {
    Ref<Image> image;
    bool of_library;
};

// Creates a handle that owns the image. Returns CUDA_ERROR_OUT_OF_MEMORY if no handle can be allocated.
CUresult create_library(Ref<Image> image, CUlibrary* out);
CUresult create_module(Ref<Image> image, Context& context, CUmodule* out);

CUresult unload_library(CUlibrary handle);
CUresult unload_module(CUmodule handle);

// Writes the module of an image, which is created on the first call.
CUresult module_of(Image& image, CUmodule* out);
// Writes the library of an image. Returns CUDA_ERROR_INVALID_HANDLE if the image was loaded as a module.
CUresult library_of(const Image& image, CUlibrary* out);

// Implements cuLibraryGetGlobal and cuModuleGetGlobal. Either output may be nullptr.
CUresult find_global(const Image& image, const char* name, CUdeviceptr* address, std::size_t* bytes);

// Applies the only JIT option that has an effect here: CU_JIT_MAX_REGISTERS. Returns INVALID_VALUE for a limit of 0, as
// libcuda 580 does.
CUresult obey_jit_options(unsigned count, const CUjit_option* options, void* const* values, Image& image);

// Writes the log of the last load into the log buffers of the JIT options, if there are any.
void write_jit_log(unsigned count, const CUjit_option* options, void** values, CUresult result);

}  // namespace cgh

#endif
