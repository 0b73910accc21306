# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The library for C through ctypes, for tests. Failures are RuntimeErrors: "STATUS: REASON"."""

import ctypes

import numpy as np

from tests.runtime.conftest import LIBRARY

TYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "bool", "pointer")
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
KINDS = {"cuda": 1, "host": 2}


P, SIZE, NAME = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
ARGUMENTS = {
    "cg_open_driver": [ctypes.c_int32, NAME],
    "cg_graph_load": [NAME, P, SIZE, P],
    "cg_graph_count_parameters": [P, P],
    "cg_graph_get_parameter": [P, SIZE, P],
    "cg_graph_default": [P, NAME, P],
    "cg_graph_instantiate": [P, P],
    "cg_array_create": [ctypes.c_int32, ctypes.c_int32, P, P],
    "cg_array_write": [P, P, SIZE],
    "cg_array_read": [P, P, SIZE],
    "cg_array_get_bytes": [P, P],
    "cg_exec_set_array": [P, NAME, P],
    "cg_exec_set_int": [P, NAME, ctypes.c_int64],
    "cg_exec_set_float": [P, NAME, ctypes.c_double],
    "cg_exec_launch": [P, P],
    "cg_exec_wait": [P],
    "cg_graph_release": [P],
    "cg_exec_release": [P],
    "cg_array_release": [P],
}


class Callback(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", FUNCTION), ("data", ctypes.c_void_p)]


class Handle:
    """A handle that is released at the end of a context, or by `release`."""

    def __init__(self, library, value, kind):
        self.library, self.value, self.kind = library, value, kind

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.release()

    def release(self):
        getattr(self.library.functions, f"cg_{self.kind}_release")(self.value)
        self.value = None


class Array(Handle):
    def write(self, data):
        self.library.call("cg_array_write", self.value, data.ctypes.data_as(ctypes.c_void_p), data.nbytes)

    def read(self, kind):
        size = ctypes.c_size_t()
        self.library.call("cg_array_get_bytes", self.value, ctypes.byref(size))
        found = np.empty(size.value // np.dtype(kind).itemsize, kind)
        self.library.call("cg_array_read", self.value, found.ctypes.data_as(ctypes.c_void_p), found.nbytes)
        return found


class Exec(Handle):
    def set(self, name, value):
        if isinstance(value, Array):
            self.library.call("cg_exec_set_array", self.value, name.encode(), value.value)
        elif isinstance(value, float):
            self.library.call("cg_exec_set_float", self.value, name.encode(), value)
        else:
            self.library.call("cg_exec_set_int", self.value, name.encode(), value)

    def launch(self):
        self.library.call("cg_exec_launch", self.value, None)

    def wait(self):
        self.library.call("cg_exec_wait", self.value)


class Graph(Handle):
    callbacks = None

    def parameters(self):
        count, found = ctypes.c_size_t(), []
        self.library.call("cg_graph_count_parameters", self.value, ctypes.byref(count))
        for number in range(count.value):
            found.append(Library.Parameter())
            self.library.call("cg_graph_get_parameter", self.value, number, ctypes.byref(found[-1]))
        return found

    def default(self, name):
        return Array(self.library, self.library.make("cg_graph_default", self.value, name.encode()), "array")

    def instantiate(self):
        return Exec(self.library, self.library.make("cg_graph_instantiate", self.value), "exec")


class Library:
    class Parameter(ctypes.Structure):
        _fields_ = [
            ("name", ctypes.c_char_p), ("type", ctypes.c_int32), ("ndim", ctypes.c_int32),
            ("element_ndim", ctypes.c_int32), ("element_shape", ctypes.c_int32 * 2), ("roles", ctypes.c_int32),
            ("has_default", ctypes.c_int32), ("shape", ctypes.c_int64 * 8), ("bytes", ctypes.c_uint64),
        ]  # fmt: skip

    def __init__(self, kind):
        self.functions = ctypes.CDLL(str(LIBRARY))
        self.functions.cg_last_error.restype = ctypes.c_char_p
        for name, types in ARGUMENTS.items():
            getattr(self.functions, name).argtypes = types
        self.call("cg_open_driver", KINDS[kind], None)

    def call(self, name, *arguments):
        status = getattr(self.functions, name)(*arguments)
        if status:
            raise RuntimeError(f"{status}: {self.functions.cg_last_error().decode()}")

    def make(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(made))
        return made.value

    def load(self, path, **functions):
        table = (Callback * len(functions))()
        kept = []
        for row, (name, function) in zip(table, functions.items(), strict=True):
            kept.append(FUNCTION(lambda data, function=function: function()))
            row.name, row.function = name.encode(), kept[-1]
        made = self.make("cg_graph_load", str(path).encode(), table, len(functions))
        graph = Graph(self, made, "graph")
        graph.callbacks = kept  # the launches call them
        return graph

    def array(self, kind, *shape):
        extents = (ctypes.c_int64 * len(shape))(*shape)
        return Array(self, self.make("cg_array_create", TYPES.index(kind), len(shape), extents), "array")
