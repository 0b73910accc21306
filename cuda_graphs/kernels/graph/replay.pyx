# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""Replays: a kernel as one executable graph, which each call launches.

A call compares its arguments with the current parameters of the nodes, and sets only the nodes that differ, including
nodes in bodies of conditional nodes. Setting a node does not affect earlier launches (cuda.h,
cuGraphExecNodeSetParams). A mutex, locked without the GIL, makes the setting and the launch of one call atomic.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcmp, memcpy

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUDA_ERROR_UNKNOWN,
    CUDA_SUCCESS,
    CUcontext,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.cuda_graph cimport graph_driver
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    NodeKind,
    NodeRecord,
    NodeSpec,
    ParameterChanges,
    ParameterProblem,
    launch,
    load_node,
)
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.graph.executable.executable cimport Graph
from cuda_graphs.graph.nodes.insertion_point cimport Place
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.kernels.call.specialisation cimport Specialisation

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels import seeds
from .emission import Emission


cdef class Replay:
    """The executable graph of one specialisation of a kernel in one context."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Replay objects cannot be instantiated directly. Calls of graph kernels make them.")

    def __repr__(self):
        return f"<Replay of {self.code.name}: {self.count} nodes>"

    cdef int note_node(self, size_t number, emission) except -1:
        """Add the TaskNode of a task, with the parameters that its node has in the definition."""
        cdef TaskNode task
        cdef NodeSpec spec
        cdef NodeRecord* record = (<Place>emission.nodes[number])._record()
        cdef CUresult status
        spec.begin(NodeKind.kKernel)
        with nogil:
            status = load_node(record.raw, spec)
        if status:
            check_attempt(status, f"read {emission.nodes[number]!r}")
        task.raw, task.params = record.raw, spec.params
        for slot in self.code.artifact.tasks[number].slots:
            condition = emission.conditions.get(slot.path) if slot.kind == "condition" else None
            task.sizes.push_back(0 if condition is not None else slot.size)
            task.values.push_back(0 if condition is None else <uint64_t>condition.handle)
        task.params.kernel.func = NULL  # it would take precedence over `kern`, and belong to the caller's context
        task.params.kernel.gridDimX = 0  # marks the node as changed for the first run
        self.nodes.push_back(task)
        return 0

    cdef int bind(self) except -1:
        """Set the parameter pointers of the nodes. The values must not move afterwards."""
        cdef TaskNode* node
        cdef size_t i, k
        for i in range(self.nodes.size()):
            node = &self.nodes[i]
            for k in range(node.values.size()):
                node.pointers.push_back(&node.values[k])
            node.params.kernel.kernelParams = node.pointers.data()
        return 0

    cdef bint run(self, const Leaf* leaves, const StreamHandle& stream, int32_t* yielded) except -1:
        cdef uint64_t seed = <uint64_t>seeds.draw() if self.code.draws else 0
        cdef CUresult status
        with nogil:
            self.mutex.lock()
            try:
                status = self.submit(leaves, stream, seed)
                if status == CUDA_SUCCESS and self.code.state >= 0:
                    status = self.look(stream, yielded)
            finally:
                self.mutex.unlock()
        if status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            return False
        if status:
            check_attempt(status, f"launch of kernel {self.code.name} on {Stream._from_handle(stream)!r}")
        return True

    cdef CUresult submit(
        self, const Leaf* leaves, const StreamHandle& stream, uint64_t seed
    ) except? CUDA_ERROR_UNKNOWN nogil:
        cdef ParameterChanges none
        cdef ParameterProblem problem
        cdef CUresult status = CUDA_SUCCESS
        cdef size_t i
        for i in range(self.nodes.size()):
            status = self.set_task(i, leaves, &seed)
            if status != CUDA_SUCCESS:
                return status
        return launch(self.executable, stream, none, &problem)

    cdef CUresult look(self, const StreamHandle& stream, int32_t* yielded) noexcept nogil:
        """Wait for the launch, and read the index of the checkpoint that yielded. The next launch resets it."""
        cdef CUstream raw = raw_of(stream)
        cdef CUresult status = driver().cuMemcpyDtoHAsync(
            yielded, self.temps[<size_t>self.code.state] + self.code.yielded, sizeof(int32_t), raw
        )
        return driver().cuStreamSynchronize(raw) if status == CUDA_SUCCESS else status

    cdef CUresult set_task(self, size_t number, const Leaf* leaves, const uint64_t* seed) noexcept nogil:
        cdef TaskNode* node = &self.nodes[number]
        cdef unsigned int grid = self.code.grid_of(self.code.tasks[number], leaves)
        cdef bint changed = grid != node.params.kernel.gridDimX
        cdef const void* value
        cdef CUresult status
        cdef size_t i
        for i in range(node.sizes.size()):
            if node.sizes[i] == 0:
                continue
            value = self.code.place_of(self.code.tasks[number].parameters[i], leaves, self.temps.data(), seed)
            if memcmp(&node.values[i], value, node.sizes[i]) != 0:
                memcpy(&node.values[i], value, node.sizes[i])
                changed = True
        if not changed:
            return CUDA_SUCCESS
        node.params.kernel.gridDimX = grid
        status = graph_driver().cuGraphExecNodeSetParams(raw_of(self.executable), node.raw, &node.params)
        if status != CUDA_SUCCESS:
            node.params.kernel.gridDimX = 0  # marks the node as changed for the next run
        return status


cdef size_t count_nodes(definition) except? 0:
    """Return the number of nodes, including nodes in bodies."""
    cdef size_t count = 0
    for node in definition.nodes():
        count += 1
        for body in getattr(node, "branches", ()):
            count += count_nodes(body)
    return count


cdef Replay build(Specialisation code, const Leaf* leaves, CUcontext context):
    cdef Replay self = Replay.__new__(Replay)
    cdef size_t i
    self.code, self.context = code, context
    self.memory = code.new_temps()
    for buffer in self.memory:
        self.temps.push_back(buffer.handle)
    self.definition = GraphDef()
    # The nodes have no access ranges, as each call can pass other arrays.
    launches = [(*launched[:3], (), ()) for launched in code.launches(leaves, {}, self.memory)]
    emission = Emission(self.definition, launches, code.artifact.plan, code.artifact.early)
    for i in range(code.tasks.size()):
        self.note_node(i, emission)
    self.bind()
    self.graph = self.definition.instantiate()
    self.executable = (<Graph>self.graph)._h
    self.count = count_nodes(self.definition)
    return self
