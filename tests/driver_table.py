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
# As many arguments as travel in registers; what a function does not take it does not see.
SIX_WORDS = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 6)


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

    def refuse_once(self, name, status):
        """The next call of that function of up to six words does nothing but return `status`."""
        original, left = self._original(name), [status]
        self._put(name, SIX_WORDS(lambda *words: left.pop() if left else original(*words)))

    def interrupt(self, name, action):
        """The next call of that function of up to six words is made after `action()`, as if a thread came between."""
        original, left = self._original(name), [action]
        self._put(name, SIX_WORDS(lambda *words: (left.pop()() if left else None, original(*words))[1]))

    def watch(self, name):
        """The calls of that function of up to six words from now on, (thread, status), in a list that grows."""
        calls, original = [], self._original(name)

        def call(*words):
            status = original(*words)
            calls.append((threading.get_ident(), status))
            return status

        self._put(name, SIX_WORDS(call))
        return calls

    def restore(self):
        self.table[:] = self.before

    def _original(self, name):
        return SIX_WORDS(self.before[NAMES.index(name)])

    def _put(self, name, function):
        self.functions.append(function)  # must live as long as the table may call it
        self.table[NAMES.index(name)] = ctypes.cast(function, ctypes.c_void_p).value
