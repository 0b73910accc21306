// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The program of an executable graph, compiled from a definition.
//
// A program consists of sections. A section runs as a unit. One section is the graph with all its child graphs
// flattened: each child node becomes a start and an end with the child's nodes between them. Each body of a conditional
// node is a section too. A section has
//
//     nodes        contiguous, in an order in which they may run one after another, with ready parameters
//     structure    the dependencies, and the map from the definition's nodes to these nodes; immutable
//
// A run reads both and writes neither. A change of parameters changes `nodes`: in place when no launch uses the
// program, otherwise in a copy (hostdriver/objects/graphs/graph_exec.cpp).
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_GRAPH_PROGRAM_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_GRAPH_PROGRAM_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "clock.hpp"
#include "hostdriver/objects/graphs/condition.hpp"
#include "hostdriver/objects/graphs/node_params.hpp"
#include "hostdriver/objects/graphs/user_object.hpp"

namespace cgh {

struct ExecNode;
struct LaunchState;
struct NodeKind;
struct Section;

// The map from the nodes of one definition graph to a section. Positions count nodes in creation order.
struct GraphShape {
    struct Entry {
        uint32_t node;  // index in the section; the start node of a child graph node
        uint32_t first_dependency;
        uint32_t dependency_count;
    };
    struct Dependency {
        uint32_t position;
        CUgraphEdgeData data;  // fixed for updates; an edge with data runs as a full edge
    };
    uint64_t graph_uid = 0;
    std::vector<uint32_t> position_of_id;  // indexed by local id
    std::vector<Entry> entries;            // indexed by position
    std::vector<Dependency> dependencies;  // grouped by node, in edge order
};

struct Structure {
    std::vector<uint32_t> first_successor;  // one entry per node, and one more
    std::vector<uint32_t> successors;
    std::vector<uint32_t> dependency_count;
    std::vector<CUgraphNode> sources;  // the definition's node of each node; null for the end of a child graph
    std::vector<GraphShape> shapes;  // [0] is the section's own graph; a child graph node stores the index of its shape
    std::vector<uint32_t> record_nodes, wait_nodes, alloc_nodes, free_nodes;
    bool is_sequential = true;  // the order is total: no two nodes can run at the same time
    bool may_wait = false;      // a node may wait for an action of another node or of the host
    bool may_suspend = false;   // a node waits for a value in memory, so a run may be suspended and resumed
    uint32_t batches = 0;       // number of nodes with memory operations

    // Clock ticks of the last measured run of all nodes in one thread; 0 before the first measurement.
    mutable std::atomic<uint64_t> serial_ticks{0};
};

struct RecordRun {
    Ref<Event> event;
    uint32_t slot;  // index in LaunchState::records
};
struct WaitRun {
    Ref<Event> event;
    uint32_t slot;  // index in LaunchState::waits
};
struct BatchRun {
    MemoryBatch batch;
    CUcontext context;
    uint32_t slot;  // index in LaunchState::batches
};
struct ChildRun {
    uint32_t shape;  // index of the child graph's shape in the same section
};
struct AllocRun {
    std::shared_ptr<GraphAllocation> memory;
};
struct FreeRun {
    std::shared_ptr<GraphAllocation> memory;
};
struct ConditionalRun {
    ConditionPtr condition;
    CUgraphConditionalNodeType type;
    std::vector<Section> bodies;
};

using ExecParams = std::variant<EmptyParams, KernelParams, MemcpyParams, MemsetParams, HostParams, RecordRun, WaitRun,
                                BatchRun, ChildRun, AllocRun, FreeRun, ConditionalRun>;

using RunNode = CUresult (*)(const ExecNode& node, LaunchState& launch);

struct ExecNode {
    RunNode run = nullptr;  // function of the node's kind; run_nothing for a disabled node
    const NodeKind* kind = nullptr;
    ExecParams params;
    bool enabled = true;
};

struct Section {
    std::vector<ExecNode> nodes;
    std::shared_ptr<const Structure> structure;
};

// The reason why a definition cannot be instantiated.
struct Refusal {
    CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    CUgraphNode node = nullptr;
};

class Program {
  public:
    static CUresult compile(const Graph& graph, cuuint64_t flags, std::shared_ptr<Program>* out, Refusal* why);

    // Returns the executable node of `node`, or null if `node` is not in the definition that this program was compiled
    // from. Sets `section` to its section.
    ExecNode* find(const Node& node, Section** section = nullptr);

    // Add the parts of the definition that are not nodes: conditional handles and user objects, including those of
    // nested graphs.
    void adopt_owned(const Graph& graph);
    void add_user_objects(const Graph& graph);
    // Rebuilds the lists of allocations after allocation or free nodes have changed.
    void index_memory();

    Section main;
    uint64_t graph_uid = 0;
    std::vector<ConditionPtr> conditions;
    UserObjectRefs user_objects;
    std::vector<std::shared_ptr<GraphAllocation>> memory;       // every allocation of the graph
    std::vector<std::shared_ptr<GraphAllocation>> left_behind;  // allocations that the graph does not free
    std::vector<std::shared_ptr<GraphAllocation>> taken_over;   // allocations of other graphs that this graph frees

    // Returns true if a run is known to be brief (wait_limit.hpp).
    bool is_brief() const;
    // Computes is_open_ended, and forgets the last run. Called after the kernels of nodes have changed.
    void find_open_ends();

    // True if a run may take any time: it loops, waits, or calls the host.
    bool is_open_ended = false;
    // Clock ticks of the last measured run; 0 before the first one.
    struct LastRun {
        std::atomic<uint64_t> ticks{0};
        Sampling runs;
        LastRun() = default;
        bool is_measured_now() { return runs.takes_next() || ticks.load(std::memory_order_relaxed) == 0; }
        LastRun(const LastRun&) {}  // a copy of a program has not run
    } last_run;

    // The number of launches that were pushed and have not finished. Parameters do not change while it is above zero.
    struct InFlight {
        std::atomic<uint32_t> count{0};
        InFlight() = default;
        InFlight(const InFlight&) {}  // a copy of a program has no launches
    } in_flight;
};

// Convert a definition node's parameters to those of its executable node. They do not accept child graph nodes or
// conditional nodes. Event nodes keep the slot of `before`.
ExecParams to_exec_params(NodeParams&& params, const ExecParams& before);
ExecParams to_exec_params(const NodeParams& params, const ExecParams& before);

}  // namespace cgh

#endif
