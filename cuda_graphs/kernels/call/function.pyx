# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`@kernel`: a Python function that runs on the device.

A call converts its arguments to leaves and a key (arguments.pyx), finds the specialisation for the key, and launches
it. Only the compilation of a specialisation reads the source of the function.
"""

import functools
import logging
import threading
from collections import OrderedDict

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport int32_t, uint64_t, uintptr_t
from libc.string cimport memcmp
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUcontext, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.capture.capture_handles cimport may_be_captured
from cuda_graphs.core.graphs.graph_handles cimport current_context
from cuda_graphs.core.resources.handles cimport raw_of
from cuda_graphs.objects.device.stream cimport Stream, Stream_accept
from .arguments cimport Reader, kAlone, kWithDual, kWithGrad, reader_of
from .captures cimport captures_for_others, is_captured
from cuda_graphs.kernels.arrays.foreign cimport Foreign
from .guards cimport Guards
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.gradients.recording cimport instead_of, is_watched, note_call, note_capture
from cuda_graphs.kernels.graph.replay cimport Replay, build
from cuda_graphs.kernels.arrays.keep_alive cimport keep as keep_until_done
from .specialisation cimport Specialisation

from cuda_graphs.objects.device.stream import PER_THREAD_DEFAULT_STREAM, default_stream
from cuda_graphs.compiler import trace
from cuda_graphs.compiler.artifact import START
from cuda_graphs.compiler.cache.artifact_cache import cached_compile
from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.language.signature import declared, has_gradient, names_gradients
from cuda_graphs.errors import CUDANotSupportedError
from cuda_graphs.graph.capture.capture_end import BorrowedCapture, CapturedPlace
from .kernel_registry import know
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.graph.checkpoints import labels_of, number_of, status_of
from cuda_graphs.kernels.graph.emission import Emission
from cuda_graphs.kernels.graph.graph_stats import GraphStats
from .field_names import with_field_names
from .keywords import ordered
from cuda_graphs.kernels.graph.lowering import NO_LOWERING, Lowering
from .options import GRAPHS_ARE_ON
from .arguments import leaf_paths
from .guards import guards_of
from .specialisation import load
from cuda_graphs.kernels.targets import current_device, target_of

cdef enum:
    FEW = 32  # leaves and keys that fit on the C stack

MOST_GRAPHS = 64  # graphs kept for one kernel; the least recently used graph is dropped first
cdef bint graphs_are_on = GRAPHS_ARE_ON

# Keywords of a call that a kernel cannot use as names of parameters.
RESERVED = ("stream",)

log = logging.getLogger("cuda_graphs")

cdef Stream usual_stream = default_stream()
cdef bint usual_is_of_thread = usual_stream is PER_THREAD_DEFAULT_STREAM  # a separate stream in each thread


cdef class _Taken:
    """The leaves and keys of one call on the heap, for calls that need not be fast."""

    def __dealloc__(self):
        Py_XDECREF(self.r.staff)
        Py_XDECREF(self.r.members)


cdef class KernelFunction:
    """A function that runs on the device: `kernel` makes it.

    A call ``f(*args, stream=None)`` launches the tasks of the function on a stream. The first call with each
    combination of argument types compiles the function. A call returns at once, unless the function returns numbers,
    prints, or takes a host array.

    Attributes:
        debug: True if the kernel checks indices and asserts.
        fast_math: True if floats may be contracted and reassociated.
        is_graph: True if a call launches one graph.
        has_checkpoints: True if a call may end early and returns a CheckpointStatus.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelFunction objects cannot be instantiated directly. Use the decorator cuda_graphs.kernel.")

    def __call__(self, *args, **keywords):
        cdef Stream stream = usual_stream
        cdef Leaf few_leaves[FEW]
        cdef uint64_t few_keys[FEW]
        cdef vector[Leaf] leaves
        cdef vector[uint64_t] keys
        cdef Reading r
        if keywords:
            given = keywords.pop("stream", None)
            if given is not None:
                stream = Stream_accept(given)
            if keywords:
                args = self._order(args, keywords)
        if is_watched():
            other = instead_of(self, args, stream)
            if other is not None:
                return other(*args, stream=stream)
        r.leaves, r.keys = few_leaves, few_keys
        r.staff = r.members = NULL
        r.in_graph = False
        if self.leaves > FEW:
            leaves.resize(self.leaves)
            r.leaves = leaves.data()
        if self.keys > FEW:
            keys.resize(self.keys)
            r.keys = keys.data()
        try:
            self._read(&r, args)
            result = self._run(&r, args, stream)
        finally:
            Py_XDECREF(r.staff)
            Py_XDECREF(r.members)
        if self.mode is None:
            note_call(self, args, stream)
        return result

    cdef _Taken _taken(self, tuple args, bint in_graph):
        cdef _Taken taken = _Taken.__new__(_Taken)
        taken.leaves.resize(self.leaves)
        taken.keys.resize(self.keys)
        taken.r.leaves, taken.r.keys, taken.r.in_graph = taken.leaves.data(), taken.keys.data(), in_graph
        self._read(&taken.r, args)
        return taken

    cdef tuple _order(self, tuple args, dict keywords):
        """Return the arguments in the order of the parameters."""
        return ordered(self.name, self.names, self.index_of, args, keywords)

    cdef int _read(self, Reading* r, tuple args) except -1:
        cdef Py_ssize_t i
        if len(args) != len(self.readers):
            lacking = ", ".join(self.names[len(args) :])
            raise TypeError(
                f"{self.name}() takes {len(self.readers)} arguments ({', '.join(self.names)}), got {len(args)}"
                + (f": {lacking} missing" if lacking else "")
            )
        for i in range(len(self.readers)):
            (<Reader>self.readers[i]).read(r, args[i])
        if self.has_checkpoints:
            r.leaves[self.start].bits = 0
        return 0

    cdef Specialisation _find(self, Reading* r, tuple args):
        # The nodes may become part of any graph, so embedded code does not rely on initial values of its conditions.
        cdef bint embedded = self.is_graph and r.in_graph
        cdef Py_ssize_t size = self.keys * sizeof(uint64_t)
        cdef Specialisation found = self.last
        cdef bytes last_key = self.last_key
        if found is not None and not embedded:
            if size == 0 or memcmp(PyBytes_AS_STRING(last_key), r.keys, size) == 0:
                if (<Guards>found.guards).hold():
                    return found
        key = (embedded, PyBytes_FromStringAndSize(<char*>r.keys, size))
        current_device()  # raises in a forked child, where the lock may stay locked forever
        with self.lock:
            for found in self.known.get(key, ()):
                if (<Guards>found.guards).hold():
                    break
            else:
                found = self._compile(args, embedded)
                self.known.setdefault(key, []).append(found)
            if embedded:
                return found
            self.last = None  # other threads never see a key together with the code of another key
            self.last_key = key[1]
            self.last = found
        return found

    def _signature(self, args):
        """Return the compiler's description of each argument, by parameter name."""
        cdef Reader reader
        specs = {}
        for name, value, each in zip(self.names, args, self.readers):
            reader = each
            specs[name] = reader.spec(value)
        return specs

    def _compile(self, args, embedded, is_refused=False):
        signature = self._signature(args)
        leaves = {path: number for reader in self.readers for path, number in leaf_paths(reader)}
        if self.has_checkpoints:
            leaves[START] = self.start
        current_device()
        target, shape = target_of(self.fast_math)
        try:
            lowering = self.options.lowering(False, False) if is_refused else self._lowering(embedded)
            artifact = self._artifact(signature, target, *lowering)
        except CompileError as error:
            raise self._shown(error)
        guards = guards_of(artifact.free_values)
        if artifact.lowering == "host" and self.loop == "auto" and self._is_replayed() and not is_refused:
            log.info("%s(): loops between tasks run on the host, the device has no conditional nodes", self.name)
        found = load(self.name, artifact, shape, leaves, guards, labels_of(self.function, artifact))
        (<Specialisation>found).has_gradients = any(map(has_gradient, signature.values()))
        return found

    def _lowering(self, embedded):
        """Return the Lowering. The host runs the control flow between the tasks of gradients and of forward mode."""
        if self.mode is not None:
            return Lowering("host", None) if self.options.graph else NO_LOWERING
        return self.options.lowering(embedded, self._is_replayed())

    cdef bint _is_replayed(self) noexcept:
        """Return True if calls launch one graph."""
        return self.is_graph and graphs_are_on and not self.debug

    def _artifact(self, signature, target, graph, chain):
        options = {"graph": graph, "chain": chain, "mode": self.mode, "checkpoints": bool(self.has_checkpoints)}
        if self.debug:  # the cache on disk does not keep the checks of debug code
            from cuda_graphs.compiler.pipeline import compile_kernel

            return compile_kernel(self.function, signature, target, debug=True, reports=True, **options)
        return cached_compile(self.function, signature, target, **options)

    @property
    def grad(self):
        """The GradientFunction, which takes the arguments of the kernel. A gradient raises AttributeError."""
        if self.mode is not None:
            raise AttributeError(f"{self.name} is a gradient and has no gradient: there are no second derivatives")
        with self.lock:
            if self.gradient is None:
                from cuda_graphs.kernels.gradients.gradient import gradient_of

                self.gradient = gradient_of(self)
            return self.gradient

    def forward(self, mode="forward"):
        """Return the KernelFunction that computes the results and their duals.

        The mode "constant" treats the duals of the arrays that the kernel reads as 0.
        """
        cdef KernelFunction found
        with self.lock:
            found = self.forwards.get(mode)
            if found is None:
                found = begin(KernelFunction, self.function, self.options, self.annotations, kWithDual)
                found.mode, found.is_graph = mode, False
                self.forwards[mode] = found
            return found

    @property
    def grad_stats(self):
        """The GradStats, which count the work of all calls of `grad`."""
        return self.grad.stats

    def _shown(self, error):
        """Return a CompileError without the frames of the compiler. CUDA_GRAPHS_DEBUG keeps the frames."""
        return error if trace.level() else with_field_names(error, self.function).with_traceback(None)

    def compile(self, *args, **keywords):
        """Compile for the types of these arguments, as a call does, without running the kernel.

        Raises:
            TypeError: The arguments do not fit the parameters.
            CompileError: The function cannot be compiled for the arguments.
        """
        self._specialisation(self._order(args, keywords))

    def fields(self, *args):
        """Return the fields that the kernel uses in calls with arguments of these types."""
        return self._specialisation(args).fields

    def has_gradient(self, *args):
        """Return True if an array among the arguments, or a field that the kernel uses, has a gradient."""
        cdef Specialisation code = self._specialisation(args)
        return code.has_gradients or any([field.needs_grad for field in code.fields])

    cdef Specialisation _specialisation(self, tuple args):
        cdef _Taken taken = self._taken(args, False)
        return self._find(&taken.r, args)

    cdef tuple _launches(self, tuple args):
        """Return the list of Specialisation.launches, and the plan."""
        cdef _Taken taken = self._taken(args, True)
        cdef Specialisation code = self._find(&taken.r, args)
        cdef dict owners = {}
        code.check_apart(taken.r.leaves)
        if taken.r.staff != NULL:
            (<Foreign>taken.r.staff).check_stays(code.writes)
        for reader, value in zip(self.readers, args):
            (<Reader>reader).own(owners, value)
        code.note_changes(taken.r.leaves, NULL, True)
        return code.launches(taken.r.leaves, owners, self._temps(code, taken.r.leaves, owners)), code.artifact.plan

    cdef list _temps(self, Specialisation code, const Leaf* leaves, dict owners):
        """Return new memory for the temporary arrays of a graph."""
        return code.new_temps()

    def __cuda_graph_emit__(self, node, args):
        """Add a KernelNode for each task after `node`, for `node.call(kernel, *args)`, and return the last node."""
        emission = Emission(node, *self._launches(tuple(args)))
        return node.join() if emission.last is node else emission.last

    def __cuda_graph_kernel__(self, config, args):
        """Return (config, Kernel, arguments) of a kernel with one task.

        Any grid of one dimension runs all iterations.
        """
        found, plan = self._launches(tuple(args))
        if len(found) != 1 or plan != (0,):
            raise ValueError(
                f"{self.name}() has {len(found)} tasks, one for each loop at the top level and one for the statements between "
                "two loops: add the kernel with call(), which makes a node for each task"
            )
        (task,) = found
        if task.config.is_cooperative and config is not None:
            raise ValueError(
                f"{self.name}() is one cooperative launch, which sets its own grid: add the kernel with call()"
            )
        if self.debug:  # a launch outside a graph does not keep the memory that asserts write to
            from cuda_graphs.kernels.debug.reports import keep

            keep(task.arguments)
        return task.config if config is None else config, task.kernel, task.arguments

    cdef object _run(self, Reading* r, tuple args, Stream stream, object label=None):
        cdef Specialisation code = self._find(r, args)
        stream._check_open()  # reading an argument may have closed it
        if code.apart.size():
            code.check_apart(r.leaves)
        cdef Foreign staff = <Foreign>r.staff if r.staff != NULL else None
        cdef int32_t yielded = -1
        result = None
        self.called, self.replayed = code, False
        if may_be_captured(stream._h) and is_captured(stream._h):
            self._capture(args, stream, label)
            return None
        cdef bint replays = self._is_replayed() and code.is_replayable
        cdef Replay replay = None
        # A replay detects a capture itself.
        if self.is_graph and (staff is not None or not replays) and self._capture_for_others(args, stream, label):
            return None
        if replays:
            replay = self._replay_or_none(code, r)
            if replay is None:
                self.called = code = self._instead_of(code, args)
        if label is not None:
            r.leaves[self.start].bits = <uint64_t>number_of(self.name, code.labels, label)
        if staff is not None:
            staff.bring(stream, code.writes, r)
        try:
            if replay is not None:
                if not replay.run(r.leaves, stream, &yielded):
                    if self._capture_for_others(args, stream, label):
                        return None
                    check_attempt(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, f"launch of kernel {self.name} on {stream!r}")
                elif code.state >= 0:
                    result = status_of(code.labels, yielded)
            else:
                result = self._launch(code, r, args, stream)
        finally:  # after the launch: a reader before it must see the old version
            code.note_changes(r.leaves, raw_of(stream._h), False)
        if staff is not None:
            staff.finish(stream)
        cdef bint keeps = (stream is not usual_stream or usual_is_of_thread) and code.leaves_memory
        if (keeps or code.prints) and captures_for_others(stream._h):
            return result
        if code.prints:
            stream.sync()
        if keeps:
            keep_until_done(stream, args if r.members == NULL else (args, <list>r.members))
        return result

    cdef object _launch(self, Specialisation code, Reading* r, tuple args, Stream stream):
        """Launch the tasks, and return the results of the kernel."""
        if code.answers:
            return code.launch_for_results(r.leaves, stream, NULL)
        code.launch(r.leaves, stream, NULL)
        return None

    cdef int _capture(self, tuple args, Stream stream, object label) except -1:
        """Add the nodes of a call to the graph that the stream captures."""
        if label is not None:
            raise RuntimeError(f"{self.name}.resume() on {stream!r}, which is being captured: a capture has no CheckpointStatus")
        note_capture(self)
        Emission(CapturedPlace(stream), *self._launches(args))
        return 0

    cdef bint _capture_for_others(self, tuple args, Stream stream, object label) except -1:
        """Add the nodes if code outside this package captures the stream; return True if it does."""
        with BorrowedCapture(stream) as capture:
            if capture.is_there:
                self._capture(args, stream, label)
                self.replayed = False
            return capture.is_there

    cdef Replay _replay_or_none(self, Specialisation code, Reading* r):
        """Return the Replay, or None if the driver cannot build the graph."""
        try:
            return self._replay(code, r)
        except CUDANotSupportedError as error:
            if self.loop != "auto":
                raise
            log.info("%s() launches its tasks one by one: the driver builds no graph of them (%s)", self.name, error)
            return None

    cdef Specialisation _instead_of(self, Specialisation code, tuple args):
        """Replace `code`, whose graph the driver cannot build, by code that needs no graph, and return the new code."""
        cdef Specialisation other
        with self.lock:
            if code.instead is None:
                other = self._compile(args, False, is_refused=True)
                other.is_refused, other.is_replayable = True, False
                code.instead = other
                for found in self.known.values():
                    found[:] = [other if each is code else each for each in found]
                self.last = None
            return code.instead

    cdef Replay _replay(self, Specialisation code, Reading* r):
        """Return the Replay of the specialisation in the current context, and build it if necessary."""
        cdef CUcontext context = NULL
        cdef Replay found = self.replay
        cdef CUresult status
        with nogil:
            current_context(&context)
        if found is not None and found.code is code and found.context == context and context != NULL:
            self.replayed = True
            return found
        current_device()  # sets the current context of a new thread
        with nogil:
            status = current_context(&context)
        check_attempt(status, f"ask for the context of {self.name}()")
        key = code, <uintptr_t>context
        with self.lock:
            found = self.replays.get(key)
            self.replayed = found is not None
            if found is None:
                found = build(code, r.leaves, context)
                self.builds += 1
                self.replays[key] = found
                while len(self.replays) > MOST_GRAPHS:
                    self.replays.popitem(last=False)
            self.replays.move_to_end(key)
            self.replay = found
        return found

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
        cdef _Taken taken
        if not self.has_checkpoints:
            raise AttributeError(f"{self.name} has no checkpoints: write @cg.kernel(graph=True, checkpoints=True)")
        if from_checkpoint is None:
            raise TypeError(f"{self.name}.resume(): from_checkpoint must be a label, not None")
        args = self._order(args, keywords)
        taken = self._taken(args, False)
        return self._run(&taken.r, args, usual_stream if stream is None else Stream_accept(stream), from_checkpoint)

    def graph(self, *args, **keywords):
        """Return a GraphDef with the nodes of a call with these arguments, to inspect, to draw, or to extend."""
        definition = GraphDef()
        definition.call(self, *self._order(args, keywords))
        return definition

    def explain(self, *args, **keywords):
        """Return an Explanation of calls with arguments of these types.

        It lists the constants of the code with their source lines, the parameters of calls, the tasks, and the lowering
        of control flow between tasks with its reason. `print` shows it.

        Raises:
            CompileError: The function cannot be compiled for the arguments.
        """
        from cuda_graphs.kernels.debug.explanation import explain

        args = self._order(args, keywords)
        code = self._specialisation(args)
        annotations = {name: (<Reader>reader).annotation for name, reader in zip(self.names, self.readers)}
        why = self.options.why(code.artifact, code.is_refused)
        return explain(self.function, annotations, self._signature(args), code.artifact, why)

    @property
    def graph_stats(self):
        """The GraphStats of a graph kernel. Other kernels raise AttributeError."""
        if not self.is_graph:
            raise AttributeError(f"{self.name} is not a graph kernel: write @cg.kernel(graph=True)")
        last, code = self.replay, self.called
        return GraphStats(
            graphs=len(self.replays),
            builds=self.builds,
            replayed=bool(self.replayed),
            nodes=last.count if last is not None else 0,
            tasks=sum([max(1, len(task.resident_tasks)) for task in code.artifact.tasks]) if code is not None else 0,
            lowering=code.artifact.lowering if code is not None else None,
        )

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

        return Inspection(self.function, self._signature(self._order(args, keywords)), target, self)

    def forget(self):
        """Drop the compiled code and the template values: the next call compiles again. Running work continues."""
        cdef Reader reader
        with self.lock:
            self.last = self.called = self.replay = None
            self.replayed = False
            if self.gradient is not None:
                self.gradient.forget()
            self.forwards.clear()
            self.known.clear()
            for each in self.readers:
                reader = each
                reader.forget()
            self.replays.clear()

    def __repr__(self):
        given = {"debug": self.debug, "fast_math": self.fast_math, "graph": self.is_graph, "checkpoints": self.has_checkpoints}
        options = "".join(f" {name}=True" for name, is_on in given.items() if is_on)
        made = sum(len(found) for found in self.known.values())
        return f"<kernel {self.__qualname__}({', '.join(self.names)}){options}, {made} specialisations>"


