# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The target of foreign calls of XLA, through which JAX runs kernels and graphs.

XLA calls a C function with a frame of buffers. The function here is made by ctypes, and needs neither a compiler nor
JAX when this package is built. The structures are those of version 0 of XLA's interface (xla/ffi/api/c_api.h); its
minor versions only add fields at the end. One target serves all functions: the attribute `call` of a call is the number
of its `Task`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

__all__ = ["TARGET", "Buffer", "Task", "handler"]

TARGET = "cuda_graphs_call"
MAJOR, MINOR = 0, 3  # version of the interface that this file was tested with
METADATA = 1  # type of the extension that asks for the version
EXECUTE = 3  # stage in which a call runs
INTERNAL = 13  # code of errors

size_t, pointer, int64, int32 = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32

# Type numbers of XLA -> the type of NumPy. bfloat16 is added at its first use.
DTYPES = {
    1: "?", 2: "i1", 3: "i2", 4: "i4", 5: "i8", 6: "u1", 7: "u2", 8: "u4", 9: "u8", 10: "f2", 11: "f4", 12: "f8",
}  # fmt: skip
BFLOAT16 = 16


def structure(name: str, *fields: tuple[str, Any]) -> Any:
    """Return a structure that begins with its size and a list of extensions."""
    begin = [("struct_size", size_t), ("extension", pointer)]
    return type(name, (ctypes.Structure,), {"_fields_": [*begin, *fields]})


Version = structure("Version", ("major", ctypes.c_int), ("minor", ctypes.c_int))
RawBuffer = structure(
    "RawBuffer", ("dtype", ctypes.c_int), ("data", pointer), ("rank", int64), ("dims", ctypes.POINTER(int64))
)
Items = structure(
    "Items", ("size", int64), ("types", ctypes.POINTER(ctypes.c_int)), ("items", ctypes.POINTER(pointer))
)
Attributes = structure(
    "Attributes",
    ("size", int64),
    ("types", ctypes.POINTER(ctypes.c_int)),
    ("names", ctypes.POINTER(pointer)),
    ("items", ctypes.POINTER(pointer)),
)
ErrorArgs = structure("ErrorArgs", ("message", ctypes.c_char_p), ("code", ctypes.c_int))
StreamArgs = structure("StreamArgs", ("context", pointer), ("stream", pointer))
ErrorCreate = ctypes.CFUNCTYPE(pointer, ctypes.POINTER(ErrorArgs))
StreamGet = ctypes.CFUNCTYPE(pointer, ctypes.POINTER(StreamArgs))
Api = structure(
    "Api",
    ("version", Version),
    ("internal", pointer),
    ("error_create", ErrorCreate),
    ("error_message", pointer),
    ("error_destroy", pointer),
    ("register", pointer),
    ("stream_get", StreamGet),
)
Frame = structure(
    "Frame",
    ("api", ctypes.POINTER(Api)),
    ("context", pointer),
    ("stage", ctypes.c_int),
    ("args", Items),
    ("results", Items),
    ("attributes", Attributes),
)


class Extension(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("type", ctypes.c_int), ("next", pointer), ("metadata", pointer)]


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("version", Version), ("traits", ctypes.c_uint32)]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.POINTER(int64))]


class Buffer:
    """Memory of XLA during one call, as an array that kernels accept.

    With `grad` it looks like a tensor that requires a gradient (kernels/arrays/tensors.py).
    """

    is_leaf = True

    def __init__(self, address: int, dtype: np.dtype[Any], shape: tuple[int, ...], is_of_host: bool) -> None:
        self.shape, self.dtype, self.is_of_host, self.grad = shape, dtype, is_of_host, None
        interface = {"data": (address, False), "shape": shape, "typestr": dtype.str, "version": 3}
        setattr(self, "__array_interface__" if is_of_host else "__cuda_array_interface__", interface)

    @property
    def requires_grad(self) -> bool:
        return self.grad is not None

    def detach(self) -> Any:
        """Return the memory without a gradient: a NumPy array on the host."""
        if self.is_of_host:
            return self.array()
        plain = Buffer.__new__(Buffer)
        plain.__dict__.update(self.__dict__, grad=None)
        return plain

    def array(self) -> np.ndarray[Any, Any]:
        """Return the memory as a NumPy array; only on the host."""
        interface = self.__dict__["__array_interface__"]
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        if not size:
            return np.empty(self.shape, self.dtype)
        raw: Any = (ctypes.c_char * size).from_address(interface["data"][0])
        return np.frombuffer(raw, self.dtype).reshape(self.shape)


