# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of the stacks of a gradient, and the calls that use it.

stack_sizing.pyx computes the capacities. Capacities are parameters of the launch, as addresses are, so no call uploads
them. Each stream has its own stack memory, which only grows; the order of the stream separates the calls. On a
per-thread default stream, each call allocates its own memory.
"""

import weakref
from contextlib import suppress

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CU_STREAM_PER_THREAD
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.memory.buffer cimport Buffer
from .stack_sizing cimport StackSizer, capacity_of, size_inputs, stack_sizer

from cuda_graphs.compiler.autodiff.analysis.size_expressions import TooManySteps, SizeOverflow, evaluate, leaves_of
from cuda_graphs.errors import CUDAOutOfMemoryError
from cuda_graphs.kernels.specialisation.readers.structures import struct_array_leaves
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource

cdef enum:
    ALIGNMENT = 256  # bytes, of the memory of a stack

cdef dict NO_OWNERS = {}  # owners of a plain call, in which all values are known


cdef class GradientOperands:
    """The arrays of one specialisation, and the sizer of its stacks."""


cdef class StackMemory:
    """The memory of the stacks of one gradient."""

    cdef GradientOperands checked_operands(self, Specialisation code, const Leaf* leaves):
        cdef GradientOperands found = self.operands.get(code)
        if found is None:
            with self.lock:
                found = operands_of(code, struct_array_leaves(self.sizing_kernel.specialiser.readers))
                found.sizer = stack_sizer(code, self.sizing_kernel, self.counting_kernel, self.stats)
                self.operands[code] = found  # visible to other threads only when complete
        check_operands(self.name, found, leaves)
        return found

    cdef int prepare(
        self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle, vector[uint64_t]& words
    ) except -1:
        cdef StackSizer sizer = self.checked_operands(code, r.leaves).sizer
        cdef list capacities, workers, offsets = []
        cdef Buffer heap
        cdef uint64_t size = 0, base = 0
        self.stats.calls += 1
        stacks = code.artifact.gradient.stacks
        if not stacks:
            return 0
        if self.capacity is not None:
            capacities = [self.capacity] * len(stacks)
        else:
            foreign = <ForeignArrays>r.foreign if r.foreign != NULL else None
            capacities = sizer.of_call(size_inputs(sizer, code, r.leaves, foreign, handle), <tuple>r.args)
        workers = workers_of(code, r.leaves, NO_OWNERS)
        for stack, capacity, count in zip(stacks, capacities, workers):
            offsets.append(size)
            size += (<uint64_t>capacity * <uint64_t>count * <uint64_t>stack.size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        heap = self.heap(size, stream, handle)
        base = heap._address
        for offset, capacity, count in zip(offsets, capacities, workers):
            words.push_back(base + <uint64_t>offset)
            words.push_back(<uint64_t>capacity)
            words.push_back(<uint64_t>count)
        return 0

    cdef list of_graph(self, Specialisation code, const Leaf* leaves, dict owners):
        cdef list found = []
        cdef StackSizer sizer = self.checked_operands(code, leaves).sizer
        resource = SynchronousMemoryResource(current_device())  # safe in a thread that captures
        capacities = self.fixed_capacities(code, sizer, leaves, owners)
        workers = workers_of(code, leaves, owners)
        for stack, capacity, count in zip(code.artifact.gradient.stacks, capacities, workers):
            found += [resource.allocate(max(1, capacity * count * stack.size)), capacity, count]
        return found

    cdef list fixed_capacities(self, Specialisation code, StackSizer sizer, const Leaf* leaves, dict owners):
        """Return the capacity of each stack of a graph, which suffices for every launch."""
        cdef StreamHandle none
        stacks = code.artifact.gradient.stacks
        if self.capacity is not None:
            return [self.capacity] * len(stacks)
        inputs = size_inputs(sizer, code, leaves, None, none)
        return [self._fixed_capacity(stack.capacity, code, inputs, owners) for stack in stacks]

    def _fixed_capacity(self, expression, Specialisation code, inputs, owners):
        needed = () if expression is None else leaves_of(expression)
        changing = [path for kind, path, _ in needed if kind == "scalar" and code.leaf_numbers[path] in owners]
        capacity = None
        if expression is not None and not changing and all([kind in ("extent", "scalar") for kind, _, _ in needed]):
            with suppress(SizeOverflow, TooManySteps):
                capacity = evaluate(expression, inputs)
        if capacity is None:
            why = f"{changing[0]!r}, which comes with each launch" if changing else "the content of arrays, or a while"
            raise RuntimeError(
                f"gradient of {self.name}() in a graph or capture: the capacity of its stacks depends on {why}; set the most "
                f"values that each stack holds, as in {self.name}.grad.stack_room = 64"
            )
        return capacity_of(self.name, capacity)

    cdef object heap(self, uint64_t size, Stream stream, const StreamHandle& handle):
        """Return stack memory of at least `size` bytes for a stream.

        If the current memory is too small, new memory replaces it; the old memory is released when its work is done.
        """
        cdef dict of_devices
        cdef Buffer found
        device = current_device()
        if raw_of(handle) == CU_STREAM_PER_THREAD:  # a separate stream in each thread: no shared memory
            return self.allocate(device, size, size, handle)
        of_devices = self.heaps.setdefault(stream, {})  # the default stream exists on each device
        found = of_devices.get(device.device_id)
        if found is None or found._size < size:
            most = size if found is None else max(size, 2 * <uint64_t>found._size)
            found = of_devices[device.device_id] = self.allocate(device, size, most, handle)
        self.stats.heap_bytes = size
        return found

    cdef object allocate(self, object device, uint64_t size, uint64_t most, const StreamHandle& handle):
        """Allocate `most` bytes, of which the call needs `size`."""
        try:
            made = device.memory_resource.allocate(most, stream=Stream._from_handle(handle))
        except CUDAOutOfMemoryError as error:
            error.add_note(
                f"The stacks of the gradient of {self.name}() take {size} bytes in this call: split the loop whose variables "
                f"they hold, or limit the values of each stack, as in {self.name}.grad.stack_room = 64"
            )
            raise
        self.stats.heap_grows += 1
        self.stats.heap_bytes = size
        return made

    cdef int forget(self) except -1:
        self.operands.clear()
        self.heaps = weakref.WeakKeyDictionary()
        self.sizing_kernel.forget()
        self.counting_kernel.forget()
        return 0


cdef class GradientLaunch(LaunchStrategy):
    """Launches the tasks of a gradient one by one, with memory for its stacks."""

    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        cdef vector[uint64_t] words
        self.stacks.prepare(code, r, stream, handle, words)
        if code.waits_for_results:
            return code.launch_for_results(r.leaves, handle, &words)
        code.launch(r.leaves, handle, &words)
        return None


cdef class GradientCapture(CaptureStrategy):
    """Adds the nodes of a gradient to a graph, with memory for its stacks."""

    cdef list temporaries(self, Specialisation code, const Leaf* leaves, dict owners):
        return code.graph_temps({}) + self.stacks.of_graph(code, leaves, owners)


cdef list workers_of(Specialisation code, const Leaf* leaves, dict owners):
    """Return the number of workers of each stack. `owners` is the dict of Specialisation.launches."""
    cdef list found = []
    cdef size_t number
    cdef uint64_t most, blocks
    for stack in code.artifact.gradient.stacks:
        most = 1
        for task in stack.tasks:
            number = task
            blocks = code.tasks[number].max_blocks if code.is_sized_at_launch(number, owners) else code.grid_of(code.tasks[number], leaves)
            most = max(most, blocks if code.artifact.target == "x86" else blocks * code.tasks[number].block)
        found.append(most * stack.workers)
    return found


cdef GradientOperands operands_of(Specialisation code, dict structures):
    cdef GradientOperands self = GradientOperands.__new__(GradientOperands)
    cdef Operand operand
    info = code.artifact.gradient
    self.paths = []
    for path, size, ndim in info.arrays:
        if path.endswith((".grad", ".dual")) and path.partition(".grad")[0].removesuffix(".dual") in self.paths:
            continue
        operand.leaf, operand.size, operand.ndim = code.leaf_numbers[path], size, ndim
        operand.structures = structures.get(path, 0)
        operand.is_written = path in info.written
        self.operands.push_back(operand)
        self.paths.append(path)
    return self


cdef int check_operands(str name, GradientOperands arrays, const Leaf* leaves) except -1:
    """Raise ValueError if arrays or gradients share memory in a way that makes the gradient wrong."""
    cdef Operand* a
    cdef Operand* b
    cdef uint64_t bytes_
    cdef size_t i, j
    cdef int axis
    for i in range(arrays.operands.size()):
        a = &arrays.operands[i]
        bytes_ = a.size
        for axis in range(a.ndim):
            bytes_ *= <uint64_t>leaves[a.leaf].extents[axis]
        a.begin, a.end = leaves[a.leaf].bits, leaves[a.leaf].bits + bytes_
        a.grad = leaves[a.leaf + 1].bits
        a.grad_end = a.grad + bytes_ if a.grad else 0
    for i in range(arrays.operands.size()):
        a = &arrays.operands[i]
        for j in range(arrays.operands.size()):
            b = &arrays.operands[j]
            if a.grad < b.end and b.begin < a.grad_end:
                raise ValueError(
                    f"gradient of {name}(): the gradient of {arrays.paths[i]!r} shares memory with {arrays.paths[j]!r}, which "
                    "the gradient reads while it runs: pass a copy"
                )
            if a.structures and a.structures == b.structures:
                continue  # members have no byte in common, also where their arrays are views of the same bytes
            if i < j and a.grad < b.grad_end and b.grad < a.grad_end and not is_same_array(a, b, leaves):
                raise ValueError(
                    f"gradient of {name}(): the gradients of {arrays.paths[i]!r} and {arrays.paths[j]!r} overlap but are not "
                    "the same array: pass a copy of one array"
                )
            if i != j and a.is_written and a.begin < b.end and b.begin < a.end:
                raise ValueError(
                    f"gradient of {name}(): {arrays.paths[i]!r}, which the kernel writes, and {arrays.paths[j]!r} share "
                    "memory, so the kernel may have overwritten values that the gradient needs: pass different arrays"
                )
            if i != j and a.is_written and a.grad < b.grad_end and b.grad < a.grad_end:
                raise ValueError(
                    f"gradient of {name}(): the gradients of {arrays.paths[i]!r}, which the kernel writes, and of "
                    f"{arrays.paths[j]!r} share memory, and the gradient reads the first one while it adds to the other: "
                    "pass arrays with gradients of their own"
                )
    return 0


cdef bint is_same_array(Operand* a, Operand* b, const Leaf* leaves):
    """Return True if overlapping gradients are safe: the same array, or arrays with different numbers of dimensions.

    The compiler makes no assumptions about gradients with different numbers of dimensions.
    """
    cdef int axis
    if a.ndim != b.ndim:
        return True
    for axis in range(a.ndim):
        if leaves[a.leaf].extents[axis] != leaves[b.leaf].extents[axis]:
            return False
    return a.grad == b.grad
