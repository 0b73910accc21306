// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Libraries and kernels.
#include "hostdriver/loader/library.hpp"

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/streams/capture.hpp"

using namespace cgh;

namespace {

CUresult find_library(CUlibrary handle, Image** out) {
    auto* library = cast<Library>(handle);
    REQUIRE(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
    *out = library->image.get();
    return CUDA_SUCCESS;
}

CUresult find_kernel_on(CUkernel handle, CUdevice dev, Kernel** out) {
    *out = find_kernel(handle);
    REQUIRE(*out != nullptr, CUDA_ERROR_INVALID_HANDLE);
    Device* device = nullptr;
    return find_device(dev, &device);
}

struct JitOptions {
    unsigned count;
    CUjit_option* names;
    void** values;
};

template <class Load>
CUresult load_library(CUlibrary* library, const void* source, const JitOptions& options, Load&& load) {
    REQUIRE(library != nullptr && source != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(options.count == 0 || (options.names != nullptr && options.values != nullptr), CUDA_ERROR_INVALID_VALUE);
    Ref<Image> image;
    const CUresult result = load(&image);
    write_jit_log(options.count, options.names, options.values, result);
    TRY(result);
    TRY(obey_jit_options(options.count, options.names, options.values, *image));
    return create_library(std::move(image), library);
}

}  // namespace

CGH_API CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                                   void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption*, void**,
                                   unsigned int) {
    return entry("cuLibraryLoadData", [&]() -> CUresult {
        return load_library(library, code, {numJitOptions, jitOptions, jitOptionsValues},
                            [&](Ref<Image>* image) { return Image::load(code, 0, image); });
    });
}

CGH_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                                       void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption*, void**,
                                       unsigned int) {
    return entry("cuLibraryLoadFromFile", [&]() -> CUresult {
        return load_library(library, fileName, {numJitOptions, jitOptions, jitOptionsValues},
                            [&](Ref<Image>* image) { return Image::load_file(fileName, image); });
    });
}

CGH_API CUresult cuLibraryUnload(CUlibrary library) {
    return entry("cuLibraryUnload", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        return unload_library(library);
    });
}

CGH_API CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
    return entry("cuLibraryGetKernel", [&]() -> CUresult {
        REQUIRE(pKernel != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(library, &image));
        Kernel* kernel = image->kernel(name);
        // cuda.h: "If kernel handle is not found, the call returns CUDA_ERROR_NOT_FOUND."
        REQUIRE(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
        *pKernel = kernel->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
    return entry("cuLibraryGetKernelCount", [&]() -> CUresult {
        REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(lib, &image));
        *count = static_cast<unsigned>(image->kernels().size());
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
    return entry("cuLibraryEnumerateKernels", [&]() -> CUresult {
        REQUIRE(kernels != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(lib, &image));
        for (unsigned i = 0; i < numKernels && i < image->kernels().size(); ++i)
            kernels[i] = image->kernels()[i]->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
    return entry("cuLibraryGetModule", [&]() -> CUresult {
        REQUIRE(pMod != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(library, &image));
        Context* context = nullptr;
        TRY(current_context(&context));
        return module_of(*image, pMod);
    });
}

CGH_API CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
    return entry("cuLibraryGetGlobal", [&]() -> CUresult {
        REQUIRE(name != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(library, &image));
        Context* context = nullptr;
        TRY(current_context(&context));
        return find_global(*image, name, dptr, bytes);
    });
}

CGH_API CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
    return entry("cuKernelGetAttribute", [&]() -> CUresult {
        REQUIRE(pi != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* found = nullptr;
        TRY(find_kernel_on(kernel, dev, &found));
        return found->attribute(attrib, pi);
    });
}

CGH_API CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
    return entry("cuKernelSetAttribute", [&]() -> CUresult {
        Kernel* found = nullptr;
        TRY(find_kernel_on(kernel, dev, &found));
        return found->set_attribute(attrib, val);
    });
}

CGH_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
    return entry("cuKernelGetParamInfo", [&]() -> CUresult {
        REQUIRE(kernel != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* found = find_kernel(kernel);
        REQUIRE(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
        Context* context = nullptr;
        TRY(current_context(&context));  // required by an H200; cuda.h does not mention it
        return found->param_info(paramIndex, paramOffset, paramSize);
    });
}

CGH_API CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
    return entry("cuKernelGetFunction", [&]() -> CUresult {
        REQUIRE(pFunc != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* found = find_kernel(kernel);
        REQUIRE(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
        Context* context = nullptr;
        TRY(current_context(&context));
        *pFunc = found->function();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
    return entry("cuKernelGetLibrary", [&]() -> CUresult {
        REQUIRE(pLib != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* found = find_kernel(kernel);
        REQUIRE(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
        return library_of(found->image(), pLib);
    });
}

// cuda.h about cuKernelGetName and cuFuncGetName: "If either **name or hfunc is NULL, CUDA_ERROR_INVALID_VALUE is
// returned."
CGH_API CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
    return entry("cuKernelGetName", [&]() -> CUresult {
        REQUIRE(name != nullptr && hfunc != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* found = find_kernel(hfunc);
        REQUIRE(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
        *name = found->code().name;
        return CUDA_SUCCESS;
    });
}

// cuda.h: "This is only a preference."
CGH_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    return entry("cuKernelSetCacheConfig", [&]() -> CUresult {
        REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
        Kernel* found = nullptr;
        return find_kernel_on(kernel, dev, &found);
    });
}

// There are no managed variables and no functions that the host can call, because PTX with either is refused when it is
// loaded.
CGH_API CUresult cuLibraryGetManaged(CUdeviceptr*, size_t*, CUlibrary library, const char* name) {
    return entry("cuLibraryGetManaged", [&]() -> CUresult {
        REQUIRE(name != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(library, &image));
        return CUDA_ERROR_NOT_FOUND;
    });
}

CGH_API CUresult cuLibraryGetUnifiedFunction(void** fptr, CUlibrary library, const char* symbol) {
    return entry("cuLibraryGetUnifiedFunction", [&]() -> CUresult {
        REQUIRE(fptr != nullptr && symbol != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_library(library, &image));
        return CUDA_ERROR_NOT_FOUND;
    });
}
