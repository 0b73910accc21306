// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of every entry point, over the list of driver functions. No function works before cuInit or inside a host
// function. No function crashes on null, dead or foreign handles. Each is found by its name and version.
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime_rig.hpp"

using namespace rig;

namespace {

// cuda.h leaves the types behind handles incomplete, which distinguishes handles from pointers to data.
template <class T, class = void>
struct IsComplete : std::false_type {};
template <class T>
struct IsComplete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};

template <class T>
constexpr bool is_handle() {
    if constexpr (!std::is_pointer_v<T>)
        return false;
    else {
        using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
        return std::is_class_v<Pointee> && !IsComplete<Pointee>::value;
    }
}

alignas(64) std::byte scratch[8192];  // zeros that data pointers point to

// Returns an argument of type T: handles are `handle`, data pointers point to zeros or are null, numbers are 0.
template <class T>
T argument(const std::map<std::string, void*>& handles, bool null_data) {
    if constexpr (is_handle<T>()) {
        const auto own = handles.find(typeid(T).name());
        return reinterpret_cast<T>(own != handles.end() ? own->second : handles.at(""));
    } else if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
        return null_data ? nullptr : reinterpret_cast<T>(scratch);
    } else {
        return T{};
    }
}

struct Call {
    const char* name;
    bool takes_handles;
    CUresult (*call)(const std::map<std::string, void*>& handles, bool null_data);
};

template <auto kFunction>
struct Caller;
template <class... Parameters, CUresult (*kFunction)(Parameters...)>
struct Caller<kFunction> {
    static constexpr bool takes_handles = (is_handle<Parameters>() || ...);
    static CUresult call([[maybe_unused]] const std::map<std::string, void*>& handles,
                         [[maybe_unused]] bool null_data) {
        std::memset(scratch, 0, sizeof scratch);
        return kFunction(argument<Parameters>(handles, null_data)...);
    }
};

// Both macros are spelled out: an argument that is passed on would be expanded by the macros of cuda.h.
const Call kCalls[] = {
#define CG_REQUIRED(base, symbol, version) {#base, Caller<&symbol>::takes_handles, Caller<&symbol>::call},
#define CG_OPTIONAL(base, symbol, version) {#base, Caller<&symbol>::takes_handles, Caller<&symbol>::call},
#include "core/driver/functions.def"
};

bool anytime(const std::string& name) {
    return name == "cuInit" || name == "cuDriverGetVersion" || name == "cuGetErrorName" || name == "cuGetErrorString";
}

// Makes every call with these handles. Every call with a handle parameter must fail.
void all_refuse(const std::map<std::string, void*>& handles, const char* what) {
    for (const Call& call : kCalls) {
        // A NULL host function in a valid stream does not test handles.
        if (!call.takes_handles) continue;
        context();
        const CUresult result = call.call(handles, false);
        if (result == CUDA_SUCCESS) check::fail(__FILE__, __LINE__, std::string(call.name) + " accepts " + what);
    }
}

const std::map<std::string, void*> kNone = {{"", nullptr}};

}  // namespace

LAW_ALONE(EveryEntry, IsRefusedBeforeInit) {
    for (const Call& call : kCalls)
        for (const bool null_data : {false, true})
            if (!anytime(call.name) && call.call(kNone, null_data) != CUDA_ERROR_NOT_INITIALIZED)
                check::fail(__FILE__, __LINE__, call.name);
}

LAW_ALONE(EveryEntry, IsRefusedInsideAHostFunction) {
    context();
    static std::string accepted;
    OK(cuLaunchHostFunc(
        nullptr,
        [](void*) {
            for (const Call& call : kCalls)
                if (call.call(kNone, true) != CUDA_ERROR_NOT_PERMITTED &&
                    (!anytime(call.name) || call.name == std::string("cuInit")))
                    accepted += std::string(" ") + call.name;
        },
        nullptr));
    OK(cuCtxSynchronize());
    EQUAL(accepted, "");
}

LAW_ALONE(EveryEntry, SurvivesNullEverywhere) {
    for (const Call& call : kCalls) {
        if (std::strncmp(call.name, "cuDevicePrimaryCtxReset", 23) == 0) continue;
        CUcontext primary = nullptr;
        OK(cuInit(0));
        OK(cuDevicePrimaryCtxRetain(&primary, 0));
        OK(cuCtxSetCurrent(primary));
        call.call(kNone, true);
        call.call(kNone, false);
    }
    context();
    OK(cuCtxSynchronize());
}

