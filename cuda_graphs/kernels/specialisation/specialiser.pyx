# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The specialisations of a function: the arguments of a call select one, or compile a new one.

A call converts its arguments to leaves and a key (readers/). The code of the last call is compared first. Only
the compilation reads the source of the function.
"""

import logging
import threading

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport uint64_t
from libc.string cimport memcmp

from cuda_graphs.core.resources.device_scope cimport current_device as device_now
from cuda_graphs.core.resources.device_scope cimport device_of_stream, has_several_devices, kNoDevice
from cuda_graphs.kernels.arrays.reading cimport Reading
from cuda_graphs.objects.captured_call cimport is_captured_by_any_code
from cuda_graphs.objects.device.context cimport enter_device
from cuda_graphs.objects.memory.buffer cimport Buffer, MemoryKind, check_launched
from cuda_graphs.kernels.specialisation.arguments cimport reader_of
from cuda_graphs.kernels.specialisation.readers.reader cimport Reader
from .guards cimport Guards
from .specialisation cimport NodesReason, Specialisation, kNoReason

from cuda_graphs.native import trace
from cuda_graphs.compiler.artifact import START
from cuda_graphs.compiler.cache.artifact_cache import cached_compile
from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.frontend.returns import returned_types
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.signature import declared, has_gradient
from cuda_graphs.kernels.graph.checkpoints import labels_of
from cuda_graphs.kernels.graph.lowering import NO_LOWERING, Lowering, as_nodes
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.kernels.targets import target_of
from cuda_graphs.kernels.specialisation.field_names import with_field_names
from .guards import guards_of
from cuda_graphs.kernels.specialisation.keywords import positional_arguments
from cuda_graphs.kernels.specialisation.readers.structures import argument_at
from cuda_graphs.kernels.specialisation.options import GRAPHS_ARE_ON
from .loader import load_artifact
from .origins import Recipe, record

cdef bint graphs_are_on = GRAPHS_ARE_ON

# Keywords of a call that a kernel cannot use as names of parameters.
RESERVED = ("stream",)

log = logging.getLogger("cuda_graphs")


cdef class HeapReading:
    """The arguments of one call on the heap."""

    def __dealloc__(self):
        Py_XDECREF(self.r.foreign)
        Py_XDECREF(self.r.members)


cdef class Specialiser:
    """Finds the Specialisation for the arguments of each call of one function."""

    cdef tuple order(self, tuple args, dict keywords):
        return positional_arguments(self.name, self.names, self.index_of, args, keywords)

    cdef int read(self, Reading* r, tuple args) except -1:
        cdef Py_ssize_t i
        if len(args) != len(self.readers):
            lacking = ", ".join(self.names[len(args) :])
            raise TypeError(
                f"{self.name}() takes {len(self.readers)} arguments ({', '.join(self.names)}), got {len(args)}"
                + (f": {lacking} missing" if lacking else "")
            )
        r.args = <PyObject*>args
        r.placed = NULL
        r.device = r.target = kNoDevice
        for i in range(len(self.readers)):
            (<Reader>self.readers[i]).read(r, args[i])
        if self.has_checkpoints:
            r.leaves[self.start].bits = 0
        return 0

    cdef HeapReading read_to_heap(self, tuple args, bint in_graph):
        cdef HeapReading reading = HeapReading.__new__(HeapReading)
        reading.args = args
        reading.leaves.resize(self.leaves)
        reading.keys.resize(self.keys)
        reading.r.leaves, reading.r.keys, reading.r.in_graph = reading.leaves.data(), reading.keys.data(), in_graph
        self.read(&reading.r, args)
        return reading

    cdef int check_arrays(self, Reading* r, const StreamHandle& stream) except -1:
        cdef dict owners = {}
        cdef tuple args = <tuple>r.args
        for reader, value in zip(self.readers, args):
            (<Reader>reader).add_owners(owners, value)
        for path, leaf in [each for reader in self.readers for each in (<Reader>reader).leaf_paths()]:
            memory = owners.get(leaf)
            if isinstance(memory, Buffer) and (<Buffer>memory)._kind == MemoryKind.UNLAUNCHED:
                value = argument_at(self.readers, args, path)
                what = memory if value is None else value
                check_launched(<Buffer>memory, stream, f"call of {self.name}() with {what!r} as {path!r}")
        return 0

    cdef Specialisation find(self, Reading* r):
        # The nodes may become part of any graph, so embedded code does not rely on initial values of its conditions.
        cdef bint embedded = self.is_graph and r.in_graph
        cdef Py_ssize_t size = self.keys * sizeof(uint64_t)
        cdef Specialisation found = self.last
        cdef bytes last_key = self.last_key
        if found is not None and not embedded and found.device == r.target:
            if size == 0 or memcmp(PyBytes_AS_STRING(last_key), r.keys, size) == 0:
                if (<Guards>found.guards).hold():
                    return self.fitting(found, r)
        key = (embedded, r.target, PyBytes_FromStringAndSize(<char*>r.keys, size))
        current_device()  # raises in a forked child, where the lock may stay locked forever
        with self.lock:
            for found in self.specialisations.get(key, ()):
                if (<Guards>found.guards).hold():
                    break
            else:
                found = self._compile(<tuple>r.args, embedded)
                found.device = r.target
                self.specialisations.setdefault(key, []).append(found)
            if embedded:
                return found
            self.last = None  # other threads never see a key together with the code of another key
            self.last_key = key[2]
            self.last = found
        return self.fitting(found, r)

    cdef Specialisation fitting(self, Specialisation code, Reading* r):
        cdef NodesReason why_nodes
        fuse = "call"
        if not r.in_graph and not r.has_parameters:
            if code.has_large_loops(r.leaves):
                fuse = "large"
                with self.lock:
                    if code.large is None:
                        code.large = self._beside(code, r, fuse)
                    code = code.large
            why_nodes = code.reason_for_nodes(r.leaves)
            if why_nodes and self.options.may_have_nodes():
                with self.lock:
                    if code.as_nodes is None:
                        code.as_nodes = self._beside(code, r, fuse, why_nodes)
                    code = code.as_nodes
                    code.why_nodes = why_nodes
        if code.apart.size() + code.equal.size() == 0 or (not r.in_graph and code.fits(r.leaves)):
            return code
        with self.lock:
            if code.separate is None:
                code.separate = self._beside(code, r, "any", code.why_nodes)
            return code.separate

    cdef Specialisation _beside(self, Specialisation code, Reading* r, str fuse, int why_nodes=kNoReason):
        """Return other code for calls that have the signature of `code`. The caller holds the lock."""
        cdef Specialisation other = self._compile(<tuple>r.args, False, fuse=fuse, has_nodes=why_nodes != kNoReason)
        other.device = code.device
        return other

    cdef Specialisation find_for(self, tuple args):
        cdef HeapReading reading = self.read_to_heap(args, False)
        cdef DeviceScope scope
        return self.find_on_device(scope, &reading.r, StreamHandle())

    cdef Specialisation find_on_device(self, DeviceScope& scope, Reading* r, const StreamHandle& stream):
        cdef Specialisation found
        if not has_several_devices():
            return self.find(r)
        self.enter(scope, r, stream)
        found = self.find(r)
        if found.place == kNoDevice or found.place == r.target:
            return found
        if r.device != kNoDevice:
            raise ValueError(
                f"{self.name}(): parameter {(<Reader>r.placed).path!r} is on device {r.device}, and a field that the kernel uses, "
                f"{found.fields[0]._identify()}, is on device {found.place}: the arrays of a call must be on one device"
            )
        r.device = found.place  # fields alone decide
        self.enter(scope, r, stream)
        return self.find(r)

    cdef int enter(self, DeviceScope& scope, Reading* r, const StreamHandle& stream) except -1:
        """Make the device of a call current: that of its arrays, else that of its stream, else the current one."""
        cdef int of_stream = device_of_stream(stream) if stream else kNoDevice
        if r.device != of_stream and r.device != kNoDevice and of_stream != kNoDevice and not is_captured_by_any_code(stream):
            what = "a field" if r.placed == NULL else f"parameter {(<Reader>r.placed).path!r}"
            raise ValueError(
                f"{self.name}(): {what} is on device {r.device}, and the stream is of device {of_stream}: pass a stream of "
                f"device {r.device}, as in `with cuda_graphs.Device({r.device}) as device: stream = device.create_stream()`"
            )
        r.target = of_stream if r.device == kNoDevice else r.device
        enter_device(scope, r.target)
        if r.target == kNoDevice:
            current_device()  # a new thread has none yet, and its code is that of the same device
            r.target = device_now()
        return 0

    cdef Specialisation without_graph(self, Specialisation code, tuple args):
        cdef Specialisation other
        with self.lock:
            other = self.on_host(code, args)
            if not code.is_replaced:
                code.is_replaced = other.is_refused = True
                for found in self.specialisations.values():
                    found[:] = [other if (<Specialisation>each).leads_to(code) else each for each in found]
                self.last = None
            return other

    cdef Specialisation on_host(self, Specialisation code, tuple args):
        cdef Specialisation other
        with self.lock:
            if code.replacement is None:
                other = self._compile(args, False, is_refused=True, fuse="any")
                other.is_replayable, other.device = False, code.device
                code.replacement = other
            return code.replacement

    cdef Specialisation early(self, Specialisation code, tuple paths):
        cdef Specialisation other
        options = {**code.recipe.options, "early": paths}
        target, shape = target_of(self.options.fast_math)
        with self.lock:
            if code.early is None:
                code.early = {}
            if paths not in code.early:
                artifact = self._artifact(code.recipe.signature, target, options)
                other = load_artifact(
                    self.name, artifact, shape, code.leaf_numbers, guards_of(artifact.free_values), code.labels,
                    self.function.__code__.co_filename,
                )
                other.device = code.device
                record(other, code.recipe._replace(options=options))
                code.early[paths] = other
            return code.early[paths]

    cdef Specialisation without_exchanges(self, Specialisation code, tuple args):
        with self.lock:
            if code.with_calls is None:
                code.with_calls = self._compile(args, False, exchanges=())
                code.with_calls.device = code.device
            return code.with_calls

    def signature(self, args):
        """Return the compiler's description of each argument, by parameter name."""
        cdef Reader reader
        specs = {}
        for name, value, each in zip(self.names, args, self.readers):
            reader = each
            specs[name] = reader.spec(value)
        return specs

    def exchanges_of(self, args):
        """Return the parameters whose objects may let a resident launch do their reductions."""
        if not self.is_replayed or self.mode is not None:
            return ()
        return tuple([name for name, value in zip(self.names, args) if getattr(value, "__cuda_graph_exchanges__", False)])

    def _compile(self, args, embedded, is_refused=False, fuse="call", exchanges=None, has_nodes=False):
        signature = self.signature(args)
        leaves = {path: number for reader in self.readers for path, number in (<Reader>reader).leaf_paths()}
        if self.has_checkpoints:
            leaves[START] = self.start
        current_device()
        target, shape = target_of(self.options.fast_math)
        try:
            lowering = self.options.lowering(False, False) if is_refused else self.lowering(embedded)
            if has_nodes:
                lowering = as_nodes(lowering)
            lowered = self._lowering_options(*lowering, "any" if embedded else fuse)
            if exchanges is None and not (embedded or is_refused):
                lowered["exchanges"] = self.exchanges_of(args)
            artifact = self._artifact(signature, target, lowered)
        except CompileError as error:  # CUDA_GRAPHS_DEBUG keeps the frames of the compiler
            raise error if trace.level() else with_field_names(error, self.function).with_traceback(None)
        guards = guards_of(artifact.free_values)
        if artifact.lowering == "host" and self.options.loop == "auto" and self.is_replayed and not is_refused:
            log.info("%s(): loops between tasks run on the host, the device has no conditional nodes", self.name)
        found = load_artifact(
            self.name, artifact, shape, leaves, guards, labels_of(self.function, artifact), self.function.__code__.co_filename
        )
        (<Specialisation>found).has_gradients = any(map(has_gradient, signature.values()))
        record(found, Recipe(self.function, signature, bool(self.options.debug), bool(self.options.fast_math), lowered))
        return found

    def lowering(self, embedded):
        """Return the Lowering. The host runs the control flow between the tasks of gradients and of forward mode."""
        if self.mode is not None:
            return Lowering("host", None) if self.options.graph else NO_LOWERING
        return self.options.lowering(embedded, self.is_replayed)

    def _lowering_options(self, graph, chain, fuse):
        return {
            "graph": graph, "chain": chain, "fuse": fuse if self.options.fuse else None, "mode": self.mode, "checkpoints": bool(self.has_checkpoints),
            "rules": self.options.rules(),
        }

    def _artifact(self, signature, target, options):
        if self.options.debug:  # the cache on disk does not keep the checks of debug code
            from cuda_graphs.compiler.pipeline import compile_kernel

            return compile_kernel(self.function, signature, target, debug=True, reports=True, **options)
        return cached_compile(self.function, signature, target, **options)

    cdef int forget(self) except -1:
        """Drop the compiled code and the template values. The caller holds the lock."""
        cdef Reader reader
        self.last = None
        self.specialisations.clear()
        for each in self.readers:
            reader = each
            reader.forget()
        return 0

    def count(self):
        """Return the number of specialisations."""
        return sum(len(found) for found in self.specialisations.values())


