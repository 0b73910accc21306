// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes that use the memory of an alloc node: before it, after it, parallel to it, and after its free node.
#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {

namespace {

CUresult try_memset(CUgraph graph, CUdeviceptr dst, const Nodes& after, CUgraphNode* node = nullptr) {
    CUgraphNode made = nullptr;
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(dst, 7);
    const CUresult status = drv.cuGraphAddMemsetNode(&made, graph, after.data(), after.size(), &params, context());
    if (node != nullptr) *node = made;
    return status;
}

CUresult try_copy(CUgraph graph, CUdeviceptr dst, CUdeviceptr src, const Nodes& after) {
    CUgraphNode made = nullptr;
    const CUDA_MEMCPY3D params = copy_params(dst, src, 4);
    return drv.cuGraphAddMemcpyNode(&made, graph, after.data(), after.size(), &params, context());
}

// Adds a fill of the memory, a copy to it and a copy from it, with the same dependencies.
void ask_all(Record& r, const std::string& label, CUgraph graph, CUdeviceptr address, const Nodes& after) {
    const Ints plain;
    r(label + ", memset", try_memset(graph, address, after));
    r(label + ", copy to", try_copy(graph, address, plain, after));
    r(label + ", copy from", try_copy(graph, plain, address, after));
}

void add_place_cases(Cases& cases) {
    cases.add("graph_memory_use/without_a_free_node", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode first = empty_node(graph);
        const CUgraphNode alloc = alloc_node(graph, 64, &address, {first});
        ask_all(r, "after", graph, address, {alloc});
        ask_all(r, "beside", graph, address, {});
        ask_all(r, "before", graph, address, {first});
        r("last bytes", try_memset(graph, address + 60, {alloc}));
        r("past the end", try_memset(graph, address + 64, {alloc}));
    });
    cases.add("graph_memory_use/with_a_free_node", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode first = empty_node(graph);
        const CUgraphNode alloc = alloc_node(graph, 64, &address, {first});
        const CUgraphNode between = empty_node(graph, {alloc});
        const CUgraphNode free = free_node(graph, address, {between});
        ask_all(r, "after the alloc, beside the free", graph, address, {alloc});
        ask_all(r, "between, beside the free", graph, address, {between});
        ask_all(r, "beside both", graph, address, {});
        ask_all(r, "before the alloc", graph, address, {first});
        ask_all(r, "after the free", graph, address, {free});
        ask_all(r, "after the alloc and the free", graph, address, {alloc, free});
        r("inside the allocation", try_memset(graph, address + 32, {alloc}));
        CUdeviceptr other = 0;
        const CUgraphNode kept = alloc_node(graph, 64, &other, {free});
        ask_all(r, "other memory after the free", graph, other, {kept});
        r("is its address the same", other == address);
    });
    cases.add("graph_memory_use/freed_in_another_graph", [](Record& r) {
        const Graph graph = new_graph(), other = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        ask_all(r, "other graph, not freed", other, address, {});
        const CUgraphNode free = free_node(other, address);
        ask_all(r, "own graph", graph, address, {alloc});
        ask_all(r, "other graph, after the free", other, address, {free});
        ask_all(r, "other graph, beside the free", other, address, {});
    });
    cases.add("graph_memory_use/freed_in_its_graph_seen_from_another", [](Record& r) {
        const Graph graph = new_graph(), other = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        free_node(graph, address, {alloc});
        ask_all(r, "other graph", other, address, {});
    });
    cases.add("graph_memory_use/after_its_graph", [](Record& r) {
        CUdeviceptr address = 0;
        {
            const Graph graph = new_graph();
            alloc_node(graph, 64, &address);
        }
        const Graph other = new_graph();
        ask_all(r, "other graph", other, address, {});
    });
}

