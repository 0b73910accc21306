// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs: instantiate, launch, upload, whole update, per-node changes, enabling.
#include "cases.hpp"

namespace conf {

namespace {

void host_nothing(void*) {}

void record_update(Record& r, const std::string& label, CUgraphExec exec, CUgraph graph,
                   CUgraphNode suspect = nullptr) {
    CUgraphExecUpdateResultInfo info{};
    r(label, drv.cuGraphExecUpdate(exec, graph, &info));
    r(label + " result", info.result);
    r(label + " names a node", info.errorNode != nullptr);
    if (suspect != nullptr) r(label + " names the suspect", info.errorNode == suspect);
    r(label + " names a from node", info.errorFromNode != nullptr);
}

CUresult set_exec_int(CUgraphExec exec, CUgraphNode node, CUdeviceptr target, int value) {
    void* arguments[] = {&target, &value};
    const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments);
    return drv.cuGraphExecKernelNodeSetParams(exec, node, &params);
}

void add_instantiate_cases(Cases& cases) {
    cases.add("instantiate/arguments", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphExec exec = nullptr;
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        r("null output", drv.cuGraphInstantiateWithFlags(nullptr, graph, 0));
        r("null output with params", drv.cuGraphInstantiateWithParams(nullptr, graph, &params));
        r("null params", drv.cuGraphInstantiateWithParams(&exec, graph, nullptr));
        params.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        r("null graph with params", drv.cuGraphInstantiateWithParams(&exec, nullptr, &params));
        r("null graph result_out", params.result_out);
        r("flag 16", drv.cuGraphInstantiateWithFlags(&exec, graph, 16));
        ask_instantiate(r, "flag 1024", graph, 1024);
        r("upload flag without params",
          drv.cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    });
    cases.add("instantiate/empty_graph", [](Record& r) {
        const Graph graph = new_graph();
        ask_instantiate(r, "instantiate", graph);
        run_graph(graph);
        r("ran", true);
    });
    cases.add("instantiate/flags_come_back", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        for (const unsigned flags : {0u, 1u, 4u, 8u, 9u}) {
            CUgraphExec exec = nullptr;
            r("flags " + std::to_string(flags), drv.cuGraphInstantiateWithFlags(&exec, graph, flags));
            if (exec == nullptr) continue;
            cuuint64_t back = 99;
            r("get", drv.cuGraphExecGetFlags(exec, &back));
            r("value", back);
            drv.cuGraphExecDestroy(exec);
        }
        const Exec exec = new_exec(graph);
        r("get null", drv.cuGraphExecGetFlags(exec, nullptr));
        cuuint64_t back = 0;
        r("null exec", drv.cuGraphExecGetFlags(nullptr, &back));
    });
    cases.add("instantiate/upload_flag", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        const Stream stream = new_stream();
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        params.hUploadStream = stream;
        CUgraphExec exec = nullptr;
        r("instantiate", drv.cuGraphInstantiateWithParams(&exec, graph, &params));
        r("result_out", params.result_out);
        cuuint64_t back = 99;
        r("get", drv.cuGraphExecGetFlags(exec, &back));
        r("flags", back);
        r("sync", drv.cuStreamSynchronize(stream));
        r("launch", drv.cuGraphLaunch(exec, stream));
        drv.cuStreamSynchronize(stream);
        drv.cuGraphExecDestroy(exec);
        params.hUploadStream = nullptr;
        r("null upload stream", drv.cuGraphInstantiateWithParams(&exec, graph, &params));
        drv.cuCtxSynchronize();
        drv.cuGraphExecDestroy(exec);
    });
    cases.add("instantiate/device_launch", [](Record& r) {
        const auto flag = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
        const Graph empty = new_graph(), only_empty_node = new_graph(), host = new_graph(), event = new_graph(),
                    good = new_graph();
        empty_node(only_empty_node);
        plain_kernel_node(host);
        host_node(host, host_nothing, nullptr);
        plain_kernel_node(event);
        const Event recorded = new_event();
        record_node(event, recorded);
        plain_kernel_node(good);
        ask_instantiate(r, "empty", empty, flag);
        ask_instantiate(r, "only an empty node", only_empty_node, flag);
        ask_instantiate(r, "host node", host, flag);
        ask_instantiate(r, "event node", event, flag);
        ask_instantiate(r, "kernel", good, flag);
        ask_instantiate(r, "with auto free", good, flag | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        empty_node(good);
        ask_instantiate(r, "kernel and empty node", good, flag);
    });
    cases.add("instantiate/twice_is_independent", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const CUgraphNode node = set_int_node(graph, out, 1);
        const Exec one = new_exec(graph), two = new_exec(graph);
        r("differ", one != two);
        r("set one", set_exec_int(one, node, out, 5));
        run(two);
        r("two", out.get());
        run(one);
        r("one", out.get());
    });
    cases.add("instantiate/graph_edits_and_death_do_not_show", [](Record& r) {
        Ints out;
        CUgraph graph = new_graph().release();
        const CUgraphNode node = set_int_node(graph, out, 1);
        const Exec exec = new_exec(graph);
        set_int_node(graph, out, 2, {node});
        must(drv.cuGraphDestroyNode(node), "destroy");
        r("destroy graph", drv.cuGraphDestroy(graph));
        run(exec);
        r("out", out.get());
    });
}

