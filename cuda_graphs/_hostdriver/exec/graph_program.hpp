// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What an executable graph runs: a program, compiled from a definition.
//
// A program is made of sections. A section is what runs as a unit: the graph with all its child graphs laid flat (a
// child node becomes a start and an end with the child's nodes in between), or one body of a conditional node. It has
//
//     nodes        contiguous, in an order in which they may run one after another; what each does, ready to run
//     structure    who waits for whom, and how the nodes of the definition map to these; never changes
//
// A run reads both and writes neither. Changing parameters changes `nodes`, in place when no launch uses the program,
// else in a copy (objects/graph_exec.cpp).
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_GRAPH_PROGRAM_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_GRAPH_PROGRAM_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "../objects/condition.hpp"
#include "../objects/node_params.hpp"
#include "../objects/user_object.hpp"

namespace cgh {

struct ExecNode;
struct LaunchState;
struct NodeKind;
struct Section;

// How the nodes of one definition graph map to a section. Positions count nodes in creation order.
struct GraphShape {
    struct Entry {
        uint32_t node;  // index in the section; of a child graph node: its start
        uint32_t first_dependency;
        uint32_t dependency_count;
    };
    struct Dependency {
        uint32_t position;
        CUgraphEdgeData data;  // what an update may not change; edges with data run as full ones
    };
    uint64_t graph_uid = 0;
    std::vector<uint32_t> position_of_id;  // by local id
    std::vector<Entry> entries;            // by position
    std::vector<Dependency> dependencies;  // node after node, in edge order
};

struct Structure {
    std::vector<uint32_t> first_successor;  // by node, one more than nodes
    std::vector<uint32_t> successors;
    std::vector<uint32_t> dependency_count;
    std::vector<GraphShape> shapes;  // [0] is the section's own graph; child graph nodes name theirs
    std::vector<uint32_t> record_nodes, wait_nodes, alloc_nodes, free_nodes;
    bool one_by_one = true;    // no two nodes could run at the same time
    bool may_wait = false;     // a node may wait for something that another node, or the host, does
    bool comes_again = false;  // a node waits for a value in memory: the run may have to be left and taken up again
    uint32_t batches = 0;      // nodes with memory operations

    // What a run of all nodes in one thread took when it was last measured, in clock ticks; 0: not yet.
    mutable std::atomic<uint64_t> serial_ticks{0};
};

struct RecordRun {
    Ref<Event> event;
    uint32_t slot;  // in LaunchState::records
};
struct WaitRun {
    Ref<Event> event;
    uint32_t slot;  // in LaunchState::waits
};
struct BatchRun {
    MemoryBatch batch;
    CUcontext context;
    uint32_t slot;  // in LaunchState::batches
};
struct ChildRun {
    uint32_t shape;  // of the child graph, in the same section
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
    RunNode run = nullptr;  // what it does when it is its turn; a disabled node does nothing
    const NodeKind* kind = nullptr;
    ExecParams params;
    bool enabled = true;
};

struct Section {
    std::vector<ExecNode> nodes;
    std::shared_ptr<const Structure> structure;
};

// Why a definition cannot be instantiated.
struct Refusal {
    CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    CUgraphNode node = nullptr;
};

class Program {
  public:
    static CUresult compile(const Graph& graph, cuuint64_t flags, std::shared_ptr<Program>* out, Refusal* why);

    // What executes `node` of the definition that this was compiled from; null for any other node. `section` gets the
    // section that it is in.
    ExecNode* find(const Node& node, Section** section = nullptr);

    // The parts of the definition that are not nodes: conditional handles and user objects, of all graphs inside too.
    void adopt_possessions(const Graph& graph);
    void add_user_objects(const Graph& graph);
    // After allocation or free nodes have changed.
    void index_memory();

    Section main;
    uint64_t graph_uid = 0;
    std::vector<ConditionPtr> conditions;
    UserObjectRefs user_objects;
    std::vector<std::shared_ptr<GraphAllocation>> memory;       // every allocation of the graph
    std::vector<std::shared_ptr<GraphAllocation>> left_behind;  // those that it does not free itself
    std::vector<std::shared_ptr<GraphAllocation>> taken_over;   // those of other graphs that it frees

    // Launches that were pushed and have not finished; the parameters do not change as long as there are any.
    struct InFlight {
        std::atomic<uint32_t> count{0};
        InFlight() = default;
        InFlight(const InFlight&) {}  // a copy of a program starts with none
    } in_flight;
};

// What a node of the definition executes as; not for child graph and conditional nodes. Event nodes keep the slot of
// `before`.
ExecParams to_exec_params(NodeParams&& params, const ExecParams& before);
ExecParams to_exec_params(const NodeParams& params, const ExecParams& before);

}  // namespace cgh

#endif
