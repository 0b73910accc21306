# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""Replays: a kernel as one executable graph, which each call launches.

A call passes its arguments to the executable, which compares them with the present parameters of its nodes, and sets
only the nodes that differ, including nodes in bodies of conditional nodes (core/graphs/executable.hpp, launch_kernels).
Setting a node does not affect earlier launches (cuda.h, cuGraphExecNodeSetParams). The executable's lock makes the
setting and the launch of one call atomic.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from weakref import WeakSet

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUDA_ERROR_UNKNOWN,
    CUDA_SUCCESS,
    CUcontext,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    KernelArguments,
    NodeRecord,
    NodeSpec,
    add_kernel,
    launch_kernels,
)
from cuda_graphs.core.resources.handles cimport StreamHandle, note_launch, raw_of
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.waiting cimport wait_in_call
from cuda_graphs.graph.executable.executable cimport Graph
from cuda_graphs.graph.executable.loop_control cimport LoopControl
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.graph.nodes.spec cimport read_kernel
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.kernels.specialisation.specialisation cimport Source, Specialisation, kCondition

from cuda_graphs.compiler.artifact import EXCHANGE
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels import seeds
from .emission import ConditionSlot, Emission
from .host_calls import BodyRefusal

ctypedef const void* Pointer

cdef enum:
    FEW_TASKS = 16  # tasks and values of a call that fit on the C stack
    FEW_VALUES = 64


# The executables of all Replays.
cdef object replayed = WeakSet()


def is_replayed(graph):
    """Return True if a Graph belongs to a graph kernel. Its nodes have the arguments of the last call, and keep none alive."""
    return graph in replayed


