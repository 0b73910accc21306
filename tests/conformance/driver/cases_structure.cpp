// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs, nodes, edges and clones: the results of the structure functions.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "cases.hpp"

namespace conf {

namespace {

CUresult link(CUgraph graph, CUgraphNode from, CUgraphNode to) {
    return drv.cuGraphAddDependencies(graph, &from, &to, nullptr, 1);
}

CUresult unlink(CUgraph graph, CUgraphNode from, CUgraphNode to) {
    return drv.cuGraphRemoveDependencies(graph, &from, &to, nullptr, 1);
}

// Returns the indices of `found` in `known`: "0 2 1", with "?" for an unknown node.
std::string places(const Nodes& found, const Nodes& known) {
    std::string out;
    for (const CUgraphNode node : found) {
        const auto at = std::find(known.begin(), known.end(), node);
        out += (out.empty() ? "" : " ") + (at == known.end() ? std::string("?") : std::to_string(at - known.begin()));
    }
    return out;
}

Nodes nodes_of(CUgraph graph) {
    Nodes nodes(node_count(graph));
    size_t count = nodes.size();
    if (count > 0) must(drv.cuGraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    return nodes;
}

void add_graph_cases(Cases& cases) {
    cases.add("graph/create_null_output", [](Record& r) { r("create", drv.cuGraphCreate(nullptr, 0)); });
    cases.add("graph/create_unknown_flags", [](Record& r) {
        CUgraph graph = nullptr;
        r("create", drv.cuGraphCreate(&graph, 1));
    });
    cases.add("graph/destroy_null", [](Record& r) { r("destroy", drv.cuGraphDestroy(nullptr)); });
    cases.add("graph/destroy_child_graph_of_a_node", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        const CUgraphNode node = child_node(graph, child);
        CUgraph inner = nullptr;
        must(drv.cuGraphChildGraphNodeGetGraph(node, &inner), "cuGraphChildGraphNodeGetGraph");
        r("destroy", drv.cuGraphDestroy(inner));
    });
    cases.add("graph/null_graph_arguments", [](Record& r) {
        CUgraphNode node = nullptr;
        CUgraph clone = nullptr;
        CUgraphExec exec = nullptr;
        size_t count = 0;
        r("add empty", drv.cuGraphAddEmptyNode(&node, nullptr, nullptr, 0));
        r("nodes", drv.cuGraphGetNodes(nullptr, nullptr, &count));
        r("roots", drv.cuGraphGetRootNodes(nullptr, nullptr, &count));
        r("edges", drv.cuGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count));
        r("clone", drv.cuGraphClone(&clone, nullptr));
        r("instantiate", drv.cuGraphInstantiateWithFlags(&exec, nullptr, 0));
        r("dot", drv.cuGraphDebugDotPrint(nullptr, "/tmp/never_written.dot", 0));
    });
    cases.add("graph/null_node_arguments", [](Record& r) {
        CUgraphNodeType type{};
        size_t count = 0;
        r("type", drv.cuGraphNodeGetType(nullptr, &type));
        r("pred", drv.cuGraphNodeGetDependencies(nullptr, nullptr, nullptr, &count));
        r("succ", drv.cuGraphNodeGetDependentNodes(nullptr, nullptr, nullptr, &count));
        r("destroy", drv.cuGraphDestroyNode(nullptr));
    });
    cases.add("graph/dot_print", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph, {empty_node(graph)});
        const std::string path = "/tmp/conformance_" + std::to_string(getpid()) + ".dot";
        r("print", drv.cuGraphDebugDotPrint(graph, path.c_str(), 0));
        std::string word;
        std::ifstream(path) >> word;
        r("first word", word);
        r("print verbose", drv.cuGraphDebugDotPrint(graph, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
        r("unknown flag", drv.cuGraphDebugDotPrint(graph, path.c_str(), 1u << 30));
        r("empty path", drv.cuGraphDebugDotPrint(graph, "", 0));
        r("null path", drv.cuGraphDebugDotPrint(graph, nullptr, 0));
        r("unwritable path", drv.cuGraphDebugDotPrint(graph, "/nonexistent_folder/graph.dot", 0));
        std::remove(path.c_str());
    });
    cases.add("graph/dot_print_of_an_empty_graph", [](Record& r) {
        const Graph graph = new_graph();
        const std::string path = "/tmp/conformance_" + std::to_string(getpid()) + ".dot";
        r("print", drv.cuGraphDebugDotPrint(graph, path.c_str(), 0));
        std::remove(path.c_str());
    });
}

void add_query_cases(Cases& cases) {
    cases.add("nodes/two_call_protocol", [](Record& r) {
        const Graph graph = new_graph();
        const Nodes made = {empty_node(graph), empty_node(graph), empty_node(graph)};
        size_t count = 99;
        r("count only", drv.cuGraphGetNodes(graph, nullptr, &count));
        r("count", count);
        CUgraphNode few[2] = {};
        count = 2;
        r("too small", drv.cuGraphGetNodes(graph, few, &count));
        r("count after too small", count);
        r("order", places({few[0], few[1]}, made));
        Nodes many(5, reinterpret_cast<CUgraphNode>(1));
        count = 5;
        r("too large", drv.cuGraphGetNodes(graph, many.data(), &count));
        r("count after too large", count);
        r("order of all", places({many[0], many[1], many[2]}, made));
        r("rest is null", many[3] == nullptr && many[4] == nullptr);
        count = 0;
        r("zero with array", drv.cuGraphGetNodes(graph, few, &count));
        r("count after zero", count);
        r("null count", drv.cuGraphGetNodes(graph, few, nullptr));
    });
    cases.add("nodes/arrays_without_room", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a});
        CUgraphNode one = nullptr, two = nullptr;
        size_t count = 0;
        r("roots", drv.cuGraphGetRootNodes(graph, &one, &count));
        r("roots count", count);
        count = 0;
        r("edges", drv.cuGraphGetEdges(graph, &one, &two, nullptr, &count));
        r("edges count", count);
        count = 0;
        r("pred", drv.cuGraphNodeGetDependencies(b, &one, nullptr, &count));
        r("pred count", count);
        count = 0;
        r("succ", drv.cuGraphNodeGetDependentNodes(a, &one, nullptr, &count));
        r("succ count", count);
        const Graph nothing = new_graph();
        count = 0;
        r("nodes of an empty graph", drv.cuGraphGetNodes(nothing, &one, &count));
        count = 5;
        CUgraphNode five[5] = {a, a, a, a, a};
        r("pred of a root", drv.cuGraphNodeGetDependencies(a, five, nullptr, &count));
        r("its count", count);
        r("array is cleared", five[4] == nullptr);
    });
    cases.add("nodes/empty_graph", [](Record& r) {
        const Graph graph = new_graph();
        size_t count = 99;
        r("nodes", drv.cuGraphGetNodes(graph, nullptr, &count));
        r("count", count);
        count = 99;
        r("edges", drv.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
        r("edge count", count);
        count = 99;
        r("roots", drv.cuGraphGetRootNodes(graph, nullptr, &count));
        r("root count", count);
    });
    cases.add("nodes/roots", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph, {a, b});
        CUgraphNode roots[4] = {};
        size_t count = 4;
        r("roots", drv.cuGraphGetRootNodes(graph, roots, &count));
        r("count", count);
        r("order", places({roots[0], roots[1]}, {a, b, c}));
        r("rest is null", roots[2] == nullptr && roots[3] == nullptr);
        const CUgraphNode d = empty_node(graph), e = empty_node(graph), known[] = {a, b, c, d, e};
        const auto order = [&](const std::string& label) {
            Nodes found(8);
            size_t size = 8;
            must(drv.cuGraphGetRootNodes(graph, found.data(), &size), "roots");
            found.resize(size);
            r(label, places(found, {known, known + 5}));
        };
        order("four roots");
        must(link(graph, a, d), "link");
        order("d is no root");
        must(unlink(graph, a, d), "unlink");
        order("d is a root again");
        must(unlink(graph, a, c), "unlink");
        must(unlink(graph, b, c), "unlink");
        order("c becomes a root");
        must(drv.cuGraphDestroyNode(b), "destroy");
        order("b is gone");
    });
    cases.add("nodes/root_count_after_an_edge", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph);
        CUgraphNode roots[4] = {};
        size_t count = 4;
        must(link(graph, a, b), "link");
        r("roots after a->b", drv.cuGraphGetRootNodes(graph, roots, &count));
        r("count after a->b", count);
    });
    cases.add("nodes/order_follows_creation_not_edges", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph);
        must(link(graph, c, b), "link");
        must(link(graph, b, a), "link");
        r("order", places(nodes_of(graph), {a, b, c}));
        const CUgraphNode d = empty_node(graph);
        must(drv.cuGraphDestroyNode(b), "destroy");
        const CUgraphNode e = empty_node(graph);
        r("after destroying b and adding e", places(nodes_of(graph), {a, c, d, e}));
    });
    cases.add("edges/order_and_protocol", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph), d = empty_node(graph);
        const Nodes known = {a, b, c, d};
        must(link(graph, c, d), "link");
        must(link(graph, a, d), "link");
        must(link(graph, a, b), "link");
        must(link(graph, b, d), "link");
        Nodes from(6, reinterpret_cast<CUgraphNode>(1)), to(6, reinterpret_cast<CUgraphNode>(1));
        size_t count = 6;
        r("edges", drv.cuGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
        r("count", count);
        r("from", places({from.begin(), from.begin() + 4}, known));
        r("to", places({to.begin(), to.begin() + 4}, known));
        r("rest is null", from[4] == nullptr && to[5] == nullptr);
        count = 2;
        r("too small", drv.cuGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
        r("count after too small", count);
        count = 6;
        r("only from", drv.cuGraphGetEdges(graph, from.data(), nullptr, nullptr, &count));
        count = 6;
        r("only to", drv.cuGraphGetEdges(graph, nullptr, to.data(), nullptr, &count));
        CUgraphEdgeData data[6] = {};
        count = 6;
        r("only data", drv.cuGraphGetEdges(graph, nullptr, nullptr, data, &count));
        r("null count", drv.cuGraphGetEdges(graph, from.data(), to.data(), nullptr, nullptr));
        Nodes pred(4);
        count = 4;
        r("pred of d", drv.cuGraphNodeGetDependencies(d, pred.data(), nullptr, &count));
        r("pred count", count);
        r("pred order", places({pred.begin(), pred.begin() + 3}, known));
        count = 4;
        r("succ of a", drv.cuGraphNodeGetDependentNodes(a, pred.data(), nullptr, &count));
        r("succ count", count);
        r("succ order", places({pred.begin(), pred.begin() + 2}, known));
        r("succ rest is null", pred[2] == nullptr && pred[3] == nullptr);
    });
    cases.add("edges/pred_order_follows_the_dependency_list", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph);
        const CUgraphNode d = empty_node(graph, {c, a, b});
        Nodes pred(3);
        size_t count = 3;
        r("pred", drv.cuGraphNodeGetDependencies(d, pred.data(), nullptr, &count));
        r("order", places(pred, {a, b, c}));
        Nodes from(3), to(3);
        count = 3;
        r("edges", drv.cuGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
        r("from", places(from, {a, b, c}));
    });
    cases.add("edges/programmatic_data_and_lossy_query", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = plain_kernel_node(graph), b = plain_kernel_node(graph);
        CUgraphEdgeData data{};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        r("add", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        CUgraphNode from = nullptr, to = nullptr;
        size_t count = 1;
        r("edges without data", drv.cuGraphGetEdges(graph, &from, &to, nullptr, &count));
        count = 1;
        CUgraphEdgeData back{};
        r("edges with data", drv.cuGraphGetEdges(graph, &from, &to, &back, &count));
        r("from_port", int{back.from_port});
        r("to_port", int{back.to_port});
        r("type", int{back.type});
        count = 1;
        r("pred without data", drv.cuGraphNodeGetDependencies(b, &from, nullptr, &count));
        count = 1;
        r("succ without data", drv.cuGraphNodeGetDependentNodes(a, &from, nullptr, &count));
        count = 0;
        r("count only", drv.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
        r("count", count);
        r("remove without data", drv.cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
        r("edges left", edge_count(graph));
        r("remove with data", drv.cuGraphRemoveDependencies(graph, &a, &b, &data, 1));
        r("edges left at last", edge_count(graph));
    });
    cases.add("edges/bad_edge_data", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = plain_kernel_node(graph), b = plain_kernel_node(graph), e = empty_node(graph);
        CUgraphEdgeData data{};
        data.type = 99;
        r("unknown type", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        data = {};
        data.from_port = 99;
        r("unknown from_port", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        data = {};
        data.to_port = 1;
        r("to_port 1", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        data = {};
        data.reserved[0] = 1;
        r("reserved", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        data = {};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        r("programmatic from an empty node", drv.cuGraphAddDependencies(graph, &e, &b, &data, 1));
        r("programmatic to an empty node", drv.cuGraphAddDependencies(graph, &a, &e, &data, 1));
        data.from_port = 0;
        r("programmatic type, default port", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        r("edges", edge_count(graph));
    });
}

void add_edge_cases(Cases& cases) {
    cases.add("edges/duplicate", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a});
        r("again", link(graph, a, b));
        r("edges", edge_count(graph));
    });
    cases.add("edges/duplicate_in_one_call", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph);
        const CUgraphNode from[] = {a, a}, to[] = {b, b};
        r("add", drv.cuGraphAddDependencies(graph, from, to, nullptr, 2));
        r("edges", edge_count(graph));
    });
    cases.add("edges/second_of_two_is_bad", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph, {b});
        const CUgraphNode from[] = {a, b}, to[] = {b, c};
        r("add", drv.cuGraphAddDependencies(graph, from, to, nullptr, 2));
        r("edges", edge_count(graph));
    });
    cases.add("edges/self", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph);
        r("add", link(graph, a, a));
    });
    cases.add("edges/nodes_of_another_graph", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        const CUgraphNode a = empty_node(one), b = empty_node(one), x = empty_node(two), y = empty_node(two);
        r("from here to there", link(one, a, x));
        r("from there to here", link(one, x, a));
        r("both there", link(one, x, y));
        r("remove, both there", unlink(one, x, y));
        r("own graph still works", link(one, a, b));
    });
    cases.add("edges/absent_removed", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a});
        r("wrong way", unlink(graph, b, a));
        r("present", unlink(graph, a, b));
        r("again", unlink(graph, a, b));
        r("edges", edge_count(graph));
    });
    cases.add("edges/null_and_zero", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), none = nullptr;
        r("zero of nothing", drv.cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 0));
        r("remove zero of nothing", drv.cuGraphRemoveDependencies(graph, nullptr, nullptr, nullptr, 0));
        r("null arrays", drv.cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 1));
        r("null node from", drv.cuGraphAddDependencies(graph, &none, &a, nullptr, 1));
        r("null node to", drv.cuGraphAddDependencies(graph, &a, &none, nullptr, 1));
        r("null graph", drv.cuGraphAddDependencies(nullptr, &a, &a, nullptr, 1));
    });
    cases.add("edges/cycle_of_two", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a});
        r("b->a", link(graph, b, a));
        r("edges", edge_count(graph));
        ask_instantiate(r, "instantiate", graph);
        CUgraphExec exec = nullptr;
        r("with flags", drv.cuGraphInstantiateWithFlags(&exec, graph, 0));
    });
    cases.add("edges/cycle_of_three", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = plain_kernel_node(graph), b = plain_kernel_node(graph, {a}),
                          c = plain_kernel_node(graph, {b});
        r("c->a", link(graph, c, a));
        ask_instantiate(r, "instantiate", graph);
        CUgraph clone = nullptr;
        r("clone", drv.cuGraphClone(&clone, graph));
        r("break it", unlink(graph, c, a));
        ask_instantiate(r, "instantiate after", graph);
    });
    cases.add("nodes/dependencies_at_creation", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        const CUgraphNode a = empty_node(one), x = empty_node(two), none = nullptr;
        CUgraphNode node = nullptr;
        const CUgraphNode twice[] = {a, a};
        r("duplicate", drv.cuGraphAddEmptyNode(&node, one, twice, 2));
        r("foreign", drv.cuGraphAddEmptyNode(&node, one, &x, 1));
        r("null in list", drv.cuGraphAddEmptyNode(&node, one, &none, 1));
        r("null list with count", drv.cuGraphAddEmptyNode(&node, one, nullptr, 1));
        r("list with count 0", drv.cuGraphAddEmptyNode(&node, one, &a, 0));
        r("null output", drv.cuGraphAddEmptyNode(nullptr, one, nullptr, 0));
        r("nodes", node_count(one));
    });
}

