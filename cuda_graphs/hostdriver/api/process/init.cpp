// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Initialisation, the version, and the list of entry points by name.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "hostdriver/api/streams/per_thread.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/execution/clock.hpp"
#include "hostdriver/execution/timeline.hpp"
#include "hostdriver/loader/image.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/sanitizer/settings.hpp"

using namespace cgh;

namespace {

struct EntryPoint {
    const char* base;
    int version;  // first CUDA version of this ABI
    void* address;
};

// cuda.h need not declare these functions, because the table contains the addresses of their symbols.
#define CGH_OFFERED(base, symbol, version) extern "C" CUresult cgh_address_of_##symbol() __asm__(#symbol);
#include "hostdriver/offered.def"
#define CGH_REFUSED(base, symbol, version) extern "C" CUresult cgh_address_of_##symbol() __asm__(#symbol);
#include "hostdriver/refused.def"

#define CGH_OFFERED(base, symbol, version) {#base, version, reinterpret_cast<void*>(&cgh_address_of_##symbol)},
#define CGH_REFUSED(base, symbol, version) {#base, version, reinterpret_cast<void*>(&cgh_address_of_##symbol)},
// Both macros are spelled out: an argument that is passed on would be expanded by the macros of cuda.h.
#define CG_REQUIRED(base, symbol, version) {#base, version, reinterpret_cast<void*>(&symbol)},
#define CG_OPTIONAL(base, symbol, version) {#base, version, reinterpret_cast<void*>(&symbol)},
const EntryPoint kEntryPoints[] = {
#include "core/driver/functions.def"
#include "hostdriver/offered.def"
#include "hostdriver/refused.def"
};

// Makes the driver unusable in a forked child, as with libcuda: the child has no worker threads, and no thread runs the
// work in flight.
void after_fork_in_child() {
    entry_state.ready.store(Ready::kForked, std::memory_order_release);
}

CUresult initialise() {
    static std::mutex once;
    std::lock_guard<std::mutex> lock(once);
    const Ready ready = entry_state.ready.load(std::memory_order_acquire);
    REQUIRE(ready != Ready::kForked, CUDA_ERROR_NOT_INITIALIZED);
    if (ready == Ready::kYes) return CUDA_SUCCESS;
    TRY(make_devices());
    if (settings.any()) nodes_are_recorded.store(true, std::memory_order_relaxed);
    ticks_per_microsecond();  // measured here, not during a launch
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    entry_state.ready.store(Ready::kYes, std::memory_order_release);
    return CUDA_SUCCESS;
}

// The export table that the CUDA Runtime needs. Without it every Runtime call fails, whether the Runtime is linked
// statically or not.
constexpr unsigned char kTableOfTheRuntime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                  0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

// Writes one line per process, and only when the driver stands in for libcuda. Otherwise the caller chose this driver
// by its name.
void tell_of_the_runtime() {
    static std::atomic<bool> reported{false};
    if (!refusals_are_reported() || reported.exchange(true)) return;
    std::fputs(
        "cuda_graphs host driver: the CUDA Runtime (cudart), which this program or one of its libraries uses, runs on "
        "NVIDIA's driver only, so its calls fail here. Run the program on a GPU, or let it call the driver (cuda.core, "
        "cuda.bindings.driver, numba-cuda).\n",
        stderr);
}

}  // namespace

CGH_API CUresult cuInit(unsigned int Flags) {
    return entry_anytime("cuInit", [&]() -> CUresult {
        REQUIRE(thread_state.callback_depth == 0, CUDA_ERROR_NOT_PERMITTED);
        REQUIRE(Flags == 0, CUDA_ERROR_INVALID_VALUE);  // cuda.h: "the Flags parameter must be 0"
        if (!settings.wrong.empty()) std::fprintf(stderr, "cuda_graphs host driver: %s\n", settings.wrong.c_str());
        REQUIRE(settings.wrong.empty(), CUDA_ERROR_INVALID_VALUE);
        return initialise();
    });
}

// cuda.h: "This function automatically returns CUDA_ERROR_INVALID_VALUE if driverVersion is NULL."
CGH_API CUresult cuDriverGetVersion(int* driverVersion) {
    return entry_anytime("cuDriverGetVersion", [&]() -> CUresult {
        REQUIRE(driverVersion != nullptr, CUDA_ERROR_INVALID_VALUE);
        *driverVersion = kDriverVersion;
        return CUDA_SUCCESS;
    });
}

// Returns the newest ABI of `symbol` that is not newer than cudaVersion. cuda.h: "The requested symbol was found, but
// is not supported by cudaVersion specified" is CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT.
CGH_API CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult* symbolStatus) {
    return entry_anytime("cuGetProcAddress", [&]() -> CUresult {
        REQUIRE(symbol != nullptr && pfn != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE((flags & ~cuuint64_t{3}) == 0 && flags != 3, CUDA_ERROR_INVALID_VALUE);
        const EntryPoint* best = nullptr;
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        for (const EntryPoint& point : kEntryPoints) {
            if (std::strcmp(point.base, symbol) != 0) continue;
            if (status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            if (point.version <= cudaVersion && (best == nullptr || point.version > best->version)) best = &point;
        }
        if (best != nullptr) status = CU_GET_PROC_ADDRESS_SUCCESS;
        if (symbolStatus != nullptr) *symbolStatus = status;
        *pfn = nullptr;
        if (best == nullptr) return CUDA_ERROR_NOT_FOUND;
        *pfn = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? per_thread_form(best->address) : best->address;
        return CUDA_SUCCESS;
    });
}

// Only NVIDIA's own libraries know the contents of export tables. NVRTC asks for one before every compilation and works
// without it. The CUDA Runtime does not, and its first call fails. May be called before cuInit.
CGH_API CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
    return entry_anytime("cuGetExportTable", [&]() -> CUresult {
        REQUIRE(ppExportTable != nullptr && pExportTableId != nullptr, CUDA_ERROR_INVALID_VALUE);
        *ppExportTable = nullptr;
        if (std::memcmp(pExportTableId, kTableOfTheRuntime, sizeof kTableOfTheRuntime) == 0) tell_of_the_runtime();
        return CUDA_ERROR_NOT_FOUND;
    });
}