class Task:
    """What a call does: `run(arguments, results, stream)` with Buffers, and a handle of a stream, or None on the host.

    Compiled code of JAX has only the number, so a Task lives as long as its owner.
    """

    def __init__(self, run: Callable[[list[Buffer], list[Buffer], int | None], None]) -> None:
        self.run, self.number = run, next(numbers)
        tasks[self.number] = self


numbers = count(1)
tasks: WeakValueDictionary[int, Task] = WeakValueDictionary()


def handler(is_of_host: bool) -> Any:
    """Return the C function of the target, for memory of the host or of a GPU. The caller keeps it alive."""

    def call(frame: Any) -> int | None:
        try:
            return run(frame.contents, is_of_host)
        except BaseException as error:  # XLA raises it where the call was made
            return failure(frame.contents, f"{type(error).__name__}: {error}")

    return ctypes.CFUNCTYPE(pointer, ctypes.POINTER(Frame))(call)


def run(frame: Any, is_of_host: bool) -> int | None:
    if frame.extension:
        extension = Extension.from_address(frame.extension)
        if extension.type == METADATA:
            metadata = Metadata.from_address(extension.metadata)
            metadata.version.major = MAJOR
            metadata.version.minor = min(MINOR, frame.api.contents.version.minor)
            metadata.traits = 0
            return None
    if frame.stage != EXECUTE:
        return None
    if frame.api.contents.version.major != MAJOR:
        raise RuntimeError(
            f"this version of JAX has version {frame.api.contents.version.major} of the interface of foreign calls, "
            f"and this package has version {MAJOR}: install JAX 0.4.31 to 0.10"
        )
    number = ctypes.cast(frame.attributes.items[0], ctypes.POINTER(Scalar)).contents.value[0]
    task = tasks.get(number)
    if task is None:
        raise ReferenceError("the function of this call is gone: keep the result of cg.interop.jax")
    task.run(
        list(buffers(frame.args, is_of_host)),
        list(buffers(frame.results, is_of_host)),
        None if is_of_host else stream_of(frame),
    )
    return None


def buffers(items: Any, is_of_host: bool) -> Iterator[Buffer]:
    for i in range(items.size):
        raw = RawBuffer.from_address(items.items[i])
        shape = tuple(raw.dims[k] for k in range(raw.rank))
        yield Buffer(raw.data or 0, dtype_of(raw.dtype), shape, is_of_host)


def dtype_of(number: int) -> np.dtype[Any]:
    if number == BFLOAT16:
        from ml_dtypes import bfloat16

        found: np.dtype[Any] = np.dtype(bfloat16)
        return found
    if number not in DTYPES:
        raise TypeError(f"arrays of JAX with type {number} of XLA are not supported: convert them")
    return np.dtype(DTYPES[number])


def stream_of(frame: Any) -> int:
    """Return the handle of the stream on which XLA runs the call."""
    args = StreamArgs(ctypes.sizeof(StreamArgs), None, frame.context, None)
    if frame.api.contents.stream_get(ctypes.byref(args)):
        raise RuntimeError("XLA has no stream for this call")
    return int(args.stream or 0)


def failure(frame: Any, message: str) -> int:
    args = ErrorArgs(ctypes.sizeof(ErrorArgs), None, message.encode(), INTERNAL)
    return int(frame.api.contents.error_create(ctypes.byref(args)))