void add_destroy_and_clone_cases(Cases& cases) {
    cases.add("nodes/destroy_removes_its_edges", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a});
        empty_node(graph, {a, b});
        r("edges before", edge_count(graph));
        r("destroy", drv.cuGraphDestroyNode(b));
        r("nodes", node_count(graph));
        r("edges", edge_count(graph));
    });
    cases.add("nodes/type_null_output", [](Record& r) {
        const Graph graph = new_graph();
        r("type", drv.cuGraphNodeGetType(empty_node(graph), nullptr));
    });
    cases.add("clone/basic", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = plain_kernel_node(graph), b = empty_node(graph, {a});
        const Graph clone = new_clone(graph);
        r("nodes", node_count(clone));
        r("edges", edge_count(clone));
        CUgraphNode found = nullptr;
        r("find", drv.cuGraphNodeFindInClone(&found, a, clone));
        r("first in order", found == nodes_of(clone)[0]);
        r("differs from original", found != a);
        CUgraphNodeType type{};
        must(drv.cuGraphNodeGetType(found, &type), "type");
        r("type", type);
        CUgraphNode again = nullptr;
        r("find a clone's node in its clone", drv.cuGraphNodeFindInClone(&again, found, clone));
        r("find in the original", drv.cuGraphNodeFindInClone(&again, a, graph));
        r("null output", drv.cuGraphNodeFindInClone(nullptr, a, clone));
        r("null node", drv.cuGraphNodeFindInClone(&again, nullptr, clone));
        r("null graph", drv.cuGraphNodeFindInClone(&again, a, nullptr));
        const CUgraphNode late = empty_node(graph);
        r("find a node added later", drv.cuGraphNodeFindInClone(&again, late, clone));
        r("clone unchanged", node_count(clone));
        CUgraphNode gone = nullptr;
        must(drv.cuGraphNodeFindInClone(&gone, b, clone), "find");
        must(drv.cuGraphDestroyNode(gone), "destroy");
        r("find a node removed from the clone", drv.cuGraphNodeFindInClone(&again, b, clone));
    });
    cases.add("clone/of_another_graph", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        const CUgraphNode a = empty_node(one);
        empty_node(two);
        const Graph clone = new_clone(two);
        CUgraphNode found = nullptr;
        r("find", drv.cuGraphNodeFindInClone(&found, a, clone));
        r("find in a plain graph", drv.cuGraphNodeFindInClone(&found, a, two));
    });
    cases.add("clone/of_a_clone", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph);
        const Graph clone = new_clone(graph), second = new_clone(clone);
        CUgraphNode middle = nullptr, found = nullptr;
        must(drv.cuGraphNodeFindInClone(&middle, a, clone), "find");
        r("clone's node in clone of clone", drv.cuGraphNodeFindInClone(&found, middle, second));
        r("original node in clone of clone", drv.cuGraphNodeFindInClone(&found, a, second));
    });
    cases.add("clone/null_output", [](Record& r) {
        const Graph graph = new_graph();
        r("clone", drv.cuGraphClone(nullptr, graph));
    });
    cases.add("clone/child_graphs_are_cloned", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        empty_node(child);
        const CUgraphNode node = child_node(graph, child);
        const Graph clone = new_clone(graph);
        CUgraphNode found = nullptr;
        r("find", drv.cuGraphNodeFindInClone(&found, node, clone));
        CUgraph one = nullptr, two = nullptr;
        must(drv.cuGraphChildGraphNodeGetGraph(node, &one), "get");
        must(drv.cuGraphChildGraphNodeGetGraph(found, &two), "get");
        r("another graph", one != two);
        r("nodes", node_count(two));
    });
    cases.add("child/embeds_a_copy", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        const CUgraphNode x = empty_node(child);
        const CUgraphNode node = child_node(graph, child);
        CUgraph inner = nullptr;
        r("get", drv.cuGraphChildGraphNodeGetGraph(node, &inner));
        r("is a copy", inner != child);
        empty_node(child);
        r("later edits do not show", node_count(inner));
        CUgraphNode found = nullptr;
        r("find in embedded", drv.cuGraphNodeFindInClone(&found, x, inner));
        empty_node(inner);
        r("inner can be edited", node_count(inner));
        r("get null output", drv.cuGraphChildGraphNodeGetGraph(node, nullptr));
        r("get of an empty node", drv.cuGraphChildGraphNodeGetGraph(empty_node(graph), &inner));
    });
    cases.add("child/null_arguments", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        CUgraphNode node = nullptr;
        r("null", drv.cuGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr));
        r("null output", drv.cuGraphAddChildGraphNode(nullptr, graph, nullptr, 0, child));
        r("nodes", node_count(graph));
    });
    cases.add("child/empty_child_runs", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        child_node(graph, child);
        ask_instantiate(r, "instantiate", graph);
        run_graph(graph);
        r("ran", true);
    });
}

}  // namespace

void add_structure_cases(Cases& cases) {
    add_graph_cases(cases);
    add_query_cases(cases);
    add_edge_cases(cases);
    add_destroy_and_clone_cases(cases);
}

}  // namespace conf
