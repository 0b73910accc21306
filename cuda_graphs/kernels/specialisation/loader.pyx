# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loads the result of the compiler into the driver: from an Artifact to a Specialisation."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUfunction, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport raw_of, reserve_stack
from cuda_graphs.kernels.arrays.ndarray cimport NDArray
from cuda_graphs.objects.code.kernel cimport Kernel
from .specialisation cimport (
    COUNTED,
    MOST_STEPS,
    UNKNOWN,
    DisjointPair,
    Origin,
    Source,
    Span,
    Specialisation,
    Step,
    StepKind,
    Task,
    TripCount,
    kAdd,
    kBlock,
    kCall,
    kCondition,
    kConstant,
    kExtent,
    kFloorDivide,
    kIf,
    kLeaf,
    kMaximum,
    kMinimum,
    kMultiply,
    kRepeated,
    kRunTask,
    kSeed,
    kSubtract,
    kSwitch,
    kTemp,
    kWhile,
)

from cuda_graphs.compiler.artifact import OVERFLOW_PATH, STATE, YIELDED, host_calls
from cuda_graphs.compiler.passes.mask_loops import REPEATED
from cuda_graphs.core.driver.choice import runs_in_order
from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.kernels.arrays.ndarray import FIELD, address_of, find_field
from cuda_graphs.kernels.debug.reports import overflow_report
from cuda_graphs.kernels.graph.host_calls import HostCalls
from cuda_graphs.kernels.shapes import dynamic_shared, fitting_block, max_blocks, may_release_during_work
from cuda_graphs.kernels.targets import CODE_TYPES
from cuda_graphs.objects.code.object_code import make_object_code

cdef enum:
    MOST_WORKERS = 65536  # threads of a task with stacks
    CALLS_BEFORE_GRAPH = 3  # a graph takes longer to make than to launch
    TEMP_ALIGNMENT = 256  # bytes, of temporary arrays: the alignment of cuMemAlloc

cdef dict STEPS = {"while": <int>kWhile, REPEATED: <int>kRepeated, "if": <int>kIf, "switch": <int>kSwitch}
cdef dict OPERATIONS = {
    "add": <int>kAdd,
    "sub": <int>kSubtract,
    "mul": <int>kMultiply,
    "floor_div": <int>kFloorDivide,
    "min": <int>kMinimum,
    "max": <int>kMaximum,
}


