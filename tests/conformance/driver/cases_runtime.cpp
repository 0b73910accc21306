// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Versions, errors, devices, contexts, streams, events: arguments and small facts.
#include <cstring>

#include "cases.hpp"

namespace conf {

namespace {

void add_device_cases(Cases& cases) {
    cases.add("init/flags_and_repeat", [](Record& r) {
        r("flags 1", drv.cuInit(1));
        r("again", drv.cuInit(0));
        r("version of null", drv.cuDriverGetVersion(nullptr));
    });
    cases.add("errors/names_and_texts", [](Record& r) {
        const char* text = nullptr;
        r("name of 99999", drv.cuGetErrorName(static_cast<CUresult>(99999), &text));
        r("text set", text != nullptr);
        r("string of 99999", drv.cuGetErrorString(static_cast<CUresult>(99999), &text));
        for (int code = 0; code < 1000; ++code) {
            const char *name = nullptr, *meaning = nullptr;
            if (drv.cuGetErrorName(static_cast<CUresult>(code), &name) != CUDA_SUCCESS || name == nullptr) continue;
            drv.cuGetErrorString(static_cast<CUresult>(code), &meaning);
            r(std::to_string(code) + " " + name, std::string(meaning == nullptr ? "" : meaning));
        }
    });
    cases.add("device/arguments", [](Record& r) {
        CUdevice found = 0;
        int value = 0;
        char name[256] = {};
        r("get 999", drv.cuDeviceGet(&found, 999));
        r("get -1", drv.cuDeviceGet(&found, -1));
        r("get null", drv.cuDeviceGet(nullptr, 0));
        r("count null", drv.cuDeviceGetCount(nullptr));
        r("name null", drv.cuDeviceGetName(nullptr, 10, device()));
        r("name of 999", drv.cuDeviceGetName(name, 256, 999));
        r("name length 5", drv.cuDeviceGetName(name, 5, device()));
        r("name cut", std::strlen(name));
        r("attribute 9999", drv.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), device()));
        r("attribute 0", drv.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), device()));
        r("attribute null", drv.cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device()));
        r("attribute of 999", drv.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 999));
        size_t bytes = 0;
        r("memory of 999", drv.cuDeviceTotalMem(&bytes, 999));
        CUuuid uuid{};
        r("uuid", drv.cuDeviceGetUuid(&uuid, device()));
        r("uuid null", drv.cuDeviceGetUuid(nullptr, device()));
        r("bus id", drv.cuDeviceGetPCIBusId(name, 256, device()));
        r("bus id length", std::strlen(name));
        r("bus id of length 4", drv.cuDeviceGetPCIBusId(name, 4, device()));
        r("peer of itself", drv.cuDeviceCanAccessPeer(&value, device(), device()));
        r("peer of itself value", value);
    });
    cases.add("context/primary", [](Record& r) {
        CUcontext first = nullptr, second = nullptr, current = nullptr;
        r("retain", drv.cuDevicePrimaryCtxRetain(&first, device()));
        r("retain again", drv.cuDevicePrimaryCtxRetain(&second, device()));
        r("same", first == second);
        r("release", drv.cuDevicePrimaryCtxRelease(device()));
        r("release again", drv.cuDevicePrimaryCtxRelease(device()));
        r("current", drv.cuCtxGetCurrent(&current));
        r("is the primary", current == first);
        r("retain 999", drv.cuDevicePrimaryCtxRetain(&first, 999));
        r("retain null", drv.cuDevicePrimaryCtxRetain(nullptr, device()));
        r("release 999", drv.cuDevicePrimaryCtxRelease(999));
        unsigned flags = 99;
        int active = 99;
        r("state", drv.cuDevicePrimaryCtxGetState(device(), &flags, &active));
        r("flags", flags);
        r("active", active);
        r("set flags", drv.cuDevicePrimaryCtxSetFlags(device(), CU_CTX_SCHED_BLOCKING_SYNC));
        r("set flags back", drv.cuDevicePrimaryCtxSetFlags(device(), CU_CTX_SCHED_AUTO));
        r("set flags 1<<30", drv.cuDevicePrimaryCtxSetFlags(device(), 1u << 30));
        r("ctx flags", drv.cuCtxGetFlags(&flags));
        r("ctx flags value", flags);
        unsigned version = 0;
        r("api version", drv.cuCtxGetApiVersion(context(), &version));
        r("api version value", version);
        r("api version null ctx", drv.cuCtxGetApiVersion(nullptr, &version));
    });
    cases.add("context/stack", [](Record& r) {
        CUcontext popped = nullptr, current = nullptr;
        r("push", drv.cuCtxPushCurrent(context()));
        r("pop", drv.cuCtxPopCurrent(&popped));
        r("same", popped == context());
        r("set null", drv.cuCtxSetCurrent(nullptr));
        r("current", drv.cuCtxGetCurrent(&current));
        r("is null", current == nullptr);
        r("pop empty", drv.cuCtxPopCurrent(&popped));
        r("push null", drv.cuCtxPushCurrent(nullptr));
        r("set back", drv.cuCtxSetCurrent(context()));
        r("pop to null output", drv.cuCtxPopCurrent(nullptr));
        r("set again", drv.cuCtxSetCurrent(context()));
        r("current null", drv.cuCtxGetCurrent(nullptr));
        CUdevice found = 99;
        r("device", drv.cuCtxGetDevice(&found));
        r("device value", found);
        r("device null", drv.cuCtxGetDevice(nullptr));
    });
    cases.add("context/nothing_current", [](Record& r) {
        must(drv.cuCtxSetCurrent(nullptr), "set");
        CUdevice found = 99;
        CUdeviceptr address = 0;
        CUstream stream = nullptr;
        CUevent event = nullptr;
        CUgraph graph = nullptr;
        CUgraphExec exec = nullptr;
        int least = 0, most = 0;
        r("device", drv.cuCtxGetDevice(&found));
        r("synchronize", drv.cuCtxSynchronize());
        r("alloc", drv.cuMemAlloc(&address, 4));
        r("stream", drv.cuStreamCreateWithPriority(&stream, 0, 0));
        r("event", drv.cuEventCreate(&event, 0));
        r("priority range", drv.cuCtxGetStreamPriorityRange(&least, &most));
        r("query null stream", drv.cuStreamQuery(nullptr));
        r("graph", drv.cuGraphCreate(&graph, 0));
        if (graph != nullptr) {
            CUgraphNode node = nullptr;
            r("empty node", drv.cuGraphAddEmptyNode(&node, graph, nullptr, 0));
            const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"));
            r("kernel node", drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
            CUDA_MEM_ALLOC_NODE_PARAMS alloc = alloc_params(64);
            CUgraphConditionalHandle handle = 0;
            r("handle with null ctx", drv.cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0));
            r("instantiate", drv.cuGraphInstantiateWithFlags(&exec, graph, 0));
            if (exec != nullptr) {
                r("launch on null stream", drv.cuGraphLaunch(exec, nullptr));
                r("destroy exec", drv.cuGraphExecDestroy(exec));
            }
            r("alloc node", drv.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc));
            r("destroy", drv.cuGraphDestroy(graph));
        }
        unsigned type = 0;
        r("pointer attribute", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kGarbage));
        must(drv.cuCtxSetCurrent(context()), "set back");
    });
    cases.add("context/work_of_a_stream_with_nothing_current", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        set_int_node(graph, out, 3);
        const Exec exec = new_exec(graph);
        const Stream stream = new_stream();
        const Event event = new_event();
        must(drv.cuCtxSetCurrent(nullptr), "set");
        r("launch graph", drv.cuGraphLaunch(exec, stream));
        r("record", drv.cuEventRecord(event, stream));
        r("wait", drv.cuStreamWaitEvent(stream, event, 0));
        r("query event", drv.cuEventQuery(event) == CUDA_ERROR_INVALID_CONTEXT);
        r("sync", drv.cuStreamSynchronize(stream));
        r("sync event", drv.cuEventSynchronize(event));
        CUcontext found = nullptr;
        r("stream ctx", drv.cuStreamGetCtx(stream, &found));
        r("is the primary", found == context());
        r("kernel", drv.cuLaunchKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
        r("memset", drv.cuMemsetD32Async(out, 1, 1, stream));
        must(drv.cuCtxSetCurrent(context()), "set back");
        drv.cuCtxSynchronize();
    });
}

