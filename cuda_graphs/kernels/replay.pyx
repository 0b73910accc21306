# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""A kernel as one executable graph, which is launched again and again.

What a call gives is compared with what the nodes were set to: only nodes for which something has changed are set, in bodies
of conditional nodes as elsewhere. Setting a node does not touch launches in flight (cuda.h, cuGraphExecNodeSetParams). A
mutex, taken without the GIL, keeps the setting and the launch of one call together.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcmp, memcpy

from cuda_graphs._driver.cuda cimport (
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_UNKNOWN, CUDA_SUCCESS, CUcontext, CUresult, CUstream,
    driver,
)
from cuda_graphs._driver.cuda_graph cimport graph_driver
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.graph_handles cimport (
    NodeKind, NodeRecord, NodeSpec, ParameterChanges, ParameterProblem, launch, load_node,
)
from cuda_graphs._handles.handles cimport StreamHandle, raw_of
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.graph.exec cimport Graph
from cuda_graphs.graph.place cimport Place
from cuda_graphs.kernels.reading cimport Leaf
from cuda_graphs.kernels.specialisation cimport Specialisation

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels import seeds
from cuda_graphs.kernels.emission import Emission


cdef class Replay:
    """The executable graph of one specialisation of a kernel in one context."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Replay objects are made by graph kernels when they are called")

    def __repr__(self):
        return f"<Replay of {self.code.name}: {self.count} nodes>"

    cdef int note_node(self, size_t number, emission) except -1:
        """Take over what the node of a task was made of."""
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
        task.params.kernel.func = NULL  # it would go before `kern`, and be of the context of whoever calls
        task.params.kernel.gridDimX = 0  # the first run is a change
        self.nodes.push_back(task)
        return 0

    cdef int bind(self) except -1:
        """Point the parameters of the nodes to their values, which stay where they are from now on."""
        cdef TaskNode* node
        cdef size_t i, k
        for i in range(self.nodes.size()):
            node = &self.nodes[i]
            for k in range(node.values.size()):
                node.pointers.push_back(&node.values[k])
            node.params.kernel.kernelParams = node.pointers.data()
        return 0

    cdef bint run(self, const Leaf* leaves, Stream stream, int32_t* yielded) except -1:
        cdef StreamHandle on = stream._h  # a copy: another thread may close the stream meanwhile
        cdef uint64_t seed = <uint64_t>seeds.draw() if self.code.draws else 0
        cdef CUresult status
        with nogil:
            self.mutex.lock()
            try:
                status = self.submit(leaves, on, seed)
                if status == CUDA_SUCCESS and self.code.state >= 0:
                    status = self.look(on, yielded)
            finally:
                self.mutex.unlock()
        if status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            return False
        if status:
            check_attempt(status, f"launch of kernel {self.code.name} on {stream!r}")
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
        """Wait for the launch: which checkpoint has yielded. Before the next launch, which begins with none."""
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
            node.params.kernel.gridDimX = 0  # whatever comes next is a change
        return status


cdef size_t count_nodes(definition) except? 0:
    """Nodes, those of bodies included."""
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
    launches = [(*launched[:3], (), ()) for launched in code.launches(leaves, {}, self.memory)]  # what is touched will change
    emission = Emission(self.definition, launches, code.artifact.plan, code.artifact.early)
    for i in range(code.tasks.size()):
        self.note_node(i, emission)
    self.bind()
    self.graph = self.definition.instantiate()
    self.executable = (<Graph>self.graph)._h
    self.count = count_nodes(self.definition)
    return self
