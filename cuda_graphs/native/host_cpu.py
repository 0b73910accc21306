# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The identity of this process's CPU, from the system. LLVM's library, which knows it too, takes long to load."""

from __future__ import annotations

import hashlib
import os
from functools import cache

__all__ = ["identity", "made_here"]

FILE = "/proc/cpuinfo"
# Lines that describe the abilities of a CPU, of x86 and of ARM. Other lines describe single cores or their speed.
LINES = (
    "vendor_id", "cpu family", "model", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip


@cache
def identity() -> str:
    """Return a text that CPUs share only if they run the same code. Without /proc/cpuinfo it is LLVM's description."""
    try:
        text = _lines_of_first_core(FILE)
    except OSError:
        text = ""
    lines = dict(line.partition("\t")[::2] for line in text.splitlines())
    found = [f"{name} {lines[name].strip(': ' + chr(9))}" for name in LINES if name in lines]
    if found:
        return f"{os.uname().machine}, {', '.join(found)}"
    from . import llvm

    return str(llvm.requirements())


def made_here(triple: str, features: list[str]) -> str:
    """Return the mark of an image for a triple and features of this CPU, by which this CPU recognises it."""
    return hashlib.sha256("\n".join((identity(), triple, *features)).encode()).hexdigest()


def _lines_of_first_core(file: str) -> str:
    """Return the lines about the first core, without reading those about hundreds of others."""
    text = b""
    handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while b"\n\n" not in text and (more := os.read(handle, 4096)):
            text += more
    finally:
        os.close(handle)
    return text.partition(b"\n\n")[0].decode(errors="replace")
