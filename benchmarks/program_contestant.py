# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One contestant of whole_programs.py in a separate process, like those of kernels.py in contestant.py.

The peer is one of KITS in programs/kits.py. `take` prepares a program at a size, runs it once and compares its result;
`turn` runs it again.
"""

from __future__ import annotations

import importlib
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from contestant import Absent, Broken, Contestant, Worker, serve
from programs.kits import KITS, Kit, Missing, Run

HERE = Path(__file__).resolve()
TURN_S = 2e-3  # a turn repeats calls for about as long
MOST_CALLS = 50  # in a turn


class ProgramContestant(Contestant):
    """A process that runs whole programs through one library."""

    script = HERE

    def take(self, program: str, size: str, wanted: Path | None = None) -> None:
        """Prepare a program and run it once; compare its result with the array in the file `wanted`. Raises Absent.

        An error of one program does not count for the next: the contestant gets a new process.
        """
        try:
            self.ask("take", program=program, size=size, wanted=None if wanted is None else str(wanted))
        except Broken:
            self.process.kill()
            self.end()
            self.begin()
            self.come()
            raise

    def result(self, path: Path) -> int:
        """Write the result of the last run to a file, and return its number of iterations. Raises Absent."""
        return int(self.ask("result", path=str(path)))

    def launch(self, program: str, size: str, done: int) -> float:
        """Return microseconds of a run with as many launches, and next to no work. Raises Absent."""
        return float(self.ask("launch", program=program, size=size, done=done))

    def limits(self) -> dict[str, float]:
        """Return the measured limits of the machine: bytes and operations a second. Raises Absent."""
        found: dict[str, float] = self.ask("limits")
        return found


def difference(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest difference, in parts of the largest magnitude of `wanted`."""
    if found.shape != wanted.shape:
        raise Absent(f"its result has the shape {found.shape}, and not {wanted.shape}")
    if not np.isfinite(found).all():
        raise Absent("its result has numbers that are not finite")
    numbers = np.result_type(wanted, np.float32)  # bytes would wrap
    scale = float(np.abs(wanted.astype(numbers)).max()) or 1.0
    return float(np.abs(found.astype(numbers) - wanted).max()) / scale


def compare(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    """Raise Absent if results differ by more than the tolerance of the program."""
    off = difference(found, wanted)
    if off > tolerance:
        raise Absent(
            f"its result is wrong: the largest difference is {off:.1e}, where {tolerance:.0e} is allowed"
        )


def once(run: Run, kit: Kit) -> float:
    """Return microseconds of one call and its synchronisation; the state is restored before the clock runs."""
    run.reset()
    kit.sync()
    begin = time.perf_counter_ns()
    run.call()
    kit.sync()
    return (time.perf_counter_ns() - begin) / 1e3


def calls_of(run: Run, kit: Kit) -> int:
    """Return the number of calls in a turn, after two calls that warm up."""
    took = min(once(run, kit) for _ in range(2))
    return max(1, min(MOST_CALLS, math.ceil(TURN_S * 1e6 / took)))


class ProgramWorker(Worker):
    """The process of a contestant."""

    kit: Kit
    run: Run
    calls: int

    def come(self) -> None:
        try:
            self.kit = KITS[self.name](self.driver == "cuda")
        except Missing as reason:
            raise Absent(str(reason)) from reason

    def prepared(self, program: str, parameters: dict[str, Any]) -> Run:
        module = importlib.import_module(f"programs.{program}")
        version = getattr(module, f"with_{self.name}", None)
        if version is None:
            raise Absent("has no version of this program")
        run: Run = version(self.kit, **module.data(**parameters))
        return run

    def take(self, program: str, size: str, wanted: str | None = None) -> None:
        module = importlib.import_module(f"programs.{program}")
        run = self.prepared(program, module.SIZES[size])
        run.reset()
        run.call()
        self.kit.sync()
        if wanted is not None:
            compare(np.asarray(run.result()), np.load(wanted), module.TOLERANCE)
        self.run, self.calls = run, calls_of(run, self.kit)

    def result(self, path: str) -> int:
        np.save(path, np.asarray(self.run.result()))
        return int(self.run.done())

    def turn(self) -> float:
        return sum(once(self.run, self.kit) for _ in range(self.calls)) / self.calls

    def launch(self, program: str, size: str, done: int) -> float:
        module = importlib.import_module(f"programs.{program}")
        run = self.prepared(program, module.smallest(done, module.SIZES[size]))
        calls = calls_of(run, self.kit)
        return min(once(run, self.kit) for _ in range(5 * calls))

    def limits(self) -> dict[str, float]:
        limits = importlib.import_module("programs.limits")
        found: dict[str, float] = limits.measured(self.kit)
        return found


if __name__ == "__main__":
    serve(ProgramWorker)
