# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`@kernel`: a Python function that runs on the device.

A call finds the specialisation of its arguments (specialiser.pyx) and selects a strategy by the state of its stream: it
adds nodes to a capture (capture_strategy.pyx), launches a graph (replay_strategy.pyx), or launches the tasks one by one
(launch_strategy.pyx). On GPUs also a kernel of many tasks that is no graph kernel launches a graph.
"""

import functools

from cpython.ref cimport Py_XDECREF
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.capture.capture_handles cimport may_be_captured
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.capture_ledger cimport note_work_elsewhere
from cuda_graphs.objects.captured_call cimport is_captured_by_any_code
from cuda_graphs.objects.device.current cimport current_or
from cuda_graphs.objects.device.context cimport DeviceScope
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.kernels.specialisation.readers.reader cimport Reader, kDual, kGradient, kNoExtra
from .call_hooks cimport replacement_of, has_hook, after_call
from .capture_strategy cimport CaptureStrategy
from cuda_graphs.kernels.arrays.captures cimport is_captured
from .launch_strategy cimport LaunchStrategy
from .replay_strategy cimport ReplayStrategy, replay_strategy
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.specialiser cimport HeapReading, Specialiser, specialiser_of
from .strategy cimport Strategy

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language.annotations import NDArray, OutsideName
from cuda_graphs.compiler.language.signature import names_gradients
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.graph.checkpoints import number_of
from cuda_graphs.kernels.specialisation.options import GRAPHS_ARE_ON
from cuda_graphs.objects.device.stream import PER_THREAD_DEFAULT_STREAM, default_stream
from .kernel_registry import register_kernel

cdef enum:
    FEW = 32  # leaves and keys that fit on the C stack

cdef Stream usual_stream = default_stream()
cdef bint usual_is_of_thread = usual_stream is PER_THREAD_DEFAULT_STREAM  # a separate stream in each thread
cdef bint graphs_are_on = GRAPHS_ARE_ON


cdef object composite(tuple kinds, object numbers):
    """Return the results of a kernel from all their numbers in order."""
    from cuda_graphs.compiler.language.structs import host_value

    left = iter(numbers if isinstance(numbers, tuple) else (numbers,))
    found = tuple([host_value(kind, left) for kind in kinds])
    return found[0] if len(found) == 1 else found


cdef class KernelFunction:
    """A function that runs on the device: `kernel` makes it.

    A call ``f(*args, stream=None)`` launches the tasks of the function on a stream (None: the current stream of a `with`
    block, else the default stream). The first call with each
    combination of argument types compiles the function. A call returns at once, unless the function returns numbers,
    prints, or takes a host array.

    Attributes:
        debug: True if the kernel checks indices and asserts.
        fast_math: True if floats may be contracted and reassociated.
        is_graph: True if a call launches one graph.
        has_checkpoints: True if a call may end early and returns a CheckpointStatus.
    """

    def __cinit__(self):
        # An object that `__new__` made past the constructor has these too, so that its methods raise Python errors.
        self.specialiser = Specialiser.__new__(Specialiser)
        self.capture = CaptureStrategy.__new__(CaptureStrategy)
        self.capture.specialiser = self.specialiser
        self.launch = LaunchStrategy.__new__(LaunchStrategy)

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelFunction objects cannot be instantiated directly. Use the decorator cuda_graphs.kernel.")

    def __call__(self, *args, **keywords):
        cdef Stream stream = None
        cdef Leaf few_leaves[FEW]
        cdef uint64_t few_keys[FEW]
        cdef vector[Leaf] leaves
        cdef vector[uint64_t] keys
        cdef Reading r
        if keywords:
            given = keywords.pop("stream", None)
            if given is not None:
                stream = accept_stream(given)
            if keywords:
                args = self.specialiser.order(args, keywords)
        if stream is None:
            stream = current_or(usual_stream)
        if self.outside is not None:
            other, args = self.resolved(args)
            if other is not self:
                return other(*args, stream=stream)
        if has_hook():
            other = replacement_of(self, args, stream)
            if other is not None:
                return other(*args, stream=stream)
        r.leaves, r.keys = few_leaves, few_keys
        r.foreign = r.members = NULL
        r.in_graph = r.has_parameters = r.has_unlaunched = False
        if self.specialiser.leaves > FEW:
            leaves.resize(self.specialiser.leaves)
            r.leaves = leaves.data()
        if self.specialiser.keys > FEW:
            keys.resize(self.specialiser.keys)
            r.keys = keys.data()
        try:
            self.specialiser.read(&r, args)
            result = self._run(&r, stream)
        finally:
            Py_XDECREF(r.foreign)
            Py_XDECREF(r.members)
        if self.specialiser.is_primal:
            after_call(self, args, stream)
        if self.specialiser.returned is not None and result is not None:
            return composite(self.specialiser.returned, result)
        return result

    cdef tuple resolved(self, tuple args):
        """Return the kernel and the arguments of a call: those of a variant if arrays come from around the kernel."""
        outside = self.outside  # read once: another thread may reset it
        if outside is None:
            return self, args
        found = outside.variant(args)
        if found is None:
            if not outside.is_needed:
                self.outside = None
            return self, args
        return found if self.mode is None else (found[0].grad, found[1])

    cdef object _run(self, Reading* r, Stream stream):
        cdef StreamHandle handle = stream._h  # read once: another thread may close the stream meanwhile
        cdef DeviceScope scope
        if not handle:
            stream._check_open()
        if r.has_unlaunched:
            self.specialiser.check_arrays(r, handle)
        cdef Specialisation code = self.specialiser.find_on_device(scope, r, handle)
        if code.disjoint.size():
            code.check_disjoint(r.leaves)
        self.called = code
        if self.replay is not None:
            self.replay.replayed = False
        return self._strategy(code, r, handle).call(code, r, stream, handle)

    cdef Strategy _strategy(self, Specialisation code, Reading* r, const StreamHandle& handle):
        """Return the strategy of a call on a stream."""
        cdef bint replays
        if may_be_captured(handle):
            if is_captured(handle):
                return self.capture
            note_work_elsewhere("call of a kernel")
        if self.specialiser.takes_condition:
            if is_captured_by_any_code(handle):
                return self.capture
            raise RuntimeError(
                f"{self.specialiser.name}() sets a condition of a graph, and its stream is not captured: add the kernel to "
                "the graph of the condition with call() or launch(), or call it on a stream that is being captured"
            )
        if self.replay is None:  # the driver adds launches to the captures of other code
            return self._strategy_of_launches(code, r, handle)
        replays = self.specialiser.is_replayed and code.is_replayable
        # A replay detects a capture itself.
        if (r.foreign != NULL or not replays) and is_captured_by_any_code(handle):
            return self.capture
        return self.replay if replays else self.launch

    cdef Strategy _strategy_of_launches(self, Specialisation code, Reading* r, const StreamHandle& handle):
        """Return the strategy of a call of a kernel that is no graph kernel.

        One graph is launched faster than many tasks. Its launches never overlap, so calls on other streams, which
        could, stay launches. No code captures the usual stream.
        """
        if (
            not code.may_be_graph or code.is_refused or r.foreign != NULL or not self.specialiser.is_primal
            or usual_is_of_thread or raw_of(handle) != raw_of(usual_stream._h) or not graphs_are_on
        ):
            return self.launch
        if code.calls_before_graph > 0:
            code.calls_before_graph -= 1
            return self.launch
        if self.together is None:
            with self.specialiser.lock:
                if self.together is None:
                    self.together = replay_strategy(self.specialiser, self.capture, self.launch)
        return self.together

    @property
    def mode(self):
        """The key in the compiler's MODES of the derived code, with the number of a part; None for the kernel itself."""
        return self.specialiser.mode

    @property
    def debug(self):
        return bool(self.specialiser.options.debug)

    @property
    def fast_math(self):
        return bool(self.specialiser.options.fast_math)

    @property
    def is_graph(self):
        return bool(self.specialiser.is_graph)

    @property
    def has_checkpoints(self):
        return bool(self.specialiser.options.checkpoints)

    @property
    def grad(self):
        """The GradientFunction, which takes the arguments of the kernel. A gradient raises AttributeError."""
        if not self.specialiser.is_primal:
            raise AttributeError(f"{self.__name__} is a gradient and has no gradient: call it in a cg.ad.FwdMode for second derivatives")
        with self.specialiser.lock:
            if self.gradient is None:
                self.gradient = self.make_gradient(self)
            return self.gradient

    def forward(self, mode="forward"):
        """Return the KernelFunction that computes the results and their duals.

        The mode "constant" treats the duals of the arrays that the kernel reads as 0.
        """
        cdef KernelFunction found
        mode += (self.mode or "").removeprefix("part")
        with self.specialiser.lock:
            found = self.forwards.get(mode)
            if found is None:
                found = self.forwards[mode] = derived_from(KernelFunction, self, kDual, mode)
            return found

    def part(self, number, variables=()):
        """Return the KernelFunction of the statements between two conditionals of a graph kernel (autodiff/parts.py).

        Its parameters are those of the kernel and `variables`, pairs of the path and the type of an array of one element.
        """
        cdef KernelFunction found
        mode = f"part:{number}"
        with self.specialiser.lock:
            found = self.forwards.get((mode, variables))
            if found is None:
                of = self.specialiser.function
                hidden = {OutsideName(path, of, path): NDArray(SCALARS[kind], 1) for path, kind in variables}
                annotations = {**(self.specialiser.annotations or {}), **hidden}
                found = make(KernelFunction, of, self.specialiser.options, annotations, self.extra_leaf, mode)
                found.make_gradient = self.make_gradient
                self.forwards[mode, variables] = found
            return found

    def parts(self, *args):
        """Return the plan of the parts of a graph kernel for these arguments (autodiff/parts.py); () without control flow.

        Raises:
            CompileGradientError: The kernel cannot be divided into parts.
        """
        cdef KernelFunction planner
        cdef Specialisation code = self.specialiser.find_for(args)
        if code.is_straight and not any([task.resident_tasks for task in code.artifact.tasks]):
            return ()
        with self.specialiser.lock:
            planner = self.forwards.get("plan")
            if planner is None:
                planner = self.forwards["plan"] = derived_from(KernelFunction, self, self.extra_leaf, "plan")
        return planner.specialiser.find_for(args).artifact.parts

    @property
    def grad_stats(self):
        """The GradStats, which count the work of all calls of `grad`."""
        return self.grad.stats

    def compile(self, *args, **keywords):
        """Compile for the types of these arguments, as a call does, without running the kernel.

        Raises:
            TypeError: The arguments do not fit the parameters.
            CompileError: The function cannot be compiled for the arguments.
        """
        cdef KernelFunction of
        of, args = self.resolved(self.specialiser.order(args, keywords))
        of.specialiser.find_for(args)

    def fields(self, *args):
        """Return the fields that the kernel uses in calls with arguments of these types."""
        cdef KernelFunction of
        of, args = self.resolved(args)
        return of.specialiser.find_for(args).fields

    def written(self, *args):
        """Return the memory that a call with these arguments writes: {path: Buffer, or an array of another library}."""
        cdef dict owners = {}
        cdef Specialisation code = self.specialiser.find_for(args)
        for reader, value in zip(self.specialiser.readers, args):
            (<Reader>reader).add_owners(owners, value)
        return code.written(owners)

    def has_gradient(self, *args):
        """Return True if an array among the arguments, or a field that the kernel uses, has a gradient."""
        cdef KernelFunction of
        of, args = self.resolved(args)
        cdef Specialisation code = of.specialiser.find_for(args)
        return code.has_gradients or any([field.needs_grad for field in code.fields])

    @property
    def _takes_places(self):
        """Return True: nodes of a call take arrays without an address (graph/nodes/places.pyx)."""
        return True

    def __cuda_graph_emit__(self, node, args):
        """Add a KernelNode for each task after `node`, for `node.call(kernel, *args)`, and return the last node."""
        cdef KernelFunction of
        of, args = self.resolved(tuple(args))
        return of.capture.add_nodes(node, args)

    def add_part(self, node, args):
        """Add the nodes of a call of this part after `node`. Return the last node, and Buffers with the conditions that it sets."""
        return self.capture.add_part(node, args)

    def __cuda_graph_kernel__(self, config, args):
        """Return (config, Kernel, arguments) of a kernel with one task.

        Any grid of one dimension runs all iterations.
        """
        cdef KernelFunction of
        of, args = self.resolved(tuple(args))
        return of.capture.single_node(config, args)

    def launch_of_all(self, args):
        """Return (config, Kernel, arguments) of a call that is one task, or the reason (a str) why it is not."""
        return self.capture.launch_of_all(args)

    def resume(self, *args, from_checkpoint, stream=None, **keywords):
        """Call a kernel with checkpoints, and skip the work before a checkpoint.

        Args:
            args, keywords: The arguments of a call.
            from_checkpoint: The label of the checkpoint: an int, or a member of an IntEnum.
            stream: The stream of the call.

        Returns:
            A CheckpointStatus, as a call does.

        Raises:
            AttributeError: The kernel has no checkpoints.
            TypeError: `from_checkpoint` is not a label.
            ValueError: The kernel has no checkpoint with this label.
            RuntimeError: The stream is being captured.
        """
        cdef HeapReading reading
        cdef str name = self.__name__
        if not self.specialiser.has_checkpoints:
            raise AttributeError(f"{name} has no checkpoints: write @cg.kernel(graph=True, checkpoints=True)")
        if from_checkpoint is None:
            raise TypeError(f"{name}.resume(): from_checkpoint must be a label, not None")
        cdef KernelFunction of
        cdef DeviceScope scope
        of, args = self.resolved(self.specialiser.order(args, keywords))
        reading = of.specialiser.read_to_heap(args, False)
        labels = of.specialiser.find_on_device(scope, &reading.r, StreamHandle()).labels
        reading.r.leaves[of.specialiser.start].bits = <uint64_t>number_of(name, labels, from_checkpoint)
        return of._run(&reading.r, current_or(usual_stream) if stream is None else accept_stream(stream))

    def graph(self, *args, **keywords):
        """Return a GraphDef with the nodes of a call with these arguments, to inspect, to draw, or to extend."""
        definition = GraphDef()
        definition.call(self, *self.specialiser.order(args, keywords))
        return definition

    def explain(self, *args, **keywords):
        """Return an Explanation of calls with arguments of these types.

        It lists the constants of the code with their source lines, the parameters of calls, the tasks, and the lowering
        of control flow between tasks with its reason. `print` shows it.

        Raises:
            CompileError: The function cannot be compiled for the arguments.
        """
        from cuda_graphs.kernels.debug.explanation import explain

        cdef Specialisation code
        cdef dict annotations = {}
        cdef KernelFunction of
        of, args = self.resolved(self.specialiser.order(args, keywords))
        code = of.specialiser.find_for(args)
        for name, reader in zip(of.specialiser.names, of.specialiser.readers):
            annotations[name] = (<Reader>reader).annotation
        why = of.specialiser.options.why(code.artifact, code.is_refused, code.why_nodes)
        if of.replay is not None and of.replay.refusal is not None and code.replacement is not None:
            code, why = code.replacement, of.replay.refusal
        return explain(of.specialiser.function, annotations, of.specialiser.signature(args), code.artifact, why)

    @property
    def graph_stats(self):
        """The GraphStats of a graph kernel. Other kernels raise AttributeError."""
        if self.replay is None:
            raise AttributeError(f"{self.__name__} is not a graph kernel: write @cg.kernel(graph=True)")
        return self.replay.stats(self.called)

    @property
    def _last_graph(self):
        """The definition of the graph that the last call launched, or None."""
        last = None if self.replay is None else self.replay.last
        return None if last is None else last.definition

    def _repr_mimebundle_(self, **types):
        """Return what a notebook shows: a picture of the graph that the last call launched, and the repr."""
        last = self._last_graph
        bundle = {} if last is None else last._repr_mimebundle_()
        return {**bundle, "text/plain": repr(self)}

    def inspect(self, *args, target=None, **keywords):
        """Return an Inspection of the specialisation for these arguments: IR, LLVM IR, and assembly or PTX, as text.

        Args:
            args, keywords: The arguments of a call. The kernel does not run.
            target: "x86" or "ptx"; None for the target of the driver.

        Raises:
            ValueError: `target` is neither "x86" nor "ptx".
            CompileError: The function cannot be compiled for the arguments.
        """
        from cuda_graphs.kernels.debug.inspection import Inspection

        cdef KernelFunction of
        of, args = self.resolved(self.specialiser.order(args, keywords))
        signature = of.specialiser.signature(args)
        lowering, options = self.specialiser.lowering(False), self.specialiser.options
        return Inspection(self.specialiser.function, signature, target, lowering, options, self.specialiser.mode)

    def forget(self):
        """Drop the compiled code and the template values: the next call compiles again. Running work continues."""
        with self.specialiser.lock:
            self.called = None
            if self.outside is not None:
                self.outside.forget()
            if self.gradient is not None:
                self.gradient.forget()
            self.forwards.clear()
            self.specialiser.forget()
            for strategy in (self.replay, self.together):
                if strategy is not None:
                    (<ReplayStrategy>strategy).forget()

    def __repr__(self):
        given = {"debug": self.debug, "fast_math": self.fast_math, "graph": self.is_graph, "checkpoints": self.has_checkpoints}
        options = "".join(f" {name}=True" for name, is_on in given.items() if is_on)
        names = ", ".join(self.specialiser.names)
        return f"<kernel {self.__qualname__}({names}){options}, {self.specialiser.count()} specialisations>"


def make_kernel(function, options, annotations, make_gradient, outside=None):
    """Return the kernel of a function, as `kernel_factory.kernel_of` does.

    `make_gradient` makes its GradientFunction, and `outside` its variants (outside_arrays.py).
    """
    cdef int extra_leaf = kGradient if names_gradients(function) else kNoExtra
    cdef KernelFunction self = make(KernelFunction, function, options, annotations, extra_leaf, None)
    self.make_gradient, self.extra_leaf, self.outside = make_gradient, extra_leaf, outside
    return self


cdef KernelFunction derived_from(object cls, KernelFunction primal, int extra_leaf, object mode):
    cdef Specialiser of = primal.specialiser
    return make(cls, of.function, of.options, of.annotations, extra_leaf, mode)


cdef KernelFunction make(object cls, object function, object options, object annotations, int extra_leaf, object mode):
    cdef KernelFunction self = cls.__new__(cls)
    functools.update_wrapper(self, function)
    self.specialiser = specialiser_of(function, options, annotations, extra_leaf, mode)
    self.capture.specialiser = self.specialiser
    self.forwards = {}
    if self.specialiser.is_graph:
        self.replay = replay_strategy(self.specialiser, self.capture, self.launch)
    register_kernel(self)
    return self
