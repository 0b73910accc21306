// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The intakes of streams in captures. Work becomes a node of the capture's graph. The node depends on the nodes of the
// stream's branch and replaces them in the branch. Results match those of an H200 (tests/conformance/driver/h200.json,
// capture/*).
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/graph_exec.hpp"
#include "hostdriver/objects/graphs/node_arguments.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/pool.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/event.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {
namespace {

// Calls `work` with the stream's branch under the mutex. If the capture has ended meanwhile, calls `instead` with the
// stream's new intake.
template <class Work, class Instead>
CUresult with_branch(Stream& stream, Work&& work, Instead&& instead) {
    {
        std::lock_guard<std::mutex> lock(Capture::mutex());
        Branch* branch = nullptr;
        TRY(Capture::find(stream, &branch));
        if (branch != nullptr) return work(*branch);
    }
    return instead(run_intake());
}

// Captures a node. `add` receives the graph and the dependencies and creates the node.
template <class Add>
CUresult append(Branch& branch, Add&& add) {
    Graph* const graph = branch.capture.graph();
    REQUIRE(graph != nullptr, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    branch.capture.drop_dead(branch.next);
    Node* node = nullptr;
    TRY(add(*graph, branch.next, &node));
    branch.capture.advance(branch, to_handle(node));
    return CUDA_SUCCESS;
}

CUresult append(Branch& branch, CUgraphNodeParams& params) {
    return append(branch, [&](Graph& graph, const DependencySet& after, Node** out) {
        return graph.add_captured_node(out, after, params);
    });
}

CUresult unsupported(Branch& branch) {
    branch.capture.invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

// cuda.h, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: the launch may overlap with the kernel before it. A
// graph expresses this with a programmatic edge.
DependencySet programmatic(DependencySet after) {
    for (std::size_t i = 0; i < after.nodes.size(); ++i) {
        const Node* const node = cast<Node>(after.nodes[i]);
        if (node->kind->type != CU_GRAPH_NODE_TYPE_KERNEL || !is_default(after.edges[i])) continue;
        after.edges[i].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        after.edges[i].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
    return after;
}

bool is_programmatic(const KernelRequest& request) {
    for (unsigned i = 0; i < request.attribute_count; ++i) {
        if (request.attributes[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return request.attributes[i].value.programmaticStreamSerializationAllowed != 0;
    }
    return false;
}

CUgraphNodeParams params_of(const KernelRequest& request, const Stream& stream) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
    const cgh_launch& dims = request.shape.dims;
    params.kernel = {nullptr,
                     dims.grid[0],
                     dims.grid[1],
                     dims.grid[2],
                     dims.block[0],
                     dims.block[1],
                     dims.block[2],
                     dims.dynamic_shared_bytes,
                     request.params,
                     request.extra,
                     request.kernel.handle(),
                     stream.context().handle()};
    return params;
}

class RecordIntake final : public Intake {
  public:
    CUresult refuse(Stream& stream, CUresult why) const override {
        return with_branch(stream, [&](Branch&) { return why; }, [&](const Intake&) { return why; });
    }

    // A forbidden query is also rejected if the capture is already invalid.
    CUresult inspect(Stream& stream, Inspection inspection) const override {
        if (inspection == Inspection::kForbidden) return conflict(stream, [](const Intake&) { return CUDA_SUCCESS; });
        return refuse(stream, CUDA_SUCCESS);
    }

    CUresult kernel(Stream& stream, const KernelRequest& request) const override {
        CUgraphNodeParams params = params_of(request, stream);
        const NodeKind& kind = *find_kind(params);
        KernelParams with_attributes;
        with_attributes.launch.shape() = request.shape;
        with_attributes.attributes = node_attributes(request.attributes, request.attribute_count, stream.priority());
        NodeParams parsed;
        if (const CUresult refused = kind.parse(params, &with_attributes, &parsed); refused != CUDA_SUCCESS)
            return refuse_launch(stream, request, refused);
        const bool overlaps = is_programmatic(request);
        return with_branch(
            stream,
            [&](Branch& branch) {
                return append(branch, [&](Graph& graph, const DependencySet& next, Node** out) {
                    return graph.add_captured_kernel(out, overlaps ? programmatic(next) : next, std::move(parsed));
                });
            },
            [&](const Intake& run) { return run.kernel(stream, request); });
    }

    CUresult copy(Stream& stream, const CopyRequest& request, Wait wait) const override {
        if (request.is_peer())
            return conflict(stream, [&](const Intake& run) { return run.copy(stream, request, wait); });
        return with_branch(
            stream,
            [&](Branch& branch) {
                CUgraphNodeParams params = of_memcpy(request.described(), stream.context().handle());
                const CUDA_MEMCPY3D& copy = params.memcpy.copyParams;
                if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return CUDA_SUCCESS;  // adds no node
                return append(branch, params);
            },
            [&](const Intake& run) { return run.copy(stream, request, wait); });
    }

    CUresult fill(Stream& stream, const FillRequest& request, Wait wait) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                if (request.width == 0 || request.height == 0) return CUDA_SUCCESS;  // adds no node
                CUgraphNodeParams params = of_memset(
                    {request.dst, request.pitch, request.value, request.element_size, request.width, request.height},
                    stream.context().handle());
                return append(branch, params);
            },
            [&](const Intake& run) { return run.fill(stream, request, wait); });
    }

    CUresult memory_operations(Stream& stream, const BatchRequest& request) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                CUgraphNodeParams params =
                    of_batch({stream.context().handle(), request.count,
                              const_cast<CUstreamBatchMemOpParams*>(request.operations), request.flags});
                return append(branch, params);
            },
            [&](const Intake& run) { return run.memory_operations(stream, request); });
    }

    CUresult host_function(Stream& stream, CUhostFn function, void* data) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                CUgraphNodeParams params = of_host({function, data});
                return append(branch, params);
            },
            [&](const Intake& run) { return run.host_function(stream, function, data); });
    }

    CUresult record(Stream& stream, Event& event, External external) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                if (external == External::kYes) {
                    CUgraphNodeParams params = of_record(event.handle());
                    return append(branch, params);
                }
                if (event.records() != nullptr) return unsupported(branch);
                branch.capture.drop_dead(branch.next);
                event.set_captured({branch.capture.id(), branch.next});
                return CUDA_SUCCESS;
            },
            [&](const Intake& run) { return run.record(stream, event, external); });
    }

    CUresult wait(Stream& stream, Event* event, External external) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                if (event == nullptr) {
                    branch.capture.invalidate();
                    return CUDA_ERROR_INVALID_HANDLE;
                }
                if (external == External::kYes) {
                    CUgraphNodeParams params = of_wait(event->handle());
                    return append(branch, params);
                }
                return wait_inside(branch, *event);
            },
            [&](const Intake& run) { return run.wait(stream, event, external); });
    }

    CUresult allocate(Stream& stream, MemoryPool& pool, std::size_t bytes, CUdeviceptr* out) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                *out = 0;
                if (bytes == 0) return CUDA_SUCCESS;  // adds no node
                CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
                params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
                params.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, pool.context().device()};
                params.alloc.bytesize = bytes;
                TRY(append(branch, params));
                *out = params.alloc.dptr;
                return CUDA_SUCCESS;
            },
            [&](const Intake& run) { return run.allocate(stream, pool, bytes, out); });
    }

    CUresult free(Stream& stream, CUdeviceptr address) const override {
        return with_branch(
            stream,
            [&](Branch& branch) {
                if (address == 0) return CUDA_SUCCESS;
                CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
                params.free.dptr = address;
                return append(branch, params);
            },
            [&](const Intake& run) { return run.free(stream, address); });
    }

    CUresult graph(Stream& stream, GraphExec* exec) const override {
        return conflict(stream, [&](const Intake& run) { return run.graph(stream, exec); });
    }
    CUresult upload(Stream& stream, GraphExec* exec) const override {
        return conflict(stream, [&](const Intake& run) { return run.upload(stream, exec); });
    }
    CUresult synchronize(Stream& stream, WaitLimit* limit) const override {
        return conflict(stream, [&](const Intake& run) { return run.synchronize(stream, limit); });
    }
    CUresult query(Stream& stream) const override {
        return conflict(stream, [&](const Intake& run) { return run.query(stream); });
    }

  private:
    // Rejects a call that is forbidden for a stream in a capture, whether the capture is valid or not.
    template <class Instead>
    static CUresult conflict(Stream& stream, Instead&& instead) {
        {
            std::lock_guard<std::mutex> lock(Capture::mutex());
            if (stream.branch != nullptr) return unsupported(*stream.branch);
        }
        return instead(run_intake());
    }

    // Rejects a launch. Dimensions that the device cannot run invalidate the capture; other wrong arguments do not.
    CUresult refuse_launch(Stream& stream, const KernelRequest& request, CUresult why) const {
        const bool breaks = KernelLaunch::check_shape(request.kernel, request.shape) != CUDA_SUCCESS;
        return with_branch(
            stream,
            [&](Branch& branch) {
                if (breaks) branch.capture.invalidate();
                return why;
            },
            [&](const Intake&) { return why; });
    }

    static CUresult wait_inside(Branch& branch, const Event& event) {
        const Ref<Milestone> latest = event.latest();
        if (!latest) return CUDA_SUCCESS;  // never recorded
        const CapturedPoint* const point = latest->captured();
        Capture* const other = point != nullptr ? Capture::find(point->capture_id) : nullptr;
        if (other == &branch.capture) {
            branch.next.add(point->dependencies);
            branch.capture.drop_dead(branch.next);
            return CUDA_SUCCESS;
        }
        branch.capture.invalidate();
        if (point == nullptr) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        if (other == nullptr || other->invalidated()) return CUDA_ERROR_INVALID_VALUE;
        other->invalidate();
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
};