def kernel_of(function, options, known=None):
    """Return the kernel of a function. `known` holds annotations that are missing in its source, by parameter."""
    return begin(KernelFunction, function, options, known, kWithGrad if names_gradients(function) else kAlone)


cdef KernelFunction begin(cls, function, options, known, int beside):
    cdef KernelFunction self = cls.__new__(cls)
    cdef Reader reader
    functools.update_wrapper(self, function)
    self.options, self.annotations = options, known
    self.function, self.name = function, function.__name__
    self.debug, self.fast_math, self.is_graph, self.loop, _, self.has_checkpoints = options
    self.replays, self.forwards = OrderedDict(), {}
    self.readers, self.known, self.lock = [], {}, threading.RLock()
    parameters = declared(function, known)
    for name, annotation in parameters.items():
        if name in RESERVED:
            raise TypeError(f"{function.__name__}: a parameter of a kernel cannot be called {name!r}, a keyword of every call")
        reader = reader_of(annotation, name, self.leaves, self.keys, beside)
        self.leaves += reader.leaves
        self.keys += reader.keys
        self.readers.append(reader)
    if self.has_checkpoints:
        self.start = self.leaves
        self.leaves += 1
    self.names = tuple(parameters)
    self.index_of = {name: i for i, name in enumerate(self.names)}
    know(self)
    return self