void add_stream_cases(Cases& cases) {
    cases.add("stream/create", [](Record& r) {
        CUstream stream = nullptr;
        r("null output", drv.cuStreamCreateWithPriority(nullptr, 0, 0));
        r("flags 2", drv.cuStreamCreateWithPriority(&stream, 2, 0));
        r("flags 99", drv.cuStreamCreate(&stream, 99));
        for (const int priority : {5, 0, -3, -5, -99}) {
            must(drv.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, priority), "create");
            int back = 99;
            unsigned flags = 99;
            r("priority", drv.cuStreamGetPriority(stream, &back));
            r("asked " + std::to_string(priority), back);
            must(drv.cuStreamGetFlags(stream, &flags), "flags");
            r("flags", flags);
            r("destroy", drv.cuStreamDestroy(stream));
        }
        r("destroy null", drv.cuStreamDestroy(nullptr));
        r("destroy legacy", drv.cuStreamDestroy(CU_STREAM_LEGACY));
        r("destroy per thread", drv.cuStreamDestroy(CU_STREAM_PER_THREAD));
    });
    cases.add("stream/of_the_default_streams", [](Record& r) {
        for (const CUstream stream : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
            int priority = 99;
            unsigned flags = 99;
            CUcontext found = nullptr;
            r("query", drv.cuStreamQuery(stream));
            r("synchronize", drv.cuStreamSynchronize(stream));
            r("priority", drv.cuStreamGetPriority(stream, &priority));
            r("priority value", priority);
            r("flags", drv.cuStreamGetFlags(stream, &flags));
            r("flags value", flags);
            r("ctx", drv.cuStreamGetCtx(stream, &found));
            r("ctx is current", found == context());
        }
        unsigned long long one = 0, two = 0;
        r("id", drv.cuStreamGetId(nullptr, &one));
        r("id of legacy", drv.cuStreamGetId(CU_STREAM_LEGACY, &two));
        r("same id", one == two);
        int least = 99, most = 99;
        r("range", drv.cuCtxGetStreamPriorityRange(&least, &most));
        r("least", least);
        r("greatest", most);
        r("range nulls", drv.cuCtxGetStreamPriorityRange(nullptr, nullptr));
    });
    cases.add("stream/null_outputs", [](Record& r) {
        const Stream stream = new_stream();
        r("priority", drv.cuStreamGetPriority(stream, nullptr));
        r("flags", drv.cuStreamGetFlags(stream, nullptr));
        r("ctx", drv.cuStreamGetCtx(stream, nullptr));
        r("wait null event", drv.cuStreamWaitEvent(stream, nullptr, 0));
        const Event event = new_event();
        r("wait flags 2", drv.cuStreamWaitEvent(stream, event, 2));
        r("wait flags 1", drv.cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
        r("wait", drv.cuStreamWaitEvent(stream, event, 0));
    });
    cases.add("event/create_and_use", [](Record& r) {
        CUevent event = nullptr;
        r("null output", drv.cuEventCreate(nullptr, 0));
        r("flags 16", drv.cuEventCreate(&event, 16));
        r("interprocess with timing", drv.cuEventCreate(&event, CU_EVENT_INTERPROCESS));
        r("record null", drv.cuEventRecord(nullptr, nullptr));
        r("query null", drv.cuEventQuery(nullptr));
        r("synchronize null", drv.cuEventSynchronize(nullptr));
        r("destroy null", drv.cuEventDestroy(nullptr));
        const Event made = new_event();
        r("query unrecorded", drv.cuEventQuery(made));
        r("synchronize unrecorded", drv.cuEventSynchronize(made));
        r("record with flags 0", drv.cuEventRecordWithFlags(made, nullptr, 0));
        r("record external", drv.cuEventRecordWithFlags(made, nullptr, CU_EVENT_RECORD_EXTERNAL));
        r("record flags 2", drv.cuEventRecordWithFlags(made, nullptr, 2));
        drv.cuCtxSynchronize();
    });
    cases.add("event/destroyed_while_pending", [](Record& r) {
        Pinned flag;
        const Stream stream = new_stream();
        CUdeviceptr address = flag.address();
        uint64_t limit = 5000000000u;
        void* arguments[] = {&address, &limit};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), "launch");
        CUevent event = new_event().release();
        must(drv.cuEventRecord(event, stream), "record");
        r("destroy event", drv.cuEventDestroy(event));
        r("still running", drv.cuStreamQuery(stream));
        flag[0] = 1;
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.add("stream/destroyed_with_work", [](Record& r) {
        Pinned flag;
        Ints out;
        CUstream stream = new_stream().release();
        CUdeviceptr address = flag.address(), target = out;
        uint64_t limit = 5000000000u;
        int value = 6;
        void* wait_arguments[] = {&address, &limit};
        void* arguments[] = {&target, &value};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, stream, wait_arguments, nullptr), "launch");
        must(drv.cuLaunchKernel(kernel("set_int"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), "launch");
        r("destroy returns at once", drv.cuStreamDestroy(stream));
        flag[0] = 1;
        r("context sync", drv.cuCtxSynchronize());
        r("out", out.get());
    });
}

}  // namespace

