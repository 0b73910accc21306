# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that become nodes of a graph: of the graph that a stream captures, or of a definition.

The nodes of a call share a KernelCall, which gives all of them new arguments (graph/nodes/node_call.pyx).
"""

import weakref

from cuda_graphs.core.resources.device_scope cimport device_of_stream, has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.graph.nodes.node_call cimport NodeCall
from cuda_graphs.graph.nodes.sized_config cimport bind_call, follow_shapes
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.arguments cimport Reader, graph_memory
from cuda_graphs.kernels.arrays.captures cimport is_captured
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.task_size cimport follow_parameters
from cuda_graphs.kernels.specialisation.specialiser cimport HeapReading
from .strategy cimport Strategy

from cuda_graphs.compiler.language.annotations import Record
from cuda_graphs.graph.capture.captured_insertion_point import BorrowedCapture, CapturedInsertionPoint
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.graph.emission import Emission
from cuda_graphs.kernels.specialisation.arguments import KeptArgument, argument_at


cdef class CaptureStrategy(Strategy):
    """Adds the nodes of a call to the graph that the stream captures."""

    cdef object call(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        # The nodes keep the arguments alive, and a graph cannot copy arrays in each launch.
        return self.run(code, r, stream, handle)

    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        cdef Stream captured = Stream._from_handle(handle)
        if self.specialiser.has_checkpoints and r.leaves[self.specialiser.start].bits:
            raise RuntimeError(
                f"{self.specialiser.name}.resume() on {captured!r}, which is being captured: a capture has no CheckpointStatus"
            )
        if is_captured(handle):
            self.add_captured(captured, <tuple>r.args)
        else:
            with BorrowedCapture(captured):
                self.add_captured(captured, <tuple>r.args)
        return None

    cdef int add_captured(self, Stream captured, tuple args) except -1:
        make_call(self, args, None, captured._h).emit(CapturedInsertionPoint(captured))
        return 0

    cdef list temporaries(self, Specialisation code, const Leaf* leaves, dict owners):
        return code.graph_temps({})

    def add_nodes(self, node, args):
        """Add a KernelNode for each task after `node`, and return the last node."""
        last = make_call(self, tuple(args), None, StreamHandle()).emit(node)
        return node.join() if last is node else last

    def add_part(self, node, args):
        """Add the nodes of a part after `node`. Return the last node, and the memory of the conditions that the part sets."""
        cdef KernelCall call = make_call(self, tuple(args), None, StreamHandle())
        last = call.emit(node)
        temps = dict(zip([path for path, _ in call.code.artifact.temps], call.temps))
        return node.join() if last is node else last, [temps[each.temp] for each in call.code.artifact.results]

    def single_node(self, config, args):
        """Return (config, Kernel, arguments, reads, writes) of a kernel with one task."""
        name = self.specialiser.name
        cdef KernelCall call = make_call(self, tuple(args), None, StreamHandle())
        if len(call.tasks) != 1 or call.code.artifact.plan != (0,):
            raise ValueError(
                f"{name}() has {len(call.tasks)} tasks, one for each loop at the top level and one for the statements "
                "between two loops: add the kernel with call(), which makes a node for each task"
            )
        if config is not None:
            call.configure(0, config)
        if call.code.artifact.asserts:  # a launch outside a graph does not keep the memory that asserts write to
            from cuda_graphs.kernels.debug.reports import keep_reports

            keep_reports(call.tasks[0].arguments)
        (task,) = call.bound_tasks()
        call.tasks = None  # they refer to memory of graphs
        return task.config, task.kernel, task.arguments, task.reads, task.writes


cdef class KernelCall(NodeCall):
    """A call of a kernel in a graph: its code, its arguments, and the memory of its temporary arrays."""

    cdef object emit(self, object start):
        """Add the nodes after `start`, and return the last of them, or `start`."""
        cdef DeviceScope scope
        enter_device(scope, self.device)
        definition = getattr(start, "graph", start) if self.calls else None
        before = definition.nodes() if isinstance(definition, GraphDef) else None
        try:
            emission = Emission(start, self.bound_tasks(), self.code.artifact.plan, calls=self.calls)
        except Exception:
            if before is not None:  # a host object refused its call: the definition stays as it was
                for added in definition.nodes() - before:
                    added.destroy()
            raise
        self.conditions = emission.conditions
        self.tasks = self.calls = None
        return emission.last

    cdef list bound_tasks(self):
        """Return the tasks with configs that make their nodes part of this call."""
        return [task._replace(config=bind_call(task.config, self, i)) for i, task in enumerate(self.tasks)]

    cdef int configure(self, size_t task, object config) except -1:
        """Give a task a config that the user has chosen. The kernel takes arrays of any shape."""
        if self.launches[task].config.is_cooperative:
            raise ValueError(
                f"{self.strategy.specialiser.name}() is one cooperative launch, which sets its own grid: leave out the config"
            )
        chosen = follow_shapes(config)
        self.configs = {**self.configs, task: chosen}
        self.launches[task] = self.launches[task]._replace(config=chosen)
        if self.tasks is not None:
            self.tasks[task] = self.tasks[task]._replace(config=chosen)
        return 0

    cdef NodeCall with_arguments(self, tuple args):
        cdef KernelCall made
        if self.owner is not None:
            owner = self.owner()
            if owner is None:
                raise RuntimeError(
                    f"{self.strategy.specialiser.name}(): the object of this method is gone, or takes no weak references: add another node"
                )
            args = (owner, *args)
        made = make_call(self.strategy, args, self, StreamHandle())
        if len(made.launches) != len(self.launches) or made.code.artifact.plan != self.code.artifact.plan:
            raise ValueError(
                f"{self.strategy.specialiser.name}(): arguments of these types need other nodes ({len(made.launches)} tasks "
                f"instead of {len(self.launches)}, or other control flow between them): make another call"
            )
        if made.inputs != self.inputs:
            raise ValueError(
                f"{self.strategy.specialiser.name}(): the call of a host object would get other arguments, which its node cannot "
                "get: make another call"
            )
        for task, config in self.configs.items():
            made.configure(task, config)
        made.conditions, made.tasks, made.calls = self.conditions, None, None
        return made

    cdef NodeCall with_config(self, size_t task, object config):
        cdef KernelCall made = KernelCall.__new__(KernelCall)
        made.take(self)
        made.device = self.device
        made.launches, made.conditions = list(self.launches), self.conditions
        made.configure(task, config)
        return made

    cdef int take(self, NodeCall other) except -1:
        cdef KernelCall call = <KernelCall>other
        self.strategy, self.code, self.temps, self.configs = call.strategy, call.code, call.temps, call.configs
        self.kept, self.owner, self.launches, self.inputs = call.kept, call.owner, call.launches, call.inputs
        return 0

    cdef tuple arguments(self):
        return tuple([value.restore() if isinstance(value, KeptArgument) else value for value in self.kept])


cdef KernelCall make_call(CaptureStrategy strategy, tuple args, KernelCall before, const StreamHandle& stream):
    """Return the call with these arguments, on a captured stream or on none. It uses the temporary arrays of the call `before` it, if they fit."""
    cdef KernelCall self = KernelCall.__new__(KernelCall)
    cdef HeapReading reading = strategy.specialiser.read_to_heap(args, True)
    cdef DeviceScope scope
    cdef Specialisation code = strategy.specialiser.find_on_device(scope, &reading.r, stream)
    cdef const Leaf* leaves = reading.r.leaves
    cdef dict owners = {}
    code.check_disjoint(leaves)
    if reading.r.foreign != NULL:
        (<ForeignArrays>reading.r.foreign).check_in_place(code.writes)
    for reader, value in zip(strategy.specialiser.readers, args):
        (<Reader>reader).add_owners(owners, value)
    code.note_changes(leaves, NULL, True)
    # The stacks of a gradient depend on its arguments.
    if before is not None and before.code is code and strategy.specialiser.mode is None:
        self.temps = before.temps
    else:
        self.temps = strategy.temporaries(code, leaves, owners)
    self.strategy, self.code, self.configs, self.device = strategy, code, {}, kNoDevice
    if has_several_devices():
        self.device = device_of_stream(stream) if stream and reading.r.device == kNoDevice else reading.r.device
    self.tasks = code.launches(leaves, owners, self.temps)
    self.inputs, self.calls = code.host_inputs(leaves, owners), []
    if code.calls is not None:
        readers = strategy.specialiser.readers
        self.calls = code.calls.bound(self.inputs, lambda path: argument_at(readers, args, path))
    for i, task in enumerate(self.tasks):
        self.tasks[i] = task._replace(config=follow_parameters(code, i, task.config, leaves, owners))
    self.launches = [without_nodes(task) for task in self.tasks]
    keep_arguments(self, args)
    return self


cdef int keep_arguments(KernelCall self, tuple args) except -1:
    """Keep the arguments for `KernelNode.args`, without references to objects that may own the graph."""
    cdef list readers = self.strategy.specialiser.readers
    cdef bint is_method = bool(readers) and isinstance((<Reader>readers[0]).annotation, Record)
    self.owner = None
    if is_method:
        try:
            self.owner = weakref.ref(args[0])
        except TypeError:  # an object that cannot be referred to weakly might own the graph
            self.owner = no_object
    kept = [(<Reader>reader).keep(value) for reader, value in zip(readers[is_method:], args[is_method:])]
    self.kept = tuple(kept)
    return 0


def no_object():
    """Stand for a reference to an object that is gone."""
    return None


cdef object without_nodes(object task):
    """Return a TaskLaunch without references to memory of graphs: a graph that owned its own nodes would never be destroyed."""
    arguments = tuple([(graph_memory(value) or (value,))[0] for value in task.arguments])
    reads, writes = ([graph_memory(value) or value for value in values] for values in (task.reads, task.writes))
    return task._replace(arguments=arguments, reads=reads, writes=writes)
