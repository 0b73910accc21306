// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of graph definitions: nodes, edges, queries, clones.
#include <algorithm>
#include <cstdio>
#include <string>

#include "graph_rig.hpp"

using namespace rig;

namespace {

Nodes dependencies(CUgraphNode node) {
    std::size_t count = 0;
    OK(cuGraphNodeGetDependencies(node, nullptr, nullptr, &count));
    Nodes found(count);
    if (count != 0) OK(cuGraphNodeGetDependencies(node, found.data(), nullptr, &count));
    return found;
}

Nodes dependents(CUgraphNode node) {
    std::size_t count = 0;
    OK(cuGraphNodeGetDependentNodes(node, nullptr, nullptr, &count));
    Nodes found(count);
    if (count != 0) OK(cuGraphNodeGetDependentNodes(node, found.data(), nullptr, &count));
    return found;
}

const auto kBad = CUDA_ERROR_INVALID_VALUE;
const auto kGarbage = reinterpret_cast<CUgraphNode>(0x1234);

}  // namespace

LAW(GraphStructure, NodesComeInTheOrderOfCreation) {
    const Graph graph;
    const CUgraphNode a = empty_node(graph), b = empty_node(graph), c = empty_node(graph, {a});
    CHECK(nodes_of(graph) == Nodes({a, b, c}));
    OK(cuGraphDestroyNode(b));
    const CUgraphNode d = empty_node(graph);
    CHECK(nodes_of(graph) == Nodes({a, c, d}));
}

LAW(GraphStructure, QueriesFillWhatFitsAndClearTheRest) {
    const Graph graph;
    const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a}), c = empty_node(graph, {a, b});
    CUgraphNode few[1] = {}, many[5] = {kGarbage, kGarbage, kGarbage, kGarbage, kGarbage};
    std::size_t count = 1;
    OK(cuGraphGetNodes(graph, few, &count));
    EQUAL(count, 1u);
    EQUAL(few[0], a);
    count = 5;
    OK(cuGraphNodeGetDependencies(c, many, nullptr, &count));
    EQUAL(count, 2u);
    CHECK(many[0] == a && many[1] == b && many[2] == nullptr && many[4] == nullptr);
    count = 0;
    ANSWERS(kBad, cuGraphGetNodes(graph, few, &count));
    ANSWERS(kBad, cuGraphGetNodes(graph, few, nullptr));
    count = 4;
    OK(cuGraphGetRootNodes(graph, many, &count));
    EQUAL(count, 1u);
    CHECK(many[0] == a && many[1] == nullptr);
}

LAW(GraphStructure, EdgesAreSeenFromBothEnds) {
    const Graph graph;
    const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a}), c = empty_node(graph, {b, a});
    CHECK(dependencies(c) == Nodes({b, a}));
    CHECK(dependents(a) == Nodes({b, c}));
    EQUAL(edge_count(graph), 3u);
    OK(cuGraphRemoveDependencies(graph, &a, &c, nullptr, 1));
    CHECK(dependencies(c) == Nodes({b}));
    CHECK(dependents(a) == Nodes({b}));
    OK(cuGraphDestroyNode(b));
    EQUAL(edge_count(graph), 0u);
    CHECK(dependencies(c).empty() && dependents(a).empty());
}

