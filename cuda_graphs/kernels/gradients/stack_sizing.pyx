# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The capacities of the stacks of a gradient. Each call computes them in the cheapest of four ways that is exact.

1. If no input has changed since the last call, the call reuses the capacities. Versions of NDArrays show changes.
2. The host evaluates size expressions of extents, numbers, host arrays and fields. It reads fields back in stream
   order.
3. The sizing kernel evaluates expressions that read arrays of the device (compiler/autodiff/sizing.py).
4. The counting kernel counts the values of stacks without an expression, and of expressions with an integer overflow
   (compiler/autodiff/counting.py).

Both kernels run on the stream of the call, and the host waits for them.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t, uintptr_t

from cuda_graphs.core.driver.cuda cimport CU_STREAM_PER_THREAD, CUDA_SUCCESS, CUdeviceptr, CUresult, CUstream, driver
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.waiting cimport wait_in_call
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays, host_values
from cuda_graphs.kernels.call.function cimport KernelFunction
from cuda_graphs.kernels.arrays.ndarray cimport Changes, NDArray, writer_of
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.kernels.specialisation.specialisation cimport Source, Specialisation, kLeaf, number_of

from cuda_graphs.compiler.autodiff.analysis.size_expressions import TooManySteps, SizeOverflow, evaluate, leaves_of
from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.kernels.arrays.ndarray import FIELD, find_field

cdef enum:
    MOST_FIELD = 65536  # bytes of the largest field that the host reads back; the sizing kernel reads larger fields

MAX_CAPACITY = 2**31 - 1  # the index of a stack is an i32


cdef class SizeInputs:
    """The values for the size expressions of one call, valid only during the call."""

    def __call__(self, kind, path, what):
        """Return the value of a leaf of an expression, as sizes.evaluate requires."""
        cdef const Leaf* leaf
        cdef Source source
        if kind == "read":
            if path in self.fresh:
                self.fresh[path].add(what)
            return int(self.array_of(path)[what])
        leaf = &self.leaves[<size_t>self.code.leaf_numbers[path]]
        if kind == "extent":
            return leaf.extents[<int>what]
        type = SCALARS[what]
        if type.name == "u64":
            return leaf.bits
        source.origin, source.number, source.axis = kLeaf, self.code.leaf_numbers[path], 0
        source.width = -type.size if type.kind == "int" else type.size
        return number_of(source, self.leaves)

    cdef object array_of(self, str path):
        """Return the contents of an array as a NumPy array; None if the host cannot read them cheaply."""
        if path not in self.values:
            leaf = self.code.leaf_numbers.get(path)
            if leaf is None:
                self.values[path] = self.sizer.field_values(path, self)
            else:
                self.values[path] = None if self.foreign is None else host_values(self.foreign, leaf)
        return self.values[path]


cdef SizeInputs size_inputs(
    StackSizer sizer, Specialisation code, const Leaf* leaves, ForeignArrays foreign, const StreamHandle& stream
):
    cdef SizeInputs self = SizeInputs.__new__(SizeInputs)
    self.sizer, self.code, self.leaves, self.foreign, self.stream = sizer, code, leaves, foreign, stream
    self.values, self.fresh = {}, {}
    return self