cdef class Replay:
    """The executable graph of one specialisation of a kernel in one context."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Replay objects cannot be instantiated directly. Calls of graph kernels make them.")

    def __repr__(self):
        return f"<Replay of {self.code.name}: {self.count} nodes>"

    cdef int add_task(self, size_t number, object emission) except -1:
        """Let launches set the node of a task."""
        cdef NodeSpec spec
        cdef NodeRecord* record = (<InsertionPoint>emission.nodes[number])._record()
        cdef CUresult status
        launch = emission.launches[number]
        read_kernel(spec, launch.config, launch.kernel, emission.arguments(number))
        with nogil:
            status = add_kernel(self.executable, record[0], spec.params)
        if status:
            check_attempt(status, f"prepare {emission.nodes[number]!r} for new arguments")
        self.values += self.code.tasks[number].parameters.size()
        return 0

    cdef bint run(self, const Leaf* leaves, const StreamHandle& stream, int32_t* yielded) except -1:
        cdef uint64_t seed = <uint64_t>seeds.draw() if self.code.draws else 0
        cdef tuple guards = (<Graph>self.graph)._guards
        cdef Stream on = Stream._from_handle(stream) if guards else None
        cdef CUresult status
        self.note_stops()
        for guard in guards:
            guard.before_launch(self.graph, on)
        with nogil:
            if self.code.state < 0:
                status = self.submit(leaves, stream, seed)
            else:
                status = self.submit_and_read(leaves, stream, seed, yielded)
        if status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
            return False
        if self.code.kernels:
            note_launch(stream, (<Kernel>self.code.kernels[0])._h)
        if status:
            check_attempt(status, f"launch of kernel {self.code.name} on {Stream._from_handle(stream)!r}")
        for guard in guards:
            guard.after_launch(self.graph, on)
        return True

    cdef int note_stops(self) except -1:
        """Let the launch read the word that `cancel` of the graph sets."""
        cdef LoopControl loops = (<Graph>self.graph)._loops
        cdef size_t number
        for number in self.stops:
            self.temps[number] = loops.address(loops.place)
        return 0

    cdef CUresult submit(
        self, const Leaf* leaves, const StreamHandle& stream, uint64_t seed
    ) except? CUDA_ERROR_UNKNOWN nogil:
        cdef KernelArguments few_tasks[FEW_TASKS]
        cdef Pointer few_values[FEW_VALUES]
        cdef vector[KernelArguments] more_tasks
        cdef vector[Pointer] more_values
        cdef KernelArguments* task = few_tasks
        cdef KernelArguments* tasks = few_tasks
        cdef Pointer* value = few_values
        cdef const Source* source
        cdef size_t i, k
        if self.code.tasks.size() > FEW_TASKS:
            more_tasks.resize(self.code.tasks.size())
            task = tasks = more_tasks.data()
        if self.values > FEW_VALUES:
            more_values.resize(self.values)
            value = more_values.data()
        for i in range(self.code.tasks.size()):
            task.grid, task.values = self.code.grid_of(self.code.tasks[i], leaves), value
            for k in range(self.code.tasks[i].parameters.size()):
                source = &self.code.tasks[i].parameters[k]
                value[0] = NULL
                if source.origin != kCondition:  # conditions stay as they are
                    value[0] = self.code.place_of(source[0], leaves, self.temps.data(), &seed)
                value += 1
            task += 1
        return launch_kernels(self.executable, stream, tasks)

    cdef CUresult submit_and_read(
        self, const Leaf* leaves, const StreamHandle& stream, uint64_t seed, int32_t* yielded
    ) except? CUDA_ERROR_UNKNOWN nogil:
        """Launch, wait for the launch, and read the index of the checkpoint that yielded. The next launch resets it."""
        cdef CUstream raw = raw_of(stream)
        cdef CUresult status
        self.mutex.lock()
        try:
            status = self.submit(leaves, stream, seed)
            if status == CUDA_SUCCESS:
                status = wait_in_call(stream)
            if status == CUDA_SUCCESS:
                status = driver().cuMemcpyDtoHAsync(
                    yielded, self.temps[<size_t>self.code.state] + self.code.yielded, sizeof(int32_t), raw
                )
            return driver().cuStreamSynchronize(raw) if status == CUDA_SUCCESS else status
        finally:
            self.mutex.unlock()


cdef Replay build(Specialisation code, const Leaf* leaves, CUcontext context, tuple inputs, object owner):
    cdef Replay self = Replay.__new__(Replay)
    cdef size_t i
    self.code, self.context, self.inputs = code, context, inputs
    self.definition = GraphDef()
    calls = [] if code.calls is None else code.calls.bound(inputs)
    exchanged = calls[len(calls) - len(code.artifact.exchanged):]
    for call in exchanged:
        call.check_exchange()
    self.shared = share(self.definition, code, inputs, owner)
    self.memory = code.new_temps() if code.calls is None else code.graph_temps(tables_of(self.definition, code, inputs))
    for i, buffer in enumerate(self.memory):
        if isinstance(buffer, ConditionSlot):
            self.stops.push_back(i)
        self.temps.push_back(0 if isinstance(buffer, ConditionSlot) else buffer.handle)
    # The nodes have no access ranges, as each call can pass other arrays.
    launches = [each._replace(reads=(), writes=()) for each in code.launches(leaves, {}, self.memory)]
    try:
        emission = Emission(self.definition, launches, code.artifact.plan, code.artifact.early, calls[:len(calls) - len(exchanged)])
    except BodyRefusal as error:
        settle(code, inputs, owner, str(error))
        raise
    settle(code, inputs, owner, None)
    self.graph = self.definition.instantiate()
    replayed.add(self.graph)
    self.executable = (<Graph>self.graph)._h
    for i in range(code.tasks.size()):
        self.add_task(i, emission)
    self.count = emission.count
    return self


cdef int settle(Specialisation code, tuple inputs, object owner, refusal) except -1:
    """Let host objects decide whether the graph is used. Raise BodyRefusal if it is not."""
    for each in objects_of(code, inputs):
        if hasattr(each, "__cuda_graph_settle__"):
            found = each.__cuda_graph_settle__(owner, refusal)
            if found is not None and refusal is None:
                raise BodyRefusal(found)
    return 0


cdef dict tables_of(object definition, Specialisation code, tuple inputs):
    """Return the tables of the exchanges of a definition, by their paths."""
    number, paths = definition._definition_number(), {path for path, _ in code.artifact.temps}
    return {
        f"{EXCHANGE}.{path}": value.__cuda_graph_table__(number)
        for (kind, path, _), value in zip(code.calls.inputs, inputs)
        if kind == "object" and f"{EXCHANGE}.{path}" in paths
    }


cdef list objects_of(Specialisation code, tuple inputs):
    """Return the host objects of a call."""
    return [] if code.calls is None else [
        value for (kind, _, _), value in zip(code.calls.inputs, inputs) if kind == "object"
    ]


cdef list share(object definition, Specialisation code, tuple inputs, object owner):
    """Let host objects know that the graphs of one owner never run at the same time. Return what they keep for them."""
    number = definition._definition_number()
    objects = objects_of(code, inputs)
    return [each.__cuda_graph_share__(number, owner) for each in objects if hasattr(each, "__cuda_graph_share__")]