cdef class Loader:
    """The state of loading one Artifact."""

    cdef Specialisation code
    cdef dict leaves   # indices of the leaves of the arguments, by path
    cdef dict fields   # the fields whose addresses are constants, as keys
    cdef dict temps    # numbers of the temporary arrays, by name
    cdef dict stacks   # numbers of the stacks of a gradient, by path
    cdef size_t calls  # calls of host objects so far

    cdef int add_temps(self) except -1:
        cdef size_t size
        for _, size in self.code.artifact.temps:
            self.code.temps.push_back(self.code.temp_bytes)
            self.code.temp_bytes += (size + TEMP_ALIGNMENT - 1) // TEMP_ALIGNMENT * TEMP_ALIGNMENT
        return 0

    cdef int add_task(self, info, Kernel kernel, shape) except -1:
        cdef Task task
        task.function = <CUfunction><void*>raw_of(kernel._h)  # cuda.h allows a CUkernel here
        cdef bint stacked = any([slot.path in self.stacks for slot in info.slots])
        task.block, task.max_blocks, task.shared, task.cooperative = 1, 1, dynamic_shared(kernel, info), False
        if info.resident_tasks:
            self.add_resident(task, info, kernel, shape)
        elif info.parallel:
            shape = shape.of(info)
            task.block = info.block_dim or shape.block
            if not info.fixed_block_dim:
                task.block = fitting_block(kernel, task.block)
            task.max_blocks = max_blocks(kernel, task.block, task.shared, shape.waves)
            if info.threads is not None and self.code.artifact.target == "x86":  # one thread runs a block on the CPU
                task.max_blocks = min(task.max_blocks, <unsigned int>info.threads)
            if stacked:
                task.max_blocks = max(<unsigned int>1, min(task.max_blocks, <unsigned int>(MOST_WORKERS // task.block)))
            self.add_trip_count(
                task.loops, info.iterations, info.axes, info.block_dim if info.fixed_block_dim else iterations_per_block(shape, task.block)
            )
        for slot in info.slots:
            add_source(task.parameters, self.source_of_slot(slot))
        self.code.tasks.push_back(task)
        return 0

    cdef int add_resident(self, Task& task, info, Kernel kernel, shape) except -1:
        """Set the grid of resident tasks so that all blocks are on the device at the same time."""
        resident = shape.resident(kernel, info)
        task.block, task.max_blocks, task.cooperative = resident.block, resident.max_blocks, True
        task.has_sums = any([each.has_sums for each in info.resident_tasks])
        for each in info.resident_tasks:
            if each.parallel:
                share = 1 if each.fixed_block_dim and task.block == 1 else task.block
                self.add_trip_count(task.loops, each.iterations, each.axes, share, resident.lone_iterations(each))
        is_busy = resident.many_tasks is not None and info.loop_tasks >= resident.many_tasks
        # All ranks must choose the same code for exchanges, and their loops may have other lengths.
        if (resident.is_sparse or is_busy) and not self.code.artifact.exchanged:
            self.code.is_sparse = self.code.is_sparse or resident.is_sparse
            self.code.has_many_tasks = self.code.has_many_tasks or is_busy
            self.code.in_resident.insert(self.code.in_resident.end(), task.loops.begin(), task.loops.end())
        return 0

    cdef int add_trip_count(self, vector[TripCount]& loops, iterations, axes, int64_t share, int64_t lone=0) except -1:
        cdef TripCount loop
        loop.share, loop.lone = share, lone
        loop.iterations = UNKNOWN if iterations is None else iterations
        if iterations is None and axes is not None:
            steps = self.bounds(axes)
            if steps is not None:
                loop.iterations = COUNTED
                for step in steps:
                    add_source(loop.count, step)
        loops.push_back(loop)
        return 0

    cdef int add_equal(self, pairs) except -1:
        cdef list steps = []
        for pair in pairs:
            for extent in pair:
                self.add_bound(extent, steps)
        for step in steps:
            add_source(self.code.equal, step)
        return 0

    cdef int add_large_loops(self, loops, shape) except -1:
        """Add the loops that may be large. A lone thread runs all loops in a fixed order."""
        if loops and not runs_in_order():
            for iterations, axes in loops:
                self.add_trip_count(self.code.large_loops, iterations, axes, 0)
        self.code.unordered = shape.unordered
        return 0

    cdef int add_steps(self, plan) except -1:
        cdef size_t at, block
        for step in plan:
            at = self.code.steps.size()
            if isinstance(step, int):
                self.add_step(kRunTask, step, None)
                continue
            if step[0] == "call":
                self.add_step(kCall, self.calls, None)
                self.calls += 1
                continue
            kind, name, initial, plans = step
            if kind == "parallel":  # the host runs sections one by one
                for inner in plans:
                    self.add_steps(inner)
                continue
            self.add_step(<StepKind><int>STEPS[kind], self.temps[name], initial)
            for inner in plans:
                block = self.code.steps.size()
                self.add_step(kBlock, 0, None)
                self.add_steps(inner)
                self.code.steps[block].end = self.code.steps.size()
            self.code.steps[at].end = self.code.steps.size()
        return 0

    cdef int add_step(self, StepKind kind, size_t number, initial) except -1:
        cdef Step step
        step.kind, step.number, step.initial, step.end = kind, number, -1 if initial is None else initial, 0
        self.code.steps.push_back(step)
        return 0

    cdef int add_pair(self, vector[DisjointPair]& pairs, tuple first, tuple second) except -1:
        cdef DisjointPair pair
        pair.first, pair.second = self.span_of(first), self.span_of(second)
        pairs.push_back(pair)
        return 0

    cdef int add_apart(self, pairs) except -1:
        cdef DisjointPair pair
        arrays = list(dict.fromkeys([array for each in pairs for array in each]))
        for array in arrays:
            self.code.compared.push_back(self.span_of(array))
        numbers = {array: number for number, array in enumerate(arrays)}
        for first, second in pairs:
            pair.first, pair.second = self.code.compared[numbers[first]], self.code.compared[numbers[second]]
            self.code.apart.push_back(pair)
        return 0

    cdef Span span_of(self, tuple array) except *:
        cdef Span span
        path, span.axes, span.size = array
        origin, span.number = self.source_of_array(path)
        span.origin = <Origin><int>origin
        return span

    cdef tuple source_of_slot(self, slot):
        """Return (origin, number, axis, width) of the value of a Slot."""
        if slot.path == "random.seed":
            self.code.draws = True
            return (<int>kSeed, 0, 0, 0)
        if slot.kind == "condition" and slot.path not in self.leaves:
            return (<int>kCondition, 0, 0, 0)
        if slot.path in self.stacks:  # three words after the temporary arrays: address, capacity, workers
            word = 0 if slot.kind == "pointer" else 1 + slot.axis
            return (<int>kTemp, len(self.temps) + 3 * self.stacks[slot.path] + word, 0, 0)
        if slot.path == OVERFLOW_PATH:
            return (<int>kConstant, self.report_constant(), 0, 0)
        if slot.path in self.temps:
            return (<int>kTemp, self.temps[slot.path], 0, 0)
        if slot.kind == "extent":
            return (<int>kExtent, self.leaves[slot.path], slot.axis, 0)
        return (*self.source_of_array(slot.path), slot.axis, 0)

    cdef tuple source_of_array(self, path):
        """Return (origin, number) of a leaf or of a field."""
        if path in self.leaves:
            return <int>kLeaf, self.leaves[path]
        field = find_field(path)
        self.fields[field] = None
        return <int>kConstant, self.constant(address_of(field))

    cdef list bounds(self, axes):
        """Return postfix steps that compute begin, end and step of each axis; None if there are too many steps."""
        cdef list steps = []
        for axis in axes:
            for bound in axis:
                self.add_bound(bound, steps)
        return steps if len(steps) <= MOST_STEPS else None

    cdef int add_bound(self, bound, list steps) except -1:
        if isinstance(bound, int):
            steps.append((<int>kConstant, self.constant(bound), 0, 0))
        elif bound[0] == "extent":
            steps.append((<int>kExtent, self.leaves[bound[1]], bound[2], 4))
        elif bound[0] == "scalar":
            type = SCALARS[bound[2]]
            steps.append((<int>kLeaf, self.leaves[bound[1]], 0, -type.size if type.kind == "int" else type.size))
        else:
            self.add_bound(bound[1], steps)
            self.add_bound(bound[2], steps)
            steps.append((OPERATIONS[bound[0]], 0, 0, 0))
        return 0

    cdef int constant(self, value) except -1:
        """Add a constant, an int of up to 64 bits, and return its number."""
        self.code.constants.push_back(<uint64_t>(value & 0xFFFFFFFFFFFFFFFF))
        return <int>self.code.constants.size() - 1

    cdef int report_constant(self) except -1:
        """Add the address of the overflow report as a constant, and return its number."""
        if self.code.report is None:
            self.code.report = overflow_report(self.code.name, self.code.artifact.gradient)
        return self.constant(self.code.report.handle)


cdef int device_of_fields(str name, tuple fields) except -2:
    cdef NDArray first, other
    if not fields or not has_several_devices():
        return kNoDevice
    first = fields[0]
    for other in fields:
        if other._place != first._place:
            raise ValueError(
                f"{name}() uses fields on two devices: {first._identify()} on device {first._place}, and {other._identify()} on "
                f"device {other._place}: make all fields of a kernel on one device"
            )
    return first._place


cdef int iterations_per_block(shape, block) except -1:
    """Return the iterations for each block of `block` threads, for loops whose blocks only divide the iterations."""
    return max(1, shape.share * block // shape.block)


cdef int add_source(vector[Source]& sources, tuple parts) except -1:
    cdef Source source
    source.origin, source.number, source.axis, source.width = <Origin><int>parts[0], parts[1], parts[2], parts[3]
    sources.push_back(source)
    return 0


def load_artifact(str name, artifact, shape, dict leaves, guards, labels=(), file="") -> Specialisation:
    """Load an Artifact of the compiler into the driver, and return its Specialisation.

    Args:
        shape: The Shape of parallel tasks.
        leaves: The indices of the leaves of the arguments, by path.
        guards: The Guards of the globals and closure variables that the code was compiled for.
        labels: The labels of the checkpoints.
        file: The file of the kernel, for errors.
    """
    cdef Specialisation code = Specialisation.__new__(Specialisation)
    cdef Loader loader = Loader.__new__(Loader)
    cdef CUresult status
    cdef size_t stack_bytes = artifact.stack_bytes
    if stack_bytes:
        with nogil:
            status = reserve_stack(stack_bytes)
        check_attempt(status, f"give each thread {stack_bytes} bytes of stack for the recursion in kernel {name}: "
                              "lower max_depth= of its functions")
    code.name, code.artifact, code.guards, code.leaf_numbers = name, artifact, guards, leaves
    image = make_object_code(artifact.image, CODE_TYPES[artifact.target], name, signatures={})
    code.kernels = tuple([image.get_kernel(task.entry) for task in artifact.tasks])
    steps = (*host_calls(artifact.plan), *artifact.exchanged)
    code.calls = HostCalls(steps, file) if steps else None
    code.writes = frozenset().union(*[task.writes for task in artifact.tasks])
    if code.calls is not None:
        code.writes |= code.calls.arrays
    code.changed_fields = [find_field(path) for path in code.writes if path.startswith(FIELD)]
    for path in code.writes & leaves.keys():
        code.changes.push_back(<size_t>leaves[path])
    stacks = () if artifact.gradient is None else artifact.gradient.stacks
    loader.code, loader.leaves, loader.fields = code, leaves, {}
    loader.temps = {temp: number for number, (temp, _) in enumerate(artifact.temps)}
    loader.stacks = {stack.path: number for number, stack in enumerate(stacks)}
    loader.add_temps()
    for info, kernel in zip(artifact.tasks, code.kernels):
        loader.add_task(info, kernel, shape)
    for first, second, *_ in artifact.disjoint:
        loader.add_pair(code.disjoint, first, second)
    loader.add_apart(artifact.apart)
    loader.add_equal(artifact.equal)
    loader.add_large_loops(artifact.large_loops, shape)
    loader.add_steps(artifact.plan if artifact.lowering == "host" else range(len(artifact.tasks)))
    code.is_straight = artifact.plan == tuple(range(len(artifact.tasks)))
    code.is_replayable = code.is_straight or artifact.lowering != "host"
    code.fields, code.device = tuple(loader.fields), kNoDevice
    code.place = device_of_fields(name, code.fields)
    code.needs_keep_alive = may_release_during_work()
    code.labels, code.state = labels, loader.temps.get(STATE, -1)
    code.yielded = YIELDED * sizeof(int32_t)
    code.waits_for_results = bool(artifact.results or artifact.asserts or code.state >= 0)
    code.prints = any([task.prints for task in artifact.tasks])
    code.may_be_graph = (
        shape.together is not None and len(artifact.tasks) >= shape.together and code.is_straight
        and not (stacks or code.prints or code.waits_for_results or code.calls is not None)
        and not code.draws  # a graph draws a seed when it is made, and random numbers are the same on all devices
    )
    code.calls_before_graph = CALLS_BEFORE_GRAPH
    return code
