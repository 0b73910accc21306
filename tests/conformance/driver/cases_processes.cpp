// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory and events that two processes share. "mine" is the process that owns them, "other" the process that opens
// them.
#include <unistd.h>

#include <cstring>

#include "cases.hpp"
#include "processes.hpp"

namespace conf {

namespace {

constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr size_t kCount = 1024;

void* as_handle(int file) {
    return reinterpret_cast<void*>(static_cast<intptr_t>(file));
}

int read_int(CUdeviceptr address) {
    int value = -1;
    must(drv.cuMemcpyDtoH(&value, address, sizeof value), "read");
    return value;
}

void fill(CUdeviceptr address, unsigned value, size_t count = kCount) {
    must(drv.cuMemsetD32(address, value, count), "fill");
    must(drv.cuCtxSynchronize(), "sync");
}

CUmemoryPool new_shared_pool() {
    CUmemPoolProps wanted{};
    wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.handleTypes = kFile;
    wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, device()};
    CUmemoryPool pool = nullptr;
    must(drv.cuMemPoolCreate(&pool, &wanted), "create pool");
    return pool;
}

// Sends the other process the pool's file, then the export data of `address`.
void share(const Line& line, CUmemoryPool pool, CUdeviceptr address) {
    int file = -1;
    must(drv.cuMemPoolExportToShareableHandle(&file, pool, kFile, 0), "export");
    line.send_file(file);
    close(file);
    CUmemPoolPtrExportData data{};
    must(drv.cuMemPoolExportPointer(&data, address), "export pointer");
    line.send(data);
}

struct Shared {
    CUmemoryPool pool = nullptr;
    CUmemPoolPtrExportData data{};
};

Shared receive_shared(const Line& line) {
    context();
    Shared shared;
    const int file = line.receive_file();
    must(drv.cuMemPoolImportFromShareableHandle(&shared.pool, as_handle(file), kFile, 0), "import");
    close(file);
    shared.data = line.receive<CUmemPoolPtrExportData>();
    return shared;
}

// The first step of most pool cases, in the process that owns the memory.
struct Exporter {
    Stream stream = (context(), new_stream());
    CUmemoryPool pool = new_shared_pool();
    CUdeviceptr address = 0;
    explicit Exporter(const Line& line, unsigned value = 5) {
        must(drv.cuMemAllocFromPoolAsync(&address, 4 * kCount, pool, stream), "alloc");
        must(drv.cuStreamSynchronize(stream), "sync");
        fill(address, value);
        share(line, pool, address);
    }
    ~Exporter() {
        drv.cuMemFreeAsync(address, stream);
        drv.cuStreamSynchronize(stream);
        drv.cuMemPoolDestroy(pool);
    }
};

void record_attributes(Record& r, const std::string& who, CUdeviceptr address, CUmemoryPool pool) {
    unsigned type = 99, legacy = 99;
    r(who + " MEMORY_TYPE", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    r(who + " type", type);
    int ordinal = 99;
    r(who + " DEVICE_ORDINAL", drv.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    r(who + " ordinal", ordinal);
    CUdeviceptr start = 0;
    r(who + " RANGE_START", drv.cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    r(who + " starts there", start == address);
    size_t size = 0;
    r(who + " RANGE_SIZE", drv.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    r(who + " size", size);
    CUcontext ctx = nullptr;
    r(who + " CONTEXT", drv.cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    r(who + " context is current", ctx == context());
    CUmemoryPool found = nullptr;
    r(who + " MEMPOOL", drv.cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    r(who + " pool is it", found == pool);
    r(who + " pool is null", found == nullptr);
    unsigned long long types = 99;
    r(who + " HANDLE_TYPES", drv.cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address));
    r(who + " types", types);
    drv.cuPointerGetAttribute(&legacy, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address);
    r(who + " legacy", legacy & 1);
}

void add_pool_cases(Cases& cases) {
    cases.bare("processes/pool_memory_is_the_same", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                Exporter mine(line, 5);
                line.wait();
                r("mine sees", read_int(mine.address));
                fill(mine.address, 9);
                line.turn();
                line.wait();
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                CUdeviceptr address = 0;
                r("other imports", drv.cuMemPoolImportPointer(&address, shared.pool, &shared.data));
                r("other sees", read_int(address + 4 * (kCount - 1)));
                fill(address, 7);
                line.turn();
                line.wait();
                r("other sees", read_int(address));
                r("other frees", drv.cuMemFree(address));
                r("other frees again", drv.cuMemFree(address));
                r("other destroys", drv.cuMemPoolDestroy(shared.pool));
                line.turn();
            });
    });
    cases.bare("processes/imported_pool", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                const Exporter mine(line);
                line.wait();
                r("mine is still there", read_int(mine.address));
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                const Stream stream = new_stream();
                CUdeviceptr address = 0;
                r("alloc", drv.cuMemAllocFromPoolAsync(&address, 64, shared.pool, stream));
                r("make current", drv.cuDeviceSetMemPool(device(), shared.pool));
                for (int i = 1; i <= 8; ++i) {
                    cuuint64_t value = 0;
                    const auto attribute = static_cast<CUmemPool_attribute>(i);
                    r("get " + std::to_string(i), drv.cuMemPoolGetAttribute(shared.pool, attribute, &value));
                    r("value " + std::to_string(i), value);
                }
                cuuint64_t value = 4096;
                r("set threshold", drv.cuMemPoolSetAttribute(shared.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
                int flag = 0;
                r("set reuse",
                  drv.cuMemPoolSetAttribute(shared.pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &flag));
                value = 0;
                r("set used high", drv.cuMemPoolSetAttribute(shared.pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
                r("trim", drv.cuMemPoolTrimTo(shared.pool, 0));
                CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, device()};
                CUmemAccess_flags flags{};
                r("access", drv.cuMemPoolGetAccess(&flags, shared.pool, &location));
                r("access is", flags);
                CUmemAccessDesc wanted{};
                wanted.location = location;
                wanted.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
                r("grant own access", drv.cuMemPoolSetAccess(shared.pool, &wanted, 1));
                wanted.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
                r("own access to read", drv.cuMemPoolSetAccess(shared.pool, &wanted, 1));
                wanted.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
                r("revoke own access", drv.cuMemPoolSetAccess(shared.pool, &wanted, 1));
                int file = -1;
                r("export", drv.cuMemPoolExportToShareableHandle(&file, shared.pool, kFile, 0));
                if (file >= 0) close(file);
                r("destroy", drv.cuMemPoolDestroy(shared.pool));
                line.turn();
            });
    });
    cases.bare("processes/imported_pointer", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                const Exporter mine(line);
                record_attributes(r, "mine", mine.address, mine.pool);
                line.turn();
                line.wait();
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                line.wait();
                CUdeviceptr address = 0;
                r("null output", drv.cuMemPoolImportPointer(nullptr, shared.pool, &shared.data));
                r("null data", drv.cuMemPoolImportPointer(&address, shared.pool, nullptr));
                r("import", drv.cuMemPoolImportPointer(&address, shared.pool, &shared.data));
                record_attributes(r, "other", address, shared.pool);
                CUmemPoolPtrExportData data{};
                r("export", drv.cuMemPoolExportPointer(&data, address));
                CUipcMemHandle handle{};
                r("memory handle", drv.cuIpcGetMemHandle(&handle, address));
                r("fill", drv.cuMemsetD32(address, 1, kCount));
                r("fill beyond it", drv.cuMemsetD32(address, 1, kCount + 1));
                const Stream stream = new_stream();
                r("free inside", drv.cuMemFreeAsync(address + 256, stream));
                r("free in order", drv.cuMemFreeAsync(address, stream));
                r("sync", drv.cuStreamSynchronize(stream));
                r("free again", drv.cuMemFreeAsync(address, stream));
                unsigned type = 0;
                r("type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
                r("import again", drv.cuMemPoolImportPointer(&address, shared.pool, &shared.data));
                r("sees", read_int(address));
                r("destroy pool first", drv.cuMemPoolDestroy(shared.pool));
                r("still sees", read_int(address));
                r("free", drv.cuMemFree(address));
                line.turn();
            });
    });
    cases.bare("processes/pointer_imported_twice", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                const Exporter mine(line);
                line.wait();
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                CUdeviceptr first = 0, second = 0;
                r("import", drv.cuMemPoolImportPointer(&first, shared.pool, &shared.data));
                r("import again", drv.cuMemPoolImportPointer(&second, shared.pool, &shared.data));
                r("same address", first == second);
                r("free", drv.cuMemFree(first));
                unsigned type = 0;
                r("type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, second));
                r("free again", drv.cuMemFree(second));
                r("and again", drv.cuMemFree(second));
                drv.cuMemPoolDestroy(shared.pool);
                line.turn();
            });
    });
    cases.bare("processes/pool_imported_twice", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                const Exporter mine(line);
                share(line, mine.pool, mine.address);
                line.wait();
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                const int file = line.receive_file();
                line.receive<CUmemPoolPtrExportData>();
                CUmemoryPool again = nullptr;
                r("import again", drv.cuMemPoolImportFromShareableHandle(&again, as_handle(file), kFile, 0));
                close(file);
                r("same pool", again == shared.pool);
                CUdeviceptr first = 0, second = 0;
                r("pointer by the first", drv.cuMemPoolImportPointer(&first, shared.pool, &shared.data));
                r("pointer by the second", drv.cuMemPoolImportPointer(&second, again, &shared.data));
                r("same address", first == second);
                if (second != 0) r("sees", read_int(second));
                line.turn();
            });
    });
    cases.bare("processes/exporter_destroys_first", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                {
                    const Exporter mine(line);
                    line.wait();
                }
                line.turn();
                line.wait();
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                CUdeviceptr address = 0;
                must(drv.cuMemPoolImportPointer(&address, shared.pool, &shared.data), "import");
                line.turn();
                line.wait();
                unsigned type = 0;
                r("type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
                r("free", drv.cuMemFree(address));
                r("destroy", drv.cuMemPoolDestroy(shared.pool));
                line.turn();
            });
    });
}