cdef tuple composite_results(function, options):
    """Return the types that a kernel returns, if one of them is a vector or a structure; else None."""
    found = returned_types(function, options.rules())
    return None if found is None or all([isinstance(each, ScalarType) for each in found]) else found


cdef Specialiser specialiser_of(object function, object options, object annotations, int extra_leaf, object mode):
    cdef Specialiser self = Specialiser.__new__(Specialiser)
    cdef Reader reader
    self.function, self.options, self.annotations, self.mode = function, options, annotations, mode
    self.name, self.is_primal = function.__name__, mode is None or mode.startswith("part")
    self.is_graph, self.has_checkpoints = options.graph and mode is None, options.checkpoints
    self.is_replayed = self.is_graph and graphs_are_on and not options.debug
    self.returned = composite_results(function, options)
    self.readers, self.specialisations, self.lock = [], {}, threading.RLock()
    parameters = declared(function, annotations, options.rules())
    for name, annotation in parameters.items():
        if name in RESERVED:
            raise TypeError(f"{self.name}: a parameter of a kernel cannot be called {name!r}, a keyword of every call")
        reader = reader_of(annotation, str(name), self.leaves, self.keys, extra_leaf)
        self.leaves += reader.leaves
        self.keys += reader.keys
        self.readers.append(reader)
        self.takes_condition |= reader.takes_condition()
        if options.has_peer_rules:
            reader.let_integers_wrap()
    if self.has_checkpoints:
        self.start = self.leaves
        self.leaves += 1
    self.names = tuple(parameters)
    self.index_of = {name: i for i, name in enumerate(self.names)}
    return self
