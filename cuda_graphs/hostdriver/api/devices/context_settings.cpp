// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Contexts that programs create in addition to the primary contexts, and the settings of a context.
#include "hostdriver/api/devices/context_stack.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/memory/opened_memory.hpp"
#include "hostdriver/objects/streams/capture.hpp"

using namespace cgh;

namespace {

CUresult create_context(CUcontext* out, unsigned flags, CUdevice dev) {
    TRY(Capture::check_unsafe_call());
    REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(Device::are_context_flags(flags), CUDA_ERROR_INVALID_VALUE);
    Device* device = nullptr;
    TRY(find_device(dev, &device));
    Context* context = arena<Context>.create(dev);
    REQUIRE(context != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    context->make_own(flags);
    // cuda.h: "The context is created with a usage count of 1 and the caller of cuCtxCreate() must call cuCtxDestroy()
    // when done using the context. If a context is already current to the thread, it is supplanted by the newly created
    // context".
    push_context(*context);
    *out = context->handle();
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
    return entry("cuCtxCreate", [&]() -> CUresult { return create_context(pctx, flags, dev); });
}

CGH_API CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam*, int numParams, unsigned int flags,
                                CUdevice dev) {
    return entry("cuCtxCreate", [&]() -> CUresult {
        REQUIRE(numParams >= 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(numParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        return create_context(pctx, flags, dev);
    });
}

CGH_API CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags, CUdevice dev) {
    return entry("cuCtxCreate", [&]() -> CUresult {
        if (ctxCreateParams != nullptr) {
            REQUIRE(ctxCreateParams->cigParams == nullptr, CUDA_ERROR_NOT_SUPPORTED);
            REQUIRE(ctxCreateParams->numExecAffinityParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        }
        return create_context(pctx, flags, dev);
    });
}

// cuda.h: "Destroys the CUDA context specified by ctx. The context ctx will be destroyed regardless of how many threads
// it is current to." "If ctx is current to the calling thread then ctx will also be popped from the current thread's
// context stack". On other threads it stays current, and its calls return CUDA_ERROR_CONTEXT_IS_DESTROYED.
CGH_API CUresult cuCtxDestroy_v2(CUcontext ctx) {
    return entry("cuCtxDestroy", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(ctx != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = cast<Context>(ctx);
        REQUIRE(context != nullptr && context->is_own(), CUDA_ERROR_INVALID_CONTEXT);
        REQUIRE(arena<Context>.kill(context), CUDA_ERROR_INVALID_CONTEXT);
        const CUresult status = context->synchronize();
        context->destroy();
        AddressMap::get().release_all_of(*context);
        context->heap().release_all();
        OpenedMemory::get().close_all_of(*context);
        if (thread_state.current == context) pop_context();
        return status;
    });
}

// cuda.h about cuCtxAttach and cuCtxDetach: "Note that this function is deprecated and should not be used. ...
// cuCtxAttach() must be passed a flags of 0, and *pctx is the current context". The usage count counted the attaches of
// one thread.
CGH_API CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags) {
    return entry("cuCtxAttach", [&]() -> CUresult {
        REQUIRE(pctx != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        *pctx = context->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxDetach(CUcontext ctx) {
    return entry("cuCtxDetach", [&]() -> CUresult {
        REQUIRE(cast<Context>(ctx) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxSetFlags(unsigned int flags) {
    return entry("cuCtxSetFlags", [&]() -> CUresult {
        REQUIRE(Device::are_context_flags(flags), CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        return context->is_own() ? (context->set_flags(flags), CUDA_SUCCESS)
                                 : device_of(*context).set_primary_flags(flags);
    });
}

CGH_API CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
    return entry("cuCtxGetLimit", [&]() -> CUresult {
        REQUIRE(pvalue != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        return context->limit(limit, pvalue);
    });
}

CGH_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return entry("cuCtxSetLimit", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(current_context(&context));
        return context->set_limit(limit, value);
    });
}

// cuda.h: "On devices where the L1 cache and shared memory are of fixed size, this will return
// CU_FUNC_CACHE_PREFER_NONE", and setting it "does nothing".
CGH_API CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
    return entry("cuCtxGetCacheConfig", [&]() -> CUresult {
        REQUIRE(pconfig != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        *pconfig = CU_FUNC_CACHE_PREFER_NONE;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    return entry("cuCtxSetCacheConfig", [&]() -> CUresult {
        REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        return current_context(&context);
    });
}

// cuda.h: "On devices with configurable shared memory banks". The virtual devices have banks of four bytes.
CGH_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
    return entry("cuCtxGetSharedMemConfig", [&]() -> CUresult {
        REQUIRE(pConfig != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    return entry("cuCtxSetSharedMemConfig", [&]() -> CUresult {
        REQUIRE(config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        return current_context(&context);
    });
}

CGH_API CUresult cuCtxGetExecAffinity(CUexecAffinityParam* pExecAffinity, CUexecAffinityType) {
    return entry("cuCtxGetExecAffinity", [&]() -> CUresult {
        REQUIRE(pExecAffinity != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    });
}

// There is no such cache (CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE is 0), so nothing has to be reset.
CGH_API CUresult cuCtxResetPersistingL2Cache(void) {
    return entry("cuCtxResetPersistingL2Cache", [&]() -> CUresult {
        Context* context = nullptr;
        return current_context(&context);
    });
}