void add_handle_cases(Cases& cases) {
    cases.bare("processes/memory_handle", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                context();
                Ints memory(kCount, 5), second(kCount, 6);
                must(drv.cuCtxSynchronize(), "sync");
                for (const CUdeviceptr address : {CUdeviceptr{memory}, CUdeviceptr{memory} + 64, CUdeviceptr{second}}) {
                    CUipcMemHandle handle{};
                    drv.cuIpcGetMemHandle(&handle, address);
                    line.send(handle);
                }
                record_attributes(r, "mine", memory, nullptr);
                line.turn();
                line.wait();
                r("mine sees", memory.get(3));
                r("mine sees in the second", second.get(3));
                line.turn();
                line.wait();
            },
            [&](const Line& line) {
                context();
                const auto first = line.receive<CUipcMemHandle>();
                const auto inside = line.receive<CUipcMemHandle>();
                const auto second = line.receive<CUipcMemHandle>();
                line.wait();
                CUdeviceptr address = 0, again = 0, shifted = 0, other = 0;
                constexpr unsigned lazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
                r("flags 0", drv.cuIpcOpenMemHandle(&address, first, 0));
                r("flags 2", drv.cuIpcOpenMemHandle(&address, first, 2));
                r("null output", drv.cuIpcOpenMemHandle(nullptr, first, lazy));
                r("open", drv.cuIpcOpenMemHandle(&address, first, lazy));
                r("open again", drv.cuIpcOpenMemHandle(&again, first, lazy));
                r("same address", again == address);
                r("open inside", drv.cuIpcOpenMemHandle(&shifted, inside, lazy));
                r("inside is", shifted == address ? "the start" : shifted == address + 64 ? "there" : "elsewhere");
                r("open the second", drv.cuIpcOpenMemHandle(&other, second, lazy));
                r("other sees", read_int(address + 12));
                r("other sees in the second", read_int(other + 12));
                record_attributes(r, "other", address, nullptr);
                fill(address, 7);
                fill(other, 8);
                line.turn();
                line.wait();
                r("other sees", read_int(address));
                CUipcMemHandle handle{};
                r("handle of it", drv.cuIpcGetMemHandle(&handle, address));
                r("free", drv.cuMemFree(address));
                const Stream stream = new_stream();
                r("free in order", drv.cuMemFreeAsync(address, stream));
                r("close inside", drv.cuIpcCloseMemHandle(address + 64));
                r("close", drv.cuIpcCloseMemHandle(address));
                r("close second open", drv.cuIpcCloseMemHandle(address));
                r("close inside's open", drv.cuIpcCloseMemHandle(shifted));
                r("close once more", drv.cuIpcCloseMemHandle(address));
                unsigned type = 0;
                r("type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
                r("open once more", drv.cuIpcOpenMemHandle(&address, first, lazy));
                r("other sees", read_int(address));
                r("close", drv.cuIpcCloseMemHandle(address));
                r("close the second", drv.cuIpcCloseMemHandle(other));
                line.turn();
            });
    });
    cases.bare("processes/memory_of_megabytes", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                context();
                constexpr size_t count = size_t{1} << 20;
                Ints memory(count, 5);
                must(drv.cuCtxSynchronize(), "sync");
                CUipcMemHandle handle{};
                r("get", drv.cuIpcGetMemHandle(&handle, memory));
                r("mine still sees", memory.get(count - 1));
                line.send(handle);
                line.wait();
                r("mine sees", memory.get(count - 1));
                line.turn();
                line.wait();
            },
            [&](const Line& line) {
                context();
                const auto handle = line.receive<CUipcMemHandle>();
                CUdeviceptr address = 0;
                must(drv.cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), "open");
                const CUdeviceptr last = address + (size_t{4} << 20) - 4;
                r("other sees", read_int(last));
                fill(last, 7, 1);
                line.turn();
                line.wait();
                r("other sees", read_int(last - 4));
                r("close", drv.cuIpcCloseMemHandle(address));
                line.turn();
            });
    });
    cases.bare("processes/memory_that_was_freed", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                context();
                CUdeviceptr address = 0;
                must(drv.cuMemAlloc(&address, size_t{4} << 20), "alloc");
                CUipcMemHandle handle{};
                must(drv.cuIpcGetMemHandle(&handle, address), "get");
                must(drv.cuMemFree(address), "free");
                line.send(handle);
                line.wait();
            },
            [&](const Line& line) {
                context();
                const auto handle = line.receive<CUipcMemHandle>();
                CUdeviceptr address = 0;
                r("open", drv.cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
                line.turn();
            });
    });
}

