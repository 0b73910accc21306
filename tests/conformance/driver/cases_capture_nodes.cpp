// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: the nodes that captured work becomes. Nodes are in the order of the graph, and edges are indices of
// nodes. The cases record the parameters of the nodes, and refused calls with their effect on the capture.
#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {
namespace {

Nodes nodes_of(CUstream capturing) {
    const CUgraph graph = graph_of(capturing);
    size_t count = node_count(graph);
    Nodes nodes(count);
    if (count != 0) must(drv.cuGraphGetNodes(graph, nodes.data(), &count), "nodes");
    return nodes;
}

std::string where(CUmemorytype type, const void* host, CUdeviceptr address, const std::vector<CUdeviceptr>& known) {
    const CUdeviceptr at = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : address;
    std::string text = "type " + std::to_string(type);
    for (size_t i = 0; i < known.size(); ++i)
        if (at == known[i]) return text + " at " + std::to_string(i);
    return text + " elsewhere";
}

void show_copy(Record& r, const std::string& label, CUgraphNode node, const std::vector<CUdeviceptr>& known) {
    CUDA_MEMCPY3D c{};
    r(label, drv.cuGraphMemcpyNodeGetParams(node, &c));
    r(label + " source", where(c.srcMemoryType, c.srcHost, c.srcDevice, known));
    r(label + " destination", where(c.dstMemoryType, c.dstHost, c.dstDevice, known));
    const auto numbers = [](std::initializer_list<size_t> all) {
        std::string text;
        for (size_t one : all) text += (text.empty() ? "" : " ") + std::to_string(one);
        return text;
    };
    r(label + " offsets", numbers({c.srcXInBytes, c.srcY, c.srcZ, c.srcLOD, c.dstXInBytes, c.dstY, c.dstZ, c.dstLOD}));
    r(label + " pitches", numbers({c.srcPitch, c.srcHeight, c.dstPitch, c.dstHeight}));
    r(label + " extent", numbers({c.WidthInBytes, c.Height, c.Depth}));
}

void show_fill(Record& r, const std::string& label, CUgraphNode node, CUdeviceptr known) {
    CUDA_MEMSET_NODE_PARAMS f{};
    r(label, drv.cuGraphMemsetNodeGetParams(node, &f));
    r(label + " there", f.dst == known);
    r(label + " fields", std::to_string(f.pitch) + " " + std::to_string(f.value) + " " + std::to_string(f.elementSize) +
                             " " + std::to_string(f.width) + " " + std::to_string(f.height));
}

CUDA_MEMCPY2D plane(CUdeviceptr dst, CUdeviceptr src) {
    CUDA_MEMCPY2D c{};
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = src;
    c.dstDevice = dst;
    c.srcPitch = 16;
    c.dstPitch = 32;
    c.srcXInBytes = 4;
    c.dstY = 1;
    c.WidthInBytes = 8;
    c.Height = 3;
    return c;
}

void add_copy_cases(Cases& cases) {
    cases.add("capture_nodes/copies", [](Record& r) {
        const Ints a(256), b(256);
        const Pinned pinned(256);
        static int pageable[64];
        const std::vector<CUdeviceptr> known{a, b, pinned.address(), reinterpret_cast<CUdeviceptr>(pageable)};
        const Capturing s;
        const CUDA_MEMCPY2D flat = plane(b, a);
        CUDA_MEMCPY3D solid = copy_params(b, a, 16);
        solid.Height = 2;
        solid.Depth = 2;
        solid.srcPitch = solid.dstPitch = 32;
        solid.srcHeight = solid.dstHeight = 4;
        solid.srcZ = 1;
        r("any", drv.cuMemcpyAsync(b, a, 16, s));
        r("any to pinned", drv.cuMemcpyAsync(pinned.address(), a, 16, s));
        r("device to device", drv.cuMemcpyDtoDAsync(b, a, 16, s));
        r("host to device", drv.cuMemcpyHtoDAsync(b, pinned.data(), 16, s));
        r("device to host", drv.cuMemcpyDtoHAsync(pinned.data(), a, 16, s));
        r("pageable to device", drv.cuMemcpyHtoDAsync(b, pageable, 16, s));
        r("device to pageable", drv.cuMemcpyDtoHAsync(pageable, a, 16, s));
        r("any to pageable", drv.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(pageable), a, 16, s));
        r("2d", drv.cuMemcpy2DAsync(&flat, s));
        r("3d", drv.cuMemcpy3DAsync(&solid, s));
        r("status", status(s));
        const char* names[] = {"any",
                               "any to pinned",
                               "device to device",
                               "host to device",
                               "device to host",
                               "pageable to device",
                               "device to pageable",
                               "any to pageable",
                               "2d",
                               "3d"};
        const Nodes nodes = nodes_of(s);
        for (size_t i = 0; i < nodes.size() && i < std::size(names); ++i)
            show_copy(r, std::string("node of ") + names[i], nodes[i], known);
        end_and_show(r, "end", s);
    });
    cases.add("capture_nodes/copies_of_nothing", [](Record& r) {
        const Ints a(16), b(16);
        const Capturing s;
        CUDA_MEMCPY2D flat = plane(b, a);
        flat.Height = 0;
        r("any", drv.cuMemcpyAsync(b, a, 0, s));
        r("any of null", drv.cuMemcpyAsync(0, 0, 0, s));
        r("device to device", drv.cuMemcpyDtoDAsync(b, a, 0, s));
        r("host to device", drv.cuMemcpyHtoDAsync(b, nullptr, 0, s));
        r("2d", drv.cuMemcpy2DAsync(&flat, s));
        r("memset", drv.cuMemsetD8Async(a, 1, 0, s));
        r("memset of null", drv.cuMemsetD8Async(0, 1, 0, s));
        r("memset 2d", drv.cuMemsetD2D8Async(a, 16, 1, 0, 2, s));
        r("memset 2d without rows", drv.cuMemsetD2D8Async(a, 16, 1, 2, 0, s));
        r("status", status(s));
        end_and_show(r, "end", s);
    });
    cases.add("capture_nodes/a_copy_of_nothing_keeps_the_dependencies", [](Record& r) {
        const Ints a(16), b(16);
        const Capturing s;
        launch_empty(s);
        r("copy", drv.cuMemcpyAsync(b, a, 0, s));
        show_dependencies(r, "depends on", s);
        launch_empty(s);
        end_and_show(r, "end", s);
    });
    cases.add("capture_nodes/fills", [](Record& r) {
        const Ints a(256);
        const Pinned pinned(16);
        const Capturing s;
        r("8", drv.cuMemsetD8Async(a, 7, 10, s));
        r("16", drv.cuMemsetD16Async(a, 7, 10, s));
        r("32", drv.cuMemsetD32Async(a, 7, 10, s));
        r("2d 8", drv.cuMemsetD2D8Async(a, 64, 7, 10, 3, s));
        r("2d 16", drv.cuMemsetD2D16Async(a, 64, 7, 10, 3, s));
        r("2d 32", drv.cuMemsetD2D32Async(a, 64, 7, 10, 3, s));
        r("2d of one row", drv.cuMemsetD2D32Async(a, 64, 7, 10, 1, s));
        r("status", status(s));
        const char* names[] = {"8", "16", "32", "2d 8", "2d 16", "2d 32", "2d of one row"};
        const Nodes nodes = nodes_of(s);
        for (size_t i = 0; i < nodes.size() && i < std::size(names); ++i)
            show_fill(r, std::string("node of ") + names[i], nodes[i], a);
        r("pinned", drv.cuMemsetD32Async(pinned.address(), 7, 4, s));
        end_and_show(r, "end", s);
    });
}

