# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of kernels: their calls, and the memory of their stacks.

stack_sizing.pyx computes the stack capacities. Capacities are parameters of the launch, as addresses are, so no call uploads
them. Each stream has its own stack memory, which only grows; the order of the stream separates the calls. On a
per-thread default stream, each call allocates its own memory.
"""

import weakref
from contextlib import suppress

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.numbers cimport as_int
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.call.arguments cimport Reader, kAlone, kWithGrad
from cuda_graphs.kernels.arrays.foreign cimport Foreign
from cuda_graphs.kernels.call.function cimport KernelFunction, begin
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from .stack_sizing cimport known_of, room_of, rooms_of
from cuda_graphs.kernels.call.specialisation cimport Specialisation

from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource
from cuda_graphs.objects.device.stream import PER_THREAD_DEFAULT_STREAM
from cuda_graphs.compiler.autodiff.analysis.size_expressions import SizeOverflow, TooManySteps, evaluate, leaves_of
from cuda_graphs.errors import CUDAOutOfMemoryError
from cuda_graphs.kernels.call.arguments import leaf_paths
from .grad_stats import GradStats
from .stack_sizing import MOST_ROOM
from cuda_graphs.kernels.targets import current_device
from cuda_graphs.kernels.arrays.tensors import fill

cdef enum:
    ALIGNMENT = 256  # bytes, of the memory of a stack

cdef dict NO_OWNERS = {}  # owners of a plain call, in which all values are known


cdef class Sizes:
    """The arrays and stack capacities of one specialisation."""


cdef class GradientFunction(KernelFunction):
    """The gradient of a kernel: ``kernel.grad``. A call takes the arguments of the kernel, after the kernel has run.

    The gradient adds to the gradients of the arrays that the kernel reads. It reads the gradient of each element that
    the kernel stores, and sets it to 0. It reads the gradient of each element that the kernel adds to, and leaves it
    unchanged. Before the call, the caller sets the gradients of the results and clears the gradients of the inputs.

    Attributes:
        stats: The GradStats of all calls.
        stack_room: The capacity of each stack of a thread in values, an int; None for the capacity that the call needs.
    """

    @property
    def stack_room(self):
        return self.room

    @stack_room.setter
    def stack_room(self, value):
        number = None if value is None else as_int(value)
        if value is not None and (number is None or not 1 <= number <= MOST_ROOM):
            raise ValueError(f"stack_room of {self.name} must be an int from 1 to {MOST_ROOM}, or None, not {value!r}")
        self.room = number

    cdef list _temps(self, Specialisation code, const Leaf* leaves, dict owners):
        """Return memory for the temporary arrays and the stacks of a graph.

        Each stack has three entries: its memory, its capacity, and its workers.
        """
        cdef list found = code.new_temps()
        resource = SynchronousMemoryResource(current_device())  # safe in a thread that captures
        check_operands(self.name, self._sizes(code), leaves)
        stacks = code.artifact.gradient.stacks
        workers = workers_of(code, leaves, owners)
        for stack, room, count in zip(stacks, self._fixed_rooms(code, leaves, owners), workers):
            found += [resource.allocate(max(1, room * count * stack.size)), room, count]
        return found

    cdef list _fixed_rooms(self, Specialisation code, const Leaf* leaves, dict owners):
        """Return the capacity of each stack of a graph, which suffices for every launch."""
        stacks = code.artifact.gradient.stacks
        if self.room is not None:
            return [self.room] * len(stacks)
        known = known_of(self._sizes(code).rooms, code, leaves, None, None)
        return [self._fixed_room(stack.capacity, code, known, owners) for stack in stacks]

    def _fixed_room(self, expression, Specialisation code, known, owners):
        needed = () if expression is None else leaves_of(expression)
        changing = [path for kind, path, _ in needed if kind == "scalar" and code.leaf_numbers[path] in owners]
        room = None
        if expression is not None and not changing and all([kind in ("extent", "scalar") for kind, _, _ in needed]):
            with suppress(SizeOverflow, TooManySteps):
                room = evaluate(expression, known)
        if room is None:
            why = f"{changing[0]!r}, which comes with each launch" if changing else "the content of arrays, or a while"
            raise RuntimeError(
                f"gradient of {self.name}() in a graph or capture: the capacity of its stacks depends on {why}; set the most "
                f"values that each stack holds, as in {self.name}.grad.stack_room = 64"
            )
        return room_of(self.name, room)

    cdef object _launch(self, Specialisation code, Reading* r, tuple args, Stream stream):
        cdef Sizes sizes = self._sizes(code)
        cdef vector[uint64_t] words
        cdef list rooms, workers, offsets = []
        cdef Buffer heap
        cdef uint64_t size = 0, base = 0
        check_operands(self.name, sizes, r.leaves)
        self.stats.calls += 1
        if code.artifact.gradient.stacks:
            rooms = self._rooms(code, sizes, r, args, stream)
            workers = workers_of(code, r.leaves, NO_OWNERS)
            for stack, room, count in zip(code.artifact.gradient.stacks, rooms, workers):
                offsets.append(size)
                size += (<uint64_t>room * <uint64_t>count * <uint64_t>stack.size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
            heap = self._heap(size, stream)
            base = heap._address
            for offset, room, count in zip(offsets, rooms, workers):
                words.push_back(base + <uint64_t>offset)
                words.push_back(<uint64_t>room)
                words.push_back(<uint64_t>count)
        if code.answers:
            return code.launch_for_results(r.leaves, stream, &words)
        code.launch(r.leaves, stream, &words)
        return None

    cdef Sizes _sizes(self, Specialisation code):
        cdef Sizes found = self.sizes.get(code)
        if found is None:
            with self.lock:
                found = sizes_of(code)
                found.rooms = rooms_of(code, self.sizer, self.counter, self.stats)
                self.sizes[code] = found  # visible to other threads only when complete
        return found

    cdef list _rooms(self, Specialisation code, Sizes sizes, Reading* r, tuple args, Stream stream):
        """Return the capacity of each stack in this call, in values."""
        if self.room is not None:
            return [self.room] * len(code.artifact.gradient.stacks)
        staff = <Foreign>r.staff if r.staff != NULL else None
        return sizes.rooms.of_call(known_of(sizes.rooms, code, r.leaves, staff, stream), args)

    cdef object _heap(self, uint64_t size, Stream stream):
        """Return stack memory of at least `size` bytes for a stream.

        If the current memory is too small, new memory replaces it; the old memory is released when its work is done.
        """
        cdef dict of_devices
        cdef Buffer found
        device = current_device()
        if stream == PER_THREAD_DEFAULT_STREAM:  # a separate stream in each thread: no shared memory
            return self._grown(device, size, size, stream)
        of_devices = self.heaps.setdefault(stream, {})  # the default stream exists on each device
        found = of_devices.get(device.device_id)
        if found is None or found._size < size:
            most = size if found is None else max(size, 2 * <uint64_t>found._size)
            found = of_devices[device.device_id] = self._grown(device, size, most, stream)
        self.stats.heap_bytes = size
        return found

    cdef object _grown(self, object device, uint64_t size, uint64_t most, Stream stream):
        """Allocate `most` bytes, of which the call needs `size`."""
        try:
            made = device.memory_resource.allocate(most, stream=stream)
        except CUDAOutOfMemoryError as error:
            error.add_note(
                f"The stacks of the gradient of {self.name}() take {size} bytes in this call: split the loop whose variables "
                f"they hold, or limit the values of each stack, as in {self.name}.grad.stack_room = 64"
            )
            raise
        self.stats.heap_grows += 1
        self.stats.heap_bytes = size
        return made

    def info(self, *args):
        """Return the compiler's GradientInfo for these arguments."""
        return self._specialisation(args).artifact.gradient

    def clear(self, tuple args, fields, dict done):
        """Fill the gradients of the array arguments and of `fields` with zeros, without compiling.

        Args:
            args: The arguments of a call.
            fields: The fields that the kernel uses (KernelFunction.fields). The code of the gradient does not list all
                of them: it can write the gradient of a field without reading the field.
            done: The gradients that are already clear, by identity. The method skips these and adds new ones.
        """
        cdef Reader reader
        cdef dict owners = {}
        cdef dict leaves = {}
        for each, value in zip(self.readers, args):
            reader = each
            reader.own(owners, value)
            leaves.update(leaf_paths(reader))
        stream = current_device().default_stream
        before = len(done)
        for path, number in leaves.items():
            if path.endswith(".grad") and number in owners and id(owners[number]) not in done:
                done[id(owners[number])] = owners[number]
                if isinstance(owners[number], Buffer):
                    owners[number].fill(0, stream=stream)
                else:
                    fill(owners[number], 0)
        for field in fields:
            if field.needs_grad and id(field.grad) not in done:
                done[id(field.grad)] = field.grad
                field.grad.fill(0)
        if len(done) > before:
            stream.sync()

    def forget(self):
        """Drop the compiled code, and release the memory of the stacks when its work is done."""
        super().forget()
        self.sizes.clear()
        self.heaps = weakref.WeakKeyDictionary()
        self.sizer.forget()
        self.counter.forget()

    def __repr__(self):
        return f"<gradient of {super().__repr__()[1:]}"


