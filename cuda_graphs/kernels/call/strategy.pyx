# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The common part of calls that run: access to the arguments before the tasks, and their lifetime after them."""

from cuda_graphs.core.driver.cuda cimport CUstream
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.kernels.arrays.foreign cimport ForeignArrays
from cuda_graphs.kernels.arrays.keep_alive cimport keep_arguments
from cuda_graphs.kernels.arrays.reading cimport Reading
from cuda_graphs.objects.captured_call cimport is_captured_by_any_code
from cuda_graphs.objects.code.arguments cimport StandIn
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation

from cuda_graphs.objects.device.stream import PER_THREAD_DEFAULT_STREAM, default_stream

cdef CUstream usual_stream = raw_of((<Stream>default_stream())._h)
cdef bint usual_is_of_thread = default_stream() is PER_THREAD_DEFAULT_STREAM  # a separate stream in each thread


cdef class Strategy:
    """A way to run the tasks of a call."""

    cdef object call(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        if r.has_parameters:
            refuse_parameters(code, <tuple>r.args)
        cdef ForeignArrays foreign = <ForeignArrays>r.foreign if r.foreign != NULL else None
        if foreign is not None:
            foreign.stage(handle, code.writes, r)
        try:
            result = self.run(code, r, stream, handle)
        finally:  # after the launch: a reader before it must see the old version
            code.note_changes(r.leaves, raw_of(handle), False)
        if foreign is not None:
            foreign.copy_back(stream, handle)
        cdef bint keeps = (raw_of(handle) != usual_stream or usual_is_of_thread) and code.needs_keep_alive
        if (keeps or code.prints) and is_captured_by_any_code(handle):
            return result
        if code.prints:
            Stream._from_handle(handle).sync()
        if keeps:
            args = <tuple>r.args
            keep_arguments(handle, args if r.members == NULL else (args, <list>r.members))
        return result

    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        raise NotImplementedError


cdef int refuse_parameters(Specialisation code, tuple args) except -1:
    found = next((repr(arg) for arg in args if isinstance(arg, StandIn)), "a member of an argument")
    raise TypeError(
        f"{code.name}(): {found} has a value only in launches of its graph: call the kernel on a stream that is captured, or "
        "with call() of a definition"
    )