void add_kernel_cases(Cases& cases) {
    cases.add("capture_nodes/kernel_parameters", [](Record& r) {
        const Ints a;
        const Capturing s;
        CUdeviceptr target = a;
        int value = 5;
        void* arguments[] = {&target, &value};
        r("launch", drv.cuLaunchKernel(kernel("set_int"), 2, 3, 4, 5, 1, 1, 16, s, arguments, nullptr));
        value = 6;
        CUDA_KERNEL_NODE_PARAMS p{};
        r("get", drv.cuGraphKernelNodeGetParams(nodes_of(s)[0], &p));
        r("grid", std::to_string(p.gridDimX) + " " + std::to_string(p.gridDimY) + " " + std::to_string(p.gridDimZ));
        r("block", std::to_string(p.blockDimX) + " " + std::to_string(p.blockDimY));
        r("shared", p.sharedMemBytes);
        r("func", p.func != nullptr);
        r("kern", p.kern == reinterpret_cast<CUkernel>(kernel("set_int")));
        r("context", p.ctx == context());
        r("argument", p.kernelParams != nullptr ? *static_cast<int*>(p.kernelParams[1]) : -1);
        CUgraph graph = nullptr;
        r("end", drv.cuStreamEndCapture(s, &graph));
        run_graph(graph);
        drv.cuGraphDestroy(graph);
        r("value", a.get());
    });
    cases.add("capture_nodes/kernel_attributes", [](Record& r) {
        const auto ask = [&](const std::string& label, CUgraphNode node) {
            for (const auto& [name, id] :
                 {std::pair<const char*, CUlaunchAttributeID>{"cooperative", CU_LAUNCH_ATTRIBUTE_COOPERATIVE},
                  {"priority", CU_LAUNCH_ATTRIBUTE_PRIORITY},
                  {"cluster", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}}) {
                CUlaunchAttributeValue value{};
                r(label + " " + name, drv.cuGraphKernelNodeGetAttribute(node, id, &value));
                if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) r(label + " is", value.cooperative);
                if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) r(label + " is", value.priority);
                if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) r(label + " is", value.clusterDim.x);
            }
        };
        CUstream urgent = nullptr;
        must(drv.cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, -2), "stream");
        const Stream owner(urgent, [](CUstream s) { drv.cuStreamDestroy(s); });
        must(begin(urgent), "begin");
        launch_empty(urgent);
        CUlaunchAttribute attributes[2]{};
        attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[0].value.clusterDim = {2, 1, 1};
        attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attributes[1].value.priority = -1;
        CUlaunchConfig config{};
        config.gridDimX = 4;
        config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        config.hStream = urgent;
        config.attrs = attributes;
        config.numAttrs = 2;
        r("launch", drv.cuLaunchKernelEx(&config, kernel("empty"), nullptr, nullptr));
        r("cooperative", drv.cuLaunchCooperativeKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 0, urgent, nullptr));
        r("status", status(urgent));
        const Nodes nodes = nodes_of(urgent);
        const char* names[] = {"plain", "with attributes", "cooperative"};
        for (size_t i = 0; i < nodes.size() && i < std::size(names); ++i) ask(names[i], nodes[i]);
        end_and_show(r, "end", urgent);
    });
    cases.add("capture_nodes/overlapping_launches", [](Record& r) {
        const Ints a(16);
        const Capturing s;
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        config.hStream = s;
        config.attrs = &attribute;
        config.numAttrs = 1;
        const auto overlapping = [&] { return drv.cuLaunchKernelEx(&config, kernel("empty"), nullptr, nullptr); };
        r("first of all", overlapping());
        r("after a kernel", overlapping());
        show_dependencies(r, "depends on", s);
        r("after an overlapping kernel", overlapping());
        drv.cuMemsetD32Async(a, 1, 4, s);
        r("after a memset", overlapping());
        // After two kernels, and after a kernel and a memset.
        Stream two = s.branch();
        launch_empty(s);
        launch_empty(two);
        const Event join = new_event(CU_EVENT_DISABLE_TIMING);
        drv.cuEventRecord(join, two);
        drv.cuStreamWaitEvent(s, join, 0);
        r("after two kernels", overlapping());
        const Stream three = s.branch();
        launch_empty(s);
        drv.cuMemsetD32Async(a, 1, 4, three);
        drv.cuEventRecord(join, three);
        drv.cuStreamWaitEvent(s, join, 0);
        r("after a kernel and a memset", overlapping());
        attribute.value.programmaticStreamSerializationAllowed = 0;
        r("not allowed to", overlapping());
        r("status", status(s));
        end_and_show(r, "end", s);
    });
}

