// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Sharing between processes, as far as one process can observe it: memory and events with handles, invalid handles, and
// handles that their own process may not open.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "cases.hpp"
#include "processes.hpp"

namespace conf {

namespace {

constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CUmemPoolProps shared_pool(CUmemAllocationHandleType type = kFile) {
    CUmemPoolProps made{};
    made.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.handleTypes = type;
    made.location = {CU_MEM_LOCATION_TYPE_DEVICE, device()};
    return made;
}

CUmemoryPool new_pool(const CUmemPoolProps& props) {
    CUmemoryPool pool = nullptr;
    must(drv.cuMemPoolCreate(&pool, &props), "create pool");
    return pool;
}

void* as_handle(int file) {
    return reinterpret_cast<void*>(static_cast<intptr_t>(file));
}

CUdeviceptr of_pool(CUmemoryPool pool, size_t bytes, CUstream stream) {
    CUdeviceptr address = 0;
    must(drv.cuMemAllocFromPoolAsync(&address, bytes, pool, stream), "alloc");
    must(drv.cuStreamSynchronize(stream), "sync");
    return address;
}

void record_sharing(Record& r, const std::string& who, CUdeviceptr address) {
    unsigned long long types = 99;
    r(who + " handle types", drv.cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address));
    r(who + " types", types);
    unsigned legacy = 0;
    drv.cuPointerGetAttribute(&legacy, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address);
    r(who + " legacy", legacy & 1);
}

void add_pool_cases(Cases& cases) {
    cases.add("interprocess/pools_with_handles", [](Record& r) {
        for (const int type : {0, 1, 2, 3, 4, 8, 9, 16, 32}) {
            CUmemoryPool pool = nullptr;
            const CUmemPoolProps wanted = shared_pool(static_cast<CUmemAllocationHandleType>(type));
            r("type " + std::to_string(type), drv.cuMemPoolCreate(&pool, &wanted));
            if (pool != nullptr) drv.cuMemPoolDestroy(pool);
        }
        CUmemPoolProps wanted = shared_pool();
        const auto ask = [&](const char* what) {
            CUmemoryPool pool = nullptr;
            r(what, drv.cuMemPoolCreate(&pool, &wanted));
            if (pool != nullptr) r(std::string(what) + " destroy", drv.cuMemPoolDestroy(pool));
        };
        wanted.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
        ask("host");
        wanted.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
        ask("host of node 0");
        wanted.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
        ask("host of the current node");
        wanted.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
        wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        ask("managed");
        wanted = shared_pool();
        wanted.maxSize = size_t{1} << 20;
        ask("of 1 MiB");
    });
    cases.add("interprocess/pool_export", [](Record& r) {
        int file = -1;
        const CUmemoryPool plain = new_pool(shared_pool(CU_MEM_HANDLE_TYPE_NONE));
        r("of a plain pool", drv.cuMemPoolExportToShareableHandle(&file, plain, kFile, 0));
        r("of a plain pool, none", drv.cuMemPoolExportToShareableHandle(&file, plain, CU_MEM_HANDLE_TYPE_NONE, 0));
        CUmemoryPool standard = nullptr;
        must(drv.cuDeviceGetDefaultMemPool(&standard, device()), "default");
        r("of the default pool", drv.cuMemPoolExportToShareableHandle(&file, standard, kFile, 0));
        const CUmemoryPool pool = new_pool(shared_pool());
        r("null output", drv.cuMemPoolExportToShareableHandle(nullptr, pool, kFile, 0));
        r("null pool", drv.cuMemPoolExportToShareableHandle(&file, nullptr, kFile, 0));
        r("none", drv.cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_NONE, 0));
        r("win32", drv.cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_WIN32, 0));
        r("fabric", drv.cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0));
        r("flags 1", drv.cuMemPoolExportToShareableHandle(&file, pool, kFile, 1));
        r("export", drv.cuMemPoolExportToShareableHandle(&file, pool, kFile, 0));
        int again = -1;
        r("again", drv.cuMemPoolExportToShareableHandle(&again, pool, kFile, 0));
        r("another file", again != file);
        r("open", fcntl(file, F_GETFD) >= 0);
        r("closed by exec", fcntl(file, F_GETFD) == FD_CLOEXEC);
        close(file);
        close(again);
        drv.cuMemPoolDestroy(pool);
        drv.cuMemPoolDestroy(plain);
    });
    cases.add("interprocess/pool_import", [](Record& r) {
        CUmemoryPool found = nullptr;
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        r("no file", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(-1), kFile, 0));
        r("/dev/null", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(null), kFile, 0));
        char name[] = "/tmp/conformanceXXXXXX";
        const int text = mkstemp(name);
        unlink(name);
        r("a text", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(text), kFile, 0));
        const CUmemoryPool pool = new_pool(shared_pool());
        int file = -1;
        must(drv.cuMemPoolExportToShareableHandle(&file, pool, kFile, 0), "export");
        r("null output", drv.cuMemPoolImportFromShareableHandle(nullptr, as_handle(file), kFile, 0));
        r("none", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(file), CU_MEM_HANDLE_TYPE_NONE, 0));
        r("win32", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(file), CU_MEM_HANDLE_TYPE_WIN32, 0));
        r("flags 1", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(file), kFile, 1));
        r("of the own process", drv.cuMemPoolImportFromShareableHandle(&found, as_handle(file), kFile, 0));
        r("is the same", found == pool);
        if (found != nullptr && found != pool) r("destroy", drv.cuMemPoolDestroy(found));
        for (const int open_file : {null, text, file}) close(open_file);
        drv.cuMemPoolDestroy(pool);
    });
    cases.add("interprocess/pointer_export", [](Record& r) {
        const Stream stream = new_stream();
        CUmemPoolPtrExportData data{};
        const CUmemoryPool plain = new_pool(shared_pool(CU_MEM_HANDLE_TYPE_NONE)), pool = new_pool(shared_pool());
        const CUdeviceptr inside_plain = of_pool(plain, 64, stream), address = of_pool(pool, 4096, stream);
        Ints own;
        Pinned pinned;
        r("of a plain pool", drv.cuMemPoolExportPointer(&data, inside_plain));
        r("of cuMemAlloc", drv.cuMemPoolExportPointer(&data, own));
        r("pinned", drv.cuMemPoolExportPointer(&data, pinned.address()));
        r("garbage", drv.cuMemPoolExportPointer(&data, kGarbage));
        r("null", drv.cuMemPoolExportPointer(&data, 0));
        r("null output", drv.cuMemPoolExportPointer(nullptr, address));
        CUmemPoolPtrExportData again{}, inside{}, second{};
        r("export", drv.cuMemPoolExportPointer(&data, address));
        r("again", drv.cuMemPoolExportPointer(&again, address));
        r("is the same", std::memcmp(&data, &again, sizeof data) == 0);
        r("inside", drv.cuMemPoolExportPointer(&inside, address + 256));
        const CUdeviceptr other = of_pool(pool, 4096, stream);
        r("of another", drv.cuMemPoolExportPointer(&second, other));
        r("is another", std::memcmp(&data, &second, sizeof data) != 0);
        CUdeviceptr found = 0;
        r("import into the exporting pool", drv.cuMemPoolImportPointer(&found, pool, &data));
        r("import into a plain pool", drv.cuMemPoolImportPointer(&found, plain, &data));
        r("import into null", drv.cuMemPoolImportPointer(&found, nullptr, &data));
        r("import null", drv.cuMemPoolImportPointer(&found, pool, nullptr));
        record_sharing(r, "plain", inside_plain);
        record_sharing(r, "shared", address);
        record_sharing(r, "own", own);
        record_sharing(r, "pinned", pinned.address());
        r("free", drv.cuMemFreeAsync(address, stream));
        drv.cuMemFreeAsync(other, stream);
        drv.cuMemFreeAsync(inside_plain, stream);
        drv.cuStreamSynchronize(stream);
        r("freed", drv.cuMemPoolExportPointer(&data, address));
        drv.cuMemPoolDestroy(pool);
        drv.cuMemPoolDestroy(plain);
    });
}

