# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of kernels, as kernels. stack_memory.pyx has the memory that their calls need."""

import weakref

from cuda_graphs.kernels.specialisation.readers.reader cimport Reader, kGradient, kNoExtra, kSecond
from cuda_graphs.kernels.call.function cimport KernelFunction, derived_from
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.numbers cimport as_int
from .stack_memory cimport GradientCapture, GradientLaunch, StackMemory

from cuda_graphs.kernels.arrays.tensors import fill
from cuda_graphs.objects.device.device import current_device
from .grad_stats import GradStats
from .stack_sizing import MAX_CAPACITY


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
    def stats(self):
        return self.stacks.stats

    @property
    def stack_room(self):
        return self.stacks.capacity

    @stack_room.setter
    def stack_room(self, value):
        number = None if value is None else as_int(value)
        if value is not None and (number is None or not 1 <= number <= MAX_CAPACITY):
            raise ValueError(
                f"stack_room of {self.specialiser.name} must be an int from 1 to {MAX_CAPACITY}, or None, not {value!r}"
            )
        self.stacks.capacity = number

    def info(self, *args):
        """Return the compiler's GradientInfo for these arguments."""
        return self.specialiser.find_for(args).artifact.gradient

    def clear(self, tuple args, fields, dict done, stream=None):
        """Fill the gradients of the array arguments and of `fields` with zeros, without compiling.

        Args:
            args: The arguments of a call.
            fields: The fields that the kernel uses (KernelFunction.fields). The code of the gradient does not list all
                of them: it can write the gradient of a field without reading the field.
            done: The gradients that are already clear, by identity. The method skips these and adds new ones.
            stream: The current stream, which is being captured: the work becomes nodes of its graph. None waits for the
                work.

        Raises:
            RuntimeError: The gradient is in a tensor of PyTorch, whose work a graph cannot repeat.
        """
        cdef Reader reader
        cdef dict owners = {}
        cdef dict leaves = {}
        for each, value in zip(self.specialiser.readers, args):
            reader = each
            reader.add_owners(owners, value)
            leaves.update(reader.leaf_paths())
        cdef bint captures = stream is not None
        if not captures:
            stream = current_device().default_stream
        before = len(done)
        for path, number in leaves.items():
            if path.endswith(".grad") and number in owners and id(owners[number]) not in done:
                done[id(owners[number])] = owners[number]
                if isinstance(owners[number], Buffer):
                    owners[number].fill(0, stream=stream)
                elif captures:
                    raise RuntimeError(
                        f"the gradient of {path.removesuffix('.grad')!r} is a tensor, which a captured Tape cannot clear: clear it "
                        "in the graph and pass clear_gradients=False, or pass a cg.ndarray"
                    )
                else:
                    fill(owners[number], 0)
        for field in fields:
            if field.needs_grad and id(field.grad) not in done:
                done[id(field.grad)] = field.grad
                field.grad.fill(0)
        if len(done) > before and not captures:
            stream.sync()

    def second(self):
        """Return the GradientFunction that also computes the duals of the gradients, from those of the arrays."""
        cdef GradientFunction found
        cdef str of_part = self.mode.removeprefix("reverse")
        with self.specialiser.lock:
            found = self.forwards.get("second")
            if found is None:
                found = with_stacks(derived_from(GradientFunction, self, kSecond, f"second{of_part}"), of_part)
                self.forwards["second"] = found
            found.stacks.capacity = self.stacks.capacity
            return found

    def forget(self):
        """Drop the compiled code, and release the memory of the stacks when its work is done."""
        super().forget()
        self.stacks.forget()

    def __repr__(self):
        return f"<gradient of {super().__repr__()[1:]}"


def gradient_of(KernelFunction primal):
    """Return a new GradientFunction for a kernel, or for a part of a kernel."""
    cdef str of_part = (primal.mode or "").removeprefix("part")
    cdef GradientFunction self = derived_from(GradientFunction, primal, kGradient, f"reverse{of_part}")
    self.outside = primal.outside
    return with_stacks(self, of_part)


cdef GradientFunction with_stacks(GradientFunction self, str of_part):
    """Give a new GradientFunction the memory of its stacks, and return it."""
    cdef GradientLaunch launch = GradientLaunch.__new__(GradientLaunch)
    cdef GradientCapture capture = GradientCapture.__new__(GradientCapture)
    self.stacks = StackMemory.__new__(StackMemory)
    self.stacks.name, self.stacks.lock = self.specialiser.name, self.specialiser.lock
    self.stacks.sizing_kernel = derived_from(KernelFunction, self, kNoExtra, f"size{of_part}")
    self.stacks.counting_kernel = derived_from(KernelFunction, self, kNoExtra, f"count{of_part}")
    self.stacks.operands, self.stacks.heaps, self.stacks.stats = {}, weakref.WeakKeyDictionary(), GradStats()
    launch.stacks = capture.stacks = self.stacks
    capture.specialiser = self.specialiser
    self.launch, self.capture = launch, capture
    return self