void add_runtime_cases(Cases& cases) {
    add_device_cases(cases);
    add_stream_cases(cases);
}

// Returns every attribute that the driver knows, versions, and the names and sizes of the device.
std::string device_facts() {
    std::string out = "{";
    int version = 0, count = 0;
    char name[256] = {};
    size_t bytes = 0;
    try {
        context();
        must(drv.cuDriverGetVersion(&version), "version");
        must(drv.cuDeviceGetCount(&count), "count");
        must(drv.cuDeviceGetName(name, 256, device()), "name");
        must(drv.cuDeviceTotalMem(&bytes, device()), "memory");
        out += "\"driver_version\": " + std::to_string(version) + ", \"device_count\": " + std::to_string(count) +
               ", \"name\": \"" + name + "\", \"total_memory\": " + std::to_string(bytes);
        int least = 0, greatest = 0;
        must(drv.cuCtxGetStreamPriorityRange(&least, &greatest), "priorities");
        out += ", \"stream_priorities\": [" + std::to_string(least) + ", " + std::to_string(greatest) + "]";
        out += ", \"attributes\": {";
        for (int i = 1, first = 1; i <= 200; ++i) {
            int value = 0;
            if (drv.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(i), device()) != CUDA_SUCCESS)
                continue;
            out += (first != 0 ? "\"" : ", \"") + std::to_string(i) + "\": " + std::to_string(value);
            first = 0;
        }
        out += "}";
    } catch (const Absent& absent) {
        out += (out.size() > 1 ? ", " : "") + std::string("\"absent\": \"") + absent.name + "\"";
    } catch (const SetupFailed& failed) {
        out += (out.size() > 1 ? ", " : "") + std::string("\"failed\": \"") + failed.what + "\"";
    }
    return out + "}";
}

}  // namespace conf