LAW_ALONE(EveryEntry, RefusesForeignHandles) {
    static std::byte data[4096] = {};
    const Stream stream;
    const Event event;
    std::byte local[64];
    const std::pair<void*, const char*> values[] = {
        {data, "the address of data"},
        {local, "an address of the stack"},
        {reinterpret_cast<void*>(0x1234567), "a small number"},
        {reinterpret_cast<void*>(~std::uintptr_t{0}), "all ones"},
        {reinterpret_cast<std::byte*>(static_cast<CUstream>(stream)) + 8, "an address inside a stream"},
        {reinterpret_cast<std::byte*>(static_cast<CUstream>(stream)) + 1, "an odd address"},
    };
    for (const auto& [value, what] : values) all_refuse({{"", value}}, what);
    // Handles of the wrong type: a stream in place of an event, and an event in place of any other handle.
    all_refuse({{"", static_cast<CUevent>(event)}, {typeid(CUevent).name(), static_cast<CUstream>(stream)}},
               "a handle of another type");
}

LAW_ALONE(EveryEntry, RefusesDeadHandles) {
    context();
    std::map<std::string, void*> dead = {{"", reinterpret_cast<void*>(0x1234567)}};
    const auto keep = [&](auto handle) {
        CHECK(handle != nullptr);
        dead[typeid(handle).name()] = handle;
    };
    CUstream stream = nullptr;
    OK(cuStreamCreate(&stream, 0));
    keep(stream);
    OK(cuStreamDestroy(stream));
    CUevent event = nullptr;
    OK(cuEventCreate(&event, 0));
    keep(event);
    OK(cuEventDestroy(event));
    native::Library library("add");
    keep(library.handle());
    keep(library.kernel("add"));
    keep(library.function("add"));
    CUmodule module = nullptr;
    OK(cuLibraryGetModule(&module, library.handle()));
    keep(module);
    library.unload();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    CUmemoryPool pool = nullptr;
    OK(cuMemPoolCreate(&pool, &props));
    keep(pool);
    OK(cuMemPoolDestroy(pool));
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    OK(cuGraphInstantiate(&exec, graph, 0));
    keep(graph);
    keep(node);
    keep(exec);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    all_refuse(dead, "a dead handle");
}

// The host driver's own lists contain functions that cuda.h does not declare.
#define CGH_OFFERED(base, symbol, version) extern "C" CUresult test_address_of_##symbol() __asm__(#symbol);
#include "hostdriver/offered.def"
#define CGH_REFUSED(base, symbol, version) extern "C" CUresult test_address_of_##symbol() __asm__(#symbol);
#include "hostdriver/refused.def"

struct NamedEntry {
    std::string base;
    int version;
    void* address;
};

const std::vector<NamedEntry> kEntries = {
#define CG_REQUIRED(base, symbol, version) {#base, version, reinterpret_cast<void*>(&symbol)},
#define CG_OPTIONAL(base, symbol, version) {#base, version, reinterpret_cast<void*>(&symbol)},
#include "core/driver/functions.def"
#define CGH_OFFERED(base, symbol, version) {#base, version, reinterpret_cast<void*>(&test_address_of_##symbol)},
#include "hostdriver/offered.def"
#define CGH_REFUSED(base, symbol, version) {#base, version, reinterpret_cast<void*>(&test_address_of_##symbol)},
#include "hostdriver/refused.def"
};

// Returns the newest form that is not newer than `version`.
void* entry_of(const std::string& base, int version) {
    const NamedEntry* best = nullptr;
    for (const NamedEntry& entry : kEntries)
        if (entry.base == base && entry.version <= version && (best == nullptr || entry.version > best->version))
            best = &entry;
    return best != nullptr ? best->address : nullptr;
}

LAW(EveryEntry, IsFoundByNameAndVersion) {
    for (const NamedEntry& entry : kEntries) {
        CUdriverProcAddressQueryResult status{};
        for (const int version : {entry.version - 1, entry.version, 13000, 99000}) {
            void* found = scratch;
            void* const expected = entry_of(entry.base, version);
            const CUresult answer = cuGetProcAddress(entry.base.c_str(), &found, version, 0, &status);
            EQUAL(found, expected);
            EQUAL(answer, expected != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
            EQUAL(status,
                  expected != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
        }
    }
    void* found = scratch;
    CUdriverProcAddressQueryResult status{};
    ANSWERS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, &status));
    EQUAL(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    ANSWERS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress(nullptr, &found, 13000, 0, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &found, 13000, 3, nullptr));
    void* forms[2] = {};
    for (const char* name : {"cuInit", "cuLaunchKernel"}) {
        for (cuuint64_t i = 0; i < 2; ++i) OK(cuGetProcAddress(name, &forms[i], 13000, i + 1, nullptr));
        EQUAL(forms[0] == forms[1], std::strcmp(name, "cuInit") == 0);  // cuInit does not depend on streams
    }
}

