# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of driver functions, changed for the time of a test: a function that refuses, or one that is watched."""

import ctypes
import re
import threading
from pathlib import Path

import cuda_graphs as cg

PACKAGE = Path(cg.__file__).parent
STATUS = ctypes.CFUNCTYPE(ctypes.c_int)
NAMES = re.findall(r"^CG_\w+\((\w+),", (PACKAGE / "_driver/functions.def").read_text(), re.MULTILINE)
# Enough for every function that destroys something; what a function does not take it does not see.
TWO_WORDS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class DriverTable:
    """The entries that were changed are put back by `restore`."""

    def __init__(self):
        library = ctypes.CDLL(str(PACKAGE / "_handles/libcuda_graphs_handles.so"))
        self.table = (ctypes.c_void_p * len(NAMES)).in_dll(library, "_ZN2cg6detail5tableE")
        self.before = list(self.table)
        self.functions = []

    def refuse(self, name, status):
        """From now on, the driver function of that name does nothing but return `status`."""
        self._put(name, STATUS(lambda: status))

    def watch(self, name):
        """The calls of that function of up to two words from now on, (thread, status), in a list that grows."""
        calls = []
        original = TWO_WORDS(self.before[NAMES.index(name)])

        def call(first, second):
            status = original(first, second)
            calls.append((threading.get_ident(), status))
            return status

        self._put(name, TWO_WORDS(call))
        return calls

    def restore(self):
        self.table[:] = self.before

    def _put(self, name, function):
        self.functions.append(function)  # must live as long as the table may call it
        self.table[NAMES.index(name)] = ctypes.cast(function, ctypes.c_void_p).value