cdef class StackSizer:
    """Computes the capacities in each call of a gradient with stacks."""

    cdef list of_call(self, SizeInputs inputs, tuple args):
        cdef tuple last = self.last  # one read, as other threads may replace the tuple
        cdef tuple state = self.state(inputs)
        cdef tuple counting = None
        cdef list capacities
        if last is not None and last[0] == state and None not in state[1]:
            counting = None if last[1] is None else self.state_of_counting(inputs)
            if counting == last[1] and (counting is None or None not in counting[0]):
                return last[2]
        capacities = self.from_expressions(inputs, args)
        if None in capacities:
            counts = self.on_device(self.counting_kernel, inputs, args)
            self.stats.device_evals += capacities.count(None)
            capacities = [count if capacity is None else capacity for capacity, count in zip(capacities, counts)]
            if self.counted is None:
                self.counted = slots_of(self.counting_kernel.specialiser.find_for(args))
            counting = self.state_of_counting(inputs)
        else:
            counting = None
        capacities = [capacity_of(inputs.code.name, capacity) for capacity in capacities]
        self.last = state, counting, capacities
        return capacities

    cdef list from_expressions(self, SizeInputs inputs, tuple args):
        """Return the capacities from expressions, with None for stacks that must be counted."""
        cdef list capacities = [None] * len(self.expressions)
        cdef list left = []
        cdef bint is_evaluated = False
        for number, expression in enumerate(self.expressions):
            if expression is None:
                continue
            if any([leaf[0] == "read" and inputs.array_of(leaf[1]) is None for leaf in leaves_of(expression)]):
                left.append(number)
                continue
            is_evaluated = True
            try:
                capacities[number] = evaluate(expression, inputs)
            except SizeOverflow:
                pass
            except TooManySteps:
                left.append(number)
        self.stats.host_evals += is_evaluated
        self.stats.d2h_reads += sum([len(indices) for indices in inputs.fresh.values()])
        if left:
            sizes = dict(zip(self.sized, self.on_device(self.sizing_kernel, inputs, args)))
            self.stats.device_evals += len(left)
            for number in left:
                capacities[number] = None if sizes[number] < 0 else sizes[number]
        return capacities

    cdef list on_device(self, KernelFunction kernel, SizeInputs inputs, tuple args):
        """Return the results of a kernel that runs on the stream of the call."""
        found = kernel(*args, stream=Stream._from_handle(inputs.stream))
        self.stats.sizer_launches += 1
        self.stats.d2h_reads += 1
        return list(found) if isinstance(found, tuple) else [found]

    cdef tuple state(self, SizeInputs inputs):
        """Return (numbers, versions) of the inputs of the expressions, with the version None for an untracked array."""
        return (
            tuple([inputs(*leaf) for leaf in self.numbers]),
            tuple([version_of(inputs, path) for path in self.arrays]),
        )

    cdef tuple state_of_counting(self, SizeInputs inputs):
        """Return (versions, numbers) of all inputs of the counting kernel."""
        cdef uint64_t bits
        versions, numbers = [], []
        for kind, path, axis, size in self.counted:
            if kind == "pointer":
                versions.append(version_of(inputs, path))
            elif kind == "extent":
                numbers.append(inputs("extent", path, axis))
            else:
                bits = inputs.leaves[<size_t>inputs.code.leaf_numbers[path]].bits
                numbers.append(bits & ((<uint64_t>1 << (8 * <int>size)) - 1) if size < 8 else bits)
        return tuple(versions), tuple(numbers)

    cdef object field_values(self, str path, SizeInputs inputs):
        """Return the contents of a field in stream order; None for a large field, or for a released field."""
        import numpy as np

        from cuda_graphs.kernels.arrays.dtypes import device_dtype

        cdef NDArray field = field_or_none(path)
        if field is None or field.nbytes > MOST_FIELD:
            return None
        cdef tuple kept = self.fields.get(path)
        version = version_of(inputs, path)
        if kept is not None and version is not None and kept[0] == version:
            return kept[1]
        values = np.empty(field.shape + field.element_shape, device_dtype(field.dtype))
        cdef uintptr_t to = values.ctypes.data
        cdef CUdeviceptr source = field._address
        cdef size_t size = values.nbytes
        cdef CUstream raw = raw_of(inputs.stream)
        cdef CUresult status
        with nogil:
            status = wait_in_call(inputs.stream)
            if status == CUDA_SUCCESS:
                status = driver().cuMemcpyDtoHAsync(<void*>to, source, size, raw)
            if status == CUDA_SUCCESS:
                status = driver().cuStreamSynchronize(raw)
        check_attempt(status, f"read {field!r} for the capacity of stacks")
        inputs.fresh[path] = set()
        self.fields[path] = version, values
        return values


cdef object capacity_of(str name, values):
    if values > MAX_CAPACITY:
        raise MemoryError(f"a stack of the gradient of {name}() would hold {values} values: split the loop")
    return max(1, values)


cdef list slots_of(Specialisation code):
    """Return (kind, path, axis, size) of the slots of the tasks that hold arguments or fields."""
    slots = {(slot.kind, slot.path, slot.axis, slot.size) for task in code.artifact.tasks for slot in task.slots}
    return sorted([slot for slot in slots if slot[1] in code.leaf_numbers or slot[1].startswith(FIELD)])


cdef NDArray field_or_none(str path):
    """Return a field, or None if the program has released it."""
    try:
        return find_field(path)
    except KeyError:
        return None


cdef object version_of(SizeInputs inputs, str path):
    """Return the version of an array; None if the array can change without a new version."""
    cdef NDArray field
    cdef const Changes* changes
    number = inputs.code.leaf_numbers.get(path)
    if number is None:
        field = field_or_none(path)
        if field is None:
            return None
        changes = &field._changes
    else:
        changes = inputs.leaves[<size_t>number].changes
    if changes == NULL or changes.version == 0:
        return None
    # Work on another stream may still be pending; a per-thread default stream is a different stream in each thread.
    if changes.writer and (
        raw_of(inputs.stream) == CU_STREAM_PER_THREAD or changes.writer != writer_of(raw_of(inputs.stream))
    ):
        return None
    return changes.version


cdef StackSizer stack_sizer(Specialisation code, KernelFunction sizing_kernel, KernelFunction counting_kernel, object stats):
    cdef StackSizer self = StackSizer.__new__(StackSizer)
    self.sizing_kernel, self.counting_kernel, self.stats, self.fields = sizing_kernel, counting_kernel, stats, {}
    self.expressions = [stack.capacity for stack in code.artifact.gradient.stacks]
    leaves = set().union(*[leaves_of(each) for each in self.expressions if each is not None])
    self.numbers = sorted([leaf for leaf in leaves if leaf[0] != "read"])
    self.arrays = sorted({leaf[1] for leaf in leaves if leaf[0] == "read"})
    self.sized = [number for number, each in enumerate(self.expressions) if each is not None and reads(each)]
    return self


cdef bint reads(expression) except -1:
    return any([leaf[0] == "read" for leaf in leaves_of(expression)])