void add_launch_cases(Cases& cases) {
    cases.add("launch/arguments", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        const Exec exec = new_exec(graph);
        r("null exec", drv.cuGraphLaunch(nullptr, nullptr));
        r("null stream", drv.cuGraphLaunch(exec, nullptr));
        r("legacy stream", drv.cuGraphLaunch(exec, CU_STREAM_LEGACY));
        r("per thread stream", drv.cuGraphLaunch(exec, CU_STREAM_PER_THREAD));
        r("upload null exec", drv.cuGraphUpload(nullptr, nullptr));
        r("upload null stream", drv.cuGraphUpload(exec, nullptr));
        r("upload twice", drv.cuGraphUpload(exec, nullptr));
        r("destroy null", drv.cuGraphExecDestroy(nullptr));
        drv.cuCtxSynchronize();
    });
    cases.add("launch/destroy_while_it_runs", [](Record& r) {
        Pinned flag;
        Ints out;
        const Graph graph = new_graph();
        const Stream stream = new_stream();
        set_int_node(graph, out, 4, {wait_flag_node(graph, flag.address())});
        CUgraphExec exec = new_exec(graph).release();
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("query", drv.cuStreamQuery(stream));
        r("destroy", drv.cuGraphExecDestroy(exec));
        flag[0] = 1;
        r("sync", drv.cuStreamSynchronize(stream));
        r("out", out.get());
    });
    cases.add("launch/is_asynchronous_and_one_exec_serialises", [](Record& r) {
        Pinned flag;
        Ints out(1, 1);
        const Graph graph = new_graph();
        const Stream one = new_stream(), two = new_stream();
        mul_add_node(graph, out, 3, 1, {wait_flag_node(graph, flag.address())});
        const Exec exec = new_exec(graph);
        r("launch", drv.cuGraphLaunch(exec, one));
        r("launch on another stream", drv.cuGraphLaunch(exec, two));
        r("first", drv.cuStreamQuery(one));
        r("second", drv.cuStreamQuery(two));
        flag[0] = 1;
        r("sync first", drv.cuStreamSynchronize(one));
        r("sync second", drv.cuStreamSynchronize(two));
        r("out", out.get());
    });
    cases.add("launch/set_params_while_it_runs", [](Record& r) {
        Pinned flag;
        Ints out;
        const Graph graph = new_graph();
        const Stream stream = new_stream();
        const CUgraphNode node = set_int_node(graph, out, 1, {wait_flag_node(graph, flag.address())});
        const Exec exec = new_exec(graph);
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("set", set_exec_int(exec, node, out, 2));
        flag[0] = 1;
        drv.cuStreamSynchronize(stream);
        r("running launch saw", out.get());
        run(exec);
        r("next launch saw", out.get());
    });
}