// "When a blocking stream is capturing, the legacy stream is in an unusable state until the blocking stream capture is
// terminated [...] attempted use would have an implicit dependency on the capturing stream(s)" (cuda.h,
// cuStreamIsCapturing).
class RejectingIntake final : public Intake {
  public:
    CUresult refuse(Stream& stream, CUresult) const override { return bar(stream); }
    CUresult inspect(Stream& stream, Inspection) const override { return bar(stream); }
    CUresult kernel(Stream& stream, const KernelRequest&) const override { return bar(stream); }
    CUresult copy(Stream& stream, const CopyRequest&, Wait) const override { return bar(stream); }
    CUresult fill(Stream& stream, const FillRequest&, Wait) const override { return bar(stream); }
    CUresult memory_operations(Stream& stream, const BatchRequest&) const override { return bar(stream); }
    CUresult host_function(Stream& stream, CUhostFn, void*) const override { return bar(stream); }
    CUresult record(Stream& stream, Event&, External) const override { return bar(stream); }
    CUresult wait(Stream& stream, Event*, External) const override { return bar(stream); }
    CUresult allocate(Stream& stream, MemoryPool&, std::size_t, CUdeviceptr*) const override { return bar(stream); }
    CUresult free(Stream& stream, CUdeviceptr) const override { return bar(stream); }
    CUresult graph(Stream& stream, GraphExec*) const override { return bar(stream); }
    CUresult upload(Stream& stream, GraphExec*) const override { return bar(stream); }
    CUresult synchronize(Stream& stream, WaitLimit*) const override { return bar(stream); }
    CUresult query(Stream& stream) const override { return bar(stream); }

  private:
    static CUresult bar(Stream& stream) { return Capture::refuse_legacy_stream(stream.context()); }
};

}  // namespace

const Intake& record_intake() {
    static constexpr RecordIntake intake;
    return intake;
}

const Intake& rejecting_intake() {
    static constexpr RejectingIntake intake;
    return intake;
}

}  // namespace cgh
