// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Inter-process handles of memory and events, which are bytes, for processes of one machine.
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/opened_memory.hpp"
#include "hostdriver/objects/streams/event.hpp"

using namespace cgh;

CGH_API CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
    return entry("cuIpcGetMemHandle", [&]() -> CUresult {
        REQUIRE(pHandle != nullptr, CUDA_ERROR_INVALID_VALUE);
        return get_memory_handle(dptr, pHandle);
    });
}

// cuda.h: "Must be specified as CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS".
CGH_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
    return entry("cuIpcOpenMemHandle", [&]() -> CUresult {
        REQUIRE(pdptr != nullptr && Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        return OpenedMemory::get().open(handle, *context, pdptr);
    });
}

CGH_API CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    return entry("cuIpcCloseMemHandle", [&]() -> CUresult { return OpenedMemory::get().close(dptr); });
}

CGH_API CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
    return entry("cuIpcGetEventHandle", [&]() -> CUresult {
        REQUIRE(pHandle != nullptr && event != nullptr, CUDA_ERROR_INVALID_VALUE);
        const Event* const found = cast<Event>(event);
        REQUIRE(found != nullptr && found->records() != nullptr && !found->records()->is_opened(),
                CUDA_ERROR_INVALID_HANDLE);
        *pHandle = found->records()->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
    return entry("cuIpcOpenEventHandle", [&]() -> CUresult {
        REQUIRE(phEvent != nullptr, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(current_context(&context));
        std::shared_ptr<SharedRecords> records;
        TRY(SharedRecords::open(handle, &records));
        constexpr unsigned kShared = CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
        Event* const event = arena<Event>.create(*context, kShared, std::move(records));
        REQUIRE(event != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *phEvent = event->handle();
        return CUDA_SUCCESS;
    });
}
