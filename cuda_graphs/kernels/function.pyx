# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`@kernel`: a Python function that runs on the device.

A call takes its arguments apart (arguments.pyx), finds the specialisation by the key that comes of it, and launches.
What the function says is looked at when a specialisation is made, and never else.
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

from cuda_graphs._driver.cuda cimport CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUcontext, CUresult
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.capture_handles cimport may_be_captured
from cuda_graphs._handles.graph_handles cimport current_context
from cuda_graphs._handles.handles cimport raw_of
from cuda_graphs._objects.stream cimport Stream, Stream_accept
from cuda_graphs.kernels.arguments cimport Reader, kAlone, kWithDual, kWithGrad, reader_of
from cuda_graphs.kernels.captures cimport captures_for_others, is_captured
from cuda_graphs.kernels.foreign cimport Foreign
from cuda_graphs.kernels.guards cimport Guards
from cuda_graphs.kernels.reading cimport Leaf, Reading
from cuda_graphs.kernels.recording cimport instead_of, is_watched, note_call, note_capture
from cuda_graphs.kernels.replay cimport Replay, build
from cuda_graphs.kernels.retained cimport keep as keep_until_done
from cuda_graphs.kernels.specialisation cimport Specialisation

from cuda_graphs._objects.stream import PER_THREAD_DEFAULT_STREAM, default_stream
from cuda_graphs.compiler import trace
from cuda_graphs.compiler.artifact import START
from cuda_graphs.compiler.cache import cached_compile
from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.signature import declared, has_gradient, names_gradients
from cuda_graphs.errors import CUDANotSupportedError
from cuda_graphs.graph.captured_place import BorrowedCapture, CapturedPlace
from cuda_graphs.kernels.forgetting import know
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.checkpoints import labels_of, number_of, status_of
from cuda_graphs.kernels.emission import Emission
from cuda_graphs.kernels.graph_stats import GraphStats
from cuda_graphs.kernels.field_names import with_field_names
from cuda_graphs.kernels.keywords import ordered
from cuda_graphs.kernels.lowering import NO_LOWERING, Lowering
from cuda_graphs.kernels.options import GRAPHS_ARE_ON
from cuda_graphs.kernels.arguments import leaf_paths
from cuda_graphs.kernels.guards import guards_of
from cuda_graphs.kernels.specialisation import load
from cuda_graphs.kernels.targets import current_device, target_of

cdef enum:
    FEW = 32  # leaves and keys that need no memory from the heap

MOST_GRAPHS = 64  # of one kernel; those that were not used for the longest time go
cdef bint graphs_are_on = GRAPHS_ARE_ON

# Keywords of a call that are not parameters.
RESERVED = ("stream",)

log = logging.getLogger("cuda_graphs")

cdef Stream usual_stream = default_stream()
cdef bint usual_is_of_thread = usual_stream is PER_THREAD_DEFAULT_STREAM  # another one for who gives memory back elsewhere


cdef class _Taken:
    """The arguments of one call, taken apart, where that need not be fast."""

    def __dealloc__(self):
        Py_XDECREF(self.r.staff)
        Py_XDECREF(self.r.members)