void add_event_cases(Cases& cases) {
    cases.add("capture_nodes/external_events", [](Record& r) {
        const Event event = new_event(CU_EVENT_DISABLE_TIMING), never = new_event(CU_EVENT_DISABLE_TIMING);
        const Capturing s;
        launch_empty(s);
        r("record", drv.cuEventRecordWithFlags(event, s, CU_EVENT_RECORD_EXTERNAL));
        r("query", drv.cuEventQuery(event));
        r("status", status(s));
        r("wait", drv.cuStreamWaitEvent(s, event, CU_EVENT_WAIT_EXTERNAL));
        r("wait for one never recorded", drv.cuStreamWaitEvent(s, never, CU_EVENT_WAIT_EXTERNAL));
        r("status", status(s));
        end_and_show(r, "end", s);
        const Stream plain = new_stream();
        r("record outside of captures", drv.cuEventRecordWithFlags(event, plain, CU_EVENT_RECORD_EXTERNAL));
        r("wait outside of captures", drv.cuStreamWaitEvent(plain, event, CU_EVENT_WAIT_EXTERNAL));
    });
    cases.add("capture_nodes/external_record_of_a_captured_event", [](Record& r) {
        const Event event = new_event(CU_EVENT_DISABLE_TIMING);
        const Capturing s;
        launch_empty(s);
        r("record", drv.cuEventRecord(event, s));
        r("wait external", drv.cuStreamWaitEvent(s, event, CU_EVENT_WAIT_EXTERNAL));
        r("status", status(s));
        r("record external", drv.cuEventRecordWithFlags(event, s, CU_EVENT_RECORD_EXTERNAL));
        r("status", status(s));
        r("query", drv.cuEventQuery(event));
        r("status", status(s));
    });
    cases.add("capture_nodes/inner_events_make_no_nodes", [](Record& r) {
        const Event event = new_event(CU_EVENT_DISABLE_TIMING);
        const Capturing s;
        launch_empty(s);
        r("record", drv.cuEventRecordWithFlags(event, s, CU_EVENT_RECORD_DEFAULT));
        r("wait in the same stream", drv.cuStreamWaitEvent(s, event, CU_EVENT_WAIT_DEFAULT));
        show_dependencies(r, "depends on", s);
        end_and_show(r, "end", s);
    });
}

