# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that become nodes of a graph: of the graph that a stream captures, or of a definition."""

from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.arguments cimport Reader
from .call_hooks cimport before_capture
from cuda_graphs.kernels.arrays.captures cimport is_captured
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.specialiser cimport HeapReading
from .strategy cimport Strategy

from cuda_graphs.graph.capture.captured_insertion_point import BorrowedCapture, CapturedInsertionPoint
from cuda_graphs.kernels.graph.emission import Emission


cdef class CaptureStrategy(Strategy):
    """Adds the nodes of a call to the graph that the stream captures."""

    cdef object call(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        # The nodes keep the arguments alive, and a graph cannot copy arrays in each launch.
        return self.run(code, r, stream, handle)

    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        cdef Stream captured = Stream._from_handle(handle)
        if self.specialiser.has_checkpoints and r.leaves[self.specialiser.start].bits:
            raise RuntimeError(
                f"{self.specialiser.name}.resume() on {captured!r}, which is being captured: a capture has no CheckpointStatus"
            )
        if is_captured(handle):
            self.add_captured(captured, <tuple>r.args)
        else:
            with BorrowedCapture(captured):
                self.add_captured(captured, <tuple>r.args)
        return None

    cdef int add_captured(self, Stream captured, tuple args) except -1:
        before_capture(self.specialiser.function)
        Emission(CapturedInsertionPoint(captured), *self.launches(args))
        return 0

    cdef tuple launches(self, tuple args):
        cdef HeapReading reading = self.specialiser.read_to_heap(args, True)
        cdef Specialisation code = self.specialiser.find(&reading.r)
        cdef const Leaf* leaves = reading.r.leaves
        cdef dict owners = {}
        code.check_disjoint(leaves)
        if reading.r.foreign != NULL:
            (<ForeignArrays>reading.r.foreign).check_in_place(code.writes)
        for reader, value in zip(self.specialiser.readers, args):
            (<Reader>reader).add_owners(owners, value)
        code.note_changes(leaves, NULL, True)
        return code.launches(leaves, owners, self.temporaries(code, leaves, owners)), code.artifact.plan

    cdef list temporaries(self, Specialisation code, const Leaf* leaves, dict owners):
        return code.new_temps()

    def add_nodes(self, node, args):
        """Add a KernelNode for each task after `node`, and return the last node."""
        emission = Emission(node, *self.launches(tuple(args)))
        return node.join() if emission.last is node else emission.last

    def single_node(self, config, args):
        """Return (config, Kernel, arguments, reads, writes) of a kernel with one task."""
        name = self.specialiser.name
        found, plan = self.launches(tuple(args))
        if len(found) != 1 or plan != (0,):
            raise ValueError(
                f"{name}() has {len(found)} tasks, one for each loop at the top level and one for the statements between "
                "two loops: add the kernel with call(), which makes a node for each task"
            )
        (task,) = found
        if task.config.is_cooperative and config is not None:
            raise ValueError(f"{name}() is one cooperative launch, which sets its own grid: add the kernel with call()")
        if self.specialiser.options.debug:  # a launch outside a graph does not keep the memory that asserts write to
            from cuda_graphs.kernels.debug.reports import keep_reports

            keep_reports(task.arguments)
        return task.config if config is None else config, task.kernel, task.arguments, task.reads, task.writes
