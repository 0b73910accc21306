// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeated changes of single nodes of an executable, as named parameters make them: the nodes that identify the
// executable's node, and the memory that may replace other memory.
#include "cases.hpp"

namespace conf {

namespace {

CUresult set_int(CUgraphExec exec, CUgraphNode node, CUdeviceptr target, int value) {
    void* arguments[] = {&target, &value};
    const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments);
    return drv.cuGraphExecKernelNodeSetParams(exec, node, &params);
}

CUDA_MEMCPY3D typed_copy(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type, CUdeviceptr from, size_t size) {
    CUDA_MEMCPY3D params = copy_params(to, from, size);
    params.dstMemoryType = to_type;
    params.srcMemoryType = from_type;
    params.dstHost = reinterpret_cast<void*>(to);
    params.srcHost = reinterpret_cast<const void*>(from);
    return params;
}

CUgraph inner_of(CUgraphNode node) {
    CUgraph inner = nullptr;
    must(drv.cuGraphChildGraphNodeGetGraph(node, &inner), "inner graph");
    return inner;
}

CUgraphNode found_in(CUgraph clone, CUgraphNode original) {
    CUgraphNode found = nullptr;
    must(drv.cuGraphNodeFindInClone(&found, original, clone), "find");
    return found;
}

struct MemoryType {
    const char* name;
    CUmemorytype type;
};

constexpr MemoryType kTypes[] = {
    {"device", CU_MEMORYTYPE_DEVICE}, {"host", CU_MEMORYTYPE_HOST}, {"unified", CU_MEMORYTYPE_UNIFIED}};

// One allocation of 256 bytes of each kind of memory.
class Memories {
  public:
    Memories() {
        must(drv.cuMemAllocManaged(&managed_, 256, CU_MEM_ATTACH_GLOBAL), "managed");
        CUmemoryPool pool = nullptr;
        must(drv.cuDeviceGetDefaultMemPool(&pool, device()), "pool");
        must(drv.cuMemAllocFromPoolAsync(&pooled_, 256, pool, stream_), "allocate");
        must(drv.cuStreamSynchronize(stream_), "sync");
    }
    Memories(const Memories&) = delete;
    ~Memories() {
        drv.cuMemFree(managed_);
        drv.cuMemFree(pooled_);
    }
    std::vector<std::pair<const char*, CUdeviceptr>> all() const {
        return {{"device", device_}, {"pool", pooled_}, {"pinned", pinned_.address()}, {"managed", managed_}};
    }

  private:
    Ints device_{64};
    Pinned pinned_{64};
    CUdeviceptr managed_ = 0, pooled_ = 0;
    Stream stream_ = new_stream();
};

}  // namespace

