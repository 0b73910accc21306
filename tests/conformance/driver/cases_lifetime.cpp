// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// User objects: the times when destructors run.
#include <atomic>

#include "cases.hpp"

namespace conf {

namespace {

// The target of one user object: counts its destructor calls.
struct Payload {
    std::atomic<int> destroyed{0};
};

void destroy(void* payload) {
    static_cast<Payload*>(payload)->destroyed += 1;
}

CUuserObject new_object(Payload& payload, unsigned references = 1) {
    CUuserObject object = nullptr;
    must(drv.cuUserObjectCreate(&object, &payload, destroy, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), "create");
    return object;
}

// Moves a new user object to the graph.
void attach(CUgraph graph, Payload& payload) {
    must(drv.cuGraphRetainUserObject(graph, new_object(payload), 1, CU_GRAPH_USER_OBJECT_MOVE), "retain");
}

bool gone(const Payload& payload) {
    return eventually([&] { return payload.destroyed > 0; });
}

// Returns true if the object is alive after the work that could have released it was synchronised.
bool alive(const Payload& payload) {
    drv.cuCtxSynchronize();
    return payload.destroyed == 0;
}

void add_count_cases(Cases& cases) {
    cases.add("user_object/arguments", [](Record& r) {
        static Payload payload;
        CUuserObject object = nullptr;
        const auto create = [&](unsigned count, unsigned flags) {
            return drv.cuUserObjectCreate(&object, &payload, destroy, count, flags);
        };
        r("null output", drv.cuUserObjectCreate(nullptr, &payload, destroy, 1, 1));
        r("null destructor", drv.cuUserObjectCreate(&object, &payload, nullptr, 1, 1));
        r("null payload", drv.cuUserObjectCreate(&object, nullptr, [](void*) {}, 1, 1));
        r("count 0", create(0, 1));
        r("flags 0", create(1, 0));
        r("flags 3", create(1, 3));
        r("count 2^31", create(0x80000000u, 1));
        object = new_object(payload, 3);
        r("retain 0", drv.cuUserObjectRetain(object, 0));
        r("release 0", drv.cuUserObjectRelease(object, 0));
        r("retain null", drv.cuUserObjectRetain(nullptr, 1));
        r("release null", drv.cuUserObjectRelease(nullptr, 1));
        r("retain 2", drv.cuUserObjectRetain(object, 2));
        r("release 4", drv.cuUserObjectRelease(object, 4));
        r("alive", payload.destroyed == 0);
        r("release last", drv.cuUserObjectRelease(object, 1));
        r("gone", gone(payload));
    });
    cases.add("user_object/graph_arguments", [](Record& r) {
        static Payload payload;
        const Graph graph = new_graph();
        const CUuserObject object = new_object(payload, 4);
        r("null graph", drv.cuGraphRetainUserObject(nullptr, object, 1, 0));
        r("null object", drv.cuGraphRetainUserObject(graph, nullptr, 1, 0));
        r("count 0", drv.cuGraphRetainUserObject(graph, object, 0, 0));
        r("flags 2", drv.cuGraphRetainUserObject(graph, object, 1, 2));
        r("retain", drv.cuGraphRetainUserObject(graph, object, 2, 0));
        r("release 0", drv.cuGraphReleaseUserObject(graph, object, 0));
        r("release 2", drv.cuGraphReleaseUserObject(graph, object, 2));
        r("release null", drv.cuGraphReleaseUserObject(graph, nullptr, 1));
        r("move 2", drv.cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
        r("own references", drv.cuUserObjectRelease(object, 2));
        r("alive", alive(payload));
        r("release one of the graph's", drv.cuGraphReleaseUserObject(graph, object, 1));
        r("still alive", alive(payload));
        r("release the other", drv.cuGraphReleaseUserObject(graph, object, 1));
        r("gone", gone(payload));
    });
    cases.add("user_object/moved_dies_with_the_graph", [](Record& r) {
        static Payload payload;
        {
            const Graph graph = new_graph();
            attach(graph, payload);
            r("alive", alive(payload));
        }
        r("gone", gone(payload));
        r("times", payload.destroyed.load());
    });
    cases.add("user_object/not_moved_needs_own_release", [](Record& r) {
        static Payload payload;
        CUuserObject object = new_object(payload);
        {
            const Graph graph = new_graph();
            must(drv.cuGraphRetainUserObject(graph, object, 1, 0), "retain");
        }
        r("alive after the graph", alive(payload));
        r("release", drv.cuUserObjectRelease(object, 1));
        r("gone", gone(payload));
    });
}

void add_owner_cases(Cases& cases) {
    cases.add("user_object/clone_keeps_it", [](Record& r) {
        static Payload payload;
        CUgraph clone = nullptr;
        {
            const Graph graph = new_graph();
            attach(graph, payload);
            clone = new_clone(graph).release();
        }
        r("alive", alive(payload));
        drv.cuGraphDestroy(clone);
        r("gone", gone(payload));
    });
    cases.add("user_object/child_keeps_it", [](Record& r) {
        static Payload payload;
        {
            const Graph parent = new_graph();
            {
                const Graph child = new_graph();
                attach(child, payload);
                child_node(parent, child);
            }
            r("alive", alive(payload));
        }
        r("gone", gone(payload));
    });
    cases.add("user_object/released_with_a_destroyed_child_node", [](Record& r) {
        static Payload payload;
        const Graph parent = new_graph();
        CUgraphNode node = nullptr;
        {
            const Graph child = new_graph();
            attach(child, payload);
            node = child_node(parent, child);
        }
        r("destroy node", drv.cuGraphDestroyNode(node));
        r("gone", gone(payload));
    });
    cases.add("user_object/exec_keeps_it", [](Record& r) {
        static Payload payload;
        CUgraphExec exec = nullptr;
        {
            const Graph graph = new_graph();
            attach(graph, payload);
            plain_kernel_node(graph);
            exec = new_exec(graph).release();
        }
        r("alive", alive(payload));
        run(exec);
        r("alive after a launch", alive(payload));
        drv.cuGraphExecDestroy(exec);
        r("gone", gone(payload));
    });
    cases.add("user_object/attached_after_instantiate_is_not_inherited", [](Record& r) {
        static Payload payload;
        CUgraphExec exec = nullptr;
        {
            const Graph graph = new_graph();
            plain_kernel_node(graph);
            exec = new_exec(graph).release();
            attach(graph, payload);
        }
        r("gone with the graph", gone(payload));
        drv.cuGraphExecDestroy(exec);
    });
    cases.add("user_object/released_from_the_graph_stays_with_the_exec", [](Record& r) {
        static Payload payload;
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        CUuserObject object = new_object(payload);
        must(drv.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), "retain");
        CUgraphExec exec = new_exec(graph).release();
        r("release", drv.cuGraphReleaseUserObject(graph, object, 1));
        r("alive", alive(payload));
        drv.cuGraphExecDestroy(exec);
        r("gone", gone(payload));
    });
    cases.add("user_object/in_flight_launch_keeps_it", [](Record& r) {
        static Payload payload;
        Pinned flag;
        const Stream stream = new_stream();
        CUgraphExec exec = nullptr;
        {
            const Graph graph = new_graph();
            attach(graph, payload);
            wait_flag_node(graph, flag.address());
            exec = new_exec(graph).release();
        }
        must(drv.cuGraphLaunch(exec, stream), "launch");
        drv.cuGraphExecDestroy(exec);
        r("alive while it runs", payload.destroyed == 0);
        flag[0] = 1;
        must(drv.cuStreamSynchronize(stream), "sync");
        r("gone", gone(payload));
    });
    cases.add("user_object/update_swaps_them", [](Record& r) {
        static Payload first, second;
        CUgraphExec exec = nullptr;
        {
            const Graph graph = new_graph();
            attach(graph, first);
            plain_kernel_node(graph);
            exec = new_exec(graph).release();
        }
        {
            const Graph graph = new_graph();
            attach(graph, second);
            plain_kernel_node(graph);
            CUgraphExecUpdateResultInfo info{};
            r("update", drv.cuGraphExecUpdate(exec, graph, &info));
        }
        r("first gone", gone(first));
        r("second alive", alive(second));
        drv.cuGraphExecDestroy(exec);
        r("second gone", gone(second));
    });
    cases.add("user_object/failed_update_keeps_the_old", [](Record& r) {
        static Payload first, second;
        CUgraphExec exec = nullptr;
        {
            const Graph graph = new_graph();
            attach(graph, first);
            plain_kernel_node(graph);
            exec = new_exec(graph).release();
        }
        {
            const Graph graph = new_graph();
            attach(graph, second);
            empty_node(graph);
            CUgraphExecUpdateResultInfo info{};
            r("update", drv.cuGraphExecUpdate(exec, graph, &info));
        }
        r("second gone", gone(second));
        r("first alive", alive(first));
        drv.cuGraphExecDestroy(exec);
        r("first gone", gone(first));
    });
    cases.add("user_object/of_a_conditional_body", [](Record& r) {
        static Payload payload;
        CUgraphExec exec = nullptr;
        {
            const Graph graph = new_graph();
            const Conditional node = conditional_node(graph, new_handle(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
            attach(node.bodies[0], payload);
            exec = new_exec(graph).release();
        }
        r("alive with the exec", alive(payload));
        drv.cuGraphExecDestroy(exec);
        r("gone", gone(payload));
    });
    cases.add("user_object/destructor_may_not_call_cuda", [](Record& r) {
        static std::atomic<int> answer{-1};
        CUuserObject object = nullptr;
        const auto call = [](void*) {
            CUdeviceptr address = 0;
            answer = static_cast<int>(drv.cuMemAlloc(&address, 4));
        };
        must(drv.cuUserObjectCreate(&object, nullptr, call, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), "create");
        r("release", drv.cuUserObjectRelease(object, 1));
        eventually([&] { return answer >= 0; });
        r("inside", static_cast<CUresult>(answer.load()));
    });
}

}  // namespace

void add_lifetime_cases(Cases& cases) {
    add_count_cases(cases);
    add_owner_cases(cases);
}

}  // namespace conf
