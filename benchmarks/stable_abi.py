# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What Python's stable ABI costs a module of Cython: the same class is built with and without it, and called.

    python benchmarks/stable_abi.py [--rounds 9]

The class does what our modules do in a call: it has typed fields, checks types and takes keywords. The benchmark needs
Cython and g++. The times are nanoseconds of CPU time, the best of all rounds.
"""

import argparse
import importlib
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLASS = """
from libc.stdint cimport uint64_t


cdef class Node:
    cdef public uint64_t handle
    cdef object name

    def __cinit__(self, uint64_t handle=0, name=None):
        self.handle, self.name = handle, name

    def launch(self, Node other not None, *args, name=None, bint check=True):
        cdef uint64_t total = self.handle + other.handle
        for each in args:
            if isinstance(each, int):
                total += <uint64_t>each
        return total, name


def launch_all(list nodes, Node other):
    cdef Node each
    cdef uint64_t total = 0
    for each in nodes:
        total += each.launch(other, 1, 2, name="x")[0]
    return total
"""
ABIS = {"full": [], "stable": ["-DPy_LIMITED_API=0x030b0000", "-DCYTHON_LIMITED_API=1"]}
NODES = 100


def built(folder: Path, abi: str) -> Any:
    """Return the module, built with an ABI."""
    name = f"of_{abi}_abi"
    source, made = folder / f"{name}.pyx", folder / f"{name}.so"
    source.write_text(CLASS)
    cxx = source.with_suffix(".cpp")
    cython = [sys.executable, "-m", "cython", "-3", "--cplus", str(source), "-o", str(cxx)]
    subprocess.run(cython, check=True)
    include = sysconfig.get_paths()["include"]
    subprocess.run(
        ["g++", "-O1", "-fPIC", "-shared", *ABIS[abi], f"-I{include}", cxx, "-o", made], check=True
    )
    return importlib.import_module(name)


def calls(module: Any) -> dict[str, Callable[[], object]]:
    """Return what is timed, by name."""
    one, other = module.Node(3), module.Node(4)
    nodes = [module.Node(number) for number in range(NODES)]
    return {
        "make an object": lambda: module.Node(3, None),
        "call a method": lambda: one.launch(other, 1, 2, name="x"),
        "read a field": lambda: one.handle,
        f"{NODES} calls inside": lambda: module.launch_all(nodes, other),
    }


def nanoseconds(call: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    repeats = 2000
    start = time.process_time_ns()
    for _ in range(repeats):
        call()
    return (time.process_time_ns() - start) / repeats


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        ways = {abi: calls(built(Path(folder), abi)) for abi in ABIS}
        best: dict[tuple[str, str], float] = {}
        for _ in range(rounds):
            for abi, each in ways.items():
                for what, call in each.items():
                    best[what, abi] = min(best.get((what, abi), float("inf")), nanoseconds(call))
    print(f"Python {sys.version.split()[0]}, ns of CPU time, best of {rounds}")
    for what in ways["full"]:
        full, stable = best[what, "full"], best[what, "stable"]
        print(f"{what:20} {full:10.1f} {stable:10.1f} {stable / full:6.2f}")


if __name__ == "__main__":
    main()
