# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""LoopControl: the stop word of an executable's loops, and their counters.

All loops of an executable read the same word. `cancel` first gives later launches another word, and then writes the one
that the launches so far read. The words are allocated in advance, as an allocation may wait for a loop that never ends.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, uint64_t

from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    NodeKind,
    NodeRecord,
    NodeSpec,
    ParameterChanges,
    ParameterProblem,
    PresentParameter,
    as_owner,
    list_loops,
    load_node,
    set_parameters,
)
from cuda_graphs.core.resources.device_scope cimport device_of_context, has_several_devices
from cuda_graphs.core.resources.handles cimport write_word
from cuda_graphs.graph.nodes.labels cimport given_name
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter
from cuda_graphs.graph.operands.stop_words cimport is_stop_word, new_words
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.memory.buffer cimport Buffer
from .loop_count import LoopCount

cdef object UNLIMITED = INT64_MAX

cdef enum:
    WORDS = 64  # cancelled launches that may be in flight


cdef class LoopControl:
    cdef int begin(
        self, const GraphExecHandle& exec, const vector[PresentParameter]& present, GraphBox* graph
    ) except -1:
        cdef vector[NodeRecord*] loops = list_loops(graph[0])
        cdef NodeRecord* loop
        cdef uint64_t handle = 0
        cdef size_t i
        self.counters = []
        self.parameters.clear()
        self.unknown.clear()
        if present.empty() and loops.empty():
            return 0
        conditions = set()
        for loop in loops:
            self.add_counter(loop)
            # A loop has no metadata if their allocation failed when it was added.
            conditions.add(loop.metadata.get().condition if loop.metadata.get() != NULL else 0)
        known = set()
        for i in range(present.size()):
            if is_stop_word(present[i].parameter, &handle) and (handle == 0 or handle in conditions):
                if handle != 0:  # the words of loops inside of tasks end no while node
                    known.add(handle)
                self.parameters.push_back(present[i].parameter)
        for handle in sorted(conditions - known):
            self.unknown.push_back(handle)
        if self.parameters.empty():
            return 0
        if self.words is None:
            self.words = words_for(graph)
        return self.use_word(exec, self.place)

    cdef int add_counter(self, NodeRecord* loop) except -1:
        name = given_name(loop)
        if name is not None and loop.metadata.get().counter:
            self.counters.append((name, <LoopCounter><PyObject*>loop.metadata.get().counter.get()))
        return 0

    cdef dict read_counters(self):
        cdef LoopCounter counter
        counts = {}
        for name, counter in self.counters:
            if name in counts:
                raise ValueError(f"two loops have the name {name!r}: give each loop a name of its own in while_loop()")
            iterations, limited = counter.read()
            counts[name] = LoopCount(iterations, limited != 0)
        return counts

    cdef list list_counts(self):
        cdef LoopCounter counter
        return [
            (name, counter.read()[0], None if counter.limit == UNLIMITED else counter.limit) for name, counter in self.counters
        ]

    cdef int use_word(self, const GraphExecHandle& exec, size_t place) except -1:
        cdef ParameterChanges changes
        cdef ParameterProblem problem
        cdef size_t i
        cdef bint done
        changes.resize(self.parameters.size())
        for i in range(changes.size()):
            changes[i].parameter = &self.parameters[i]
            changes[i].value.bits, changes[i].value.known = self.address(place), True
            changes[i].value.owner = as_owner(self.words._h)
        with nogil:
            done = set_parameters(exec, changes, &problem)
        if not done:
            check_attempt(problem.status, "give the loops of a graph the word that ends them")
        self.place = place
        return 0

    cdef CUdeviceptr address(self, size_t place):
        return self.words._address + 4 * place

    cdef int cancel(self, const GraphExecHandle& exec) except -1:
        cdef DeviceScope scope
        cdef size_t used = self.place, following = (self.place + 1) % WORDS
        if not self.unknown.empty():
            raise RuntimeError(
                f"the condition {self.unknown[0]:#x} of a loop is not set by a kernel of cuda_graphs.kernel, so cancel() cannot "
                "end the loop: set it with cg.set_condition in a kernel of Python, or give the loop a predicate"
            )
        if self.parameters.empty():
            return 0
        enter_device(scope, max(0, self.words.memory_resource.device_id))  # that of words in host memory is -1
        write(self.address(following), 0)
        self.use_word(exec, following)
        try:
            return write(self.address(used), 1)
        except BaseException:  # so that a later cancel() ends these launches
            self.use_word(exec, used)
            raise


cdef Buffer words_for(GraphBox* graph):
    """Return words on the device of the kernels that read them; in host memory if these are on several devices."""
    cdef DeviceScope scope
    cdef set devices = set()
    if has_several_devices():
        add_devices(graph, devices)
    if len(devices) == 1:
        enter_device(scope, devices.pop())
    return new_words(WORDS, len(devices) > 1)


cdef int add_devices(GraphBox* graph, set found) except -1:
    """Add the devices of the kernels that read stop words, in this graph and in those inside it."""
    cdef NodeRecord* record
    cdef GraphBox* inner
    cdef size_t i
    for i in range(graph.nodes.size()):
        record = &graph.nodes[i]
        if not record.is_alive() or not record.metadata:
            continue
        if record.kind == NodeKind.kKernel and reads_stop_word(record):
            found.add(device_of_kernel(record))
        for inner in record.metadata.get().inner:
            add_devices(inner, found)
    return 0


cdef bint reads_stop_word(NodeRecord* record):
    cdef uint64_t handle = 0
    if not record.metadata.get().parameters:
        return False
    for use in record.metadata.get().parameters.get().uses:
        if is_stop_word(use.parameter, &handle):
            return True
    return False


cdef int device_of_kernel(NodeRecord* record) except -2:
    cdef NodeSpec spec
    cdef CUresult status
    spec.begin(NodeKind.kKernel)
    with nogil:
        status = load_node(record.raw, spec)
    check_attempt(status, "find the device of a kernel that sets the condition of a loop")
    return device_of_context(spec.params.kernel.ctx)


cdef int write(CUdeviceptr address, unsigned int value) except -1:
    cdef CUresult status
    with nogil:
        status = write_word(address, value)
    return check_attempt(status, "write the word that ends the loops of a graph")
