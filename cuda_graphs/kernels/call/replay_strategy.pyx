# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that launch one graph, which the first call builds. A kernel keeps its most recently used graphs.

A kernel that is no graph kernel needs no graph. If none can be built, or it has its most graphs, it launches its tasks.
"""

import logging
from collections import OrderedDict

from libc.stdint cimport int32_t, uintptr_t

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUcontext, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport current_context
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.kernels.graph.replay cimport Replay, build
from cuda_graphs.objects.captured_call cimport is_captured_by_any_code
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.specialiser cimport Specialiser
from .strategy cimport Strategy

from cuda_graphs.errors import CUDANotSupportedError, CUDAOutOfMemoryError
from cuda_graphs.kernels.graph.checkpoints import status_of
from cuda_graphs.kernels.graph.graph_stats import GraphStats
from cuda_graphs.kernels.graph.host_calls import BodyRefusal, ExchangeRefusal, Owner
from cuda_graphs.objects.device.device import current_device

MOST_GRAPHS = 64  # graphs kept for one kernel; the least recently used graph of a graph kernel is dropped first

log = logging.getLogger("cuda_graphs")


cdef class ReplayStrategy(Strategy):
    """Launches the graph of a specialisation with the arguments of the call."""

    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        cdef Replay replay
        cdef int32_t yielded = -1
        cdef bint done
        self.refusal = None
        try:
            try:
                replay = self.replay_or_none(code, r.leaves)
            except ExchangeRefusal as error:
                if self.specialiser.options.loop != "auto":
                    raise
                log.info("%s() has nodes for its collectives: %s", code.name, error)
                code = self.specialiser.without_exchanges(code, <tuple>r.args)
                replay = self.replay_or_none(code, r.leaves)
        except BodyRefusal as error:
            if self.specialiser.options.loop != "auto":
                raise
            return self.run_on_host(code, r, stream, handle, str(error))
        if replay is None:
            return self.launch.run(self.without_graph(code, <tuple>r.args), r, stream, handle)
        try:
            done = replay.run(r.leaves, handle, &yielded)
        except self.refusals:  # of the first launch, which uploads the graph
            if self.specialiser.is_graph:
                raise
            self.drop(replay)
            return self.launch.run(self.without_graph(code, <tuple>r.args), r, stream, handle)
        if done:
            return status_of(code.labels, yielded) if code.state >= 0 else None
        # The launch itself detects that other code captures the stream: a query in each call would cost more.
        self.replayed = False
        if not is_captured_by_any_code(handle):
            check_attempt(
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, f"launch of kernel {code.name} on {Stream._from_handle(handle)!r}"
            )
        return self.capture.run(code, r, stream, handle)

    cdef object run_on_host(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle, str refusal):
        """Let the host run the control flow, since a body refuses the nodes of a host object."""
        log.info("%s() runs its control flow on the host: %s", code.name, refusal)
        self.refusal, self.replayed = refusal, False
        return self.launch.run(self.specialiser.on_host(code, <tuple>r.args), r, stream, handle)

    cdef Replay replay_or_none(self, Specialisation code, const Leaf* leaves):
        try:
            return self.replay_of(code, leaves)
        except self.refusals as error:
            if self.specialiser.is_graph and self.specialiser.options.loop != "auto":
                raise
            log.info("%s() launches its tasks one by one: the driver builds no graph of them (%s)", code.name, error)
            return None

    cdef Specialisation without_graph(self, Specialisation code, tuple args):
        if self.specialiser.is_graph:
            return self.specialiser.without_graph(code, args)
        code.may_be_graph = False  # its tasks are launches already
        return code

    cdef Replay replay_of(self, Specialisation code, const Leaf* leaves):
        """Return the Replay of the specialisation in the current context, and build it if necessary.

        Return None for a kernel that is no graph kernel and has as many graphs as it may keep. If the least recently used
        one were dropped for the new one, calls in turn would build a graph each.
        """
        cdef CUcontext context = NULL
        cdef Replay found = self.last
        cdef tuple inputs = () if code.calls is None else code.host_inputs(leaves, {})
        cdef CUresult status
        with nogil:
            current_context(&context)
        if (
            found is not None and found.code is code and found.context == context and context != NULL
            and (found.inputs is inputs or found.inputs == inputs)
        ):
            self.replayed = True
            return found
        current_device()  # sets the current context of a new thread
        with nogil:
            status = current_context(&context)
        check_attempt(status, f"ask for the context of {code.name}()")
        key = code, <uintptr_t>context, inputs
        with self.specialiser.lock:
            found = self.replays.get(key)
            self.replayed = found is not None
            if found is None and not self.specialiser.is_graph and len(self.replays) >= MOST_GRAPHS:
                log.info("%s() launches its tasks one by one: it has %d graphs already", code.name, MOST_GRAPHS)
                return None
            if found is None:
                found = build(code, leaves, context, inputs, self.owner)
                self.builds += 1
                self.replays[key] = found
                while len(self.replays) > MOST_GRAPHS:
                    self.replays.popitem(last=False)
            self.replays.move_to_end(key)
            self.last = found
        return found

    cdef int drop(self, Replay replay) except -1:
        with self.specialiser.lock:
            self.last = None
            for key in [key for key, each in self.replays.items() if each is replay]:
                del self.replays[key]
        return 0

    cdef int forget(self) except -1:
        """Drop all graphs. The caller holds the lock of the specialiser."""
        self.last, self.replayed, self.refusal = None, False, None
        self.replays.clear()
        self.owner = Owner()
        return 0

    def stats(self, Specialisation called):
        """Return the GraphStats. `called` is the specialisation of the last call, or None."""
        if called is not None and called.with_calls is not None and self.last is not None and self.last.code is called.with_calls:
            called = called.with_calls
        if called is not None and called.replacement is not None and (called.is_replaced or self.refusal is not None):
            called = called.replacement
        return GraphStats(
            graphs=len(self.replays),
            builds=self.builds,
            replayed=bool(self.replayed),
            nodes=self.last.count if self.last is not None else 0,
            tasks=sum([max(1, len(task.resident_tasks)) for task in called.artifact.tasks]) if called is not None else 0,
            lowering=called.artifact.lowering if called is not None else None,
        )


cdef ReplayStrategy replay_strategy(Specialiser specialiser, Strategy capture, Strategy launch):
    cdef ReplayStrategy self = ReplayStrategy.__new__(ReplayStrategy)
    self.specialiser, self.capture, self.launch, self.replays = specialiser, capture, launch, OrderedDict()
    self.owner = Owner()
    self.refusals = (CUDANotSupportedError,) if specialiser.is_graph else (CUDANotSupportedError, CUDAOutOfMemoryError)
    return self