void add_inside_cases(Cases& cases) {
    cases.add("graph_memory_use/in_bodies", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0, freed = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        const CUgraphNode other = alloc_node(graph, 64, &freed);
        const CUgraphNode free = free_node(graph, freed, {other});
        const auto ask = [&](const char* label, const Nodes& after) {
            const Conditional loop = conditional_node(graph, new_handle(graph, 0), CU_GRAPH_COND_TYPE_WHILE, 1, after);
            ask_all(r, std::string(label) + ", not freed", loop.bodies[0], address, {});
            ask_all(r, std::string(label) + ", freed", loop.bodies[0], freed, {});
        };
        ask("after the allocs", {alloc, other});
        ask("after the free", {alloc, free});
        ask("beside", {});
    });
    cases.add("graph_memory_use/in_children", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        CUdeviceptr address = 0, freed = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        const CUgraphNode other = alloc_node(graph, 64, &freed);
        must(try_memset(child, address, {}), "memset");
        must(try_memset(child, freed, {}), "memset of what will be freed");
        CUgraphNode node = nullptr;
        r("embed after the allocs", [&] {
            const Nodes after{alloc, other};
            return drv.cuGraphAddChildGraphNode(&node, graph, after.data(), after.size(), child);
        }());
        CUgraph inside = nullptr;
        if (node != nullptr) must(drv.cuGraphChildGraphNodeGetGraph(node, &inside), "cuGraphChildGraphNodeGetGraph");
        const CUgraphNode free = free_node(graph, freed, {other});
        r("embed after the free", drv.cuGraphAddChildGraphNode(&node, graph, &free, 1, child));
        r("embed beside", drv.cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
        if (inside != nullptr) ask_all(r, "inside the first copy", inside, freed, {});
        ask_instantiate(r, "instantiate", graph);
    });
}

// The same through the generic function that adds nodes, over long paths, and from captures.
void add_other_way_cases(Cases& cases) {
    cases.add("graph_memory_use/add_node_of_any_kind", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0, freed = 0;
        const Ints plain;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        const CUgraphNode other = alloc_node(graph, 64, &freed, {alloc});
        free_node(graph, freed, {other});
        const auto fill = [&](CUdeviceptr dst, const Nodes& after) {
            CUgraphNodeParams params{};
            params.type = CU_GRAPH_NODE_TYPE_MEMSET;
            const CUDA_MEMSET_NODE_PARAMS memset = memset_params(dst, 7);
            params.memset = {memset.dst, 0, memset.value, memset.elementSize, memset.width, memset.height, context()};
            CUgraphNode made = nullptr;
            return drv.cuGraphAddNode(&made, graph, after.data(), nullptr, after.size(), &params);
        };
        const auto copy = [&](CUdeviceptr dst, const Nodes& after) {
            CUgraphNodeParams params{};
            params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
            params.memcpy.copyParams = copy_params(dst, plain, 4);
            params.memcpy.copyCtx = context();
            CUgraphNode made = nullptr;
            return drv.cuGraphAddNode(&made, graph, after.data(), nullptr, after.size(), &params);
        };
        r("memset after its alloc", fill(address, {alloc}));
        r("memset beside its alloc", fill(address, {}));
        r("memset beside the free", fill(freed, {other}));
        r("copy after its alloc", copy(address, {alloc}));
        r("copy beside its alloc", copy(address, {}));
        r("copy beside the free", copy(freed, {other}));
    });
    cases.add("graph_memory_use/far_away", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        CUgraphNode last = alloc;
        for (int i = 0; i < 300; ++i) last = empty_node(graph, {last});
        r("memset", try_memset(graph, address, {last}));
        CUgraphNode free = nullptr;
        r("free", drv.cuGraphAddMemFreeNode(&free, graph, &last, 1, address));
        r("memset beside the free", try_memset(graph, address, {last}));
        last = free;
        for (int i = 0; i < 300; ++i) last = empty_node(graph, {last});
        r("memset long after the free", try_memset(graph, address, {last}));
    });
    cases.add("graph_memory_use/two_nodes_use_it_at_once", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        CUgraphNode one = nullptr, two = nullptr, free = nullptr;
        r("memset", try_memset(graph, address, {alloc}, &one));
        r("memset beside it", try_memset(graph, address, {alloc}, &two));
        r("free after one of them", drv.cuGraphAddMemFreeNode(&free, graph, &one, 1, address));
        r("copy inside it, overlapping", try_copy(graph, address, address + 2, {alloc}));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("graph_memory_use/captured", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0, freed = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        const CUgraphNode other = alloc_node(graph, 64, &freed, {alloc});
        const CUgraphNode free = free_node(graph, freed, {other});
        const Stream stream = new_stream();
        const Ints plain;
        const auto ask = [&](const char* label, const Nodes& after, CUdeviceptr dst, bool copies) {
            must(drv.cuStreamBeginCaptureToGraph(stream, graph, after.data(), nullptr, after.size(),
                                                 CU_STREAM_CAPTURE_MODE_RELAXED),
                 "cuStreamBeginCaptureToGraph");
            r(label, copies ? drv.cuMemcpyDtoDAsync(dst, plain, 4, stream) : drv.cuMemsetD32Async(dst, 7, 1, stream));
            r(std::string(label) + ", status", status(stream));
            CUgraph ended = nullptr;
            r(std::string(label) + ", end", drv.cuStreamEndCapture(stream, &ended));
        };
        ask("memset after its alloc", {alloc}, address, false);
        ask("memset beside its alloc", {}, address, false);
        ask("copy beside its alloc", {}, address, true);
        ask("memset beside the free", {other}, freed, false);
        ask("memset after the free", {free}, freed, false);
        r("nodes", node_count(graph));
    });
}