LAW(GraphStructure, RefusesEdgesThatMakeNoSense) {
    const Graph graph, other;
    const CUgraphNode a = empty_node(graph), b = empty_node(graph), x = empty_node(other), y = empty_node(other);
    OK(cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
    ANSWERS(kBad, cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
    ANSWERS(kBad, cuGraphAddDependencies(graph, &a, &a, nullptr, 1));
    ANSWERS(kBad, cuGraphAddDependencies(graph, &a, &x, nullptr, 1));
    ANSWERS(kBad, cuGraphAddDependencies(graph, &x, &y, nullptr, 1));
    ANSWERS(kBad, cuGraphAddDependencies(graph, &kGarbage, &b, nullptr, 1));
    ANSWERS(kBad, cuGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    OK(cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 0));
    CUgraphNode node = nullptr;
    const CUgraphNode twice[] = {a, a};
    ANSWERS(kBad, cuGraphAddEmptyNode(&node, graph, twice, 2));
    ANSWERS(kBad, cuGraphAddEmptyNode(&node, graph, &x, 1));
    ANSWERS(kBad, cuGraphAddEmptyNode(&node, graph, nullptr, 1));
    ANSWERS(kBad, cuGraphAddEmptyNode(nullptr, graph, nullptr, 0));
    EQUAL(nodes_of(graph).size(), 2u);
}

LAW(GraphStructure, EdgeDataStaysAndIsNotLostSilently) {
    const Graph graph;
    const CUgraphNode a = kernel_node(graph, {}, "nothing"), b = kernel_node(graph, {}, "nothing"),
                      e = empty_node(graph);
    CUgraphEdgeData data{};
    data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    OK(cuGraphAddDependencies(graph, &a, &b, &data, 1));
    ANSWERS(kBad, cuGraphAddDependencies(graph, &e, &a, &data, 1));
    CUgraphNode from = nullptr, to = nullptr;
    CUgraphEdgeData back{};
    std::size_t count = 1;
    ANSWERS(CUDA_ERROR_LOSSY_QUERY, cuGraphGetEdges(graph, &from, &to, nullptr, &count));
    ANSWERS(CUDA_ERROR_LOSSY_QUERY, cuGraphNodeGetDependencies(b, &from, nullptr, &count));
    ANSWERS(CUDA_ERROR_LOSSY_QUERY, cuGraphNodeGetDependentNodes(a, &to, nullptr, &count));
    OK(cuGraphGetEdges(graph, &from, &to, &back, &count));
    CHECK(from == a && to == b && back.type == data.type && back.from_port == data.from_port);
    const CUgraphEdgeData plain{};
    OK(cuGraphRemoveDependencies(graph, &a, &b, &plain, 1));  // the data of the edge need not match
    ANSWERS(kBad, cuGraphRemoveDependencies(graph, &a, &b, &data, 1));
    data.to_port = 1;
    ANSWERS(kBad, cuGraphAddDependencies(graph, &a, &b, &data, 1));
}

LAW(GraphStructure, DeadHandlesAreErrors) {
    Graph graph;
    const CUgraphNode node = empty_node(graph);
    OK(cuGraphDestroyNode(node));
    CUgraphNodeType type;
    ANSWERS(kBad, cuGraphNodeGetType(node, &type));
    ANSWERS(kBad, cuGraphDestroyNode(node));
    const CUgraphNode other = empty_node(graph);
    const CUgraph handle = graph;
    graph.destroy();
    ANSWERS(kBad, cuGraphNodeGetType(other, &type));
    ANSWERS(kBad, cuGraphDestroy(handle));
    ANSWERS(kBad, cuGraphDestroy(nullptr));
    ANSWERS(kBad, cuGraphDestroy(reinterpret_cast<CUgraph>(0x77)));
    CUgraph clone = nullptr;
    ANSWERS(kBad, cuGraphClone(&clone, handle));
}

LAW(GraphStructure, AHandleOfAnotherTypeIsAnError) {
    const Graph graph;
    const CUgraphNode node = empty_node(graph);
    std::size_t count = 0;
    ANSWERS(kBad, cuGraphGetNodes(reinterpret_cast<CUgraph>(node), nullptr, &count));
    CUgraphNodeType type;
    ANSWERS(kBad, cuGraphNodeGetType(reinterpret_cast<CUgraphNode>(static_cast<CUgraph>(graph)), &type));
    ANSWERS(kBad, cuGraphExecDestroy(reinterpret_cast<CUgraphExec>(static_cast<CUgraph>(graph))));
}

LAW(GraphClone, IsDeepAndRemembersItsOriginals) {
    Graph inner;
    const CUgraphNode deep = empty_node(inner);
    Graph graph;
    const CUgraphNode a = empty_node(graph), b = child_node(graph, {a}, inner);
    CUgraph handle = nullptr;
    OK(cuGraphClone(&handle, graph));
    const Graph clone(handle);
    EQUAL(nodes_of(clone).size(), 2u);
    CUgraphNode a2 = nullptr, b2 = nullptr;
    OK(cuGraphNodeFindInClone(&a2, a, clone));
    OK(cuGraphNodeFindInClone(&b2, b, clone));
    CHECK(dependencies(b2) == Nodes({a2}));
    CUgraph embedded = nullptr, embedded2 = nullptr;
    OK(cuGraphChildGraphNodeGetGraph(b, &embedded));
    OK(cuGraphChildGraphNodeGetGraph(b2, &embedded2));
    CHECK(embedded != embedded2 && embedded != inner);
    CUgraphNode found = nullptr;
    OK(cuGraphNodeFindInClone(&found, deep, embedded));
    OK(cuGraphNodeFindInClone(&found, found, embedded2));

    empty_node(graph, {b});
    EQUAL(nodes_of(clone).size(), 2u);
    ANSWERS(kBad, cuGraphNodeFindInClone(&found, a2, clone));
    ANSWERS(kBad, cuGraphNodeFindInClone(&found, a, graph));
    OK(cuGraphDestroyNode(a2));
    ANSWERS(kBad, cuGraphNodeFindInClone(&found, a, clone));
    graph.destroy();
    inner.destroy();
    EQUAL(nodes_of(clone).size(), 1u);
    ANSWERS(kBad, cuGraphDestroy(embedded2));
}

LAW(GraphStructure, WideGraphsAreBuiltInLinearTime) {
    // A star of 20,000 arms. A search of all edges of the hub for each arm would take minutes.
    const Graph graph;
    const CUgraphNode hub = empty_node(graph);
    Nodes arms;
    for (int i = 0; i < 20000; ++i) arms.push_back(empty_node(graph, {hub}));
    const CUgraphNode join = empty_node(graph, arms);
    EQUAL(edge_count(graph), 40000u);
    EQUAL(dependents(hub).size(), 20000u);
    OK(cuGraphDestroyNode(hub));
    OK(cuGraphDestroyNode(join));
    EQUAL(edge_count(graph), 0u);
}

LAW(GraphDot, ShowsWhatTheFlagsAskFor) {
    Value value;
    const Graph graph;
    const CUgraphNode a = step(graph, {}, value, 7);
    const Conditional loop = conditional(graph, {a}, condition(graph, 1), CU_GRAPH_COND_TYPE_WHILE);
    step(loop.bodies[0], {}, value, 8);
    memset_node(graph, {loop.node}, value, 3, 4, 1);
    const std::string path = "/tmp/cgh_graph_test_" + std::to_string(reinterpret_cast<std::uintptr_t>(&value)) + ".dot";
    const auto text_with = [&](unsigned flags) {
        OK(cuGraphDebugDotPrint(graph, path.c_str(), flags));
        std::string text;
        std::FILE* file = std::fopen(path.c_str(), "r");
        CHECK(file != nullptr);
        for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
        std::fclose(file);
        std::remove(path.c_str());
        return text;
    };
    const std::string plain = text_with(0), verbose = text_with(CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
    for (const char* word : {"digraph", "KERNEL", "affine", "CONDITIONAL", "MEMSET", "->"})
        CHECK(plain.find(word) != std::string::npos);
    EQUAL(std::count(plain.begin(), plain.end(), '{'), std::count(plain.begin(), plain.end(), '}'));
    CHECK(plain.find("elementSize") == std::string::npos);
    for (const char* word : {"elementSize", "sharedMemBytes", "WHILE", "func: 0x"})
        CHECK(verbose.find(word) != std::string::npos);
    CHECK(text_with(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS).find("elementSize") != std::string::npos);
    for (unsigned bit = 0; bit < 16; ++bit) CHECK(text_with(1u << bit).size() >= plain.size());
    ANSWERS(CUDA_ERROR_OPERATING_SYSTEM, cuGraphDebugDotPrint(graph, "/nonexistent/x.dot", 0));
    ANSWERS(kBad, cuGraphDebugDotPrint(graph, nullptr, 0));
}
