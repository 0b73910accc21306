# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of every kind behind arrays of every protocol, for the tests of operands."""

import contextlib
import ctypes
from pathlib import Path

import numpy as np

import cuda_graphs as cg


class Cuda:
    """An array by `__cuda_array_interface__`: memory with the type and layout of a NumPy array of the same shape."""

    def __init__(self, memory, like, **more):
        self.memory = memory  # a Buffer, or anything else that keeps the bytes
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": like.shape,
            "typestr": like.dtype.str,
            "data": (memory.handle, False),
            "strides": like.strides,
            **more,
        }


class Host:
    """An array by `__array_interface__` only."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Packed:
    """An array by DLPack only. `version` None: an exporter from before DLPack 1.0."""

    def __init__(self, exporter, version=(1, 0), kind=None):
        self.exporter, self.version, self.kind = exporter, version, kind
        self.streams = []

    def __dlpack_device__(self):
        return self.kind or self.exporter.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **more):
        self.streams.append(stream)
        if self.version is None and more:
            raise TypeError("no such keywords")
        return self.exporter.__dlpack__(**more)


@contextlib.contextmanager
def registered(array):
    """Registers the pages of a NumPy array with CUDA, as other code in the process might."""
    path = (
        "libcuda.so.1"
        if cg.driver_info().kind == "cuda"
        else next(Path(cg.__file__).parent.glob("hostdriver/*.so"))
    )
    driver = ctypes.CDLL(str(path))
    start = ctypes.c_void_p(array.ctypes.data)
    assert driver.cuMemHostRegister_v2(start, ctypes.c_size_t(array.nbytes), 0) == 0
    try:
        yield array
    finally:
        assert driver.cuMemHostUnregister(start) == 0


def pages(count):
    """A NumPy array of whole pages."""
    space = np.zeros((count + 1) * 4096, np.uint8)
    start = -space.ctypes.data % 4096
    return space[start : start + count * 4096]
