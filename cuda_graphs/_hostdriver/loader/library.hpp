// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The two handles of an image: a library (of no context) and a module (of a context). A library has a module, made
// when somebody asks for it.
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

// Takes the image over. CUDA_ERROR_OUT_OF_MEMORY when there is no room for the handle.
CUresult create_library(Ref<Image> image, CUlibrary* out);
CUresult create_module(Ref<Image> image, Context& context, CUmodule* out);

CUresult unload_library(CUlibrary handle);
CUresult unload_module(CUmodule handle);

// The module of an image, made when there is none yet.
CUresult module_of(Image& image, CUmodule* out);
// The library of an image; CUDA_ERROR_INVALID_HANDLE when it was loaded as a module.
CUresult library_of(const Image& image, CUlibrary* out);

// cuLibraryGetGlobal, cuModuleGetGlobal. Either output may be nullptr.
CUresult find_global(const Image& image, const char* name, CUdeviceptr* address, std::size_t* bytes);

// Obeys the JIT options of a load that have an effect here: CU_JIT_MAX_REGISTERS. INVALID_VALUE for a limit of 0, as by
// libcuda 580.
CUresult obey_jit_options(unsigned count, const CUjit_option* options, void* const* values, Image& image);

// What a load left to say goes into the buffers that JIT options name, if any.
void write_jit_log(unsigned count, const CUjit_option* options, void** values, CUresult result);

}  // namespace cgh

#endif