void add_memory_cases_of_capture(Cases& cases) {
    cases.add("capture_nodes/memory", [](Record& r) {
        const Capturing s;
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAllocAsync(&p, 100, s));
        CUDA_MEM_ALLOC_NODE_PARAMS a{};
        r("get", drv.cuGraphMemAllocNodeGetParams(nodes_of(s)[0], &a));
        r("bytes", a.bytesize);
        r("address", a.dptr == p);
        r("type", a.poolProps.allocType);
        r("handle types", a.poolProps.handleTypes);
        r("location", std::to_string(a.poolProps.location.type) + " " + std::to_string(a.poolProps.location.id));
        r("max size", a.poolProps.maxSize);
        r("access", a.accessDescCount);
        r("fill", drv.cuMemsetD8Async(p, 1, 100, s));
        r("fill past the end", drv.cuMemsetD8Async(p, 1, 4 << 20, s));
        r("status", status(s));
    });
    cases.add("capture_nodes/memory_of_a_pool", [](Record& r) {
        CUmemPoolProps props{};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device()};
        CUmemoryPool pool = nullptr;
        must(drv.cuMemPoolCreate(&pool, &props), "pool");
        {
            const Capturing s;
            CUdeviceptr p = 0;
            r("alloc", drv.cuMemAllocFromPoolAsync(&p, 64, pool, s));
            r("status", status(s));
            r("free", drv.cuMemFreeAsync(p, s));
            end_and_show(r, "end", s);
        }
        drv.cuMemPoolDestroy(pool);
    });
    cases.add("capture_nodes/memory_of_no_bytes", [](Record& r) {
        const Capturing s;
        CUdeviceptr p = 77;
        r("alloc", drv.cuMemAllocAsync(&p, 0, s));
        r("address", p == 0 ? "null" : p == 77 ? "as before" : "some");
        r("free", drv.cuMemFreeAsync(p, s));
        r("free null", drv.cuMemFreeAsync(0, s));
        r("status", status(s));
        end_and_show(r, "end", s);
    });
    cases.add("capture_nodes/memory_to_null", [](Record& r) {
        const Capturing s;
        r("alloc", drv.cuMemAllocAsync(nullptr, 64, s));
        r("status", status(s));
    });
    const auto freed = [&](const char* name, void (*ask)(Record&, CUstream, CUstream)) {
        cases.add(std::string("capture_nodes/free_") + name, [ask](Record& r) {
            const Stream plain = new_stream();
            const Capturing s;
            ask(r, s, plain);
            r("status", status(s));
            end_and_show(r, "end", s);
        });
    };
    freed("twice", [](Record& r, CUstream s, CUstream) {
        CUdeviceptr p = 0;
        must(drv.cuMemAllocAsync(&p, 64, s), "alloc");
        r("free", drv.cuMemFreeAsync(p, s));
        r("again", drv.cuMemFreeAsync(p, s));
    });
    freed("of_pool_memory", [](Record& r, CUstream s, CUstream plain) {
        CUdeviceptr p = 0;
        must(drv.cuMemAllocAsync(&p, 64, plain), "alloc");
        r("free", drv.cuMemFreeAsync(p, s));
        r("status", status(s));
        r("free outside", drv.cuMemFreeAsync(p, plain));
    });
    freed("of_plain_memory", [](Record& r, CUstream s, CUstream) {
        CUdeviceptr p = 0;
        must(drv.cuMemAlloc(&p, 64), "alloc");
        r("free", drv.cuMemFreeAsync(p, s));
        r("status", status(s));
        r("free outside", drv.cuMemFree(p));
    });
    freed("of_garbage", [](Record& r, CUstream s, CUstream) { r("free", drv.cuMemFreeAsync(kGarbage, s)); });
    freed("of_an_inner_address", [](Record& r, CUstream s, CUstream) {
        CUdeviceptr p = 0;
        must(drv.cuMemAllocAsync(&p, 64, s), "alloc");
        r("free", drv.cuMemFreeAsync(p + 16, s));
    });
    freed("outside_of_captured_memory", [](Record& r, CUstream s, CUstream plain) {
        CUdeviceptr p = 0;
        must(drv.cuMemAllocAsync(&p, 64, s), "alloc");
        r("free outside", drv.cuMemFreeAsync(p, plain));
        r("cuMemFree", drv.cuMemFree(p));
    });
    cases.add("capture_nodes/free_of_another_graphs_memory", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr p = 0;
        alloc_node(graph, 64, &p);
        const Exec exec = new_exec(graph);
        run(exec);
        {
            const Capturing s;
            r("free", drv.cuMemFreeAsync(p, s));
            CUgraph freeing = nullptr;
            r("end", drv.cuStreamEndCapture(s, &freeing));
            if (freeing != nullptr) {
                run_graph(freeing);
                drv.cuGraphDestroy(freeing);
            }
        }
        r("free again", drv.cuMemFree(p));
    });
    cases.add("capture_nodes/memory_that_outlives_the_launch", [](Record& r) {
        CUdeviceptr p = 0;
        const Stream plain = new_stream();
        Graph graph;
        {
            const Capturing s;
            must(drv.cuMemAllocAsync(&p, 64, s), "alloc");
            must(drv.cuMemsetD32Async(p, 9, 16, s), "fill");
            CUgraph ended = nullptr;
            r("end", drv.cuStreamEndCapture(s, &ended));
            r("copy before the launch", drv.cuMemcpyDtoHAsync(&ended, p, 4, plain));
            const Exec exec = new_exec(ended);
            r("launch", drv.cuGraphLaunch(exec, plain));
            must(drv.cuStreamSynchronize(plain), "synchronize");
            int word = 0;
            r("copy", drv.cuMemcpyDtoH(&word, p, 4));
            r("word", word);
            r("launch again", drv.cuGraphLaunch(exec, plain));
            r("free", drv.cuMemFreeAsync(p, plain));
            r("launch after the free", drv.cuGraphLaunch(exec, plain));
            r("synchronize", drv.cuStreamSynchronize(plain));
            r("free", drv.cuMemFree(p));
            r("free twice", drv.cuMemFree(p));
            drv.cuGraphDestroy(ended);
        }
    });
}