def gradient_of(KernelFunction primal):
    """Return a new GradientFunction for a kernel."""
    cdef GradientFunction self = begin(GradientFunction, primal.function, primal.options, primal.annotations, kWithGrad)
    self.sizer = begin(KernelFunction, primal.function, primal.options, primal.annotations, kAlone)
    self.counter = begin(KernelFunction, primal.function, primal.options, primal.annotations, kAlone)
    self.mode, self.sizer.mode, self.counter.mode = "reverse", "size", "count"
    self.is_graph = self.sizer.is_graph = self.counter.is_graph = False
    self.sizes, self.heaps, self.stats = {}, weakref.WeakKeyDictionary(), GradStats()
    return self


cdef list workers_of(Specialisation code, const Leaf* leaves, dict owners):
    """Return the number of workers of each stack. `owners` is the dict of Specialisation.launches."""
    cdef list found = []
    cdef size_t number
    cdef uint64_t most, blocks
    for stack in code.artifact.gradient.stacks:
        most = 1
        for task in stack.tasks:
            number = task
            blocks = code.tasks[number].most if code.waits(number, owners) else code.grid_of(code.tasks[number], leaves)
            most = max(most, blocks if code.artifact.target == "x86" else blocks * code.tasks[number].block)
        found.append(most * stack.workers)
    return found


