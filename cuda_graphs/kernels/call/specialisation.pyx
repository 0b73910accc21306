# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""Code for one signature of a kernel, loaded into the driver, and its launch.

Each task is one launch, in stream order. A launch passes the driver pointers to the values in place: the leaves of the
arguments, the constants, and the addresses of temporary memory. It copies no values and builds no objects.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint16_t, uint32_t, uint64_t, uint8_t, uintptr_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_SUCCESS,
    CUdeviceptr,
    CUfunction,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.arrays.ndarray cimport Changes, NDArray, note_change, writer_of
from cuda_graphs.kernels.arrays.reading cimport Leaf

from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.code.object_code import make_object_code
from cuda_graphs.compiler.artifact import OVERFLOW_PATH, REPORT, STATE, YIELDED
from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.kernels import seeds
from cuda_graphs.kernels.graph.checkpoints import status_of
from cuda_graphs.kernels.graph.emission import ConditionSlot, TaskLaunch
from cuda_graphs.kernels.arrays.ndarray import FIELD, address_of, find_field
from cuda_graphs.kernels.debug.reports import overflow_report
from cuda_graphs.kernels.targets import (
    CODE_TYPES,
    current_device,
    dynamic_shared,
    memory_may_go,
    most_blocks,
)
from cuda_graphs.kernels.graph.temporaries import new_memory

ctypedef const void* Pointer

cdef enum:
    UNKNOWN = -2
    COUNTED = -1
    MOST_STEPS = 32  # values and operations of a count
    MOST_PARAMETERS = 64  # parameters of an entry that fit on the C stack
    MOST_WORKERS = 65536  # threads of a task with stacks
    TEMP_ALIGNMENT = 256  # bytes, of temporary arrays: the alignment of cuMemAlloc