void add_update_cases(Cases& cases) {
    cases.add("update/arguments", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        const Exec exec = new_exec(graph);
        CUgraphExecUpdateResultInfo info{};
        r("null exec", drv.cuGraphExecUpdate(nullptr, graph, &info));
        r("null graph", drv.cuGraphExecUpdate(exec, nullptr, &info));
        r("null graph result", info.result);
        r("null info", drv.cuGraphExecUpdate(exec, graph, nullptr));
        record_update(r, "same graph", exec, graph);
    });
    cases.add("update/kernel_arguments", [](Record& r) {
        Ints out;
        const Graph graph = new_graph(), other = new_graph();
        set_int_node(graph, out, 1);
        set_int_node(other, out, 2);
        const Exec exec = new_exec(graph);
        record_update(r, "update", exec, other);
        run(exec);
        r("out", out.get());
    });
    cases.add("update/another_kernel", [](Record& r) {
        Ints out(1, 10);
        const Graph graph = new_graph(), other = new_graph();
        set_int_node(graph, out, 1);
        const CUgraphNode node = mul_add_node(other, out, 2, 3);
        const Exec exec = new_exec(graph);
        record_update(r, "update", exec, other, node);
        run(exec);
        r("out", out.get());
    });
    cases.add("update/node_count", [](Record& r) {
        const Graph graph = new_graph(), more = new_graph(), fewer = new_graph();
        plain_kernel_node(graph, {plain_kernel_node(graph)});
        plain_kernel_node(more, {plain_kernel_node(more, {plain_kernel_node(more)})});
        plain_kernel_node(fewer);
        const Exec exec = new_exec(graph);
        record_update(r, "more", exec, more);
        record_update(r, "fewer", exec, fewer);
        r("still launches", drv.cuGraphLaunch(exec, nullptr));
        drv.cuCtxSynchronize();
    });
    cases.add("update/edges", [](Record& r) {
        const auto build = [](CUgraph graph, bool join_first) {
            const CUgraphNode a = plain_kernel_node(graph), b = plain_kernel_node(graph);
            plain_kernel_node(graph, {join_first ? a : b});
            return b;
        };
        const Graph graph = new_graph(), other = new_graph(), cut = new_graph();
        build(graph, true);
        build(other, false);
        plain_kernel_node(cut);
        plain_kernel_node(cut);
        const CUgraphNode last = plain_kernel_node(cut);
        const Exec exec = new_exec(graph);
        record_update(r, "from another node", exec, other);
        record_update(r, "edge missing", exec, cut, last);
    });
    cases.add("update/node_type", [](Record& r) {
        Ints a;
        const Graph graph = new_graph(), other = new_graph();
        plain_kernel_node(graph);
        const CUgraphNode node = memset_node(other, a, 0);
        const Exec exec = new_exec(graph);
        record_update(r, "update", exec, other, node);
    });
    cases.add("update/order_of_creation", [](Record& r) {
        Ints a;
        const Graph graph = new_graph(), other = new_graph();
        plain_kernel_node(graph);
        memset_node(graph, a, 0);
        memset_node(other, a, 0);
        plain_kernel_node(other);
        const Exec exec = new_exec(graph);
        record_update(r, "update", exec, other);
    });
    cases.add("update/memset", [](Record& r) {
        Ints a(64), b(64);
        const auto with = [&](const std::string& label, const CUDA_MEMSET_NODE_PARAMS& first,
                              const CUDA_MEMSET_NODE_PARAMS& second) {
            const Graph graph = new_graph(), other = new_graph();
            CUgraphNode node = nullptr;
            must(drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &first, context()), "add");
            must(drv.cuGraphAddMemsetNode(&node, other, nullptr, 0, &second, context()), "add");
            const Exec exec = new_exec(graph);
            record_update(r, label, exec, other, node);
        };
        with("value", memset_params(a, 1, 4, 4), memset_params(a, 2, 4, 4));
        with("address", memset_params(a, 1, 4, 4), memset_params(b, 1, 4, 4));
        with("width", memset_params(a, 1, 4, 4), memset_params(a, 1, 4, 8));
        with("element", memset_params(a, 1, 4, 4), memset_params(a, 1, 2, 8));
        with("to 2d", memset_params(a, 1, 4, 4), memset_params(a, 1, 4, 4, 2, 32));
        with("2d value", memset_params(a, 1, 4, 4, 2, 32), memset_params(a, 2, 4, 4, 2, 32));
        with("2d width", memset_params(a, 1, 4, 4, 2, 32), memset_params(a, 2, 4, 2, 2, 32));
        with("to 1d", memset_params(a, 1, 4, 4, 2, 32), memset_params(a, 2, 4, 4));
    });
    cases.add("update/memcpy", [](Record& r) {
        Ints a(64), b(64);
        Pinned pinned(64);
        const auto with = [&](const std::string& label, const CUDA_MEMCPY3D& first, const CUDA_MEMCPY3D& second) {
            const Graph graph = new_graph(), other = new_graph();
            CUgraphNode node = nullptr;
            must(drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &first, context()), "add");
            must(drv.cuGraphAddMemcpyNode(&node, other, nullptr, 0, &second, context()), "add");
            const Exec exec = new_exec(graph);
            record_update(r, label, exec, other, node);
        };
        CUDA_MEMCPY3D two_rows = copy_params(a, b, 16);
        two_rows.Height = 2;
        two_rows.srcPitch = two_rows.dstPitch = 32;
        with("addresses", copy_params(a, b, 16), copy_params(b, a, 16));
        with("size", copy_params(a, b, 16), copy_params(a, b, 32));
        with("to host", copy_params(a, b, 16), copy_to_host_params(pinned.data(), b, 16));
        with("to 2d", copy_params(a, b, 16), two_rows);
        with("2d same", two_rows, two_rows);
    });
    cases.add("update/host_event_child", [](Record& r) {
        const Event one = new_event(), two = new_event();
        int x = 0;
        const auto build = [&](CUgraph graph, CUevent event, void* data, bool longer) {
            const Graph child = new_graph();
            plain_kernel_node(child);
            if (longer) plain_kernel_node(child);
            host_node(graph, host_nothing, data);
            record_node(graph, event);
            wait_node(graph, event);
            child_node(graph, child);
        };
        const Graph graph = new_graph(), other = new_graph(), longer = new_graph();
        build(graph, one, nullptr, false);
        build(other, two, &x, false);
        build(longer, two, &x, true);
        const Exec exec = new_exec(graph);
        record_update(r, "other params", exec, other);
        record_update(r, "longer child", exec, longer);
    });
    cases.add("update/attributes", [](Record& r) {
        const Graph graph = new_graph(), other = new_graph();
        plain_kernel_node(graph);
        const CUgraphNode node = plain_kernel_node(other);
        CUkernelNodeAttrValue value{};
        value.priority = -2;
        must(drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), "priority");
        const Exec exec = new_exec(graph);
        record_update(r, "priority", exec, other, node);
        value = {};
        value.cooperative = 1;
        must(drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), "cooperative");
        record_update(r, "cooperative", exec, other, node);
    });
    cases.add("update/failed_update_changes_nothing", [](Record& r) {
        Ints out, unused;
        const Graph graph = new_graph(), other = new_graph();
        const CUgraphNode a = set_int_node(graph, out, 1);
        memset_node(graph, unused, 0, {a});
        const CUgraphNode b = set_int_node(other, out, 2);
        plain_kernel_node(other, {b});
        const Exec exec = new_exec(graph);
        record_update(r, "update", exec, other);
        run(exec);
        r("out", out.get());
    });
    cases.add("update/disabled_node_stays_disabled", [](Record& r) {
        Ints out;
        const Graph graph = new_graph(), other = new_graph();
        const CUgraphNode node = set_int_node(graph, out, 1);
        set_int_node(other, out, 2);
        const Exec exec = new_exec(graph);
        r("disable", drv.cuGraphNodeSetEnabled(exec, node, 0));
        record_update(r, "update", exec, other);
        unsigned enabled = 9;
        r("get", drv.cuGraphNodeGetEnabled(exec, node, &enabled));
        r("enabled", enabled);
        run(exec);
        r("out", out.get());
    });
}