LAW(Driver, SaysWhatItIs) {
    int version = 0, count = 0, value = 0;
    OK(cuDriverGetVersion(&version));
    EQUAL(version, 13000);
    OK(cuInit(0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuDeviceGetCount(&count));
    EQUAL(count, 1);
    char name[256] = "";
    OK(cuDeviceGetName(name, sizeof name, 0));
    CHECK(std::string(name).rfind("Host CPU (", 0) == 0);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    EQUAL(value, 9);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), 0));
    ANSWERS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1));
    // Every attribute of CUDA 13.0 has a value; 139 is not in its cuda.h.
    for (int which = 1; which <= 147; ++which)
        OK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(which), 0));
    const char* text = nullptr;
    OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    EQUAL(std::string(text), "invalid argument");
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &text));
    EQUAL(text, nullptr);
}

LAW_ALONE(Driver, HasAsManyDevicesAsItIsTold) {
    setenv("CUDA_GRAPHS_HOST_DEVICES", "3", 1);
    OK(cuInit(0));
    int count = 0;
    OK(cuDeviceGetCount(&count));
    EQUAL(count, 3);
    CUcontext contexts[3] = {};
    CUuuid uuids[3] = {};
    char buses[3][32] = {};
    for (int i = 0; i < 3; ++i) {
        OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        OK(cuDeviceGetUuid(&uuids[i], i));
        OK(cuDeviceGetPCIBusId(buses[i], sizeof buses[i], i));
    }
    CHECK(contexts[0] != contexts[1] && contexts[1] != contexts[2]);
    CHECK(std::memcmp(&uuids[0], &uuids[1], sizeof(CUuuid)) != 0 && std::strcmp(buses[0], buses[1]) != 0);
    // Memory and work belong to the device of the context that was current when they were made.
    OK(cuCtxSetCurrent(contexts[2]));
    CUdeviceptr memory = 0;
    OK(cuMemAlloc(&memory, 64));
    OK(cuCtxSetCurrent(contexts[0]));
    int ordinal = -1, can = -1;
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    EQUAL(ordinal, 2);
    OK(cuDeviceCanAccessPeer(&can, 0, 2));
    EQUAL(can, 1);
    OK(cuMemcpyPeer(memory, contexts[2], memory, contexts[2], 64));
    OK(cuCtxEnablePeerAccess(contexts[2], 0));
    ANSWERS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(contexts[2], 0));
    OK(cuCtxDisablePeerAccess(contexts[2]));
    ANSWERS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(contexts[2]));
    CUevent event = nullptr;
    OK(cuEventCreate(&event, 0));
    OK(cuCtxSetCurrent(contexts[1]));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, nullptr));  // an event of another context
    OK(cuMemFree(memory));
}

LAW_ALONE(Driver, WithoutDevicesSaysSo) {
    setenv("CUDA_GRAPHS_HOST_DEVICES", "0", 1);
    ANSWERS(CUDA_ERROR_NO_DEVICE, cuInit(0));
    int count = 0;
    ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
}

LAW_ALONE(Context, StackIsTheThreads) {
    OK(cuInit(0));
    CUcontext context = nullptr, current = nullptr;
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&current));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    CUdevice device = 9;
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxSetCurrent(nullptr));  // pops
    OK(cuCtxGetCurrent(&current));
    EQUAL(current, context);
    OK(cuCtxSetCurrent(context));  // replaces the top
    std::thread([&] {
        CUcontext of_thread = context;
        OK(cuCtxGetCurrent(&of_thread));
        EQUAL(of_thread, nullptr);
    }).join();
    OK(cuCtxPopCurrent(&current));
    EQUAL(current, context);
    OK(cuCtxPopCurrent(nullptr));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&current));
    OK(cuCtxSetCurrent(nullptr));  // does nothing on an empty stack
    int active = 9;
    unsigned flags = 9;
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EQUAL(active, 0);
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(context));  // inactive
    CUcontext again = nullptr;
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    EQUAL(again, context);
}

LAW(EveryRefusedEntry, AnswersNotSupported) {
    OK(cuInit(0));
    const auto ask = [](CUresult (*entry)(), const char* name) {
        if (entry() != CUDA_ERROR_NOT_SUPPORTED) check::fail(__FILE__, __LINE__, name);
    };
#define CGH_REFUSED(base, symbol, version) ask(&test_address_of_##symbol, #symbol);
#include "hostdriver/refused.def"
}
