// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// States that a process cannot leave, each in a separate process: faults of kernels, dead handles, an uninitialised
// driver.
#include "cases.hpp"

namespace conf {

namespace {

// Makes calls of many kinds after a fault and records which return the sticky error.
void record_aftermath(Record& r) {
    const CUresult first = drv.cuCtxSynchronize();
    r("synchronize", first);
    r("synchronize again", drv.cuCtxSynchronize());
    CUdeviceptr address = 0;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUgraph graph = nullptr;
    CUcontext current = nullptr;
    unsigned type = 0;
    r("alloc", drv.cuMemAlloc(&address, 4));
    r("stream create", drv.cuStreamCreateWithPriority(&stream, 0, 0));
    r("event create", drv.cuEventCreate(&event, 0));
    r("null stream query", drv.cuStreamQuery(nullptr));
    r("graph create", drv.cuGraphCreate(&graph, 0));
    if (graph != nullptr) {
        CUgraphNode node = nullptr;
        CUgraphExec exec = nullptr;
        r("empty node", drv.cuGraphAddEmptyNode(&node, graph, nullptr, 0));
        r("instantiate", drv.cuGraphInstantiateWithFlags(&exec, graph, 0));
        r("graph destroy", drv.cuGraphDestroy(graph));
    }
    r("get current", drv.cuCtxGetCurrent(&current));
    r("pointer attribute", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kGarbage));
    r("launch", drv.cuLaunchKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    int version = 0;
    r("driver version", drv.cuDriverGetVersion(&version));
}

void fault(Record& r, const char* name, void** arguments) {
    const Stream stream = new_stream();
    const Event event = new_event();
    const Graph graph = new_graph();
    plain_kernel_node(graph);
    const Exec exec = new_exec(graph);
    r("launch", drv.cuLaunchKernel(kernel(name), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    drv.cuEventRecord(event, stream);  // not recorded: the fault may or may not have happened by now
    r("stream synchronize", drv.cuStreamSynchronize(stream));
    r("stream query", drv.cuStreamQuery(stream));
    r("event query", drv.cuEventQuery(event));
    r("graph launch", drv.cuGraphLaunch(exec, stream));
    r("exec destroy", drv.cuGraphExecDestroy(const_cast<Exec&>(exec).release()));
    record_aftermath(r);
    r("stream destroy", drv.cuStreamDestroy(const_cast<Stream&>(stream).release()));
    r("event destroy", drv.cuEventDestroy(const_cast<Event&>(event).release()));
}

void add_fault_cases(Cases& cases) {
    cases.alone("fault/trap", [](Record& r) { fault(r, "trap_now", nullptr); });
    cases.alone("fault/assert", [](Record& r) { fault(r, "assert_now", nullptr); });
    cases.alone("fault/illegal_address", [](Record& r) {
        uint64_t address = 0x10;
        void* arguments[] = {&address};
        fault(r, "store_at", arguments);
    });
    cases.alone("fault/misaligned_address", [](Record& r) {
        Ints target(4);
        uint64_t address = CUdeviceptr{target} + 1;
        void* arguments[] = {&address};
        fault(r, "store_at", arguments);
    });
    cases.alone("fault/condition_of_a_garbage_handle", [](Record& r) {
        uint64_t handle = 12345;
        unsigned value = 1;
        void* arguments[] = {&handle, &value};
        fault(r, "set_condition", arguments);
    });
    cases.alone("fault/copy_past_the_end", [](Record& r) {
        Ints a(4), b(4);
        r("copy", drv.cuMemcpyDtoD(a, b, size_t{1} << 38));
        r("synchronize", drv.cuCtxSynchronize());
    });
    cases.alone("fault/fill_past_the_end", [](Record& r) {
        Ints a(4);
        r("fill", drv.cuMemsetD32(a, 1, size_t{1} << 36));
        r("synchronize", drv.cuCtxSynchronize());
    });
    cases.alone("fault/trap_in_a_graph", [](Record& r) {
        const Graph graph = new_graph();
        const Stream stream = new_stream();
        plain_kernel_node(graph, {}, "trap_now");
        const Exec exec = new_exec(graph);
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("synchronize", drv.cuStreamSynchronize(stream));
        r("launch again", drv.cuGraphLaunch(exec, stream));
        r("destroy exec", drv.cuGraphExecDestroy(const_cast<Exec&>(exec).release()));
        record_aftermath(r);
    });
    cases.alone("fault/reset_of_the_primary_context_heals", [](Record& r) {
        r("launch", drv.cuLaunchKernel(kernel("trap_now"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
        r("synchronize", drv.cuCtxSynchronize());
        r("reset", drv.cuDevicePrimaryCtxReset(device()));
        CUcontext again = nullptr;
        r("retain", drv.cuDevicePrimaryCtxRetain(&again, device()));
        r("set", drv.cuCtxSetCurrent(again));
        CUdeviceptr address = 0;
        r("alloc", drv.cuMemAlloc(&address, 4));
        r("synchronize after", drv.cuCtxSynchronize());
    });
    cases.alone("fault/condition_set_outside_its_graph", [](Record& r) {
        const Graph graph = new_graph();
        uint64_t handle = new_handle(graph, 1);
        unsigned value = 1;
        void* arguments[] = {&handle, &value};
        r("launch", drv.cuLaunchKernel(kernel("set_condition"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
        r("synchronize", drv.cuCtxSynchronize());
    });
}

// libcuda promises nothing for dead handles. It crashes on dead streams, events, nodes and libraries (seen on the
// H200), but returns an error for these two kinds.
void add_dead_handle_cases(Cases& cases) {
    cases.alone("dead/graph", [](Record& r) {
        CUgraph graph = new_graph().release();
        must(drv.cuGraphDestroy(graph), "destroy");
        size_t count = 0;
        r("nodes", drv.cuGraphGetNodes(graph, nullptr, &count));
        r("destroy", drv.cuGraphDestroy(graph));
    });
    cases.alone("dead/exec", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphExec exec = new_exec(graph).release();
        must(drv.cuGraphExecDestroy(exec), "destroy");
        r("launch", drv.cuGraphLaunch(exec, nullptr));
        r("destroy", drv.cuGraphExecDestroy(exec));
    });
}

void add_bare_cases(Cases& cases) {
    cases.bare("bare/before_cuInit", [](Record& r) {
        int count = 0;
        CUdevice found = 0;
        CUcontext current = nullptr;
        CUdeviceptr address = 0;
        CUgraph graph = nullptr;
        CUstream stream = nullptr;
        const char* name = nullptr;
        r("version", drv.cuDriverGetVersion(&count));
        r("error name", drv.cuGetErrorName(CUDA_SUCCESS, &name));
        r("count", drv.cuDeviceGetCount(&count));
        r("device", drv.cuDeviceGet(&found, 0));
        r("current", drv.cuCtxGetCurrent(&current));
        r("synchronize", drv.cuCtxSynchronize());
        r("alloc", drv.cuMemAlloc(&address, 4));
        r("free 0", drv.cuMemFree(0));
        r("stream", drv.cuStreamCreateWithPriority(&stream, 0, 0));
        r("graph", drv.cuGraphCreate(&graph, 0));
        r("retain", drv.cuDevicePrimaryCtxRetain(&current, 0));
        r("count null", drv.cuDeviceGetCount(nullptr));
        r("init", drv.cuInit(0));
        r("count after", drv.cuDeviceGetCount(&count));
    });
    cases.bare("bare/no_context_was_ever_current", [](Record& r) {
        CUcontext current = nullptr;
        unsigned flags = 99;
        int active = 99;
        CUgraph graph = nullptr;
        CUlibrary loaded = nullptr;
        CUmodule module = nullptr;
        CUdeviceptr address = 0;
        must(drv.cuInit(0), "cuInit");
        r("current", drv.cuCtxGetCurrent(&current));
        r("is null", current == nullptr);
        r("state", drv.cuDevicePrimaryCtxGetState(0, &flags, &active));
        r("active", active);
        r("synchronize", drv.cuCtxSynchronize());
        r("pop", drv.cuCtxPopCurrent(&current));
        r("release", drv.cuDevicePrimaryCtxRelease(0));
        r("alloc", drv.cuMemAlloc(&address, 4));
        r("graph", drv.cuGraphCreate(&graph, 0));
        r("library", drv.cuLibraryLoadData(
                         &loaded, ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n",
                         nullptr, nullptr, 0, nullptr, nullptr, 0));
        r("module", drv.cuModuleLoadData(
                        &module, ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n"));
    });
}

}  // namespace

void add_sticky_cases(Cases& cases) {
    add_fault_cases(cases);
    add_dead_handle_cases(cases);
    add_bare_cases(cases);
}

}  // namespace conf
