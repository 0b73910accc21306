# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""Code for one signature of a kernel, and its launch. loader.pyx makes it.

Each task is one launch, in stream order. A launch passes the driver pointers to the values in place: the leaves of the
arguments, the constants, and the addresses of temporary memory. It copies no values and builds no objects.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint16_t, uint32_t, uint64_t, uint8_t, uintptr_t
from cpython.object cimport PyObject
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_UNKNOWN,
    CUDA_SUCCESS,
    CUdeviceptr,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport StreamHandle, note_launch, raw_of
from cuda_graphs.objects.code.arguments cimport StandIn
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.objects.code.launch_config cimport linear_config
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.graph.operands.parameter cimport ArrayParameter
from cuda_graphs.objects.waiting cimport check_signals, wait_in_call
from cuda_graphs.kernels.arrays.ndarray cimport Changes, NDArray, note_change, writer_of
from cuda_graphs.kernels.arrays.reading cimport Leaf

import numpy

from cuda_graphs.compiler.artifact import OVERFLOW_PATH, REPORT, STATE, STOP, YIELDED
from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.kernels import seeds
from cuda_graphs.kernels.graph.checkpoints import status_of
from cuda_graphs.graph.operands.stop_words import StopWord
from cuda_graphs.kernels.graph.emission import ConditionSlot, TaskLaunch
from cuda_graphs.kernels.graph.host_calls import condition_at
from cuda_graphs.kernels.arrays.ndarray import FIELD, find_field, memory_of
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.kernels.graph.temporaries import new_memory

ctypedef const void* Pointer

# Bytes of a slot -> type of its bits.
cdef dict WORDS = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}

cdef enum:
    MOST_PARAMETERS = 64  # parameters of an entry that fit on the C stack
    LONG = 1 << 21  # iterations of a loop that a sparse resident launch runs slower than nodes
    MIDDLE = 1 << 16  # iterations from which on a wait of blocks is short beside the work of a task
    MOST_AHEAD = 16  # iterations that the host begins before it reads the condition
    TURNS_BETWEEN_SIGNALS = 256  # iterations of a loop on the host between two checks for signals


