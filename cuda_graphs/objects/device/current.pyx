# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The current stream, which takes the work of this thread that names no stream.

`with cg.stream(s)` and `with builder` open a block. The innermost open block decides. Its list is in a context variable,
so that a task of asyncio keeps its own current stream across an `await`. A block counts only for the thread that opened
it: a thread that inherits the context of another one (asyncio.to_thread) starts without a current stream. Blocks may be
left in any order, as generators do.

The streams of other libraries (foreign_streams.py) belong to the thread, also where tasks of asyncio take turns in it. They
are restored in the reverse order of the entries: a block that is left before one that was entered later waits for that
one. It keeps its stream until then, because a library uses it.
"""

import contextvars
import sys
import threading

from cpython.contextvars cimport PyContextVar_Set, get_value
from cpython.pythread cimport PyThread_get_thread_ident

from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from .stream cimport Stream, accept_stream
from .stream import default_stream

cdef object innermost = contextvars.ContextVar("cuda_graphs.innermost_stream_block", default=None)
cdef object followed = threading.local()  # `blocks`: those of this thread that other libraries follow, by entry
cdef Stream usual_stream = default_stream()


cdef class StreamBlock:
    def __dealloc__(self):
        global open_blocks
        if self.is_open:  # entered and never left
            open_blocks -= 1


cdef bint is_open_here(StreamBlock block) noexcept:
    return block.is_open and block.thread == <unsigned long>PyThread_get_thread_ident()


cdef Stream find_current_or(Stream usual):
    cdef StreamBlock block = get_value(innermost)
    while block is not None and not is_open_here(block):
        block = block.outer
    if block is None:
        return usual
    if not block.stream._h:
        raise RuntimeError("the current stream has been closed: leave its `with` block, or pass another stream")
    return block.stream


cdef StreamBlock enter_block(Stream stream, bint captures):
    global open_blocks
    cdef StreamBlock block = StreamBlock.__new__(StreamBlock)
    block.outer = drop_left_blocks()
    block.captures, block.made = captures, []
    block.stream, block.thread = stream, <unsigned long>PyThread_get_thread_ident()
    block.kept = () if block.outer is None else block.outer.kept
    if "torch" in sys.modules or "cupy" in sys.modules:
        from .foreign_streams import follow

        block.followers, pools = follow(stream, captures)
        block.kept += pools
        if block.followers is not None:
            followed_blocks().append(block)
    block.is_open = True
    open_blocks += 1
    PyContextVar_Set(innermost, block)
    return block


cdef int leave_block(StreamBlock block) except -1:
    global open_blocks
    if block.is_open:
        block.is_open = False
        open_blocks -= 1
        block.kept = ()
        if block.followers is None:
            block.stream = None
        drop_left_blocks()
    return 0


cdef StreamBlock find_builder_block(const StreamHandle& origin):
    cdef StreamBlock block = get_value(innermost)
    while block is not None:
        if is_open_here(block) and block.captures and raw_of(block.stream._h) == raw_of(origin):
            return block
        block = block.outer
    return None


cdef StreamBlock drop_left_blocks():
    """Remove the blocks that were left, down to the innermost open block of this thread, which it returns."""
    cdef StreamBlock first = get_value(innermost)
    cdef StreamBlock found = first
    while found is not None and not is_open_here(found):
        found = found.outer
    if found is not first:
        PyContextVar_Set(innermost, found)
    restore_followers()
    return found


cdef list followed_blocks():
    """Return the blocks of this thread that other libraries follow, in the order of their entry."""
    try:
        return <list>followed.blocks
    except AttributeError:
        followed.blocks = []
        return <list>followed.blocks


cdef int restore_followers() except -1:
    """Give other libraries the streams back that they had before the last blocks, as far as these were left."""
    cdef list blocks = followed_blocks()
    cdef StreamBlock block
    while blocks and not (<StreamBlock>blocks[-1]).is_open:
        block = blocks.pop()
        followers, block.followers = block.followers, None
        followers.close()
        block.stream = None
    return 0


cdef class StreamContext:
    """A context manager that makes a stream current; `stream` makes one. It can be entered again, also inside itself."""

    cdef Stream _stream
    cdef list _blocks

    def __init__(self, *args, **kwargs):
        raise RuntimeError("StreamContext has no public constructor: use cuda_graphs.stream().")

    def __enter__(self):
        self._stream._check_open()
        self._blocks.append(enter_block(self._stream, False))
        return self._stream

    def __exit__(self, kind, error, traceback):
        if not self._blocks:
            raise RuntimeError("the `with` block of this stream has been left already")
        leave_block(self._blocks.pop())

    def __repr__(self):
        return f"<cuda_graphs.stream({self._stream!r})>"


def stream(stream):
    """Make a stream current in a `with` block, for this thread: calls that name no stream use it.

    These are calls of `kernel` functions, copies and fills of an NDArray, and ``launch(None, ...)``. A `stream=` argument
    has priority. A new thread starts without a current stream, and a task of asyncio keeps its own. If PyTorch or CuPy
    is imported and the driver is libcuda, the block sets their current stream too.

    Args:
        stream: A Stream, a GraphBuilder, or an object with ``__cuda_stream__``. `Device.default_stream` gives the
            calls of an inner block to the default stream again.

    Returns:
        A context manager. Its `with` block gives the Stream.

    Raises:
        TypeError: `stream` is not a stream.
        RuntimeError: The stream is closed. A call raises it too, if the current stream was closed in the block.
    """
    cdef StreamContext made = StreamContext.__new__(StreamContext)
    made._stream, made._blocks = accept_stream(stream), []
    return made


def current_stream():
    """Return the Stream that calls without a stream use: of the innermost `with` block, else the default stream.

    Raises:
        RuntimeError: The current stream has been closed.
    """
    return current_or(usual_stream)
