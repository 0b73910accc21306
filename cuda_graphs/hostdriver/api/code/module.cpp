// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules and functions.
#include "hostdriver/entry.hpp"
#include "hostdriver/loader/library.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/streams/capture.hpp"

using namespace cgh;

namespace {

CUresult load_module(CUmodule* out, const void* image, unsigned count, CUjit_option* options, void** values) {
    REQUIRE(out != nullptr && image != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(count == 0 || (options != nullptr && values != nullptr), CUDA_ERROR_INVALID_VALUE);
    Context* context = nullptr;
    TRY(current_context(&context));
    Ref<Image> loaded;
    const CUresult result = Image::load(image, 0, &loaded);
    write_jit_log(count, options, values, result);
    TRY(result);
    TRY(obey_jit_options(count, options, values, *loaded));
    return create_module(std::move(loaded), *context, out);
}

CUresult load_module_file(CUmodule* out, const char* name) {
    REQUIRE(out != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
    Context* context = nullptr;
    TRY(current_context(&context));
    Ref<Image> loaded;
    TRY(Image::load_file(name, &loaded));
    return create_module(std::move(loaded), *context, out);
}

CUresult find_module(CUmodule handle, Image** out) {
    auto* module = cast<Module>(handle);
    REQUIRE(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
    *out = module->image.get();
    return CUDA_SUCCESS;
}

CUresult kernel_of(CUfunction handle, Kernel** out) {
    // A CUkernel is refused: only launches, occupancy queries and cuKernel* accept it.
    *out = find_function(handle);
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

CGH_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return entry("cuModuleLoadData", [&]() -> CUresult { return load_module(module, image, 0, nullptr, nullptr); });
}

CGH_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions, CUjit_option* options,
                                    void** optionValues) {
    return entry("cuModuleLoadDataEx",
                 [&]() -> CUresult { return load_module(module, image, numOptions, options, optionValues); });
}

CGH_API CUresult cuModuleUnload(CUmodule hmod) {
    return entry("cuModuleUnload", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        return unload_module(hmod);
    });
}

CGH_API CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
    return entry("cuModuleGetFunction", [&]() -> CUresult {
        REQUIRE(hfunc != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_module(hmod, &image));
        Kernel* kernel = image->kernel(name);
        // cuda.h: "If no function of that name exists, cuModuleGetFunction() returns CUDA_ERROR_NOT_FOUND."
        REQUIRE(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
        *hfunc = kernel->function();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
    return entry("cuModuleGetGlobal", [&]() -> CUresult {
        REQUIRE(name != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_module(hmod, &image));
        return find_global(*image, name, dptr, bytes);
    });
}

CGH_API CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
    return entry("cuFuncGetAttribute", [&]() -> CUresult {
        REQUIRE(pi != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        TRY(kernel_of(hfunc, &kernel));
        return kernel->attribute(attrib, pi);
    });
}

CGH_API CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    return entry("cuFuncSetAttribute", [&]() -> CUresult {
        Kernel* kernel = nullptr;
        TRY(kernel_of(hfunc, &kernel));
        return kernel->set_attribute(attrib, value);
    });
}

CGH_API CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
    return entry("cuFuncGetParamInfo", [&]() -> CUresult {
        REQUIRE(func != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        TRY(kernel_of(func, &kernel));
        return kernel->param_info(paramIndex, paramOffset, paramSize);
    });
}

CGH_API CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
    return entry("cuFuncGetName", [&]() -> CUresult {
        REQUIRE(name != nullptr && hfunc != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        TRY(kernel_of(hfunc, &kernel));
        *name = kernel->code().name;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
    return entry("cuFuncGetModule", [&]() -> CUresult {
        REQUIRE(hmod != nullptr && hfunc != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        TRY(kernel_of(hfunc, &kernel));
        return module_of(kernel->image(), hmod);
    });
}

CGH_API CUresult cuModuleLoad(CUmodule* module, const char* fname) {
    return entry("cuModuleLoad", [&]() -> CUresult { return load_module_file(module, fname); });
}

CGH_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
    return entry("cuModuleLoadFatBinary",
                 [&]() -> CUresult { return load_module(module, fatCubin, 0, nullptr, nullptr); });
}

CGH_API CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
    return entry("cuModuleGetFunctionCount", [&]() -> CUresult {
        REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_module(mod, &image));
        *count = static_cast<unsigned>(image->kernels().size());
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
    return entry("cuModuleEnumerateFunctions", [&]() -> CUresult {
        REQUIRE(functions != nullptr, CUDA_ERROR_INVALID_VALUE);
        Image* image = nullptr;
        TRY(find_module(mod, &image));
        for (unsigned i = 0; i < numFunctions && i < image->kernels().size(); ++i)
            functions[i] = image->kernels()[i]->function();
        return CUDA_SUCCESS;
    });
}

// An image is translated as a whole when it is loaded. CU_MODULE_EAGER_LOADING means exactly this, and so every
// function is loaded as well.
CGH_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    return entry("cuModuleGetLoadingMode", [&]() -> CUresult {
        REQUIRE(mode != nullptr, CUDA_ERROR_INVALID_VALUE);
        *mode = CU_MODULE_EAGER_LOADING;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuFuncLoad(CUfunction function) {
    return entry("cuFuncLoad", [&]() -> CUresult {
        Kernel* kernel = nullptr;
        return kernel_of(function, &kernel);
    });
}

CGH_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
    return entry("cuFuncIsLoaded", [&]() -> CUresult {
        REQUIRE(state != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        TRY(kernel_of(function, &kernel));
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
        return CUDA_SUCCESS;
    });
}

// cuda.h: "This is only a preference."
CGH_API CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    return entry("cuFuncSetCacheConfig", [&]() -> CUresult {
        REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        return kernel_of(hfunc, &kernel);
    });
}

CGH_API CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
    return entry("cuFuncSetSharedMemConfig", [&]() -> CUresult {
        REQUIRE(config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        return kernel_of(hfunc, &kernel);
    });
}
