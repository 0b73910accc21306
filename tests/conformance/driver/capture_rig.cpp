// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures for the cases of stream capture.
#include "capture_rig.hpp"

#include <algorithm>

namespace conf {

Event untimed() {
    return new_event(CU_EVENT_DISABLE_TIMING);
}

CUresult join(CUstream to, CUstream from) {
    const Event event = untimed();
    const CUresult recorded = drv.cuEventRecord(event, from);
    return recorded != CUDA_SUCCESS ? recorded : drv.cuStreamWaitEvent(to, event, 0);
}

CUresult begin(CUstream stream, CUstreamCaptureMode mode) {
    return drv.cuStreamBeginCapture(stream, mode);
}

CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus answer{};
    must(drv.cuStreamIsCapturing(stream, &answer), "cuStreamIsCapturing");
    return answer;
}

CUresult launch_empty(CUstream stream) {
    return drv.cuLaunchKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
}

CUgraph graph_of(CUstream capturing) {
    CUstreamCaptureStatus answer{};
    CUgraph graph = nullptr;
    must(drv.cuStreamGetCaptureInfo(capturing, &answer, nullptr, &graph, nullptr, nullptr, nullptr), "info");
    return graph;
}

void end(Record& r, const std::string& label, CUstream stream) {
    CUgraph graph = nullptr;
    r(label, drv.cuStreamEndCapture(stream, &graph));
    r(label + " gives a graph", graph != nullptr);
    if (graph == nullptr) return;
    r(label + " nodes", node_count(graph));
    r(label + " edges", edge_count(graph));
    drv.cuGraphDestroy(graph);
}

namespace {

const char* kind_name(CUgraphNode node) {
    CUgraphNodeType type{};
    must(drv.cuGraphNodeGetType(node, &type), "type");
    switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return "kernel";
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return "memcpy";
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return "memset";
        case CU_GRAPH_NODE_TYPE_HOST:
            return "host";
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return "graph";
        case CU_GRAPH_NODE_TYPE_EMPTY:
            return "empty";
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return "wait";
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return "record";
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return "alloc";
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return "free";
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return "conditional";
        default:
            return "other";
    }
}

Nodes nodes_of(CUgraph graph) {
    size_t count = node_count(graph);
    Nodes nodes(count);
    if (count != 0) must(drv.cuGraphGetNodes(graph, nodes.data(), &count), "nodes");
    return nodes;
}

std::string place(const Nodes& nodes, CUgraphNode node) {
    const auto found = std::find(nodes.begin(), nodes.end(), node);
    return found == nodes.end() ? "?" : std::to_string(found - nodes.begin());
}

std::string special(const CUgraphEdgeData& edge) {
    if (edge.from_port == 0 && edge.to_port == 0 && edge.type == 0) return "";
    return "[" + std::to_string(edge.from_port) + " " + std::to_string(edge.to_port) + " " + std::to_string(edge.type) +
           "]";
}

}  // namespace

void show_graph(Record& r, const std::string& label, CUgraph graph) {
    const Nodes nodes = nodes_of(graph);
    std::string kinds;
    for (CUgraphNode node : nodes) kinds += std::string(kinds.empty() ? "" : " ") + kind_name(node);
    r(label + " nodes", kinds);
    size_t count = edge_count(graph);
    Nodes from(count), to(count);
    std::vector<CUgraphEdgeData> data(count);
    if (count != 0) must(drv.cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &count), "edges");
    std::vector<std::string> edges;
    for (size_t i = 0; i < count; ++i)
        edges.push_back(place(nodes, from[i]) + "-" + place(nodes, to[i]) + special(data[i]));
    std::sort(edges.begin(), edges.end());
    std::string all;
    for (const std::string& edge : edges) all += (all.empty() ? "" : " ") + edge;
    r(label + " edges", all);
}

void end_and_show(Record& r, const std::string& label, CUstream stream) {
    CUgraph graph = nullptr;
    r(label, drv.cuStreamEndCapture(stream, &graph));
    if (graph == nullptr) return;
    show_graph(r, label, graph);
    drv.cuGraphDestroy(graph);
}

void show_dependencies(Record& r, const std::string& label, CUstream stream) {
    CUstreamCaptureStatus answer{};
    CUgraph graph = nullptr;
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    size_t count = 0;
    const CUresult result = drv.cuStreamGetCaptureInfo(stream, &answer, nullptr, &graph, &nodes, &edges, &count);
    if (result != CUDA_SUCCESS || answer != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        r(label, drv.name(result) + " status " + std::to_string(answer));
        return;
    }
    const Nodes all = nodes_of(graph);
    std::string text;
    for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + place(all, nodes[i]) + special(edges[i]);
    r(label, text);
}

Capturing::Capturing(CUstreamCaptureMode mode, unsigned flags) : stream_(new_stream(flags)) {
    must(begin(stream_, mode), "begin");
}

Capturing::~Capturing() {
    CUgraph graph = nullptr;
    CUstreamCaptureStatus answer{};
    if (drv.cuStreamIsCapturing(stream_, &answer) != CUDA_SUCCESS || answer == CU_STREAM_CAPTURE_STATUS_NONE) return;
    drv.cuStreamEndCapture(stream_, &graph);
    if (graph != nullptr) drv.cuGraphDestroy(graph);
}

Stream Capturing::branch() const {
    Stream other = new_stream();
    const Event fork = new_event(CU_EVENT_DISABLE_TIMING);
    must(drv.cuEventRecord(fork, stream_), "fork");
    must(drv.cuStreamWaitEvent(other, fork, 0), "fork");
    return other;
}

}  // namespace conf
