// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Library and module handles.
#include "library.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"

namespace cgh {
namespace {

std::mutex handles_mutex;  // guards the library and module of every image

}  // namespace

CUresult create_library(Ref<Image> image, CUlibrary* out) {
    Image* content = image.get();
    Library* library = arena<Library>.create(Library{std::move(image)});
    if (library == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    std::lock_guard<std::mutex> lock(handles_mutex);
    content->library = library;
    *out = reinterpret_cast<CUlibrary>(library);
    return CUDA_SUCCESS;
}

CUresult create_module(Ref<Image> image, Context& context, CUmodule* out) {
    Image* content = image.get();
    Module* module = arena<Module>.create(Module{std::move(image), false});
    if (module == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    std::lock_guard<std::mutex> lock(handles_mutex);
    content->module = module;
    content->context = &context;
    *out = reinterpret_cast<CUmodule>(module);
    return CUDA_SUCCESS;
}

namespace {

// Waits for copies and fills of the image's variables before the variables are freed, as cuMemFree does. Kernels in
// flight own a reference to their image.
void finish_work_on_variables(const Image& image) {
    if (!image.has_globals()) return;
    for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
        Device* device = nullptr;
        if (find_device(ordinal, &device) == CUDA_SUCCESS) device->context().synchronize();
    }
}

}  // namespace

CUresult unload_library(CUlibrary handle) {
    auto* library = cast<Library>(handle);
    if (library == nullptr || !arena<Library>.kill(library)) return CUDA_ERROR_INVALID_HANDLE;
    Module* module = nullptr;
    {
        std::lock_guard<std::mutex> lock(handles_mutex);
        std::swap(module, library->image->module);
        library->image->library = nullptr;
    }
    library->image->retire();
    finish_work_on_variables(*library->image);
    if (module != nullptr) arena<Module>.recycle(module);
    arena<Library>.recycle(library);
    return CUDA_SUCCESS;
}

CUresult unload_module(CUmodule handle) {
    auto* module = cast<Module>(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    // cuda.h, cuModuleUnload: "Attempting to unload a module which was obtained from the Library Management API such as
    // cuLibraryGetModule will return CUDA_ERROR_NOT_PERMITTED."
    if (module->of_library) return CUDA_ERROR_NOT_PERMITTED;
    if (!arena<Module>.kill(module)) return CUDA_ERROR_INVALID_HANDLE;
    {
        std::lock_guard<std::mutex> lock(handles_mutex);
        module->image->module = nullptr;
    }
    module->image->retire();
    finish_work_on_variables(*module->image);
    arena<Module>.recycle(module);
    return CUDA_SUCCESS;
}

CUresult module_of(Image& image, CUmodule* out) {
    std::lock_guard<std::mutex> lock(handles_mutex);
    if (image.module == nullptr) image.module = arena<Module>.create(Module{Ref<Image>(&image), true});
    if (image.module == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = reinterpret_cast<CUmodule>(image.module);
    return CUDA_SUCCESS;
}

CUresult library_of(const Image& image, CUlibrary* out) {
    std::lock_guard<std::mutex> lock(handles_mutex);
    if (image.library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *out = reinterpret_cast<CUlibrary>(image.library);
    return CUDA_SUCCESS;
}

CUresult find_global(const Image& image, const char* name, CUdeviceptr* address, std::size_t* bytes) {
    if (address == nullptr && bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cgh_global* global = image.global(name);
    if (global == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(global->address);
    if (bytes != nullptr) *bytes = global->bytes;
    return CUDA_SUCCESS;
}

namespace {

struct JitLog {
    CUjit_option buffer, size;
    const char* text;
};

void write_log(unsigned count, const CUjit_option* options, void** values, const JitLog& log) {
    char* buffer = nullptr;
    void** size = nullptr;
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == log.buffer) buffer = static_cast<char*>(values[i]);
        if (options[i] == log.size) size = &values[i];
    }
    if (buffer == nullptr || size == nullptr) return;
    const auto capacity = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*size));
    if (capacity == 0) return;
    const std::size_t length = std::min<std::size_t>(capacity - 1, std::strlen(log.text));
    std::memcpy(buffer, log.text, length);
    buffer[length] = '\0';
    // cuda.h, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: "OUT: Amount of log buffer filled with messages".
    *size = reinterpret_cast<void*>(length);
}

}  // namespace

CUresult obey_jit_options(unsigned count, const CUjit_option* options, void* const* values, Image& image) {
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] != CU_JIT_MAX_REGISTERS) continue;
        // The option's value is the pointer itself.
        const auto most = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[i]));
        REQUIRE(most != 0, CUDA_ERROR_INVALID_VALUE);
        image.limit_registers(most);
    }
    return CUDA_SUCCESS;
}

void write_jit_log(unsigned count, const CUjit_option* options, void** values, CUresult result) {
    if (options == nullptr || values == nullptr) return;
    const bool failed = result != CUDA_SUCCESS;
    write_log(count, options, values,
              {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, failed ? cghLastLoadLog() : ""});
    write_log(count, options, values,
              {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, failed ? "" : cghLastLoadLog()});
}

}  // namespace cgh
