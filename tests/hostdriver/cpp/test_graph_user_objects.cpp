// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of user objects: the owners of references, and destruction exactly once.
#include <atomic>
#include <mutex>

#include "graph_rig.hpp"

using namespace rig;

namespace {

const auto kBad = CUDA_ERROR_INVALID_VALUE;

// Counts its destructions.
class Payload {
  public:
    std::atomic<int> destroyed{0};
    bool alive() const { return destroyed.load() == 0; }
    // A launch ends when its stream has reached it, but its worker may still hold the reference.
    bool gone() {
        return soon([this] { return destroyed.load() != 0; }) && destroyed.load() == 1;
    }
};

CUuserObject object_of(Payload& payload, unsigned references = 1) {
    context();
    CUuserObject object = nullptr;
    OK(cuUserObjectCreate(
        &object, &payload, [](void* data) { static_cast<Payload*>(data)->destroyed.fetch_add(1); }, references,
        CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

void give(CUgraph graph, Payload& payload) {
    OK(cuGraphRetainUserObject(graph, object_of(payload), 1, CU_GRAPH_USER_OBJECT_MOVE));
}

}  // namespace

LAW(UserObject, GoesWithItsLastReference) {
    Payload payload;
    const CUuserObject object = object_of(payload, 2);
    OK(cuUserObjectRetain(object, 3));
    OK(cuUserObjectRelease(object, 4));
    CHECK(payload.alive());
    OK(cuUserObjectRelease(object, 1));
    CHECK(payload.gone());
    ANSWERS(kBad, cuUserObjectRelease(object, 1));
    ANSWERS(kBad, cuUserObjectRetain(object, 1));
}

LAW(UserObject, RefusesMisuse) {
    Payload payload;
    context();
    CUuserObject object = nullptr;
    const CUhostFn destroy = [](void*) {};
    ANSWERS(kBad, cuUserObjectCreate(nullptr, &payload, destroy, 1, 1));
    ANSWERS(kBad, cuUserObjectCreate(&object, &payload, nullptr, 1, 1));
    ANSWERS(kBad, cuUserObjectCreate(&object, &payload, destroy, 0, 1));
    ANSWERS(kBad, cuUserObjectCreate(&object, &payload, destroy, 1, 0));
    object = object_of(payload);
    const Graph graph;
    ANSWERS(kBad, cuUserObjectRetain(object, 0));
    ANSWERS(kBad, cuUserObjectRelease(object, 2));
    ANSWERS(kBad, cuGraphRetainUserObject(graph, object, 0, 0));
    ANSWERS(kBad, cuGraphRetainUserObject(graph, object, 1, 2));
    ANSWERS(kBad, cuGraphRetainUserObject(nullptr, object, 1, 0));
    ANSWERS(kBad, cuGraphRetainUserObject(graph, nullptr, 1, 0));
    OK(cuUserObjectRelease(object, 1));
    CHECK(payload.gone());
}

LAW(UserObject, IsSharedOrMovedToAGraph) {
    Payload shared, moved;
    const CUuserObject object = object_of(shared);
    {
        const Graph graph;
        OK(cuGraphRetainUserObject(graph, object, 2, 0));
        OK(cuGraphReleaseUserObject(graph, object, 1));
        give(graph, moved);
        CHECK(shared.alive() && moved.alive());
    }
    CHECK(moved.gone() && shared.alive());
    OK(cuUserObjectRelease(object, 1));
    CHECK(shared.gone());
}

LAW(UserObject, IsKeptByClonesChildrenAndExecutables) {
    Payload payload;
    Graph graph;
    give(graph, payload);
    CUgraph handle = nullptr;
    OK(cuGraphClone(&handle, graph));
    Graph clone(handle), parent;
    child_node(parent, {}, clone);
    graph.destroy();
    clone.destroy();
    CHECK(payload.alive());
    Exec exec(parent);
    parent.destroy();
    exec.run();
    CHECK(payload.alive());
    exec.destroy();
    CHECK(payload.gone());
}

LAW(UserObject, OfABodyIsKeptByTheExecutable) {
    Payload payload;
    Graph graph;
    give(conditional(graph, {}, condition(graph, 1), CU_GRAPH_COND_TYPE_IF).bodies[0], payload);
    Exec exec(graph);
    graph.destroy();
    CHECK(payload.alive());
    exec.run();
    exec.destroy();
    CHECK(payload.gone());
}

LAW(UserObject, IsKeptByALaunchInFlight) {
    Gate gate;
    Payload payload;
    Stream stream;
    {
        const Graph graph;
        give(graph, payload);
        kernel_node(graph, {}, "spin", gate.flag());
        const Exec exec(graph);
        OK(cuGraphLaunch(exec, stream));
    }
    CHECK(payload.alive());
    gate.open();
    OK(cuStreamSynchronize(stream));
    CHECK(payload.gone());
}

LAW(UserObject, GoesWithTheNodeWhoseGraphHeldIt) {
    Payload payload;
    const Graph parent;
    CUgraphNode node = nullptr;
    {
        const Graph child;
        give(child, payload);
        node = child_node(parent, {}, child);
    }
    CHECK(payload.alive());
    OK(cuGraphDestroyNode(node));
    CHECK(payload.gone());
}

LAW(UserObject, IsExchangedByAnUpdateThatSucceeds) {
    Payload first, second, third;
    Value value;
    Graph graph, other, wrong;
    step(graph, {}, value, 1);
    step(other, {}, value, 2);
    memset_node(wrong, {}, value, 0, 4, 1);
    give(graph, first);
    give(other, second);
    give(wrong, third);
    Exec exec(graph);
    graph.destroy();
    CUgraphExecUpdateResultInfo info{};
    ANSWERS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, wrong, &info));
    wrong.destroy();
    CHECK(third.gone() && first.alive());
    OK(cuGraphExecUpdate(exec, other, &info));
    other.destroy();
    CHECK(first.gone() && second.alive());
    exec.destroy();
    CHECK(second.gone());
}

LAW(UserObject, AttachedAfterInstantiationIsNotInherited) {
    Payload payload;
    Graph graph;
    const Exec exec(graph);
    give(graph, payload);
    graph.destroy();
    CHECK(payload.gone());
}

LAW(UserObject, IsDestroyedOutsideAllLocksAndMayNotCallCuda) {
    struct State {
        CUresult inside = CUDA_SUCCESS;
        std::atomic<bool> done{false};
    } state;
    context();
    CUuserObject object = nullptr;
    OK(cuUserObjectCreate(
        &object, &state,
        [](void* data) {
            auto* seen = static_cast<State*>(data);
            CUgraph graph = nullptr;
            seen->inside = cuGraphCreate(&graph, 0);
            seen->done = true;
        },
        1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    {
        const Graph graph;
        OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    }
    CHECK(soon([&] { return state.done.load(); }));
    EQUAL(state.inside, CUDA_ERROR_NOT_PERMITTED);
    const Graph works_again;
}