void add_handle_cases(Cases& cases) {
    cases.add("interprocess/memory_handles", [](Record& r) {
        CUipcMemHandle handle{}, again{}, inside{}, second{};
        Ints own(1024), other(1024);
        Pinned pinned;
        const Stream stream = new_stream();
        CUdeviceptr managed = 0, ordered = 0, found = 0;
        must(drv.cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), "managed");
        must(drv.cuMemAllocAsync(&ordered, 64, stream), "ordered");
        must(drv.cuStreamSynchronize(stream), "sync");
        r("null output", drv.cuIpcGetMemHandle(nullptr, own));
        r("null", drv.cuIpcGetMemHandle(&handle, 0));
        r("garbage", drv.cuIpcGetMemHandle(&handle, kGarbage));
        r("pinned", drv.cuIpcGetMemHandle(&handle, pinned.address()));
        r("managed", drv.cuIpcGetMemHandle(&handle, managed));
        r("of a pool", drv.cuIpcGetMemHandle(&handle, ordered));
        r("get", drv.cuIpcGetMemHandle(&handle, own));
        r("again", drv.cuIpcGetMemHandle(&again, own));
        r("is the same", std::memcmp(&handle, &again, sizeof handle) == 0);
        r("inside", drv.cuIpcGetMemHandle(&inside, own + 64));
        r("of another", drv.cuIpcGetMemHandle(&second, other));
        r("is another", std::memcmp(&handle, &second, sizeof handle) != 0);
        r("open in the own process", drv.cuIpcOpenMemHandle(&found, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        r("open without flags", drv.cuIpcOpenMemHandle(&found, handle, 0));
        r("open with flags 2", drv.cuIpcOpenMemHandle(&found, handle, 2));
        r("open null output", drv.cuIpcOpenMemHandle(nullptr, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        CUipcMemHandle zeros{}, noise{};
        std::memset(&noise, 0x5a, sizeof noise);
        r("open zeros", drv.cuIpcOpenMemHandle(&found, zeros, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        r("open noise", drv.cuIpcOpenMemHandle(&found, noise, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        r("close own", drv.cuIpcCloseMemHandle(own));
        r("close garbage", drv.cuIpcCloseMemHandle(kGarbage));
        r("close null", drv.cuIpcCloseMemHandle(0));
        drv.cuMemFree(managed);
        drv.cuMemFreeAsync(ordered, stream);
        drv.cuStreamSynchronize(stream);
    });
    cases.add("interprocess/event_handles", [](Record& r) {
        CUipcEventHandle handle{}, again{};
        CUevent found = nullptr;
        const Event plain = new_event(CU_EVENT_DISABLE_TIMING);
        r("null output", drv.cuIpcGetEventHandle(nullptr, plain));
        r("null", drv.cuIpcGetEventHandle(&handle, nullptr));
        r("of a plain event", drv.cuIpcGetEventHandle(&handle, plain));
        CUevent shared = nullptr;
        r("with timing", drv.cuEventCreate(&shared, CU_EVENT_INTERPROCESS));
        r("create", drv.cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
        r("get", drv.cuIpcGetEventHandle(&handle, shared));
        r("again", drv.cuIpcGetEventHandle(&again, shared));
        r("is the same", std::memcmp(&handle, &again, sizeof handle) == 0);
        r("null output of one with a handle", drv.cuIpcGetEventHandle(nullptr, shared));
        r("open null output", drv.cuIpcOpenEventHandle(nullptr, handle));
        r("open in the own process", drv.cuIpcOpenEventHandle(&found, handle));
        if (found != nullptr) r("destroy", drv.cuEventDestroy(found));
        CUipcEventHandle zeros{}, noise{};
        std::memset(&noise, 0x5a, sizeof noise);
        r("open zeros", drv.cuIpcOpenEventHandle(&found, zeros));
        r("open noise", drv.cuIpcOpenEventHandle(&found, noise));
        CUevent blocking = nullptr;
        r("blocking", drv.cuEventCreate(&blocking, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING | 1));
        r("get of blocking", drv.cuIpcGetEventHandle(&again, blocking));
        r("destroy blocking", drv.cuEventDestroy(blocking));
        r("destroy", drv.cuEventDestroy(shared));
    });
    cases.add("interprocess/event_in_one_process", [](Record& r) {
        const Event event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), timed = new_event();
        const Stream stream = new_stream(), other = new_stream();
        Ints memory;
        r("query unrecorded", drv.cuEventQuery(event));
        r("synchronize unrecorded", drv.cuEventSynchronize(event));
        r("wait unrecorded", drv.cuStreamWaitEvent(other, event, 0));
        r("fill", drv.cuMemsetD32Async(memory, 7, 1, stream));
        r("record", drv.cuEventRecord(event, stream));
        r("wait", drv.cuStreamWaitEvent(other, event, 0));
        r("fill behind it", drv.cuMemsetD32Async(memory, 8, 1, other));
        r("synchronize", drv.cuEventSynchronize(event));
        r("query", drv.cuEventQuery(event));
        must(drv.cuStreamSynchronize(other), "sync");
        r("value", memory.get());
        must(drv.cuEventRecord(timed, stream), "record");
        must(drv.cuStreamSynchronize(stream), "sync");
        float milliseconds = 0;
        r("elapsed", drv.cuEventElapsedTime(&milliseconds, event, timed));
        r("record with flags 0", drv.cuEventRecordWithFlags(event, stream, 0));
    });
    cases.add("interprocess/event_in_captures_and_graphs", [](Record& r) {
        const Event event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
        const Graph graph = new_graph();
        CUgraphNode node = nullptr;
        r("record node", drv.cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
        r("wait node", drv.cuGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
        ask_instantiate(r, "instantiate", graph);
        const Stream stream = new_stream(), other = new_stream();
        r("begin", drv.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        r("record in a capture", drv.cuEventRecord(event, stream));
        r("wait in a capture", drv.cuStreamWaitEvent(other, event, 0));
        r("query in a capture", drv.cuEventQuery(event));
        CUgraph captured = nullptr;
        r("end", drv.cuStreamEndCapture(stream, &captured));
        if (captured != nullptr) r("destroy", drv.cuGraphDestroy(captured));
        r("begin", drv.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        r("record external", drv.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
        r("wait external", drv.cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
        captured = nullptr;
        r("end", drv.cuStreamEndCapture(stream, &captured));
        if (captured != nullptr) {
            r("nodes", node_count(captured));
            ask_instantiate(r, "instantiate", captured);
            r("destroy", drv.cuGraphDestroy(captured));
        }
    });
    cases.add("interprocess/forbidden_by_captures", [](Record& r) {
        const Stream stream = new_stream();
        Ints memory;
        const Event event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
        const CUmemoryPool pool = new_pool(shared_pool());
        const CUdeviceptr address = of_pool(pool, 64, stream);
        const auto during = [&](const char* what, const std::function<CUresult()>& call) {
            must(drv.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
            r(what, call());
            CUgraph graph = nullptr;
            r(std::string(what) + " end", drv.cuStreamEndCapture(stream, &graph));
            if (graph != nullptr) drv.cuGraphDestroy(graph);
        };
        int file = -1;
        CUmemPoolPtrExportData data{};
        CUipcMemHandle handle{};
        CUipcEventHandle event_handle{};
        during("export pool", [&] { return drv.cuMemPoolExportToShareableHandle(&file, pool, kFile, 0); });
        during("export pointer", [&] { return drv.cuMemPoolExportPointer(&data, address); });
        during("memory handle", [&] { return drv.cuIpcGetMemHandle(&handle, memory); });
        during("event handle", [&] { return drv.cuIpcGetEventHandle(&event_handle, event); });
        if (file >= 0) close(file);
        drv.cuMemFree(address);
        drv.cuMemPoolDestroy(pool);
    });
}

}  // namespace

void add_interprocess_cases(Cases& cases) {
    add_pool_cases(cases);
    add_handle_cases(cases);
}

}  // namespace conf