constexpr unsigned kSharedEvent = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

CUevent receive_event(const Line& line) {
    context();
    const auto handle = line.receive<CUipcEventHandle>();
    CUevent event = nullptr;
    must(drv.cuIpcOpenEventHandle(&event, handle), "open");
    return event;
}

void send_event(const Line& line, CUevent event) {
    CUipcEventHandle handle{};
    must(drv.cuIpcGetEventHandle(&handle, event), "get");
    line.send(handle);
}

void add_event_cases(Cases& cases) {
    cases.bare("processes/event_of_the_other", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                context();
                const Event event = new_event(kSharedEvent);
                const Stream stream = new_stream();
                send_event(line, event);
                line.wait();
                Pinned flag;
                must(drv.cuLaunchHostFunc(
                         stream,
                         [](void* data) {
                             while (*static_cast<volatile int*>(data) == 0) usleep(1000);
                         },
                         flag.data()),
                     "hold");
                r("mine records", drv.cuEventRecord(event, stream));
                r("mine queries", drv.cuEventQuery(event));
                line.turn();
                line.wait();
                flag[0] = 1;
                line.turn();
                line.wait();
                r("mine queries", drv.cuEventQuery(event));
                r("mine waits for the other's", drv.cuStreamWaitEvent(stream, event, 0));
                r("mine synchronizes", drv.cuStreamSynchronize(stream));
                line.turn();
                line.wait();
            },
            [&](const Line& line) {
                const CUevent event = receive_event(line);
                const Stream stream = new_stream();
                r("other queries unrecorded", drv.cuEventQuery(event));
                r("other synchronizes unrecorded", drv.cuEventSynchronize(event));
                line.turn();
                line.wait();
                r("other queries", drv.cuEventQuery(event));
                r("other waits", drv.cuStreamWaitEvent(stream, event, 0));
                r("other's stream", drv.cuStreamQuery(stream));
                line.turn();
                line.wait();
                r("other synchronizes", drv.cuEventSynchronize(event));
                r("other's stream", drv.cuStreamSynchronize(stream));
                r("other records", drv.cuEventRecord(event, stream));
                r("other synchronizes", drv.cuEventSynchronize(event));
                line.turn();
                line.wait();
                CUipcEventHandle handle{};
                r("handle of it", drv.cuIpcGetEventHandle(&handle, event));
                const Event timed = new_event();
                must(drv.cuEventRecord(timed, stream), "record");
                must(drv.cuStreamSynchronize(stream), "sync");
                float milliseconds = 0;
                r("elapsed", drv.cuEventElapsedTime(&milliseconds, event, timed));
                CUgraph graph = nullptr;
                must(drv.cuGraphCreate(&graph, 0), "graph");
                CUgraphNode node = nullptr;
                r("record node", drv.cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
                r("wait node", drv.cuGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
                r("other destroys", drv.cuEventDestroy(event));
                line.turn();
            });
    });
    cases.bare("processes/event_opened_twice", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                context();
                const Event event = new_event(kSharedEvent);
                const Stream stream = new_stream();
                must(drv.cuEventRecord(event, stream), "record");
                must(drv.cuEventSynchronize(event), "sync");
                send_event(line, event);
                send_event(line, event);
                line.wait();
            },
            [&](const Line& line) {
                const CUevent first = receive_event(line), second = receive_event(line);
                r("same", first == second);
                r("query first", drv.cuEventQuery(first));
                r("destroy first", drv.cuEventDestroy(first));
                if (first != second) {
                    r("query second", drv.cuEventQuery(second));
                    r("destroy second", drv.cuEventDestroy(second));
                }
                line.turn();
            });
    });
    cases.bare("processes/work_waits_for_work_of_the_other", [](Record& r) {
        with_other_process(
            [&](const Line& line) {
                Exporter mine(line, 1);
                const Event event = new_event(kSharedEvent);
                Pinned flag;
                must(drv.cuLaunchHostFunc(
                         mine.stream,
                         [](void* data) {
                             while (*static_cast<volatile int*>(data) == 0) usleep(1000);
                         },
                         flag.data()),
                     "hold");
                must(drv.cuMemsetD32Async(mine.address, 42, kCount, mine.stream), "fill");
                must(drv.cuEventRecord(event, mine.stream), "record");
                send_event(line, event);
                line.wait();
                flag[0] = 1;
                line.wait();
            },
            [&](const Line& line) {
                Shared shared = receive_shared(line);
                CUdeviceptr address = 0;
                must(drv.cuMemPoolImportPointer(&address, shared.pool, &shared.data), "import");
                const CUevent event = receive_event(line);
                const Stream stream = new_stream();
                Pinned seen;
                r("wait", drv.cuStreamWaitEvent(stream, event, 0));
                r("copy", drv.cuMemcpyDtoHAsync(seen.data(), address, 4, stream));
                r("runs", drv.cuStreamQuery(stream));
                line.turn();
                r("synchronize", drv.cuStreamSynchronize(stream));
                r("sees", seen[0]);
                r("free", drv.cuMemFree(address));
                line.turn();
            });
    });
}

}  // namespace

void add_process_cases(Cases& cases) {
    add_pool_cases(cases);
    add_handle_cases(cases);
    add_event_cases(cases);
}

}  // namespace conf