cdef class Specialisation:
    """Code for one signature of a kernel."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Specialisation objects cannot be instantiated directly. Calls of kernels make them.")

    def __repr__(self):
        return f"<Specialisation of {self.name} for {self.artifact.target}: {len(self.kernels)} tasks>"

    cdef unsigned int grid_of(self, const Task& task, const Leaf* leaves) noexcept nogil:
        cdef int64_t blocks = 1
        cdef int64_t iterations
        cdef const Trips* loop
        cdef size_t i
        for i in range(task.loops.size()):
            loop = &task.loops[i]
            iterations = self.count(loop[0], leaves) if loop.iterations == COUNTED else loop.iterations
            if iterations == UNKNOWN:
                return task.most
            blocks = max(blocks, iterations // loop.share + (iterations % loop.share != 0))
        return <unsigned int>min(blocks, <int64_t>task.most)

    cdef int64_t count(self, const Trips& loop, const Leaf* leaves) noexcept nogil:
        """Return the number of iterations. Overflow is harmless, as the number only sizes the grid."""
        cdef int64_t stack[MOST_STEPS]
        cdef int at = 0
        cdef const Source* step
        cdef size_t i
        for i in range(loop.count.size()):
            step = &loop.count[i]
            if step.origin >= kAdd:
                at -= 1
                stack[at - 1] = combined(step.origin, stack[at - 1], stack[at])
            else:
                stack[at] = <int64_t>self.constants[step.number] if step.origin == kConstant else number_of(step[0], leaves)
                at += 1
        cdef int64_t total = 1
        cdef int64_t begin, end, stride
        for i in range(<size_t>at // 3):
            begin, end, stride = stack[3 * i], stack[3 * i + 1], stack[3 * i + 2]
            if stride < 0:
                begin, end, stride = end, begin, -stride
            if end <= begin:
                return 0
            total *= (end - begin + stride - 1) // stride
        return total

    cdef int note_changes(self, const Leaf* leaves, CUstream stream, bint in_graph) except -1:
        cdef uintptr_t writer = writer_of(stream)
        cdef NDArray field
        cdef Changes* changes
        cdef size_t i
        for i in range(self.changes.size()):
            changes = leaves[self.changes[i]].changes
            note_change(changes, writer)
            if in_graph and changes != NULL:
                changes.version = 0
        for field in self.changed_fields:
            note_change(&field._changes, writer)
            if in_graph:
                field._changes.version = 0
        return 0

    cdef int launch(self, const Leaf* leaves, Stream stream, const vector[uint64_t]* stacks) except -1:
        cdef Buffer memory = None
        cdef CUdeviceptr temps = 0
        if self.temp_bytes:
            memory = allocate(self.temp_bytes, stream)
            temps = memory._address
        return self.run(leaves, stream, temps, stacks)

    cdef int run(self, const Leaf* leaves, Stream stream, CUdeviceptr temps, const vector[uint64_t]* stacks) except -1:
        cdef StreamHandle h = stream._h  # a copy: another thread may close the stream meanwhile
        cdef CUstream raw = raw_of(h)
        cdef uint64_t seed = <uint64_t>seeds.draw() if self.draws else 0
        cdef CUresult status
        cdef size_t failed = 0
        with nogil:
            status = self.submit(leaves, raw, temps, stacks, seed, &failed)
        if status == CUDA_ERROR_INVALID_CONTEXT and failed == 0:
            current_device()  # sets the current context of a new thread
            with nogil:
                status = self.submit(leaves, raw, temps, stacks, seed, &failed)
        return check_attempt(status, f"launch of task {failed} of kernel {self.name} on {stream!r}") if status else 0

    cdef CUresult submit(
        self, const Leaf* leaves, CUstream stream, CUdeviceptr temps, const vector[uint64_t]* stacks, uint64_t seed,
        size_t* failed,
    ) noexcept nogil:
        cdef vector[uint64_t] addresses
        cdef CUresult status = CUDA_SUCCESS
        cdef Launching now
        cdef size_t i
        for i in range(self.temps.size()):
            addresses.push_back(temps + self.temps[i])
        if stacks != NULL:
            for i in range(stacks.size()):
                addresses.push_back(stacks[0][i])
        now.leaves, now.stream, now.temps, now.seed, now.failed = leaves, stream, addresses.data(), &seed, 0
        for i in range(self.steps.size()):
            if self.steps[i].initial >= 0 and status == CUDA_SUCCESS:
                status = driver().cuMemsetD32Async(
                    addresses[self.steps[i].number], <unsigned int>self.steps[i].initial, 1, stream
                )
        if status == CUDA_SUCCESS:
            status = self.follow(0, self.steps.size(), &now)
        failed[0] = now.failed
        return status

    cdef CUresult launch_task(self, size_t number, Launching* now) noexcept nogil:
        cdef Pointer pointers[MOST_PARAMETERS]
        cdef vector[Pointer] more
        cdef const Pointer* given = pointers
        cdef const Task* task = &self.tasks[number]
        cdef size_t k
        if task.parameters.size() > MOST_PARAMETERS:
            more.resize(task.parameters.size())
            given = more.data()
        for k in range(task.parameters.size()):
            (<Pointer*>given)[k] = self.place_of(task.parameters[k], now.leaves, now.temps, now.seed)
        now.failed = number
        return driver().cuLaunchKernel(
            task.function, self.grid_of(task[0], now.leaves), 1, 1, task.block, 1, 1, task.shared, now.stream, <void**>given,
            NULL,
        )

    cdef CUresult follow(self, size_t begin, size_t end, Launching* now) noexcept nogil:
        """Execute the steps from `begin` to `end`."""
        cdef CUresult status = CUDA_SUCCESS
        cdef size_t at = begin
        while at < end and status == CUDA_SUCCESS:
            if self.steps[at].kind == kRunTask:
                status = self.launch_task(self.steps[at].number, now)
                at += 1
            else:
                status = self.follow_conditional(at, now)
                at = self.steps[at].end
        return status

    cdef CUresult follow_conditional(self, size_t at, Launching* now) noexcept nogil:
        """Execute the blocks that the condition of a conditional selects; the host reads each condition back."""
        cdef const Step* of = &self.steps[at]
        cdef CUresult status
        cdef uint32_t state = 0
        cdef size_t block, left
        while True:
            status = driver().cuMemcpyDtoHAsync(&state, now.temps[of.number], sizeof(state), now.stream)
            if status == CUDA_SUCCESS:
                status = driver().cuStreamSynchronize(now.stream)
            if status != CUDA_SUCCESS or (of.kind == kWhile and state == 0):
                return status
            block, left = at + 1, state if of.kind == kSwitch else <size_t>(of.kind == kIf and state == 0)
            while left and block < of.end:
                block, left = self.steps[block].end, left - 1
            if block < of.end:
                status = self.follow(block + 1, self.steps[block].end, now)
            if status != CUDA_SUCCESS or of.kind != kWhile:
                return status

    cdef const void* place_of(
        self, const Source& source, const Leaf* leaves, const uint64_t* temps, const uint64_t* seed
    ) noexcept nogil:
        if source.origin == kLeaf:
            return &leaves[source.number].bits
        if source.origin == kExtent:
            return &leaves[source.number].extents[source.axis]
        if source.origin == kConstant:
            return &self.constants[source.number]
        return &temps[source.number] if source.origin == kTemp else seed

    cdef int check_apart(self, const Leaf* leaves) except -1:
        cdef size_t i
        for i in range(self.apart.size()):
            if self.overlap(self.apart[i].first, self.apart[i].second, leaves):
                (first, _, _), (second, _, _), one, other = self.artifact.disjoint[i]
                raise ValueError(
                    f"{self.name}(): {first!r} and {second!r} share memory, and a section of cg.graph_parallel writes one "
                    f"array while another section uses the other array (lines {one} and {other}): pass arrays that do not overlap"
                )
        return 0

    cdef bint overlap(self, const Span& first, const Span& second, const Leaf* leaves) noexcept nogil:
        cdef uint64_t a = self.begin_of(first, leaves), b = self.begin_of(second, leaves)
        # 0: no array, or an array that comes with a launch of the graph
        return a != 0 and b != 0 and a < b + size_of(second, leaves) and b < a + size_of(first, leaves)

    cdef uint64_t begin_of(self, const Span& span, const Leaf* leaves) noexcept nogil:
        return self.constants[span.number] if span.origin == kConstant else leaves[span.number].bits

    cdef list new_temps(self):
        """Return memory for the temporary arrays of a graph."""
        return new_memory(self.name, self.artifact)

    cdef list launches(self, const Leaf* leaves, dict owners, list temps):
        cdef size_t i
        if self.artifact.results:
            raise ValueError(
                f"kernel {self.name} returns a value, which a graph cannot return: write it to an array of one element"
            )
        seed = seeds.draw() if self.draws else 0
        found = []
        for i in range(self.tasks.size()):
            info = self.artifact.tasks[i]
            slots = enumerate(info.slots)
            values = tuple([self._value(slot, i, k, leaves, owners, temps, seed) for k, slot in slots])
            blocks = self.tasks[i].most if self.waits(i, owners) else self.grid_of(self.tasks[i], leaves)
            cooperative = bool(self.tasks[i].cooperative)
            config = LaunchConfig(
                grid=blocks, block=self.tasks[i].block, shmem_size=self.tasks[i].shared, is_cooperative=cooperative
            )
            arrays = {s.path: v for s, v in zip(info.slots, values) if s.kind == "pointer"}
            arrays.pop(REPORT, None)  # no other node accesses it
            arrays.pop(OVERFLOW_PATH, None)
            reads, writes = ([arrays[path] for path in sorted(paths & arrays.keys())] for paths in (info.reads, info.writes))
            found.append(TaskLaunch(config, self.kernels[i], values, reads, writes))
        return found

    cdef bint waits(self, size_t task, dict owners) except -1:
        """Return True if the number of iterations comes with a launch of the graph."""
        cdef Trips loop
        cdef Source step
        for loop in self.tasks[task].loops:
            for step in loop.count:
                if step.origin == kLeaf and step.number in owners:
                    return True
        return False

    cdef object _value(self, slot, size_t task, size_t k, const Leaf* leaves, dict owners, list temps, seed):
        """Return the argument of a node for one parameter: the owner of memory, or an int with the bits of a number."""
        cdef Source source = self.tasks[task].parameters[k]
        cdef uint64_t bits
        if source.origin == kSeed:
            return seed
        if source.origin == kCondition:
            return ConditionSlot(slot.path)
        if source.origin == kTemp:
            return temps[source.number]
        if source.origin == kConstant:
            return self.report if slot.path == OVERFLOW_PATH else (<NDArray>find_field(slot.path))._buffer
        if source.origin == kExtent:
            return leaves[source.number].extents[source.axis]
        if source.number in owners:
            return owners[source.number]
        bits = leaves[source.number].bits
        return bits & ((<uint64_t>1 << (8 * <int>slot.size)) - 1) if slot.size < 8 else bits

    cdef object launch_for_results(self, const Leaf* leaves, Stream stream, const vector[uint64_t]* stacks):
        import numpy as np

        cdef Buffer memory = allocate(self.temp_bytes, stream)
        if self.artifact.asserts:
            memory.fill(0, stream=stream)
        self.run(leaves, stream, memory._address, stacks)
        host = np.empty(self.temp_bytes, np.uint8)
        cdef uintptr_t to = host.ctypes.data
        cdef CUdeviceptr source = memory._address
        cdef size_t size = self.temp_bytes
        cdef CUstream raw = raw_of(stream._h)
        cdef CUresult status
        with nogil:
            status = driver().cuMemcpyAsync(<CUdeviceptr>to, source, size, raw)
        check_attempt(status, f"read the results of kernel {self.name}")
        stream.sync()
        if self.artifact.asserts:
            self._check(host)
        if self.state >= 0:
            return status_of(self.labels, int(self._temp(host, STATE).view("i4")[YIELDED]))
        values = [self._result(host, result) for result in self.artifact.results]
        if not values:
            return None
        return values[0] if len(values) == 1 else tuple(values)

    def _temp(self, host, name):
        """Return the bytes of a temporary array."""
        names = [each for each, _ in self.artifact.temps]
        number = names.index(name)
        begin = self.temps[number]
        return host[begin : begin + self.artifact.temps[number][1]]

    def _result(self, host, result):
        from cuda_graphs.kernels.arrays.dtypes import device_dtype, from_device

        element = self._temp(host, result.temp)[: result.type.size].view(device_dtype(result.type))
        return from_device(element, result.type)[0].item()

    def _check(self, host):
        """Raise the error in the report of a kernel with debug, if there is an error."""
        from cuda_graphs.compiler.passes.report import failed_assert
        from cuda_graphs.kernels.debug.faults import error_of

        found = failed_assert(self.artifact.asserts, self._temp(host, REPORT).view("i8").tolist())
        if found is not None:
            raise error_of(self.name, *found)


cdef Buffer allocate(size_t size, Stream stream):
    return current_device().memory_resource.allocate(size, stream=stream)


cdef uint64_t size_of(const Span& span, const Leaf* leaves) noexcept nogil:
    cdef uint64_t size = span.size
    cdef int axis
    for axis in range(span.axes):
        size *= <uint64_t>leaves[span.number].extents[axis]
    return size


cdef int64_t combined(Origin how, int64_t a, int64_t b) noexcept nogil:
    if how == kMultiply:
        return <int64_t>(<uint64_t>a * <uint64_t>b)
    return <int64_t>(<uint64_t>a + <uint64_t>b) if how == kAdd else <int64_t>(<uint64_t>a - <uint64_t>b)


cdef int64_t number_of(const Source& source, const Leaf* leaves) noexcept nogil:
    if source.origin == kExtent:
        return leaves[source.number].extents[source.axis]
    cdef uint64_t bits = leaves[source.number].bits
    if source.width == -4:
        return <int32_t>bits
    if source.width == -2:
        return <int16_t>bits
    if source.width == -1:
        return <int8_t>bits
    if source.width == 4:
        return <uint32_t>bits
    if source.width == 2:
        return <uint16_t>bits
    return <uint8_t>bits if source.width == 1 else <int64_t>bits


def load(str name, artifact, shape, dict leaves, guards, labels=()) -> Specialisation:
    """Load an Artifact of the compiler into the driver, and return its Specialisation.

    Args:
        shape: The Shape of parallel tasks.
        leaves: The indices of the leaves of the arguments, by path.
        guards: The Guards of the captured values.
        labels: The labels of the checkpoints.
    """
    cdef Specialisation self = Specialisation.__new__(Specialisation)
    self.name, self.artifact, self.guards, self.leaf_numbers = name, artifact, guards, leaves
    code = make_object_code(artifact.image, CODE_TYPES[artifact.target], name)
    self.kernels = tuple([code.get_kernel(task.entry) for task in artifact.tasks])
    self.writes = frozenset().union(*[task.writes for task in artifact.tasks])
    self.changed_fields = [find_field(path) for path in self.writes if path.startswith(FIELD)]
    for path in self.writes & leaves.keys():
        self.changes.push_back(<size_t>leaves[path])
    cdef size_t size
    for _, size in artifact.temps:
        self.temps.push_back(self.temp_bytes)
        self.temp_bytes += (size + TEMP_ALIGNMENT - 1) // TEMP_ALIGNMENT * TEMP_ALIGNMENT
    maker = SourceMaker(self, leaves)
    for info, kernel in zip(artifact.tasks, self.kernels):
        add_task(self, maker, info, kernel, shape)
    for first, second, *_ in artifact.disjoint:
        add_apart(self, maker, first, second)
    add_steps(self, maker, artifact.plan if artifact.lowering == "host" else range(len(artifact.tasks)))
    self.is_straight = artifact.plan == tuple(range(len(artifact.tasks)))
    self.is_replayable = self.is_straight or artifact.lowering != "host"
    self.fields = tuple(maker.fields)
    self.leaves_memory = memory_may_go()
    names = [temp for temp, _ in artifact.temps]
    self.labels, self.state = labels, names.index(STATE) if STATE in names else -1
    self.yielded = YIELDED * sizeof(int32_t)
    self.answers = bool(artifact.results or artifact.asserts or self.state >= 0)
    self.prints = any([task.prints for task in artifact.tasks])
    return self


STEPS = {"while": <int>kWhile, "if": <int>kIf, "switch": <int>kSwitch}


cdef int add_steps(Specialisation self, maker, plan) except -1:
    cdef size_t at, block
    for step in plan:
        at = self.steps.size()
        if isinstance(step, int):
            add_step(self, kRunTask, step, None)
            continue
        kind, name, initial, plans = step
        if kind == "parallel":  # the host runs sections one by one
            for inner in plans:
                add_steps(self, maker, inner)
            continue
        add_step(self, <StepKind><int>STEPS[kind], maker.temps[name], initial)
        for inner in plans:
            block = self.steps.size()
            add_step(self, kBlock, 0, None)
            add_steps(self, maker, inner)
            self.steps[block].end = self.steps.size()
        self.steps[at].end = self.steps.size()
    return 0


cdef int add_step(Specialisation self, StepKind kind, size_t number, initial) except -1:
    cdef Step step
    step.kind, step.number, step.initial, step.end = kind, number, -1 if initial is None else initial, 0
    self.steps.push_back(step)
    return 0


cdef int add_apart(Specialisation self, maker, tuple first, tuple second) except -1:
    cdef Apart pair
    pair.first, pair.second = span_of(maker, first), span_of(maker, second)
    self.apart.push_back(pair)
    return 0


cdef Span span_of(maker, tuple array) except *:
    cdef Span span
    path, span.axes, span.size = array
    origin, span.number = maker.array(path)
    span.origin = <Origin><int>origin
    return span


cdef int add_task(Specialisation self, maker, info, Kernel kernel, shape) except -1:
    cdef Task task
    task.function = <CUfunction><void*>raw_of(kernel._h)  # cuda.h allows a CUkernel here
    cdef bint stacked = any([slot.path in maker.stacks for slot in info.slots])
    task.block, task.most, task.shared, task.cooperative = 1, 1, dynamic_shared(kernel, info), False
    if info.resident_tasks:
        add_resident(self, task, maker, info, kernel, shape)
    elif info.parallel:
        shape = shape.of(info)
        task.block = info.block_dim or shape.block
        task.most = most_blocks(kernel, task.block, task.shared, shape.waves)
        if info.threads is not None and self.artifact.target == "x86":  # one thread runs a block on the CPU
            task.most = min(task.most, <unsigned int>info.threads)
        if stacked:
            task.most = max(<unsigned int>1, min(task.most, <unsigned int>(MOST_WORKERS // task.block)))
        add_trips(self, task, maker, info, info.block_dim if info.fixed_block_dim else worth_a_block(shape, info.block_dim))
    for slot in info.slots:
        add_source(task.parameters, maker.slot(slot))
    self.tasks.push_back(task)
    return 0


cdef int add_resident(Specialisation self, Task& task, maker, info, Kernel kernel, shape) except -1:
    """Set the grid of resident tasks so that all blocks are on the device at the same time."""
    resident = shape.resident(kernel, info)
    task.block, task.most, task.cooperative = resident.block, resident.most, True
    for each in info.resident_tasks:
        if each.parallel:
            add_trips(self, task, maker, each, 1 if each.fixed_block_dim and task.block == 1 else task.block)
    return 0


cdef int add_trips(Specialisation self, Task& task, maker, info, int64_t share) except -1:
    cdef Trips loop
    loop.share = share
    loop.iterations = UNKNOWN if info.iterations is None else info.iterations
    if info.iterations is None and info.axes is not None:
        steps = maker.count(info.axes)
        if steps is not None:
            loop.iterations = COUNTED
            for step in steps:
                add_source(loop.count, step)
    task.loops.push_back(loop)
    return 0


cdef int worth_a_block(shape, block_dim) except -1:
    """Return the iterations for each block, for loops whose blocks only divide the iterations."""
    return shape.share if block_dim is None else max(1, shape.share * block_dim // shape.block)


cdef int add_source(vector[Source]& sources, tuple parts) except -1:
    cdef Source source
    source.origin, source.number, source.axis, source.width = <Origin><int>parts[0], parts[1], parts[2], parts[3]
    sources.push_back(source)
    return 0


class SourceMaker:
    """Determines the sources of the values of slots."""

    OPERATIONS = {"add": <int>kAdd, "sub": <int>kSubtract, "mul": <int>kMultiply}

    def __init__(self, owner, leaves):
        self.owner, self.leaves, self.fields = owner, leaves, {}
        self.temps = {name: number for number, (name, _) in enumerate(owner.artifact.temps)}
        back = owner.artifact.gradient
        self.stacks = {} if back is None else {stack.path: number for number, stack in enumerate(back.stacks)}

    def slot(self, slot):
        """Return (origin, number, axis, width) of the value of a Slot."""
        if slot.path == "random.seed":
            mark_random(self.owner)
            return (<int>kSeed, 0, 0, 0)
        if slot.kind == "condition":
            return (<int>kCondition, 0, 0, 0)
        if slot.path in self.stacks:  # three words after the temporary arrays: address, capacity, workers
            word = 0 if slot.kind == "pointer" else 1 + slot.axis
            return (<int>kTemp, len(self.temps) + 3 * self.stacks[slot.path] + word, 0, 0)
        if slot.path == OVERFLOW_PATH:
            return (<int>kConstant, add_report(self.owner), 0, 0)
        if slot.path in self.temps:
            return (<int>kTemp, self.temps[slot.path], 0, 0)
        if slot.kind == "extent":
            return (<int>kExtent, self.leaves[slot.path], slot.axis, 0)
        return (*self.array(slot.path), slot.axis, 0)

    def array(self, path):
        """Return (origin, number) of a leaf or of a field."""
        if path in self.leaves:
            return <int>kLeaf, self.leaves[path]
        field = find_field(path)
        self.fields[field] = None
        return <int>kConstant, add_constant(self.owner, address_of(field))

    def count(self, axes):
        """Return postfix steps that compute begin, end and step of each axis; None if there are too many steps."""
        steps = []
        for begin, end, step in axes:
            for bound in (begin, end, step):
                self._value(bound, steps)
        return steps if len(steps) <= MOST_STEPS else None

    def _value(self, bound, steps):
        if isinstance(bound, int):
            steps.append((<int>kConstant, add_constant(self.owner, bound), 0, 0))
        elif bound[0] == "extent":
            steps.append((<int>kExtent, self.leaves[bound[1]], bound[2], 4))
        elif bound[0] == "scalar":
            type = SCALARS[bound[2]]
            steps.append((<int>kLeaf, self.leaves[bound[1]], 0, -type.size if type.kind == "int" else type.size))
        else:
            self._value(bound[1], steps)
            self._value(bound[2], steps)
            steps.append((self.OPERATIONS[bound[0]], 0, 0, 0))


def add_constant(Specialisation self, value):
    """Add a constant, an int of up to 64 bits, and return its number."""
    self.constants.push_back(<uint64_t>(value & 0xFFFFFFFFFFFFFFFF))
    return self.constants.size() - 1


def add_report(Specialisation self):
    """Add the address of the overflow report as a constant, and return its number."""
    if self.report is None:
        self.report = overflow_report(self.name, self.artifact.gradient)
    return add_constant(self, self.report.handle)


def mark_random(Specialisation self):
    """Mark a Specialisation that draws random numbers."""
    self.draws = True