void add_later_change_cases(Cases& cases) {
    cases.add("graph_memory_use/edges_make_the_order_wrong", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0, other = 0;
        const CUgraphNode first = empty_node(graph);
        const CUgraphNode alloc = alloc_node(graph, 64, &address, {first});
        CUgraphNode fill = nullptr, late = nullptr;
        r("memset", try_memset(graph, address, {alloc}, &fill));
        const CUgraphNode free = free_node(graph, address, {alloc});
        r("free -> memset", drv.cuGraphAddDependencies(graph, &free, &fill, nullptr, 1));
        const CUgraphNode second = alloc_node(graph, 64, &other);
        r("memset beside its alloc", try_memset(graph, other, {}, &late));
        if (late != nullptr) r("memset -> alloc", drv.cuGraphAddDependencies(graph, &late, &second, nullptr, 1));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("graph_memory_use/free_added_last", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        CUgraphNode fill = nullptr;
        r("memset beside", try_memset(graph, address, {}, &fill));
        CUgraphNode free = nullptr;
        r("free, the memset beside it", drv.cuGraphAddMemFreeNode(&free, graph, &alloc, 1, address));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("graph_memory_use/parameters_set_later", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0, freed = 0;
        const Ints plain;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        const CUgraphNode other = alloc_node(graph, 64, &freed, {alloc});
        const CUgraphNode free = free_node(graph, freed, {other});
        CUgraphNode fill = memset_node(graph, plain, 1, {other}), last = memset_node(graph, plain, 1, {free});
        const CUgraphNode copy = copy_node(graph, plain, plain, 4, {other});
        const auto set = [&](CUgraphNode node, CUdeviceptr to) {
            const CUDA_MEMSET_NODE_PARAMS params = memset_params(to, 7);
            return drv.cuGraphMemsetNodeSetParams(node, &params);
        };
        r("memset, not freed", set(fill, address));
        r("memset, freed, beside the free", set(fill, freed));
        r("memset, freed, after the free", set(last, freed));
        CUDA_MEMCPY3D params = copy_params(freed, plain, 4);
        r("copy to, freed", drv.cuGraphMemcpyNodeSetParams(copy, &params));
        params = copy_params(plain, freed, 4);
        r("copy from, freed", drv.cuGraphMemcpyNodeSetParams(copy, &params));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("graph_memory_use/set_in_an_executable", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0, freed = 0;
        const Ints plain;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        const CUgraphNode other = alloc_node(graph, 64, &freed, {alloc});
        const CUgraphNode fill = memset_node(graph, plain, 1, {other});
        free_node(graph, freed, {fill});
        const Exec exec = new_exec(graph);
        CUDA_MEMSET_NODE_PARAMS params = memset_params(address, 7);
        r("not freed", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context()));
        params = memset_params(freed, 7);
        r("freed after it", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context()));
    });
    cases.add("graph_memory_use/added_in_the_right_order", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        CUgraphNode fill = nullptr, free = nullptr;
        r("memset", try_memset(graph, address, {alloc}, &fill));
        r("free", drv.cuGraphAddMemFreeNode(&free, graph, &fill, 1, address));
        r("memset between, added last", try_memset(graph, address, {fill}));
        ask_instantiate(r, "instantiate", graph);
    });
}

