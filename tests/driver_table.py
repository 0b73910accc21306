# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of driver functions, changed for the time of a test: a function that refuses, or one that is watched."""

import ctypes
import re
import threading
from pathlib import Path
from typing import NamedTuple

import cuda_graphs as cg

PACKAGE = Path(cg.__file__).parent
STATUS = ctypes.CFUNCTYPE(ctypes.c_int)
NAMES = re.findall(r"^CG_\w+\((\w+),", (PACKAGE / "core/driver/functions.def").read_text(), re.MULTILINE)
# The most arguments of any driver function, those of cuLaunchKernel, rounded up. A function ignores surplus arguments.
MOST_WORDS = 12
WORDS = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * MOST_WORDS)


class Call(NamedTuple):
    """A call that was watched."""

    function: str
    thread: int
    status: int
    words: tuple[int | None, ...]  # its arguments, None for NULL; those that it does not take are noise


class DriverTable:
    """The entries that were changed are put back by `restore`."""

    def __init__(self):
        library = ctypes.CDLL(str(PACKAGE / "core/libcuda_graphs_core.so"))
        self.table = (ctypes.c_void_p * len(NAMES)).in_dll(library, "_ZN2cg6detail5tableE")
        self.before = list(self.table)
        self.functions = []

    def refuse(self, name, status):
        """From now on, the driver function of that name does nothing but return `status`."""
        self._put(name, STATUS(lambda: status))

    def replace(self, name, function):
        """From now on, `function` answers: it gets twelve words and returns a status."""
        self._put(name, WORDS(function))

    def refuse_once(self, name, status):
        """The next call of that function does nothing but return `status`."""
        original, left = self.original(name), [status]
        self._put(name, WORDS(lambda *words: left.pop() if left else original(*words)))

    def interrupt(self, name, action):
        """The next call of that function is made after `action()`, as if a thread came between."""
        original, left = self.original(name), [action]
        self._put(name, WORDS(lambda *words: (left.pop()() if left else None, original(*words))[1]))

    def watch(self, *names):
        """The calls of these functions from now on, each a Call, in a list that grows."""
        calls = []
        for name in names:
            self._put(name, self._watched(name, calls))
        return calls

    def _watched(self, name, calls):
        original = self.original(name)

        def call(*words):
            status = original(*words)
            calls.append(Call(name, threading.get_ident(), status, words))
            return status

        return WORDS(call)

    def restore(self):
        self.table[:] = self.before

    def original(self, name):
        """Return the driver's function. It takes up to MOST_WORDS words and sets the others to None."""
        function = WORDS(self.before[NAMES.index(name)])
        return lambda *words: function(*words, *[None] * (MOST_WORDS - len(words)))

    def _put(self, name, function):
        self.functions.append(function)  # must live as long as the table may call it
        self.table[NAMES.index(name)] = ctypes.cast(function, ctypes.c_void_p).value