cdef class Specialisation:
    """Code for one signature of a kernel."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Specialisation objects cannot be instantiated directly. Calls of kernels make them.")

    def __repr__(self):
        return f"<Specialisation of {self.name} for {self.artifact.target}: {len(self.kernels)} tasks>"

    cdef unsigned int grid_of(self, const Task& task, const Leaf* leaves) noexcept nogil:
        cdef int64_t blocks = 1
        cdef int64_t iterations
        cdef bint lone = task.cooperative
        cdef const TripCount* loop
        cdef size_t i
        for i in range(task.loops.size()):
            loop = &task.loops[i]
            iterations = self.iterations_of(loop[0], leaves)
            if iterations == UNKNOWN:
                return task.max_blocks
            blocks = max(blocks, iterations // loop.share + (iterations % loop.share != 0))
            lone = lone and iterations <= loop.lone
        # Sums of two blocks have fixed bits. They must not depend on the work of other tasks, as fusion changes it.
        if lone and not (task.has_sums and blocks == 2):
            return 1
        return <unsigned int>min(blocks, <int64_t>task.max_blocks)

    cdef int64_t count(self, const TripCount& loop, const Leaf* leaves) noexcept nogil:
        """Return the number of iterations. Overflow is harmless, as the number only sizes the grid."""
        cdef int64_t stack[MOST_STEPS]
        cdef int at = 0
        cdef const Source* step
        cdef size_t i
        for i in range(loop.count.size()):
            step = &loop.count[i]
            if step.origin >= kAdd:
                at -= 1
                stack[at - 1] = apply(step.origin, stack[at - 1], stack[at])
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

    cdef bint fits(self, const Leaf* leaves) noexcept nogil:
        cdef size_t i
        for i in range(0, self.equal.size(), 2):
            if number_of(self.equal[i], leaves) != number_of(self.equal[i + 1], leaves):
                return False
        # Hundreds of arrays have tens of thousands of pairs, so the arrays are sorted first, unless they are those of the
        # last call. If that finds two arrays that share memory, the pairs decide.
        if self.apart.size() == 0 or (self.apart.size() > self.compared.size() and self.are_all_apart(leaves)):
            return True
        return self.find_overlap(self.apart, leaves) < 0

    cdef bint are_all_apart(self, const Leaf* leaves) noexcept nogil:
        cdef vector[MemoryRange] ranges
        cdef uint64_t end = 0
        cdef size_t count = self.compared.size()
        cdef size_t i = 0
        if self.known_apart.size() == count:
            while i < count and self.known_apart[i] == self.range_of(self.compared[i], leaves):
                i += 1
            if i == count:
                return True
        self.known_apart.resize(count)
        for i in range(count):
            self.known_apart[i] = self.range_of(self.compared[i], leaves)
        ranges = self.known_apart
        sort(ranges.begin(), ranges.end())
        for i in range(count):
            if ranges[i].first < end:
                self.known_apart.clear()
                return False
            end = max(end, ranges[i].second)
        return True

    cdef MemoryRange range_of(self, const Span& span, const Leaf* leaves) noexcept nogil:
        """Return the first byte of an array and the one behind it; 0 and 0 without memory."""
        cdef uint64_t begin = self.begin_of(span, leaves)
        return MemoryRange(begin, 0 if begin == 0 else begin + size_of(span, leaves))

    cdef int64_t iterations_of(self, const TripCount& loop, const Leaf* leaves) noexcept nogil:
        return self.count(loop, leaves) if loop.iterations == COUNTED else loop.iterations

    cdef bint has_large_loops(self, const Leaf* leaves) noexcept nogil:
        cdef size_t i
        for i in range(self.large_loops.size()):
            if self.iterations_of(self.large_loops[i], leaves) < self.unordered:
                return False
        return self.large_loops.size() != 0

    cdef NodesReason reason_for_nodes(self, const Leaf* leaves) noexcept nogil:
        cdef int64_t iterations, longest = 0
        cdef bint known = True, lone = True
        cdef size_t i
        for i in range(self.in_resident.size()):
            iterations = self.iterations_of(self.in_resident[i], leaves)
            known = known and iterations != UNKNOWN
            longest = max(longest, iterations)
            lone = lone and iterations <= self.in_resident[i].lone
        if self.is_sparse and longest >= LONG:
            return kFewThreads
        return kManyTasks if self.has_many_tasks and known and not lone and longest < MIDDLE else kNoReason

    cdef bint leads_to(self, Specialisation code):
        return (
            self is code
            or self.separate is code
            or (self.large is not None and self.large.leads_to(code))
            or (self.as_nodes is not None and self.as_nodes.leads_to(code))
        )

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

    cdef dict written(self, dict owners):
        cdef dict found = {path: owners[n] for path, n in self.leaf_numbers.items() if path in self.writes and n in owners}
        for path in self.writes:
            if path.startswith(FIELD):
                found[path] = memory_of(find_field(path))
        return found

    cdef int launch(self, const Leaf* leaves, const StreamHandle& stream, const vector[uint64_t]* stacks) except -1:
        cdef Buffer memory = None
        cdef CUdeviceptr temps = 0
        if self.temp_bytes:
            memory = allocate(self.temp_bytes, stream)
            temps = memory._address
        return self.run(leaves, stream, temps, stacks)

    cdef int run(
        self, const Leaf* leaves, const StreamHandle& stream, CUdeviceptr temps, const vector[uint64_t]* stacks
    ) except -1:
        cdef uint64_t seed = <uint64_t>seeds.draw() if self.draws else 0
        cdef CUresult status
        cdef size_t failed = 0
        if self.kernels:
            note_launch(stream, (<Kernel>self.kernels[0])._h)
        with nogil:
            status = self.submit(leaves, stream, temps, stacks, seed, &failed)
        if status == CUDA_ERROR_INVALID_CONTEXT and failed == 0:
            current_device()  # sets the current context of a new thread
            with nogil:
                status = self.submit(leaves, stream, temps, stacks, seed, &failed)
        if status:
            check_attempt(status, f"launch of task {failed} of kernel {self.name} on {Stream._from_handle(stream)!r}")
        return 0

    cdef CUresult submit(
        self, const Leaf* leaves, const StreamHandle& stream, CUdeviceptr temps, const vector[uint64_t]* stacks,
        uint64_t seed, size_t* failed,
    ) except? CUDA_ERROR_UNKNOWN nogil:
        cdef vector[uint64_t] addresses
        cdef CUresult status = CUDA_SUCCESS
        cdef LaunchData now
        cdef size_t i
        for i in range(self.temps.size()):
            addresses.push_back(temps + self.temps[i])
        if stacks != NULL:
            for i in range(stacks.size()):
                addresses.push_back(stacks[0][i])
        now.leaves, now.stream, now.temps, now.seed, now.failed = leaves, &stream, addresses.data(), &seed, 0
        now.condition = 0
        for i in range(self.steps.size()):
            if self.steps[i].initial >= 0 and status == CUDA_SUCCESS:
                status = driver().cuMemsetD32Async(
                    addresses[self.steps[i].number], <unsigned int>self.steps[i].initial, 1, raw_of(stream)
                )
        if status == CUDA_SUCCESS:
            status = self.follow(0, self.steps.size(), &now)
        failed[0] = now.failed
        return status

    cdef CUresult launch_task(self, size_t number, LaunchData* now) noexcept nogil:
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
            task.function, self.grid_of(task[0], now.leaves), 1, 1, task.block, 1, 1, task.shared, raw_of(now.stream[0]),
            <void**>given, NULL,
        )

    cdef CUresult follow(self, size_t begin, size_t end, LaunchData* now) except? CUDA_ERROR_UNKNOWN nogil:
        """Execute the steps from `begin` to `end`."""
        cdef CUresult status = CUDA_SUCCESS
        cdef size_t at = begin
        while at < end and status == CUDA_SUCCESS:
            if self.steps[at].kind == kRunTask:
                status = self.launch_task(self.steps[at].number, now)
                at += 1
            elif self.steps[at].kind == kCall:
                with gil:
                    self.call_host(self.steps[at].number, now)
                at += 1
            else:
                status = self.follow_conditional(at, now)
                at = self.steps[at].end
        return status

    cdef CUresult follow_conditional(self, size_t at, LaunchData* now) except? CUDA_ERROR_UNKNOWN nogil:
        """Execute the blocks that the condition of a conditional selects; the host reads each condition back."""
        cdef CUstream raw = raw_of(now.stream[0])
        cdef unsigned int turns = 0
        cdef unsigned int iterations = 1  # that begin before the condition is read again
        cdef unsigned int i
        cdef const Step* of = &self.steps[at]
        cdef bint repeats = of.kind == kWhile or of.kind == kRepeated
        cdef CUresult status
        cdef uint32_t state = 0
        cdef size_t block, left
        while True:
            turns += 1
            if turns % TURNS_BETWEEN_SIGNALS == 0:
                check_signals(now.stream[0])
            status = wait_in_call(now.stream[0])
            if status == CUDA_SUCCESS:
                status = driver().cuMemcpyDtoHAsync(&state, now.temps[of.number], sizeof(state), raw)
            if status == CUDA_SUCCESS:
                status = driver().cuStreamSynchronize(raw)
            if status != CUDA_SUCCESS or (repeats and state == 0):
                return status
            block, left = at + 1, state if of.kind == kSwitch else <size_t>(of.kind == kIf and state == 0)
            while left and block < of.end:
                block, left = self.steps[block].end, left - 1
            for i in range(iterations if block < of.end else 0):
                now.condition = now.temps[of.number] if i else 0
                if status == CUDA_SUCCESS:
                    status = self.follow(block + 1, self.steps[block].end, now)
            now.condition = 0
            if status != CUDA_SUCCESS or not repeats:
                return status
            if of.kind == kRepeated:
                iterations = min(2 * iterations, <unsigned int>MOST_AHEAD)

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

    cdef int check_disjoint(self, const Leaf* leaves) except -1:
        cdef Py_ssize_t found = self.find_overlap(self.disjoint, leaves)
        if found >= 0:
            (first, _, _), (second, _, _), one, other = self.artifact.disjoint[found]
            raise ValueError(
                f"{self.name}(): {first!r} and {second!r} share memory, and a section of cg.graph_parallel writes one "
                f"array while another section uses the other array (lines {one} and {other}): pass arrays that do not overlap"
            )
        return 0

    cdef Py_ssize_t find_overlap(self, const vector[DisjointPair]& pairs, const Leaf* leaves) noexcept nogil:
        cdef size_t i
        for i in range(pairs.size()):
            if self.overlap(pairs[i].first, pairs[i].second, leaves):
                return <Py_ssize_t>i
        return -1

    cdef bint overlap(self, const Span& first, const Span& second, const Leaf* leaves) noexcept nogil:
        cdef uint64_t a = self.begin_of(first, leaves), b = self.begin_of(second, leaves)
        # 0: no array, or a parameter of a graph without a default
        return a != 0 and b != 0 and a < b + size_of(second, leaves) and b < a + size_of(first, leaves)

    cdef uint64_t begin_of(self, const Span& span, const Leaf* leaves) noexcept nogil:
        return self.constants[span.number] if span.origin == kConstant else leaves[span.number].bits

    cdef tuple host_inputs(self, const Leaf* leaves, dict owners):
        if self.calls is None:
            return ()
        found = []
        for kind, path, detail in self.calls.inputs:
            number = self.leaf_numbers[path]
            if kind != "array" and isinstance(owners.get(number), StandIn):
                raise TypeError(f"{self.name}(): {owners[number]!r} is an argument of a call of a host object, which is made before "
                                "the launch that gives its value: pass a number")
            if kind == "object":
                found.append(<object><PyObject*><uintptr_t>leaves[<size_t>number].bits)
            elif kind == "array":
                extents = [leaves[<size_t>number].extents[<int>axis] for axis in range(detail)]
                found.append((leaves[<size_t>number].bits, *extents))
            elif kind == "extent":
                found.append(leaves[<size_t>number].extents[<int>detail])
            else:
                found.append(scalar_of(leaves[<size_t>number].bits, SCALARS[detail]))
        return tuple(found)

    cdef int call_host(self, size_t number, LaunchData* now) except -1:
        """Call a host object, which starts its work on the stream."""
        stream = Stream._from_handle(now.stream[0])
        call = self.calls.bound(self.host_inputs(now.leaves, {}))[number]
        if now.condition:
            call.run_if(condition_at(now.condition), stream)
        else:
            call.run(stream)
        return 0

    cdef list new_temps(self):
        """Return memory for the temporary arrays of a graph."""
        return new_memory(self.name, self.artifact)

    cdef list graph_temps(self, dict tables):
        """Return the same for the nodes of a call. Graphs have the words that end loops. `tables` has those of exchanges,
        by their paths."""
        stops = {path: ConditionSlot(path) for path, _ in self.artifact.temps if path.startswith(STOP)}
        return new_memory(self.name, self.artifact, stops | tables)

    cdef list launches(self, const Leaf* leaves, dict owners, list temps):
        cdef size_t i
        if self.artifact.results and not self.artifact.parts:
            raise ValueError(
                f"kernel {self.name} returns a value, which a graph cannot return: write it to an array of one element"
            )
        seed = seeds.draw() if self.draws else 0
        found = []
        for i in range(self.tasks.size()):
            info = self.artifact.tasks[i]
            slots = enumerate(info.slots)
            values = [typed(self._value(slot, i, k, leaves, owners, temps, seed), slot) for k, slot in slots]
            if info.stops:
                add_stop_words(info, values)
            config = linear_config(
                self.grid_of(self.tasks[i], leaves), self.tasks[i].block, self.tasks[i].shared, self.tasks[i].cooperative
            )
            reads, writes = info.declared
            found.append(
                TaskLaunch(config, self.kernels[i], tuple(values), [values[k] for k in reads], [values[k] for k in writes])
            )
        return found

    cdef bint is_sized_at_launch(self, size_t task, dict owners) except -1:
        """Return True if the number of iterations depends on parameters of a graph."""
        cdef TripCount loop
        cdef Source step
        for loop in self.tasks[task].loops:
            for step in loop.count:
                if (step.origin == kLeaf or step.origin == kExtent) and isinstance(owners.get(step.number), StandIn):
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
        owner = owners.get(source.number)
        if source.origin == kExtent:
            return owner.shape[source.axis] if isinstance(owner, ArrayParameter) else leaves[source.number].extents[source.axis]
        if owner is not None:
            return owner
        bits = leaves[source.number].bits
        return bits & ((<uint64_t>1 << (8 * <int>slot.size)) - 1) if slot.size < 8 else bits

    cdef object launch_for_results(self, const Leaf* leaves, const StreamHandle& handle, const vector[uint64_t]* stacks):
        import numpy as np

        cdef Stream stream = Stream._from_handle(handle)
        cdef Buffer memory = allocate(self.temp_bytes, handle)
        if self.artifact.asserts:
            memory.fill(0, stream=stream)
        self.run(leaves, handle, memory._address, stacks)
        host = np.empty(self.temp_bytes, np.uint8)
        cdef uintptr_t to = host.ctypes.data
        cdef CUdeviceptr source = memory._address
        cdef size_t size = self.temp_bytes
        cdef CUstream raw = raw_of(handle)
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


cdef object typed(object value, object slot):
    """Return a number with the width of its slot, as parameters of unknown type take it."""
    return WORDS[slot.size](value) if type(value) is int and slot.kind != "pointer" else value


cdef Buffer allocate(size_t size, const StreamHandle& stream):
    return current_device().memory_resource.allocate(size, stream=Stream._from_handle(stream))


cdef uint64_t size_of(const Span& span, const Leaf* leaves) noexcept nogil:
    cdef uint64_t size = span.size
    cdef int axis
    for axis in range(span.axes):
        size *= <uint64_t>leaves[span.number].extents[axis]
    return size


cdef int64_t apply(Origin how, int64_t a, int64_t b) noexcept nogil:
    if how == kAdd:
        return <int64_t>(<uint64_t>a + <uint64_t>b)
    if how == kSubtract:
        return <int64_t>(<uint64_t>a - <uint64_t>b)
    if how == kMultiply:
        return <int64_t>(<uint64_t>a * <uint64_t>b)
    if how == kFloorDivide:
        return floor_divide(a, b)
    return min(a, b) if how == kMinimum else max(a, b)


cdef int64_t floor_divide(int64_t a, int64_t b) noexcept nogil:
    """Return the quotient, rounded down, or 0 for a division by 0."""
    cdef int64_t found
    if b == 0:
        return 0
    if b == -1:  # the least number has no quotient, and the processor would stop
        return <int64_t>(0 - <uint64_t>a)
    found = a // b  # rounds to zero (cdivision)
    return found - (a % b != 0 and (a < 0) != (b < 0))


cdef object scalar_of(uint64_t bits, type):
    """Return an integer parameter as an int."""
    found = bits & ((1 << 8 * type.size) - 1)
    return found - (1 << 8 * type.size) if type.kind == "int" and found > type.maximum else found


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


cdef int add_stop_words(info, list values) except -1:
    """Set the words that end loops in the arguments of a task: those of conditions among the arguments, and of loops inside of
    the task. Those of other conditions of the kernel stay ConditionSlots."""
    own = {f"{STOP}.{s.path}": v for s, v in zip(info.slots, values) if s.kind == "condition"}
    for i in info.stops:
        if isinstance(values[i], ConditionSlot):
            condition = own.get(info.slots[i].path)
            if not isinstance(condition, ConditionSlot):
                values[i] = StopWord.inside() if condition is None else StopWord.of(condition.handle)
    return 0