cdef Sizes sizes_of(Specialisation code):
    cdef Sizes self = Sizes.__new__(Sizes)
    cdef Operand operand
    info = code.artifact.gradient
    self.paths = []
    for path, size, ndim in info.arrays:
        if path.endswith(".grad") and path.removesuffix(".grad") in self.paths:
            continue
        operand.leaf, operand.size, operand.ndim = code.leaf_numbers[path], size, ndim
        operand.is_written = path in info.written
        self.operands.push_back(operand)
        self.paths.append(path)
    return self


cdef int check_operands(str name, Sizes sizes, const Leaf* leaves) except -1:
    """Raise ValueError if arrays or gradients share memory in a way that makes the gradient wrong."""
    cdef Operand* a
    cdef Operand* b
    cdef uint64_t bytes_
    cdef size_t i, j
    cdef int axis
    for i in range(sizes.operands.size()):
        a = &sizes.operands[i]
        bytes_ = a.size
        for axis in range(a.ndim):
            bytes_ *= <uint64_t>leaves[a.leaf].extents[axis]
        a.begin, a.end = leaves[a.leaf].bits, leaves[a.leaf].bits + bytes_
        a.grad = leaves[a.leaf + 1].bits
        a.grad_end = a.grad + bytes_ if a.grad else 0
    for i in range(sizes.operands.size()):
        a = &sizes.operands[i]
        for j in range(sizes.operands.size()):
            b = &sizes.operands[j]
            if a.grad < b.end and b.begin < a.grad_end:
                raise ValueError(
                    f"gradient of {name}(): the gradient of {sizes.paths[i]!r} shares memory with {sizes.paths[j]!r}, which "
                    "the gradient reads while it runs: pass a copy"
                )
            if i < j and a.grad < b.grad_end and b.grad < a.grad_end and not are_one(a, b, leaves):
                raise ValueError(
                    f"gradient of {name}(): the gradients of {sizes.paths[i]!r} and {sizes.paths[j]!r} overlap but are not "
                    "the same array: pass a copy of one array"
                )
            if i != j and a.is_written and a.begin < b.end and b.begin < a.end:
                raise ValueError(
                    f"gradient of {name}(): {sizes.paths[i]!r}, which the kernel writes, and {sizes.paths[j]!r} share "
                    "memory, so the kernel may have overwritten values that the gradient needs: pass different arrays"
                )
    return 0


cdef bint are_one(Operand* a, Operand* b, const Leaf* leaves):
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