// One call with a wrong argument, or a call that captures refuse, and its effect on the capture.
struct Refusal {
    const char* name;
    CUresult (*call)(CUstream capturing);
};

// clang-format off
const Refusal kRefusals[] = {
    {"launch_block_too_large", [](CUstream s) { return drv.cuLaunchKernel(kernel("empty"), 1, 1, 1, 4096, 1, 1, 0, s, nullptr, nullptr); }},
    {"launch_grid_of_0", [](CUstream s) { return drv.cuLaunchKernel(kernel("empty"), 0, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr); }},
    {"launch_of_null", [](CUstream s) { return drv.cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr); }},
    {"launch_too_much_shared_memory", [](CUstream s) { return drv.cuLaunchKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 1 << 20, s, nullptr, nullptr); }},
    {"launch_without_arguments", [](CUstream s) { return drv.cuLaunchKernel(kernel("set_int"), 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr); }},
    {"launch_with_unknown_attribute", [](CUstream s) {
        CUlaunchAttribute a{}; a.id = static_cast<CUlaunchAttributeID>(99);
        CUlaunchConfig c{}; c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1; c.hStream = s; c.attrs = &a; c.numAttrs = 1;
        return drv.cuLaunchKernelEx(&c, kernel("empty"), nullptr, nullptr); }},
    {"launch_cooperative_too_large", [](CUstream s) { return drv.cuLaunchCooperativeKernel(kernel("empty"), 1 << 20, 1, 1, 1024, 1, 1, 0, s, nullptr); }},
    {"copy_between_peers", [](CUstream s) { Ints a, b; return drv.cuMemcpyPeerAsync(b, context(), a, context(), 4, s); }},
    {"copy_from_null", [](CUstream s) { Ints a; return drv.cuMemcpyAsync(a, 0, 4, s); }},
    {"copy_to_garbage", [](CUstream s) { Ints a; return drv.cuMemcpyDtoDAsync(kGarbage, a, 4, s); }},
    {"copy_past_the_end", [](CUstream s) { Ints a, b; return drv.cuMemcpyDtoDAsync(b, a, size_t{1} << 30, s); }},
    {"copy_2d_null", [](CUstream s) { return drv.cuMemcpy2DAsync(nullptr, s); }},
    {"copy_2d_bad_pitch", [](CUstream s) { Ints a(64), b(64); CUDA_MEMCPY2D c = plane(b, a); c.srcPitch = 2; return drv.cuMemcpy2DAsync(&c, s); }},
    {"fill_of_null", [](CUstream s) { return drv.cuMemsetD8Async(0, 1, 4, s); }},
    {"fill_of_garbage", [](CUstream s) { return drv.cuMemsetD8Async(kGarbage, 1, 4, s); }},
    {"fill_misaligned", [](CUstream s) { Ints a; return drv.cuMemsetD32Async(a + 1, 1, 1, s); }},
    {"host_function_null", [](CUstream s) { return drv.cuLaunchHostFunc(s, nullptr, nullptr); }},
    {"record_null", [](CUstream s) { return drv.cuEventRecord(nullptr, s); }},
    {"record_unknown_flags", [](CUstream s) { const Event e = new_event(); return drv.cuEventRecordWithFlags(e, s, 7); }},
    {"wait_null", [](CUstream s) { return drv.cuStreamWaitEvent(s, nullptr, 0); }},
    {"wait_unknown_flags", [](CUstream s) { const Event e = new_event(); return drv.cuStreamWaitEvent(s, e, 7); }},
    {"alloc_too_much", [](CUstream s) { CUdeviceptr p = 0; return drv.cuMemAllocAsync(&p, size_t{1} << 50, s); }},
    {"alloc_from_no_pool", [](CUstream s) { CUdeviceptr p = 0; return drv.cuMemAllocFromPoolAsync(&p, 64, nullptr, s); }},
    {"launch_of_no_graph", [](CUstream s) { return drv.cuGraphLaunch(nullptr, s); }},
    {"upload_of_no_graph", [](CUstream s) { return drv.cuGraphUpload(nullptr, s); }},
    {"upload", [](CUstream s) { const Graph g = new_graph(); plain_kernel_node(g); const Exec e = new_exec(g); return drv.cuGraphUpload(e, s); }},
    {"launch_of_an_empty_graph", [](CUstream s) { const Graph g = new_graph(); const Exec e = new_exec(g); return drv.cuGraphLaunch(e, s); }},
    {"launch_of_a_device_graph", [](CUstream s) { const Graph g = new_graph(); plain_kernel_node(g); const Exec e = new_exec(g, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH); return drv.cuGraphLaunch(e, s); }},
    {"instantiate_and_upload_there", [](CUstream s) {
        const Graph g = new_graph(); plain_kernel_node(g); CUgraphExec e = nullptr;
        CUDA_GRAPH_INSTANTIATE_PARAMS p{}; p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD; p.hUploadStream = s;
        const CUresult made = drv.cuGraphInstantiateWithParams(&e, g, &p); if (e != nullptr) drv.cuGraphExecDestroy(e); return made; }},
    {"get_flags", [](CUstream s) { unsigned f; return drv.cuStreamGetFlags(s, &f); }},
    {"get_priority", [](CUstream s) { int p; return drv.cuStreamGetPriority(s, &p); }},
    {"get_context", [](CUstream s) { CUcontext c; return drv.cuStreamGetCtx(s, &c); }},
    {"get_id", [](CUstream s) { unsigned long long i; return drv.cuStreamGetId(s, &i); }},
    {"is_capturing_null", [](CUstream s) { return drv.cuStreamIsCapturing(s, nullptr); }},
    {"info_null_status", [](CUstream s) { return drv.cuStreamGetCaptureInfo(s, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }},
    {"info_edges_alone", [](CUstream s) { CUstreamCaptureStatus a; const CUgraphEdgeData* e; return drv.cuStreamGetCaptureInfo(s, &a, nullptr, nullptr, nullptr, &e, nullptr); }},
    {"update_unknown_flags", [](CUstream s) { return drv.cuStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, 7); }},
    {"update_null", [](CUstream s) { return drv.cuStreamUpdateCaptureDependencies(s, nullptr, nullptr, 1, 0); }},
    {"begin_again", [](CUstream s) { return begin(s); }},
    {"begin_again_to_graph", [](CUstream s) { const Graph g = new_graph(); return drv.cuStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED); }},
    {"instantiate", [](CUstream s) { CUgraphExec e = nullptr; const CUresult made = drv.cuGraphInstantiateWithFlags(&e, graph_of(s), 0); if (e != nullptr) drv.cuGraphExecDestroy(e); return made; }},
    {"clone", [](CUstream s) { CUgraph g = nullptr; const CUresult made = drv.cuGraphClone(&g, graph_of(s)); if (g != nullptr) drv.cuGraphDestroy(g); return made; }},
    {"as_a_child", [](CUstream s) { const Graph g = new_graph(); CUgraphNode n; return drv.cuGraphAddChildGraphNode(&n, g, nullptr, 0, graph_of(s)); }},
    {"update_an_executable_from_it", [](CUstream s) { const Graph g = new_graph(); const Exec e = new_exec(g); CUgraphExecUpdateResultInfo i{}; return drv.cuGraphExecUpdate(e, graph_of(s), &i); }},
    {"dot", [](CUstream s) { return drv.cuGraphDebugDotPrint(graph_of(s), "/dev/null", 0); }},
    {"destroy_a_node", [](CUstream s) { CUgraphNode n; const CUresult made = drv.cuGraphAddEmptyNode(&n, graph_of(s), nullptr, 0); return made != CUDA_SUCCESS ? made : drv.cuGraphDestroyNode(n); }},
};
// clang-format on

void add_refusal_cases(Cases& cases) {
    for (const Refusal& refusal : kRefusals) {
        cases.add(std::string("capture_refusals/") + refusal.name, [&refusal](Record& r) {
            const Capturing s;
            launch_empty(s);
            r("call", refusal.call(s));
            r("status", status(s));
            r("launch", launch_empty(s));
            end_and_show(r, "end", s);
        });
        // The same call in an invalid capture, to see which error the driver checks first.
        cases.add(std::string("capture_refusals_when_invalid/") + refusal.name, [&refusal](Record& r) {
            const std::string name = refusal.name;
            const Capturing s;
            if (name == "instantiate" || name == "clone" || name == "as_a_child" || name == "dot" ||
                name == "destroy_a_node" || name == "update_an_executable_from_it")
                return;  // these calls need the graph, which an invalid capture does not return
            drv.cuStreamSynchronize(s);
            r("call", refusal.call(s));
            r("status", status(s));
            end(r, "end", s);
        });
    }
}

}  // namespace

void add_capture_node_cases(Cases& cases) {
    add_copy_cases(cases);
    add_kernel_cases(cases);
    add_event_cases(cases);
    add_memory_cases_of_capture(cases);
    add_refusal_cases(cases);
}

}  // namespace conf
