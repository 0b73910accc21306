// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches of memory operations as graph nodes: parameters, invalid use, changes of executables, execution.
#include <vector>

#include "capture_rig.hpp"
#include "cases.hpp"
#include "memory_operations.hpp"

namespace conf {

namespace {

using Batch = std::vector<CUstreamBatchMemOpParams>;

CUDA_BATCH_MEM_OP_NODE_PARAMS batch_params(Batch& batch) {
    return {context(), static_cast<unsigned>(batch.size()), batch.data(), 0};
}

CUresult add_batch(CUgraphNode* out, CUgraph graph, Batch batch, const Nodes& after = {}) {
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch_params(batch);
    return drv.cuGraphAddBatchMemOpNode(out, graph, after.data(), after.size(), &params);
}

CUgraphNode batch_node(CUgraph graph, const Batch& batch, const Nodes& after = {}) {
    CUgraphNode node = nullptr;
    must(add_batch(&node, graph, batch, after), "batch node");
    return node;
}

CUresult set_batch(CUgraphNode node, Batch batch) {
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch_params(batch);
    return drv.cuGraphBatchMemOpNodeSetParams(node, &params);
}

CUresult exec_set_batch(CUgraphExec exec, CUgraphNode node, Batch batch) {
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch_params(batch);
    return drv.cuGraphExecBatchMemOpNodeSetParams(exec, node, &params);
}

void record_batch(Record& r, const std::string& label, CUgraphNode node, const std::vector<CUdeviceptr>& at) {
    CUDA_BATCH_MEM_OP_NODE_PARAMS back{};
    r(label + " get", drv.cuGraphBatchMemOpNodeGetParams(node, &back));
    r(label + " ctx", back.ctx == context());
    r(label + " count", back.count);
    r(label + " flags", back.flags);
    for (unsigned i = 0; i < back.count && i < at.size(); ++i)
        record_operation(r, label + " " + std::to_string(i), back.paramArray[i], at[i]);
}

CUgraphNodeParams general(Batch& batch) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    params.memOp.ctx = context();
    params.memOp.count = static_cast<unsigned>(batch.size());
    params.memOp.paramArray = batch.data();
    return params;
}

void add_parameter_cases(Cases& cases) {
    cases.add("batch_node/params_come_back", [](Record& r) {
        const Graph graph = new_graph();
        Ints words(4);
        CUgraphNode node = nullptr;
        r("add", add_batch(&node, graph, {write32(words, 7), wait32(words + 4, 8, CU_STREAM_WAIT_VALUE_AND)}));
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        r("type", drv.cuGraphNodeGetType(node, &type));
        r("is", type);
        record_batch(r, "added", node, {words, words + 4});
        r("set", set_batch(node, {wait64(words + 8, 9)}));
        record_batch(r, "set", node, {words + 8});
        CUDA_BATCH_MEM_OP_NODE_PARAMS params{};
        r("get of an empty node", drv.cuGraphBatchMemOpNodeGetParams(empty_node(graph), &params));
        r("get null", drv.cuGraphBatchMemOpNodeGetParams(node, nullptr));
        r("set null", drv.cuGraphBatchMemOpNodeSetParams(node, nullptr));
        Batch other{write32(words, 1)};
        params = batch_params(other);
        r("set of an empty node", drv.cuGraphBatchMemOpNodeSetParams(empty_node(graph), &params));
    });
    cases.add("batch_node/by_general_calls", [](Record& r) {
        const Graph graph = new_graph();
        Ints words(4);
        Batch batch{write32(words, 7)};
        CUgraphNodeParams params = general(batch);
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        record_batch(r, "added", node, {words});
        batch[0].writeValue.value = 8;
        params = general(batch);
        r("set", drv.cuGraphNodeSetParams(node, &params));
        const Exec exec = new_exec(graph);
        run(exec);
        r("word", words.get());
        batch[0].writeValue.value = 9;
        params = general(batch);
        r("exec set", drv.cuGraphExecNodeSetParams(exec, node, &params));
        run(exec);
        r("word set", words.get());
        params = general(batch);
        params.reserved2 = 1;
        r("reserved", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        params = general(batch);
        params.memOp.ctx = nullptr;
        r("without ctx", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        params = general(batch);
        params.memOp.flags = 1;
        r("flags", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        r("nodes", node_count(graph));
    });
    cases.add("batch_node/bad_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints words(4);
        CUgraphNode node = nullptr;
        Batch batch{write32(words, 1)};
        r("null params", drv.cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, nullptr));
        r("none", add_batch(&node, graph, {}));
        CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch_params(batch);
        params.paramArray = nullptr;
        r("null array", drv.cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
        params = batch_params(batch);
        params.ctx = nullptr;
        r("null ctx", drv.cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
        CUstreamBatchMemOpParams loose = write32(words, 1);
        loose.writeValue.flags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
        r("without barrier", add_batch(&node, graph, {loose}));
        params = batch_params(batch);
        params.flags = 1;
        r("flags", drv.cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
        r("null output", add_batch(nullptr, graph, batch));
        r("255", add_batch(&node, graph, Batch(255, write32(words, 1))));
        r("256", add_batch(&node, graph, Batch(256, write32(words, 1))));
        r("257", add_batch(&node, graph, Batch(257, write32(words, 1))));
        r("unaligned", add_batch(&node, graph, {write32(words + 1, 1)}));
        r("null address", add_batch(&node, graph, {write32(0, 1)}));
        r("garbage", add_batch(&node, graph, {write32(kGarbage, 1)}));
        r("wait flags", add_batch(&node, graph, {wait32(words, 1, 4)}));
        r("flush", add_batch(&node, graph, {wait32(words, 1, CU_STREAM_WAIT_VALUE_FLUSH)}));
        r("barrier", add_batch(&node, graph, {barrier()}));
        r("barrier 2", add_batch(&node, graph, {barrier(2)}));
        CUstreamBatchMemOpParams odd = write32(words, 1);
        odd.operation = static_cast<CUstreamBatchMemOpType>(99);
        r("type 99", add_batch(&node, graph, {odd}));
        odd.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
        r("type flush", add_batch(&node, graph, {odd}));
        node = batch_node(graph, batch);
        r("set none", set_batch(node, {}));
        r("set unaligned", set_batch(node, {write32(words + 1, 1)}));
        r("set two", set_batch(node, {write32(words, 1), write32(words, 2)}));
    });
    cases.alone("batch_node/a_garbage_address_runs", [](Record& r) {
        const Graph graph = new_graph();
        batch_node(graph, {write32(kGarbage, 1)});
        const Exec exec = new_exec(graph);
        const Stream stream = new_stream();
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.add("batch_node/memory_of_an_allocation_node", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        CUgraphNode node = nullptr;
        r("add", add_batch(&node, graph, {write32(address, 1)}, {alloc}));
        free_node(graph, address, node != nullptr ? Nodes{node} : Nodes{alloc});
        ask_instantiate(r, "instantiate", graph);
    });
}

void add_exec_cases_of_batches(Cases& cases) {
    cases.add("batch_node/exec_set_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints words(8);
        const CUgraphNode node = batch_node(graph, {write32(words, 1), wait32(words, 1)});
        const Exec exec = new_exec(graph);
        run(exec);
        r("word", words.get());
        r("values", exec_set_batch(exec, node, {write32(words, 2), wait32(words, 2)}));
        run(exec);
        r("word of values", words.get());
        r("addresses", exec_set_batch(exec, node, {write32(words + 4, 3), wait32(words + 4, 3)}));
        run(exec);
        r("word of addresses", words.get(1));
        r("kind of wait",
          exec_set_batch(exec, node, {write32(words + 4, 3), wait32(words + 4, 3, CU_STREAM_WAIT_VALUE_GEQ)}));
        r("bad kind of wait", exec_set_batch(exec, node, {write32(words + 4, 3), wait32(words + 4, 3, 7)}));
        CUstreamBatchMemOpParams loose = write32(words + 4, 3);
        loose.writeValue.flags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
        r("flags of a write", exec_set_batch(exec, node, {loose, wait32(words + 4, 3)}));
        r("wider", exec_set_batch(exec, node, {write64(words + 8, 3), wait32(words + 4, 3)}));
        r("another type", exec_set_batch(exec, node, {wait32(words + 4, 3), wait32(words + 4, 3)}));
        r("fewer", exec_set_batch(exec, node, {write32(words + 4, 3)}));
        r("more", exec_set_batch(exec, node, {write32(words, 3), wait32(words, 3), wait32(words, 3)}));
        r("unaligned", exec_set_batch(exec, node, {write32(words + 1, 3), wait32(words, 3)}));
        r("null", drv.cuGraphExecBatchMemOpNodeSetParams(exec, node, nullptr));
        Batch batch{write32(words, 4), wait32(words, 4)};
        CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch_params(batch);
        params.ctx = nullptr;
        r("null ctx", drv.cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
        params = batch_params(batch);
        r("of an empty node", drv.cuGraphExecBatchMemOpNodeSetParams(exec, empty_node(graph), &params));
        record_batch(r, "the definition's", node, {words, words});
    });
    cases.add("batch_node/exec_set_barrier", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode node = batch_node(graph, {barrier(CU_STREAM_MEMORY_BARRIER_TYPE_SYS)});
        const Exec exec = new_exec(graph);
        r("the same", exec_set_batch(exec, node, {barrier(CU_STREAM_MEMORY_BARRIER_TYPE_SYS)}));
        r("another", exec_set_batch(exec, node, {barrier(CU_STREAM_MEMORY_BARRIER_TYPE_GPU)}));
    });
    cases.add("batch_node/whole_updates", [](Record& r) {
        Ints words(8);
        const auto update = [&](const std::string& label, const Batch& before, const Batch& after) {
            const Graph one = new_graph(), two = new_graph();
            batch_node(one, before);
            batch_node(two, after);
            const Exec exec = new_exec(one);
            CUgraphExecUpdateResultInfo info{};
            r(label, drv.cuGraphExecUpdate(exec, two, &info));
            r(label + " result", info.result);
        };
        update("value", {write32(words, 1)}, {write32(words, 2)});
        update("address", {write32(words, 1)}, {write32(words + 4, 1)});
        update("kind of wait", {wait32(words, 0)}, {wait32(words, 0, CU_STREAM_WAIT_VALUE_GEQ)});
        update("type", {write32(words, 1)}, {wait32(words, 1)});
        update("width", {write32(words, 1)}, {write64(words, 1)});
        update("count", {write32(words, 1)}, {write32(words, 1), write32(words, 1)});
        update("barrier", {barrier(0)}, {barrier(1)});
    });
    cases.add("batch_node/enabled", [](Record& r) {
        const Graph graph = new_graph();
        Ints words(2);
        const CUgraphNode node = batch_node(graph, {write32(words, 1)});
        const Exec exec = new_exec(graph);
        unsigned enabled = 9;
        r("get", drv.cuGraphNodeGetEnabled(exec, node, &enabled));
        r("set", drv.cuGraphNodeSetEnabled(exec, node, 0));
        run(exec);
        r("word", words.get());
    });
    cases.add("batch_node/places", [](Record& r) {
        Ints words(2);
        const Graph body_graph = new_graph();
        const CUgraphConditionalHandle handle = new_handle(body_graph, 1);
        const Conditional conditional = conditional_node(body_graph, handle, CU_GRAPH_COND_TYPE_IF, 1);
        CUgraphNode node = nullptr;
        r("add to a body", add_batch(&node, conditional.bodies[0], {write32(words, 1)}));
        ask_instantiate(r, "instantiate with it in a body", body_graph);
        const Graph flat = new_graph();
        plain_kernel_node(flat);
        batch_node(flat, {write32(words, 1)});
        ask_instantiate(r, "for device launch", flat, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
        const Graph outer = new_graph(), inner = new_graph();
        batch_node(inner, {write32(words, 5)});
        child_node(outer, inner);
        run_graph(outer);
        r("in a child graph", words.get());
        const Graph clone = new_clone(flat);
        r("nodes of a clone", node_count(clone));
        run_graph(clone);
        r("word of the clone", words.get());
    });
}

void add_running_cases(Cases& cases) {
    cases.add("batch_node/waits_for_the_host", [](Record& r) {
        const Graph graph = new_graph();
        Pinned flag;
        Ints words(2);
        const CUgraphNode first = batch_node(graph, {write32(words, 1), wait32(flag.address(), 1)});
        set_int_node(graph, words + 4, 2, {first});
        const Exec exec = new_exec(graph);
        const Stream stream = new_stream();
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("waits", drv.cuStreamQuery(stream));
        flag[0] = 1;
        r("sync", drv.cuStreamSynchronize(stream));
        r("first", words.get(0));
        r("second", words.get(1));
    });
    // Two branches of one graph release each other.
    cases.add("batch_node/branches_release_each_other", [](Record& r) {
        Ints words(2);
        const Graph graph = new_graph();
        batch_node(graph, {wait32(words, 1), write32(words + 4, 1)});
        const CUgraphNode sets = set_int_node(graph, words, 1);
        batch_node(graph, {wait32(words + 4, 1)}, {sets});
        const Exec exec = new_exec(graph);
        const Stream stream = new_stream();
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("sync", drv.cuStreamSynchronize(stream));
    });
}

}  // namespace

void add_memory_operation_node_cases(Cases& cases) {
    add_parameter_cases(cases);
    add_exec_cases_of_batches(cases);
    add_running_cases(cases);
}

}  // namespace conf
