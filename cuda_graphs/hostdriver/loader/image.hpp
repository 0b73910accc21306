// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A loaded image: the image loader's result for PTX text or a native image. An image has a Kernel object for each entry
// point, and its variables are in the address map. Libraries and modules are handles of images.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_IMAGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_IMAGE_HPP

#include <cuda.h>

#include <cstddef>
#include <string>
#include <vector>

#include "hostdriver/image_loader.h"
#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/code/kernel.hpp"

namespace cgh {

class Context;
struct Library;
struct Module;

class Image : public RefCounted {
  public:
    // The image's handles, or nullptr; guarded by hostdriver/loader/library.cpp.
    Library* library = nullptr;
    Module* module = nullptr;
    // The context that a module was loaded into, to which the image's functions belong; nullptr for a library.
    Context* context = nullptr;

    // Detects the format of `data` and loads it. With `size` 0 the data gives its own length (text ends at its NUL).
    static CUresult load(const void* data, std::size_t size, Ref<Image>* out);
    static CUresult load_file(const char* path, Ref<Image>* out);
    // Finds the PTX in an unchecked image of `size` bytes. An image without PTX gives CUDA_ERROR_INVALID_IMAGE or
    // CUDA_ERROR_NO_BINARY_FOR_GPU.
    static CUresult find_text(const void* data, std::size_t size, std::string* out);
    static void dispose(Image* image) { delete image; }

    Kernel* kernel(const char* name) const;  // nullptr if there is no such kernel
    const std::vector<Kernel*>& kernels() const { return kernels_; }
    const cgh_global* global(const char* name) const;
    void limit_registers(std::uint32_t most);  // per thread, for each kernel; call before a kernel handle is handed out
    bool has_globals() const { return image_.global_count != 0; }
    // Kills the handles of the kernels and removes the variables from the address map. Work in flight may still use
    // both.
    void retire();

  private:
    Image(const cgh_image& image, const cgh_loader& loader, bool is_ours)
        : image_(image), loader_(loader), is_ours_(is_ours) {}
    ~Image();
    static CUresult load_quietly(const void* data, std::size_t size, Ref<Image>* out);
    CUresult adopt();  // creates the kernels and registers the variables

    cgh_image image_;
    cgh_loader loader_;
    bool is_ours_;  // `loader_` is a part of the driver
    std::vector<Kernel*> kernels_;
};

// Returns whether rejected images, unsupported requests and findings of the checks are reported on standard error
// (cghReportRefusals).
bool refusals_are_reported();

// Reads all bytes of a file. Returns CUDA_ERROR_FILE_NOT_FOUND if it cannot be read.
CUresult read_file(const char* path, std::string* out);

}  // namespace cgh

#endif