CUgraphNode fill_of(CUgraph graph, CUdeviceptr dst, unsigned value, const Nodes& after) {
    CUgraphNode made = nullptr;
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(dst, value);
    must(drv.cuGraphAddMemsetNode(&made, graph, after.data(), after.size(), &params, context()), "memset");
    return made;
}

// A graph: alloc -> memset of its memory or of `plain` -> free of it, or an empty node.
Graph fill_graph(CUdeviceptr plain, unsigned value, bool freed) {
    Graph graph = new_graph();
    CUdeviceptr address = 0;
    const CUgraphNode alloc = alloc_node(graph, 64, &address);
    const CUgraphNode fill = fill_of(graph, plain != 0 ? plain : address, value, {alloc});
    if (freed)
        free_node(graph, address, {fill});
    else
        empty_node(graph, {fill});
    return graph;
}

void ask_update(Record& r, const std::string& label, CUgraphExec exec, CUgraph graph) {
    CUgraphExecUpdateResultInfo info{};
    r(label, drv.cuGraphExecUpdate(exec, graph, &info));
    r(label + ", why", std::to_string(static_cast<int>(info.result)));
}

void add_update_cases(Cases& cases) {
    for (const bool freed : {false, true}) {
        cases.add(std::string("graph_memory_use/updated_") + (freed ? "freed" : "left"), [freed](Record& r) {
            const Ints plain, other;
            const auto ask = [&](const std::string& label, CUdeviceptr before, CUdeviceptr after) {
                const Graph graph = fill_graph(before, 1, freed), next = fill_graph(after, 7, freed);
                const Exec exec = new_exec(graph);
                ask_update(r, label, exec, next);
                ask_update(r, label + ", then itself", exec, graph);
            };
            ask("its own to its own", 0, 0);
            ask("its own to plain", 0, plain);
            ask("plain to its own", plain, 0);
            ask("plain to plain", plain, other);
        });
    }
    cases.add("graph_memory_use/updated_in_an_executable", [](Record& r) {
        for (const bool freed : {false, true}) {
            const std::string how = freed ? ", freed" : ", left";
            const Ints plain;
            const Graph graph = new_graph(), next = new_graph();
            CUdeviceptr address = 0, foreign = 0;
            const CUgraphNode alloc = alloc_node(graph, 64, &address);
            const CUgraphNode fill = fill_of(graph, address, 1, {alloc});
            if (freed) free_node(graph, address, {fill});
            const CUgraphNode theirs = alloc_node(next, 64, &foreign);
            if (freed) free_node(next, foreign, {theirs});
            const Exec exec = new_exec(graph);
            const auto set = [&](CUdeviceptr dst) {
                const CUDA_MEMSET_NODE_PARAMS params = memset_params(dst, 7);
                return drv.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context());
            };
            r("other value" + how, set(address));
            r("inside" + how, set(address + 16));
            r("of another graph" + how, set(foreign));
            r("plain" + how, set(plain));
            r("back" + how, set(address));
        }
    });
    cases.add("exec/of_graphs_inside", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph(), same = new_graph();
        plain_kernel_node(child);
        plain_kernel_node(same);
        const Exec exec = new_exec(same);
        CUgraph inner = nullptr;
        must(drv.cuGraphChildGraphNodeGetGraph(child_node(graph, child), &inner), "get");
        ask_instantiate(r, "child", inner);
        ask_update(r, "update from a child", exec, inner);
        const Graph deciding = new_graph();
        const Conditional loop = conditional_node(deciding, new_handle(deciding, 0), CU_GRAPH_COND_TYPE_IF, 1, {});
        plain_kernel_node(loop.bodies[0]);
        ask_instantiate(r, "body", loop.bodies[0]);
        ask_update(r, "update from a body", exec, loop.bodies[0]);
    });
}

}  // namespace

void add_graph_memory_cases(Cases& cases) {
    add_update_cases(cases);
    add_place_cases(cases);
    add_inside_cases(cases);
    add_other_way_cases(cases);
    add_later_change_cases(cases);
}

}  // namespace conf
