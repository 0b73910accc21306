// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A loaded image: what the image loader made of PTX text, with a Kernel object for each entry point and its variables
// in the address map. Libraries and modules are handles of images.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_IMAGE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_IMAGE_HPP

#include <cuda.h>

#include <cstddef>
#include <string>
#include <vector>

#include "../image_loader.h"
#include "../objects/kernel.hpp"
#include "../objects/ref.hpp"

namespace cgh {

class Context;
struct Library;
struct Module;

class Image : public Counted {
  public:
    // Its handles, or nullptr; guarded by loader/library.cpp.
    Library* library = nullptr;
    Module* module = nullptr;
    // Of a module that was loaded into one: the functions of such an image are that context's. A library is of none.
    Context* context = nullptr;

    // Finds out what `data` is and loads it. `size` 0: it says itself how long it is (text up to its NUL).
    static CUresult load(const void* data, std::size_t size, Ref<Image>* out);
    static CUresult load_file(const char* path, Ref<Image>* out);
    // The PTX of an image of `size` bytes, which nobody has looked at: INVALID_IMAGE, NO_BINARY_FOR_GPU.
    static CUresult find_text(const void* data, std::size_t size, std::string* out);
    static void dispose(Image* image) { delete image; }

    Kernel* kernel(const char* name) const;  // nullptr: no such kernel
    const std::vector<Kernel*>& kernels() const { return kernels_; }
    const cgh_global* global(const char* name) const;
    void limit_registers(std::uint32_t most);  // of a thread of each kernel; before anybody has a handle of it
    bool has_globals() const { return image_.global_count != 0; }
    // Its handles die: kernels and variables are unknown from now on, although work in flight may still use them.
    void retire();

  private:
    Image(const cgh_image& image, const cgh_loader& loader) : image_(image), loader_(loader) {}
    ~Image();
    static CUresult load_quietly(const void* data, std::size_t size, Ref<Image>* out);
    CUresult adopt();  // makes the kernels and registers the variables

    cgh_image image_;
    cgh_loader loader_;
    std::vector<Kernel*> kernels_;
};

// cghTellRefusals: whether standard error is told of what a program may not ask for.
bool refusals_are_told();

// All bytes of a file. CUDA_ERROR_FILE_NOT_FOUND.
CUresult read_file(const char* path, std::string* out);

}  // namespace cgh

#endif
