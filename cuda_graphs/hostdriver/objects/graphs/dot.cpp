// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/dot.hpp"

#include <cstdio>

#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"

namespace cgh {
namespace {

std::string number(uint64_t value) {
    return std::to_string(value);
}

std::string hex(uint64_t value) {
    char text[2 + 16 + 1];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

template <class T>
std::string hex(const T* pointer) {
    return hex(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer)));
}

std::string triple(const uint32_t (&dims)[3]) {
    return number(dims[0]) + "," + number(dims[1]) + "," + number(dims[2]);
}

// Escapes a kernel name, which may contain any character that a compiler's mangling uses.
std::string quoted(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

// The lines of a node's label.
class Label {
  public:
    void line(const std::string& text) { text_ += "\\n" + text; }
    void field(const char* name, const std::string& value) { line(std::string(name) + ": " + value); }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

const char* memory_name(CUmemorytype type) {
    switch (type) {
        case CU_MEMORYTYPE_HOST:
            return "Host";
        case CU_MEMORYTYPE_DEVICE:
            return "Device";
        case CU_MEMORYTYPE_UNIFIED:
            return "Unified";
        default:
            return "Array";
    }
}

CUdeviceptr source_address(const CUDA_MEMCPY3D& copy) {
    return copy.srcMemoryType == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(copy.srcHost) : copy.srcDevice;
}
CUdeviceptr destination_address(const CUDA_MEMCPY3D& copy) {
    return copy.dstMemoryType == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(copy.dstHost) : copy.dstDevice;
}

// "By default this includes the graph topology, node types, node id, kernel names and memcpy direction" (cuda.h).
void summarize(const NodeParams& params, Label& label) {
    if (const auto* const kernel = std::get_if<KernelParams>(&params)) {
        label.line(quoted(kernel->launch.kernel()->code().name));
    } else if (const auto* const memcpy = std::get_if<MemcpyParams>(&params)) {
        label.line(std::string(memory_name(memcpy->described->srcMemoryType)) + " to " +
                   memory_name(memcpy->described->dstMemoryType));
    }
}

void describe_kernel(const NodeParams& params, Label& label) {
    const auto& kernel = std::get<KernelParams>(params);
    label.field("grid", triple(kernel.launch.shape().dims.grid));
    label.field("block", triple(kernel.launch.shape().dims.block));
    label.field("sharedMemBytes", number(kernel.launch.shape().dims.dynamic_shared_bytes));
    label.field("ctx", hex(kernel.context));
}

void describe_attributes(const NodeParams& params, Label& label) {
    const auto& kernel = std::get<KernelParams>(params);
    label.field("cooperative", number(kernel.launch.shape().cooperative));
    label.field("cluster", triple(kernel.launch.shape().dims.cluster));
    label.field("priority", std::to_string(get_attribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority));
}

void describe_memcpy(const NodeParams& params, Label& label) {
    const CUDA_MEMCPY3D& copy = *std::get<MemcpyParams>(params).described;
    label.field("src", hex(source_address(copy)) + " pitch " + number(copy.srcPitch));
    label.field("dst", hex(destination_address(copy)) + " pitch " + number(copy.dstPitch));
    label.field("extent", number(copy.WidthInBytes) + "," + number(copy.Height) + "," + number(copy.Depth));
}

void describe_memset(const NodeParams& params, Label& label) {
    const CUDA_MEMSET_NODE_PARAMS_v2& fill = std::get<MemsetParams>(params).described;
    label.field("dst", hex(fill.dst) + " pitch " + number(fill.pitch));
    label.field("value", number(fill.value));
    label.field("elementSize", number(fill.elementSize));
    label.field("extent", number(fill.width) + "," + number(fill.height));
}

void describe_host(const NodeParams& params, Label& label) {
    const auto& host = std::get<HostParams>(params);
    label.field("fn", hex(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(host.function))));
    label.field("userData", hex(host.data));
}

void describe_event(const NodeParams& params, Label& label) {
    label.field("event", hex(std::get<EventParams>(params).event->handle()));
}

void describe_batch(const NodeParams& params, Label& label) {
    for (const CUstreamBatchMemOpParams& one : std::get<BatchParams>(params).batch.described()) {
        if (one.operation == CU_STREAM_MEM_OP_BARRIER) {
            label.field("barrier", number(one.memoryBarrier.flags));
            continue;
        }
        const bool wide = one.operation >= CU_STREAM_MEM_OP_WAIT_VALUE_64;
        const bool waits =
            one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        label.field(waits ? "wait" : "write", hex(one.writeValue.address) + " value " +
                                                  number(wide ? one.writeValue.value64 : one.writeValue.value) +
                                                  " flags " + number(one.writeValue.flags));
    }
}

void describe_alloc(const NodeParams& params, Label& label) {
    const auto& alloc = std::get<AllocParams>(params);
    label.field("bytesize", number(alloc.allocation.get()->bytes()));
    label.field("dptr", hex(alloc.allocation.get()->address()));
    label.field("location",
                std::to_string(alloc.properties.location.type) + "," + std::to_string(alloc.properties.location.id));
    label.field("accessDescCount", number(alloc.access.size()));
}

void describe_free(const NodeParams& params, Label& label) {
    label.field("dptr", hex(std::get<FreeParams>(params).claim.allocation()->address()));
}

void describe_conditional(const NodeParams& params, Label& label) {
    static const char* const kNames[] = {"IF", "WHILE", "SWITCH"};
    const auto& conditional = std::get<ConditionalParams>(params);
    label.field("type", kNames[conditional.type]);
    label.field("handle", hex(static_cast<uint64_t>(conditional.condition->handle())));
    label.field("size", number(conditional.bodies.size()));
    label.field("default", number(conditional.condition->default_value()) +
                               (conditional.condition->assigns_default() ? "" : " (not assigned)"));
}

// The text that a flag adds to the label of a node kind.
struct Detail {
    unsigned flag;
    CUgraphNodeType type;
    const char* driver_name;
    const char* runtime_name;
    void (*describe)(const NodeParams&, Label&);
};
constexpr Detail kDetails[] = {
    {CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS, CU_GRAPH_NODE_TYPE_KERNEL, "CUDA_KERNEL_NODE_PARAMS",
     "cudaKernelNodeParams", describe_kernel},
    {CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES, CU_GRAPH_NODE_TYPE_KERNEL, "CUkernelNodeAttrValue",
     "cudaKernelNodeAttrValue", describe_attributes},
    {CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMCPY, "CUDA_MEMCPY3D", "cudaMemcpy3DParms",
     describe_memcpy},
    {CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMSET, "CUDA_MEMSET_NODE_PARAMS",
     "cudaMemsetParams", describe_memset},
    {CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS, CU_GRAPH_NODE_TYPE_HOST, "CUDA_HOST_NODE_PARAMS", "cudaHostNodeParams",
     describe_host},
    {CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS, CU_GRAPH_NODE_TYPE_EVENT_RECORD, "CUDA_EVENT_RECORD_NODE_PARAMS",
     "cudaEventRecordNodeParams", describe_event},
    {CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS, CU_GRAPH_NODE_TYPE_WAIT_EVENT, "CUDA_EVENT_WAIT_NODE_PARAMS",
     "cudaEventWaitNodeParams", describe_event},
    {CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEM_ALLOC, "CUDA_MEM_ALLOC_NODE_PARAMS",
     "cudaMemAllocNodeParams", describe_alloc},
    {CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEM_FREE, "CUDA_MEM_FREE_NODE_PARAMS",
     "cudaMemFreeNodeParams", describe_free},
    {CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS, CU_GRAPH_NODE_TYPE_CONDITIONAL, "CUDA_CONDITIONAL_NODE_PARAMS",
     "cudaConditionalNodeParams", describe_conditional},
    {CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
     "CUDA_BATCH_MEM_OP_NODE_PARAMS", "cudaBatchMemOpNodeParams", describe_batch},
    // The flags EXT_SEMAS_SIGNAL and EXT_SEMAS_WAIT are for node kinds that the host driver does not support.
};

class Writer {
  public:
    explicit Writer(unsigned flags) : flags_(flags) {}

    // digraph dot {
    // subgraph cluster_1 {
    // label="graph_1" style="dashed"
    // "graph_1_node_0" [label="0\nKERNEL\nscale"]
    // "graph_1_node_0" -> "graph_1_node_1"
    // }
    // }
    std::string write(const Graph& graph) {
        out_ = "digraph dot {\n";
        write_graph(graph, "graph_" + number(graph.uid()));
        return out_ + "}\n";
    }

  private:
    bool wants(unsigned flag) const { return (flags_ & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0; }

    static std::string name(const Node& node) {
        return "\"graph_" + number(node.graph->uid()) + "_node_" + number(node.local_id) + "\"";
    }

    void write_graph(const Graph& graph, const std::string& title) {
        out_ += "subgraph cluster_" + number(graph.uid()) + " {\nlabel=\"" + title + "\" style=\"dashed\"\n";
        for (const Node* node = graph.first_node(); node != nullptr; node = node->next) write_node(*node);
        for (const Node* node = graph.first_node(); node != nullptr; node = node->next) {
            for (uint32_t i = 0; i < node->dependencies.size(); ++i) write_edge(node->dependencies[i], *node, i);
        }
        out_ += "}\n";
    }

    void write_node(const Node& node) {
        Label label;
        summarize(node.params, label);
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) write_handles(node, label);
        const bool runtime_names = (flags_ & CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES) != 0;
        for (const Detail& detail : kDetails) {
            if (detail.type != node.kind->type || !wants(detail.flag)) continue;
            label.line(runtime_names ? detail.runtime_name : detail.driver_name);
            detail.describe(node.params, label);
        }
        out_ += name(node) + " [shape=\"box\" label=\"" + number(node.local_id) + "\\n" + node.kind->name +
                label.text() + "\"]\n";
        uint32_t index = 0;
        for (const Graph* inner : node.kind->embedded(node)) {
            write_graph(*inner,
                        "graph_" + number(inner->uid()) + " of node " + number(node.local_id) + ", " + number(index++));
            if (inner->first_node() != nullptr) {
                out_ += name(node) + " -> " + name(*inner->first_node()) + " [style=\"dotted\"]\n";
            }
        }
    }

    static void write_handles(const Node& node, Label& label) {
        label.field("node", hex(&node));
        if (const auto* const kernel = std::get_if<KernelParams>(&node.params)) {
            label.field("func", hex(kernel->launch.kernel()));
        }
    }

    void write_edge(const Edge& edge, const Node& to, uint32_t position) {
        out_ += name(*edge.node) + " -> " + name(to);
        std::string label = edge.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ? "programmatic" : "";
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) label += (label.empty() ? "" : " ") + number(position);
        out_ += label.empty() ? "\n" : " [label=\"" + label + "\"]\n";
    }

    const unsigned flags_;
    std::string out_;
};

}  // namespace

std::string to_dot(const Graph& graph, unsigned flags) {
    return Writer(flags).write(graph);
}

CUresult print_dot(const Graph& graph, const char* path, unsigned flags) {
    const std::string text = to_dot(graph, flags);
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return CUDA_ERROR_OPERATING_SYSTEM;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = std::fclose(file) == 0;
    return written && closed ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace cgh