void add_exec_node_cases(Cases& cases) {
    cases.add("exec_node/kernel", [](Record& r) {
        Ints out;
        const Graph graph = new_graph(), other = new_graph();
        const CUgraphNode node = set_int_node(graph, out, 1), foreign = set_int_node(other, out, 7);
        const CUgraphNode plain = empty_node(graph), clear = memset_node(graph, out, 0);
        const Exec exec = new_exec(graph);
        r("set", set_exec_int(exec, node, out, 2));
        r("node of another graph", set_exec_int(exec, foreign, out, 3));
        r("empty node", set_exec_int(exec, plain, out, 3));
        r("memset node", set_exec_int(exec, clear, out, 3));
        r("null node", set_exec_int(exec, nullptr, out, 3));
        r("null exec", set_exec_int(nullptr, node, out, 3));
        r("null params", drv.cuGraphExecKernelNodeSetParams(exec, node, nullptr));
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"));
        r("another kernel", drv.cuGraphExecKernelNodeSetParams(exec, node, &params));
        params.gridDimX = 0;
        r("grid 0", drv.cuGraphExecKernelNodeSetParams(exec, node, &params));
        params = kernel_params(nullptr);
        r("null func", drv.cuGraphExecKernelNodeSetParams(exec, node, &params));
        CUDA_KERNEL_NODE_PARAMS back{};
        must(drv.cuGraphKernelNodeGetParams(node, &back), "get");
        r("definition unchanged", *static_cast<int*>(back.kernelParams[1]));
    });
    cases.add("exec_node/node_added_after_instantiate", [](Record& r) {
        Ints out;
        const Graph graph = new_graph();
        set_int_node(graph, out, 1);
        const Exec exec = new_exec(graph);
        const CUgraphNode late = set_int_node(graph, out, 2);
        r("set", set_exec_int(exec, late, out, 3));
        r("enable", drv.cuGraphNodeSetEnabled(exec, late, 0));
    });
    cases.add("exec_node/node_of_a_clone", [](Record& r) {
        Ints out;
        const Graph graph = new_graph();
        const CUgraphNode node = set_int_node(graph, out, 1);
        const Graph clone = new_clone(graph);
        const Exec exec = new_exec(clone);
        r("original's node", set_exec_int(exec, node, out, 2));
        CUgraphNode found = nullptr;
        must(drv.cuGraphNodeFindInClone(&found, node, clone), "find");
        r("clone's node", set_exec_int(exec, found, out, 3));
        run(exec);
        r("out", out.get());
    });
    cases.add("exec_node/generic_set", [](Record& r) {
        Ints a, b;
        const Graph graph = new_graph();
        const CUgraphNode node = memset_node(graph, a, 1), plain = empty_node(graph),
                          host = host_node(graph, host_nothing, nullptr);
        const Exec exec = new_exec(graph);
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_MEMSET;
        params.memset.dst = b;
        params.memset.value = 12;
        params.memset.elementSize = 4;
        params.memset.width = params.memset.height = 1;
        params.memset.ctx = context();
        r("memset", drv.cuGraphExecNodeSetParams(exec, node, &params));
        r("memset params on a host node", drv.cuGraphExecNodeSetParams(exec, host, &params));
        params.memset.width = 0;
        r("width 0", drv.cuGraphExecNodeSetParams(exec, node, &params));
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        r("empty", drv.cuGraphExecNodeSetParams(exec, plain, &params));
        r("null params", drv.cuGraphExecNodeSetParams(exec, node, nullptr));
        run(exec);
        r("a", a.get());
        r("b", b.get());
    });
    cases.add("exec_node/memset_and_memcpy", [](Record& r) {
        Ints a(64), b(64, 5);
        Pinned pinned(4);
        const Graph graph = new_graph();
        const CUgraphNode fill = memset_node(graph, a, 1), copy = copy_node(graph, a, b, 16, {fill});
        const Exec exec = new_exec(graph);
        CUDA_MEMSET_NODE_PARAMS m = memset_params(a, 2, 4, 8);
        r("memset width", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &m, context()));
        m = memset_params(a, 2, 2, 8, 2, 64);
        r("memset to 2d", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &m, context()));
        m = memset_params(kGarbage, 2);
        r("memset garbage", drv.cuGraphExecMemsetNodeSetParams(exec, fill, &m, context()));
        m = memset_params(a, 2);
        r("memset on memcpy node", drv.cuGraphExecMemsetNodeSetParams(exec, copy, &m, context()));
        CUDA_MEMCPY3D c = copy_params(a, b, 8);
        r("memcpy size", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &c, context()));
        c = copy_to_host_params(pinned.data(), b, 16);
        r("memcpy to host", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &c, context()));
        c = copy_params(a, kGarbage, 16);
        r("memcpy garbage", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &c, context()));
        c = copy_params(a, b, 0);
        r("memcpy size 0", drv.cuGraphExecMemcpyNodeSetParams(exec, copy, &c, context()));
    });
    cases.add("exec_node/host_event_child", [](Record& r) {
        const Event one = new_event(), two = new_event();
        const Graph graph = new_graph(), child = new_graph(), longer = new_graph();
        plain_kernel_node(child);
        plain_kernel_node(longer, {plain_kernel_node(longer)});
        const CUgraphNode host = host_node(graph, host_nothing, nullptr), record = record_node(graph, one);
        const CUgraphNode wait = wait_node(graph, one), embedded = child_node(graph, child);
        const Exec exec = new_exec(graph);
        CUDA_HOST_NODE_PARAMS h{host_nothing, &h};
        r("host", drv.cuGraphExecHostNodeSetParams(exec, host, &h));
        h.fn = nullptr;
        r("host null fn", drv.cuGraphExecHostNodeSetParams(exec, host, &h));
        r("record", drv.cuGraphExecEventRecordNodeSetEvent(exec, record, two));
        r("wait", drv.cuGraphExecEventWaitNodeSetEvent(exec, wait, two));
        r("record null", drv.cuGraphExecEventRecordNodeSetEvent(exec, record, nullptr));
        r("record on wait", drv.cuGraphExecEventRecordNodeSetEvent(exec, wait, two));
        r("child", drv.cuGraphExecChildGraphNodeSetParams(exec, embedded, child));
        r("longer child", drv.cuGraphExecChildGraphNodeSetParams(exec, embedded, longer));
        r("null child", drv.cuGraphExecChildGraphNodeSetParams(exec, embedded, nullptr));
    });
    cases.add("exec_node/inner_node_of_a_child", [](Record& r) {
        Ints out;
        const Graph graph = new_graph(), child = new_graph();
        const CUgraphNode original = set_int_node(child, out, 1);
        const CUgraphNode embedded = child_node(graph, child);
        CUgraph inner = nullptr;
        must(drv.cuGraphChildGraphNodeGetGraph(embedded, &inner), "get");
        CUgraphNode node = nullptr;
        size_t count = 1;
        must(drv.cuGraphGetNodes(inner, &node, &count), "nodes");
        const Exec exec = new_exec(graph);
        r("inner node", set_exec_int(exec, node, out, 2));
        r("original node", set_exec_int(exec, original, out, 3));
        run(exec);
        r("out", out.get());
        r("disable inner", drv.cuGraphNodeSetEnabled(exec, node, 0));
    });
    cases.add("enable/kinds", [](Record& r) {
        Ints a, b;
        const Event event = new_event();
        const Graph graph = new_graph(), child = new_graph();
        const auto ask = [&](CUgraphExec exec, const std::string& label, CUgraphNode node) {
            unsigned enabled = 9;
            r(label + " get", drv.cuGraphNodeGetEnabled(exec, node, &enabled));
            r(label + " set", drv.cuGraphNodeSetEnabled(exec, node, 0));
        };
        const CUgraphNode k = plain_kernel_node(graph), m = memset_node(graph, a, 0), c = copy_node(graph, a, b, 4);
        const CUgraphNode e = empty_node(graph), h = host_node(graph, host_nothing, nullptr),
                          g = child_node(graph, child);
        const CUgraphNode w = record_node(graph, event);
        const Exec exec = new_exec(graph);
        ask(exec, "kernel", k);
        ask(exec, "memset", m);
        ask(exec, "memcpy", c);
        ask(exec, "empty", e);
        ask(exec, "host", h);
        ask(exec, "child", g);
        ask(exec, "record", w);
        ask(exec, "null", nullptr);
        r("value 2", drv.cuGraphNodeSetEnabled(exec, k, 2));
        unsigned enabled = 9;
        must(drv.cuGraphNodeGetEnabled(exec, k, &enabled), "get");
        r("after value 2", enabled);
        r("get null output", drv.cuGraphNodeGetEnabled(exec, k, nullptr));
        r("null exec", drv.cuGraphNodeSetEnabled(nullptr, k, 1));
    });
    cases.add("enable/disabled_is_a_no_op_in_order", [](Record& r) {
        Ints out(1, 1);
        const Graph graph = new_graph();
        const CUgraphNode a = mul_add_node(graph, out, 3, 1), b = mul_add_node(graph, out, 5, 2, {a});
        mul_add_node(graph, out, 7, 3, {b});
        const Exec exec = new_exec(graph);
        r("disable", drv.cuGraphNodeSetEnabled(exec, b, 0));
        run(exec);
        r("without b", out.get());
        r("enable", drv.cuGraphNodeSetEnabled(exec, b, 1));
        out.set(1);
        run(exec);
        r("with b", out.get());
        r("disable twice", drv.cuGraphNodeSetEnabled(exec, b, 0));
        r("disable twice", drv.cuGraphNodeSetEnabled(exec, b, 0));
        r("set params keeps it disabled", set_exec_int(exec, b, out, 9));
        unsigned enabled = 9;
        must(drv.cuGraphNodeGetEnabled(exec, b, &enabled), "get");
        r("enabled", enabled);
    });
}

}  // namespace

void add_exec_cases(Cases& cases) {
    add_instantiate_cases(cases);
    add_launch_cases(cases);
    add_update_cases(cases);
    add_exec_node_cases(cases);
}

}  // namespace conf