void add_patch_cases(Cases& cases) {
    for (const MemoryType& other : kTypes) {
        cases.add(std::string("patch/kinds_of_memory_beside_") + other.name, [other](Record& r) {
            const Memories memories;
            Ints on_device(64);
            Pinned pinned(64);
            const CUdeviceptr fixed = other.type == CU_MEMORYTYPE_HOST ? pinned.address() : on_device;
            const auto ask = [&](const std::string& label, const CUDA_MEMCPY3D& before, const CUDA_MEMCPY3D& after) {
                const Graph graph = new_graph();
                CUgraphNode node = nullptr;
                const CUresult added = drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &before, context());
                if (added != CUDA_SUCCESS) return r(label, "not added");
                const Exec exec = new_exec(graph);
                r(label, drv.cuGraphExecMemcpyNodeSetParams(exec, node, &after, context()));
            };
            for (const CUmemorytype type : {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED}) {
                const std::string declared = type == CU_MEMORYTYPE_DEVICE ? "DEVICE " : "UNIFIED ";
                for (const auto& [before, first] : memories.all()) {
                    for (const auto& [after, second] : memories.all()) {
                        const std::string label = declared + before + " to " + after;
                        ask(label + ", read", typed_copy(other.type, fixed, type, first, 1),
                            typed_copy(other.type, fixed, type, second, 8));
                        ask(label + ", written", typed_copy(type, first, other.type, fixed, 1),
                            typed_copy(type, second, other.type, fixed, 8));
                    }
                }
            }
        });
    }
    cases.add("patch/kinds_of_memory_behind_a_memset", [](Record& r) {
        const Memories memories;
        for (const auto& [before, first] : memories.all()) {
            for (const auto& [after, second] : memories.all()) {
                const Graph graph = new_graph();
                const CUgraphNode node = memset_node(graph, first, 1);
                const Exec exec = new_exec(graph);
                const CUDA_MEMSET_NODE_PARAMS params = memset_params(second, 2, 4, 2);
                r(std::string(before) + " to " + after,
                  drv.cuGraphExecMemsetNodeSetParams(exec, node, &params, context()));
            }
        }
    });
    cases.add("patch/memory_of_an_alloc_node", [](Record& r) {
        Ints a(64);
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 256, &address);
        CUgraphNode node = nullptr;
        const CUDA_MEMCPY3D unified = typed_copy(CU_MEMORYTYPE_DEVICE, a, CU_MEMORYTYPE_UNIFIED, address, 8),
                            plain = copy_params(a, address, 8),
                            other = typed_copy(CU_MEMORYTYPE_DEVICE, a, CU_MEMORYTYPE_UNIFIED, a + 64, 8);
        r("add unified", drv.cuGraphAddMemcpyNode(&node, graph, &alloc, 1, &unified, context()));
        const CUgraphNode copy = copy_node(graph, a, a + 64, 8, {alloc});
        r("add other", drv.cuGraphAddMemcpyNode(&node, graph, &alloc, 1, &other, context()));
        const CUgraphNode fill = memset_node(graph, a, 1, {alloc});
        free_node(graph, address, {copy, node, fill});
        const Exec exec = new_exec(graph);
        r("set device", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &plain, context()));
        r("set unified", drv.cuGraphExecMemcpyNodeSetParams(exec, node, &unified, context()));
        const CUDA_MEMSET_NODE_PARAMS params = memset_params(address, 2, 4, 2);
        r("set memset", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context()));
        run(exec);
    });
    cases.add("patch/memory_behind_a_copy", [](Record& r) {
        Ints a(64, 7), b(64, 8);
        Pinned pinned(64);
        pinned[0] = 9;
        CUdeviceptr managed = 0;
        must(drv.cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), "managed");
        *reinterpret_cast<int*>(managed) = 4;
        const auto ask = [&](const std::string& label, const CUDA_MEMCPY3D& before, const CUDA_MEMCPY3D& after) {
            const Graph graph = new_graph();
            CUgraphNode node = nullptr;
            must(drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &before, context()), "add");
            const Exec exec = new_exec(graph);
            const CUresult set = drv.cuGraphExecMemcpyNodeSetParams(exec, node, &after, context());
            r(label, set);
            if (set != CUDA_SUCCESS) return;
            b.set(8);
            run(exec);
            r(label + " copied", b.get());
        };
        for (const MemoryType& before : kTypes) {
            const CUdeviceptr first = before.type == CU_MEMORYTYPE_HOST ? pinned.address() + 4 : a + 4;
            for (const MemoryType& after : kTypes) {
                const auto with = [&](const char* kind, CUdeviceptr source) {
                    const auto dst = CU_MEMORYTYPE_DEVICE;
                    ask(std::string(before.name) + " to " + after.name + ", " + kind,
                        typed_copy(dst, b, before.type, first, 8), typed_copy(dst, b, after.type, source, 4));
                };
                if (after.type != CU_MEMORYTYPE_HOST) with("device memory", a);
                with("pinned memory", pinned.address());
                with("managed memory", managed);
            }
        }
        drv.cuMemFree(managed);
    });
    cases.add("patch/memory_behind_a_memset", [](Record& r) {
        Ints a(64);
        Pinned pinned(64);
        CUdeviceptr managed = 0;
        must(drv.cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), "managed");
        const auto ask = [&](const std::string& label, CUdeviceptr before, CUdeviceptr after) {
            const Graph graph = new_graph();
            const CUgraphNode node = memset_node(graph, before, 1);
            const Exec exec = new_exec(graph);
            const CUDA_MEMSET_NODE_PARAMS params = memset_params(after, 2, 4, 2);
            r(label, drv.cuGraphExecMemsetNodeSetParams(exec, node, &params, context()));
        };
        ask("device to pinned", a, pinned.address());
        ask("pinned to device", pinned.address(), a);
        ask("device to managed", a, managed);
        drv.cuMemFree(managed);
    });
    cases.add("patch/memset_fields", [](Record& r) {
        Ints a(256);
        const auto ask = [&](const std::string& label, CUDA_MEMSET_NODE_PARAMS before, CUDA_MEMSET_NODE_PARAMS after) {
            const Graph graph = new_graph();
            CUgraphNode node = nullptr;
            must(drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &before, context()), "add");
            const Exec exec = new_exec(graph);
            r(label, drv.cuGraphExecMemsetNodeSetParams(exec, node, &after, context()));
        };
        ask("1 to 256 elements", memset_params(a, 1, 4, 1), memset_params(a, 2, 4, 256));
        ask("256 to 1 elements", memset_params(a, 1, 4, 256), memset_params(a, 2, 4, 1));
        ask("1 to 3 bytes", memset_params(a, 1, 1, 1), memset_params(a, 2, 1, 3));
        ask("4 to 1 bytes an element", memset_params(a, 1, 4, 1), memset_params(a, 2, 1, 4));
        ask("value of 2d", memset_params(a, 1, 4, 4, 4, 32), memset_params(a, 2, 4, 4, 4, 32));
        ask("address of 2d", memset_params(a, 1, 4, 4, 4, 32), memset_params(a + 256, 1, 4, 4, 4, 32));
        ask("width of 2d", memset_params(a, 1, 4, 4, 4, 32), memset_params(a, 1, 4, 3, 4, 32));
        ask("the same", memset_params(a, 1, 4, 4), memset_params(a, 1, 4, 4));
    });
    cases.add("patch/size_of_a_copy", [](Record& r) {
        Ints a(1024, 7), b(1024, 8);
        const Graph graph = new_graph();
        const CUgraphNode node = copy_node(graph, b, a, 1);
        const Exec exec = new_exec(graph);
        const CUDA_MEMCPY3D all = copy_params(b, a, 4096), too_much = copy_params(b, a, size_t{1} << 34);
        r("1 to 4096 bytes", drv.cuGraphExecMemcpyNodeSetParams(exec, node, &all, context()));
        r("past the end", drv.cuGraphExecMemcpyNodeSetParams(exec, node, &too_much, context()));
        run(exec);
        r("last", b.get(1023));
    });
    cases.add("patch/nodes_inside", [](Record& r) {
        Ints out(1), copied(1), a(1, 5), b(1, 6), filled(1);
        const Graph innermost = new_graph(), child = new_graph(), graph = new_graph();
        const CUgraphNode set = set_int_node(innermost, out, 1);
        const CUgraphNode copy = copy_node(innermost, copied, a, 4, {set});
        const CUgraphNode fill = memset_node(innermost, filled, 1, {copy});
        const CUgraphNode middle = child_node(child, innermost);
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional branch = conditional_node(graph, handle, CU_GRAPH_COND_TYPE_IF, 1);
        const CUgraphNode outer = child_node(branch.bodies[0], child);
        const Exec exec = new_exec(graph);

        const CUgraph in_outer = inner_of(outer);
        CUgraphNode middle_copy = nullptr;
        r("find the child in its copy", drv.cuGraphNodeFindInClone(&middle_copy, middle, in_outer));
        const CUgraph in_middle = inner_of(middle_copy);
        CUgraphNode found = nullptr;
        r("find through two copies", drv.cuGraphNodeFindInClone(&found, set, in_middle));
        const CUgraph in_child = inner_of(middle);
        r("find through one copy", drv.cuGraphNodeFindInClone(&found, found_in(in_child, set), in_middle));
        if (found == nullptr) return;

        r("kernel", set_int(exec, found, out, 2));
        CUDA_MEMCPY3D copy_other = copy_params(copied, b, 4);
        r("memcpy", drv.cuGraphExecMemcpyNodeSetParams(exec, found_in(in_middle, found_in(in_child, copy)), &copy_other,
                                                       context()));
        const CUDA_MEMSET_NODE_PARAMS other_value = memset_params(filled, 3);
        r("memset", drv.cuGraphExecMemsetNodeSetParams(exec, found_in(in_middle, found_in(in_child, fill)),
                                                       &other_value, context()));
        run(exec);
        r("set", out.get());
        r("copied", copied.get());
        r("filled", filled.get());
    });
    cases.add("patch/copy_and_memset_in_a_body", [](Record& r) {
        Ints copied(1), a(1, 5), b(1, 6), filled(1);
        const Graph graph = new_graph();
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional branch = conditional_node(graph, handle, CU_GRAPH_COND_TYPE_IF, 1);
        const CUgraphNode copy = copy_node(branch.bodies[0], copied, a, 4);
        const CUgraphNode fill = memset_node(branch.bodies[0], filled, 1, {copy});
        const Exec exec = new_exec(graph);
        const CUDA_MEMCPY3D copy_other = copy_params(copied, b, 4);
        const CUDA_MEMSET_NODE_PARAMS other_value = memset_params(filled, 3);
        r("memcpy", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &copy_other, context()));
        r("memset", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &other_value, context()));
        r("disable", drv.cuGraphNodeSetEnabled(exec, copy, 0));
        const CUDA_MEMCPY3D copy_first = copy_params(copied, a, 4);
        r("set while disabled", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &copy_first, context()));
        run(exec);
        r("copied", copied.get());
        r("filled", filled.get());
        r("enable", drv.cuGraphNodeSetEnabled(exec, copy, 1));
        run(exec);
        r("copied when enabled", copied.get());
    });
    cases.add("patch/names_after_an_update", [](Record& r) {
        Ints out(1);
        const Graph graph = new_graph(), other = new_graph();
        const CUgraphNode ours = set_int_node(graph, out, 1), theirs = set_int_node(other, out, 2);
        const Exec exec = new_exec(graph);
        must(drv.cuGraphExecUpdate(exec, other, nullptr), "update");
        r("node of the first graph", set_int(exec, ours, out, 3));
        r("node of the other graph", set_int(exec, theirs, out, 4));
        run(exec);
        r("out", out.get());
    });
    cases.add("patch/names_in_a_child_after_an_update", [](Record& r) {
        Ints out(1);
        const Graph child = new_graph(), other_child = new_graph(), graph = new_graph(), other = new_graph();
        const CUgraphNode ours = set_int_node(child, out, 1), theirs = set_int_node(other_child, out, 2);
        const CUgraphNode in = child_node(graph, child), other_in = child_node(other, other_child);
        const Exec exec = new_exec(graph);
        must(drv.cuGraphExecUpdate(exec, other, nullptr), "update");
        r("node of the first graph", set_int(exec, found_in(inner_of(in), ours), out, 3));
        r("node of the other graph", set_int(exec, found_in(inner_of(other_in), theirs), out, 4));
        run(exec);
        r("out", out.get());
    });
}

}  // namespace conf
