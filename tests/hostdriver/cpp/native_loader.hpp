// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// An image loader for C++ tests. Kernels are native functions, registered by name, and an image is a text that lists
// names. So the driver's own tests need neither PTX nor Python.
//
//     void add_one(const cgh_launch* launch, const void* params, void*, uint64_t first, uint64_t end) { ... }
//     native::Kernels kernels{{"add_one", add_one, {8, 4}}};      // sizes of the parameters
//     native::Library library("add_one");
//     cuLaunchKernel(library.function("add_one"), ...);
//
// In an image `global NAME BYTES` makes a variable, and `fail WORDS` makes the load fail with that log.
#ifndef HOSTDRIVER_TESTS_NATIVE_LOADER_HPP
#define HOSTDRIVER_TESTS_NATIVE_LOADER_HPP

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostdriver/image_loader.h"

namespace native {

// Reads a parameter block in order.
class Args {
  public:
    explicit Args(const void* params) : at_(static_cast<const std::byte*>(params)) {}
    template <class T>
    T next() {
        offset_ = (offset_ + alignof(T) - 1) / alignof(T) * alignof(T);
        T value;
        std::memcpy(&value, at_ + offset_, sizeof value);
        offset_ += sizeof value;
        return value;
    }

  private:
    const std::byte* at_;
    std::size_t offset_ = 0;
};

inline std::uint64_t threads_of(const cgh_launch* launch) {
    return std::uint64_t{launch->block[0]} * launch->block[1] * launch->block[2];
}

struct Definition {
    std::string name;
    cgh_entry entry;
    std::vector<std::uint32_t> sizes;  // sizes of the parameters in bytes
    std::uint32_t static_shared = 0;
    std::uint32_t max_threads = 1024;
    std::vector<std::uint32_t> required_block = {0, 0, 0};
    bool is_instrumented = false;
};

inline std::map<std::string, Definition>& registry() {
    static auto* all = new std::map<std::string, Definition>;
    return *all;
}

// The number of images that a test has loaded and not yet unloaded, for leak checks.
inline int& images_alive() {
    static int count = 0;
    return count;
}

struct Content {
    std::deque<std::vector<cgh_param>> params;
    std::vector<cgh_kernel> kernels;
    std::vector<cgh_global> globals;
    std::deque<std::string> names;
    std::deque<std::unique_ptr<std::uint64_t[]>> variables;
};

inline void add_kernel(Content& content, const Definition& definition) {
    std::vector<cgh_param> params;
    std::uint32_t offset = 0;
    for (const std::uint32_t size : definition.sizes) {
        const std::uint32_t alignment = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
        offset = (offset + alignment - 1) / alignment * alignment;
        params.push_back({offset, size});
        offset += size;
    }
    content.params.push_back(std::move(params));
    cgh_kernel kernel{};
    kernel.name = definition.name.c_str();
    kernel.entry = definition.entry;
    kernel.params = content.params.back().data();
    kernel.param_count = static_cast<std::uint32_t>(definition.sizes.size());
    kernel.param_bytes = offset;
    kernel.static_shared_bytes = definition.static_shared;
    kernel.registers = 16;
    kernel.max_threads_per_block = definition.max_threads;
    for (std::size_t i = 0; i < 3; ++i) kernel.required_block[i] = definition.required_block[i];
    kernel.is_instrumented = definition.is_instrumented;
    kernel.ptx_version = kernel.binary_version = 90;
    content.kernels.push_back(kernel);
}

inline CUresult load_image(void*, const void* image, std::size_t size, cgh_image* out, char* log, std::size_t room) {
    auto content = std::make_unique<Content>();
    std::istringstream text(std::string(static_cast<const char*>(image), size));
    for (std::string word; text >> word;) {
        if (word == "fail") {
            std::string reason;
            std::getline(text, reason);
            std::strncpy(log, reason.c_str(), room - 1);
            return CUDA_ERROR_INVALID_PTX;
        }
        if (word == "global") {
            std::string name;
            std::size_t bytes = 0;
            text >> name >> bytes;
            content->names.push_back(name);
            content->variables.emplace_back(new std::uint64_t[bytes / 8 + 1]());
            content->globals.push_back({content->names.back().c_str(), content->variables.back().get(), bytes});
            continue;
        }
        const auto found = registry().find(word);
        if (found == registry().end()) {
            std::strncpy(log, ("no native kernel " + word).c_str(), room - 1);
            return CUDA_ERROR_INVALID_PTX;
        }
        add_kernel(*content, found->second);
    }
    *out = {content->kernels.data(), content->globals.data(), static_cast<std::uint32_t>(content->kernels.size()),
            static_cast<std::uint32_t>(content->globals.size()), content.get()};
    content.release();
    ++images_alive();
    return CUDA_SUCCESS;
}

inline void unload_image(void*, cgh_image* image) {
    delete static_cast<Content*>(image->owner);
    --images_alive();
}

// Registers kernels, and the loader with the driver.
struct Kernels {
    Kernels(std::initializer_list<Definition> definitions) {
        for (const Definition& definition : definitions) registry()[definition.name] = definition;
        static const cgh_loader loader{nullptr, load_image, unload_image};
        cghSetImageLoader(&loader);
    }
};

// A library that is unloaded at the end of the scope.
class Library {
  public:
    explicit Library(const std::string& text) {
        const CUresult result = cuLibraryLoadData(&handle_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
        if (result != CUDA_SUCCESS) throw std::runtime_error("load of '" + text + "': " + cghLastLoadLog());
    }
    Library(Library&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() { unload(); }

    CUlibrary handle() const { return handle_; }
    CUkernel kernel(const char* name) const {
        CUkernel kernel = nullptr;
        if (cuLibraryGetKernel(&kernel, handle_, name) != CUDA_SUCCESS) throw std::runtime_error(name);
        return kernel;
    }
    // Returns the kernel as the function that a launch takes.
    CUfunction function(const char* name) const {
        CUfunction function = nullptr;
        if (cuKernelGetFunction(&function, kernel(name)) != CUDA_SUCCESS) throw std::runtime_error(name);
        return function;
    }
    void unload() {
        if (handle_ != nullptr) cuLibraryUnload(handle_);
        handle_ = nullptr;
    }

  private:
    CUlibrary handle_ = nullptr;
};

}  // namespace native

#endif