cdef class KernelFunction:
    """A function that runs on the device: `kernel` makes it.

    A call compiles the function for the types of its arguments, the first time, and launches its tasks on a stream:
    ``f(*args, stream=None)``. It returns at once, but when the function returns numbers or prints, or takes an array of
    the host.

    Attributes:
        debug: Whether indices and asserts are checked.
        fast_math: Whether floats may be contracted and reassociated.
        is_graph: Whether a call launches one graph.
        has_checkpoints: Whether a call may end early, and returns a CheckpointStatus.
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
        """Arguments as the function lists them."""
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
        # Nodes of a graph kernel may become a part of any graph: their conditions depend on nothing that was so before.
        cdef bint embedded = self.is_graph and r.in_graph
        cdef Py_ssize_t size = self.keys * sizeof(uint64_t)
        cdef Specialisation found = self.last
        cdef bytes last_key = self.last_key
        if found is not None and not embedded:
            if size == 0 or memcmp(PyBytes_AS_STRING(last_key), r.keys, size) == 0:
                if (<Guards>found.guards).hold():
                    return found
        key = (embedded, PyBytes_FromStringAndSize(<char*>r.keys, size))
        current_device()  # refused in a forked child, for which nobody would free the lock
        with self.lock:
            for found in self.known.get(key, ()):
                if (<Guards>found.guards).hold():
                    break
            else:
                found = self._compile(args, embedded)
                self.known.setdefault(key, []).append(found)
            if embedded:
                return found
            self.last = None  # so that no other thread sees the key of one with the code of another
            self.last_key = key[1]
            self.last = found
        return found

    def _signature(self, args):
        """What each parameter is in the specialisation for these arguments."""
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
        guards = guards_of(artifact.captured)
        if artifact.lowering == "host" and self.loop == "auto" and self._is_replayed() and not is_refused:
            log.info("%s(): loops between tasks run on the host, the device has no conditional nodes", self.name)
        found = load(self.name, artifact, shape, leaves, guards, labels_of(self.function, artifact))
        (<Specialisation>found).has_gradients = any(map(has_gradient, signature.values()))
        return found

    def _lowering(self, embedded):
        """A Lowering: control flow between tasks of what is made of a kernel is the host's."""
        if self.mode is not None:
            return Lowering("host", None) if self.options.graph else NO_LOWERING
        return self.options.lowering(embedded, self._is_replayed())

    cdef bint _is_replayed(self) noexcept:
        """Whether calls launch one graph."""
        return self.is_graph and graphs_are_on and not self.debug

    def _artifact(self, signature, target, graph, chain):
        options = {"graph": graph, "chain": chain, "mode": self.mode, "checkpoints": bool(self.has_checkpoints)}
        if self.debug:  # the claims of code that reports are not kept on disk
            from cuda_graphs.compiler.pipeline import compile_kernel

            return compile_kernel(self.function, signature, target, debug=True, reports=True, **options)
        return cached_compile(self.function, signature, target, **options)

    @property
    def grad(self):
        """The GradientFunction, which is called as the kernel. AttributeError of one that is a gradient."""
        if self.mode is not None:
            raise AttributeError(f"{self.name} is a gradient, which has none: there are no second derivatives")
        with self.lock:
            if self.gradient is None:
                from cuda_graphs.kernels.gradient import gradient_of

                self.gradient = gradient_of(self)
            return self.gradient

    def forward(self, mode="forward"):
        """The KernelFunction that does what this one does, and to dual numbers: "constant", as if arrays it reads had
        none."""
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
        """GradStats: what the calls of `grad` did."""
        return self.grad.stats

    def _shown(self, error):
        """A CompileError without the frames of the compiler, which say nothing of the kernel; CUDA_GRAPHS_DEBUG has them."""
        return error if trace.level() else with_field_names(error, self.function).with_traceback(None)

    def compile(self, *args, **keywords):
        """Compile for the types of these arguments, as a call does; nothing runs.

        Raises:
            TypeError: Arguments that it does not take.
            CompileError: The function cannot be compiled for them.
        """
        self._specialisation(self._order(args, keywords))

    def fields(self, *args):
        """The fields that the kernel uses, called with arguments of these types."""
        return self._specialisation(args).fields

    def has_gradient(self, *args):
        """Whether an array among these arguments, or a field that the kernel uses, has a gradient."""
        cdef Specialisation code = self._specialisation(args)
        return code.has_gradients or any([field.needs_grad for field in code.fields])

    cdef Specialisation _specialisation(self, tuple args):
        cdef _Taken taken = self._taken(args, False)
        return self._find(&taken.r, args)

    cdef tuple _launches(self, tuple args):
        """What Specialisation.launches gives, and the plan."""
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
        """Memory of its own for what a graph launches."""
        return code.new_temps()

    def __cuda_graph_emit__(self, node, args):
        """Add a KernelNode for each task after `node`; `node.call(function, *args)` calls it. The last one."""
        emission = Emission(node, *self._launches(tuple(args)))
        return node.join() if emission.last is node else emission.last

    def __cuda_graph_kernel__(self, config, args):
        """(config, Kernel, arguments) of a function that is one task; any grid of one dimension runs all of it."""
        found, plan = self._launches(tuple(args))
        if len(found) != 1 or plan != (0,):
            raise ValueError(
                f"{self.name}() has {len(found)} tasks, one for each loop at the top level and one for what is between "
                "them: add it with call(), which makes a node for each"
            )
        own, code, values, _, _ = found[0]
        if own.is_cooperative and config is not None:
            raise ValueError(
                f"{self.name}() is one launch whose blocks wait for each other, with a grid of its own: add it with call()"
            )
        if self.debug:  # the launch may be of no graph, and nobody else keeps what asserts write to
            from cuda_graphs.kernels.reports import keep

            keep(values)
        return own if config is None else config, code, values

    cdef object _run(self, Reading* r, tuple args, Stream stream, object label=None):
        cdef Specialisation code = self._find(r, args)
        stream._check_open()  # an argument that was read may have closed it
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
        # A replay finds out by itself.
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
        finally:  # after the launch: who looks before has the old version
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
        """Launch the tasks; what they return."""
        if code.answers:
            return code.launch_for_results(r.leaves, stream, NULL)
        code.launch(r.leaves, stream, NULL)
        return None

    cdef int _capture(self, tuple args, Stream stream, object label) except -1:
        """Add the nodes to what the stream captures."""
        if label is not None:
            raise RuntimeError(f"{self.name}.resume() on {stream!r}, which is being captured: nobody sees there whether it yielded")
        note_capture(self)
        Emission(CapturedPlace(stream), *self._launches(args))
        return 0

    cdef bint _capture_for_others(self, tuple args, Stream stream, object label) except -1:
        """The same where code outside of this package captures the stream; whether it does."""
        with BorrowedCapture(stream) as capture:
            if capture.is_there:
                self._capture(args, stream, label)
                self.replayed = False
            return capture.is_there

    cdef Replay _replay_or_none(self, Specialisation code, Reading* r):
        """None where the driver does not build such a graph."""
        try:
            return self._replay(code, r)
        except CUDANotSupportedError as error:
            if self.loop != "auto":
                raise
            log.info("%s() launches its tasks one by one: the driver builds no graph of them (%s)", self.name, error)
            return None

    cdef Specialisation _instead_of(self, Specialisation code, tuple args):
        """Code for the same arguments that needs no graph, from now on: the driver does not build that of `code`."""
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
        """The graph of the specialisation in the current context."""
        cdef CUcontext context = NULL
        cdef Replay found = self.replay
        cdef CUresult status
        with nogil:
            current_context(&context)
        if found is not None and found.code is code and found.context == context and context != NULL:
            self.replayed = True
            return found
        current_device()  # of a thread that has not used it yet
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
        """Call a kernel with checkpoints, and skip the work before one of them.

        Args:
            args, keywords: As in a call.
            from_checkpoint: The label: an int, or a member of an IntEnum.
            stream: As in a call.

        Returns:
            A CheckpointStatus, as a call does.

        Raises:
            AttributeError: The kernel has no checkpoints.
            TypeError, ValueError: It has none with this label.
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
        """A GraphDef with the nodes of a call with these arguments, to look at, to draw, or to go on with."""
        definition = GraphDef()
        definition.call(self, *self._order(args, keywords))
        return definition

    def explain(self, *args, **keywords):
        """An Explanation of calls with arguments of these types: what is fixed in the code, and where; what calls may
        change; the tasks; what control flow between them becomes, and why. `print` it.

        Raises:
            CompileError: The function cannot be compiled for them.
        """
        from cuda_graphs.kernels.explanation import explain

        args = self._order(args, keywords)
        code = self._specialisation(args)
        annotations = {name: (<Reader>reader).annotation for name, reader in zip(self.names, self.readers)}
        why = self.options.why(code.artifact, code.is_refused)
        return explain(self.function, annotations, self._signature(args), code.artifact, why)

    @property
    def graph_stats(self):
        """GraphStats of a graph kernel. AttributeError of any other."""
        if not self.is_graph:
            raise AttributeError(f"{self.name} is not a graph kernel: write @cg.kernel(graph=True)")
        last, code = self.replay, self.called
        return GraphStats(
            graphs=len(self.replays),
            builds=self.builds,
            replayed=bool(self.replayed),
            nodes=last.count if last is not None else 0,
            tasks=sum([max(1, len(task.inside)) for task in code.artifact.tasks]) if code is not None else 0,
            lowering=code.artifact.lowering if code is not None else None,
        )

    def inspect(self, *args, target=None, **keywords):
        """An Inspection of the specialisation for these arguments: its IR, LLVM and assembly or PTX, as texts.

        Args:
            args, keywords: As in a call. Nothing runs.
            target: "x86" or "ptx"; None for what the driver runs.

        Raises:
            ValueError: There is no such target.
            CompileError: The function cannot be compiled for them.
        """
        from cuda_graphs.kernels.inspection import Inspection

        return Inspection(self.function, self._signature(self._order(args, keywords)), target, self)

    def forget(self):
        """Forget what was compiled, and the values of templates: the next call compiles again. Work that runs still does."""
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
    """The kernel of a function; `known`: annotations that its source does not have."""
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
            raise TypeError(f"{function.__name__}: a parameter of a kernel cannot be called {name!r}, a keyword of its calls")
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
