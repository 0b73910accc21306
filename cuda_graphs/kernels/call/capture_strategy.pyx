# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that become nodes of a graph: of the graph that a stream captures, or of a definition.

The nodes of a call share a KernelCall, which gives all of them new arguments (graph/nodes/node_call.pyx).
"""

import weakref
from math import prod

from cuda_graphs.core.resources.device_scope cimport device_of_stream, has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.graph.nodes.node_call cimport NodeCall
from cuda_graphs.graph.nodes.sized_config cimport bind_call, follow_shapes
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.kernels.specialisation.readers.kept_arguments cimport graph_memory
from cuda_graphs.kernels.specialisation.readers.reader cimport Reader
from cuda_graphs.kernels.arrays.captures cimport is_captured
from cuda_graphs.kernels.specialisation.guards cimport Guards
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.task_size cimport follow_parameters
from cuda_graphs.kernels.specialisation.specialiser cimport HeapReading
from .strategy cimport Strategy

from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import NDArray as ArrayAnnotation
from cuda_graphs.compiler.language.annotations import OutsideName, Record
from cuda_graphs.graph.capture.captured_insertion_point import BorrowedCapture, CapturedInsertionPoint
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.nodes.access_ranges import span_of_memory
from cuda_graphs.graph.operands.parameter import Parameter
from cuda_graphs.kernels.graph.emission import Emission
from cuda_graphs.kernels.specialisation.readers.kept_arguments import KeptArgument, KeptMemory
from cuda_graphs.kernels.specialisation.readers.structures import argument_at
from cuda_graphs.kernels.shapes import fitting_block
from cuda_graphs.kernels.targets import is_early_target
from .call_parts import CallParts, EarlyTask


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

    def launch_of_all(self, args):
        """Return (config, Kernel, arguments) of a call that is one task, or the reason why it has more of them.

        The arguments stay as they are, so the code may rely on arrays that do not overlap now.
        """
        cdef KernelCall call = make_call(self, tuple(args), None, StreamHandle(), True)
        if call.code.artifact.plan != (0,):
            reasons = dict.fromkeys([why for _, why in call.code.artifact.fusion if why])
            return "; ".join(reasons) or f"they have {len(call.tasks)} tasks"
        (task,) = call.tasks
        return task.config, task.kernel, task.arguments


cdef class KernelCall(NodeCall):
    """A call of a kernel in a graph: its code, its arguments, and the memory of its temporary arrays."""

    cdef object emit(self, object start):
        """Add the nodes after `start`, and return the last of them, or `start`."""
        cdef DeviceScope scope
        enter_device(scope, self.device)
        if not self.calls and self.code.artifact.plan == (0,):
            return self.emit_task(start)
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

    def parts(self):
        """Return the CallParts, or the reason (a str) why the call shares its launch with no other."""
        cdef Specialiser of = self.strategy.specialiser
        cdef tuple args = tuple([value.as_array() if isinstance(value, KeptMemory) else value for value in self.kept])
        cdef list annotations = [(<Reader>reader).annotation for reader in of.readers]
        why = self.why_alone(of) or why_not_plain(of.names, annotations, args)
        if why:
            return why
        places = [place_of(kind, value) for kind, value in zip(annotations, args)]
        return CallParts(of.function, of.options, of.names, tuple(annotations), args, tuple(places))

    cdef str why_alone(self, Specialiser of):
        """Return the reason why the kernel of the call shares no launch, or ""."""
        if self.owner is not None or any([isinstance(name, OutsideName) for name in of.names]):
            return "uses arrays of an object"
        if of.mode is not None:
            return "is a gradient"
        if of.options.graph:
            return "is a graph kernel"
        if not of.options.fuse:
            return "has the option fuse=False"
        if self.configs:
            return "has a config of its own"
        if not (<Guards>self.code.guards).hold():
            return "uses values that have changed since it was added"
        return "" if self.code.artifact.plan == (0,) else f"has {len(self.launches)} tasks"

    def early_task(self, size_t task):
        """Return the EarlyTask of a task, or the reason (a str) why it begins after its predecessors."""
        cdef Specialisation code = self.code
        info = code.artifact.tasks[task]
        if self.launches[task].config.is_cooperative:
            return "is a cooperative launch"
        if not is_early_target(code.artifact.target, self.strategy.specialiser.options.fast_math):
            return "needs a device of compute capability 9.0 or higher"
        if not (<Guards>code.guards).hold():
            return "uses values that have changed since it was added"
        reads, writes = self.task_memory(task)
        only_read = {path: span for path, span in reads.items() if path not in info.writes}
        return EarlyTask(only_read, writes, lambda paths: self.early_kernel(task, paths))

    def task_memory(self, size_t task):
        """Return ({path: Span} of the arrays that a task reads, [Span] of those that it writes). None is unknown memory."""
        launch, info = self.launches[task], self.code.artifact.tasks[task]
        paths = [info.slots[number].path for number in info.declared[0]]
        reads = dict(zip(paths, map(span_of_memory, launch.reads)))
        return reads, [span_of_memory(value) for value in launch.writes]

    def early_kernel(self, size_t task, tuple paths):
        """Return the Kernel of an early launch of a task, or the reason why no such Kernel exists."""
        cdef Specialisation code = self.code
        cdef Specialisation other = code
        config = self.launches[task].config
        if code.artifact.target == "ptx":
            other = self.strategy.specialiser.early(code, paths)
        if not (<Guards>code.guards).hold():
            return "uses values that have changed since it was added"
        assert other.artifact.tasks[task].slots == code.artifact.tasks[task].slots, "early code takes other arguments"
        kernel, threads = other.kernels[task], prod(config.block)
        return kernel if fitting_block(kernel, threads) == threads else "would need more registers than its blocks have"

    cdef object emit_task(self, object start):
        """Add the node of a call with one task, as an Emission would, and return it."""
        task = self.tasks[0]
        config = bind_call(task.config, self, 0)
        node = start.launch(config, task.kernel, *task.arguments, reads=task.reads, writes=task.writes)
        self.conditions, self.tasks, self.calls = {}, None, None
        return node

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


cdef str why_not_plain(tuple names, list annotations, tuple args):
    """Return the reason why arguments are not plain arrays and numbers, or ""."""
    for name, kind, value in zip(names, annotations, args):
        if isinstance(kind, ArrayAnnotation):
            if isinstance(value, Parameter):
                return f"takes the named parameter {value.name!r}, whose array may change"
            if isinstance(value, int):
                return f"takes memory of the graph as {name!r}, whose array is no longer alive"
        elif not isinstance(kind, ScalarType):
            return f"takes {name!r}, which is neither an array nor a number"
    return ""


cdef object place_of(object kind, object value):
    """Return what identifies the array of an argument; None for a number."""
    cdef ArrayView view
    if not isinstance(kind, ArrayAnnotation):
        return None
    view = view_array(value, "argument")
    return id(value) if view is None else (view.address, view.dtype, view.is_bfloat16, view.shape, view.strides)


cdef KernelCall make_call(
    CaptureStrategy strategy, tuple args, KernelCall before, const StreamHandle& stream, bint is_fixed=False
):
    """Return the call with these arguments, on a captured stream or on none. It uses the temporary arrays of the call `before` it, if they fit.

    `is_fixed`: the nodes never get other arguments, so the code may rely on these.
    """
    cdef KernelCall self = KernelCall.__new__(KernelCall)
    cdef HeapReading reading = strategy.specialiser.read_to_heap(args, True)
    reading.r.in_graph = not is_fixed
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
        config = follow_parameters(code, i, task.config, leaves, owners)
        if config is not task.config:
            self.tasks[i] = task._replace(config=config)
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
    memory = [graph_memory(value) for value in task.arguments]  # what the task reads and writes is among them
    if not any(memory):
        return task
    arguments = tuple([value if found is None else found[0] for found, value in zip(memory, task.arguments)])
    reads, writes = ([graph_memory(value) or value for value in values] for values in (task.reads, task.writes))
    return task._replace(arguments=arguments, reads=reads, writes=writes)
