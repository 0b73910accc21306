# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One contestant of kernels.py in a separate process, which isolates its threads, its compiler and its crashes.

A Contestant is the side of the benchmark: `ready` sends a problem, `turn` runs it. `contestant.py MODULE DRIVER` is the
process: it reads a line of JSON for each request and writes a line with the answer.
`contestant.py MODULE DRIVER ROW` prints the microseconds of a first call instead.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from problems import FIRST, PROBLEMS, TASKS, Problem

HERE = Path(__file__).resolve()


class Absent(Exception):
    """The contestant cannot take part; the message gives the reason."""


class Broken(Absent):
    """The contestant met an error, after which its process may not work any more."""


class Contestant:
    """A process that executes requests. `python`: the interpreter that has the peer installed."""

    script = HERE

    def __init__(self, module: str, driver: str, python: str = sys.executable) -> None:
        self.command = [python, str(self.script), module, driver]
        self.begin()

    def begin(self) -> None:
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, do: str, **what: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"do": do} | what) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Broken(f"its process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "broken" in answer:
            raise Broken(answer["broken"])
        if "absent" in answer:
            raise Absent(answer["absent"])
        return answer["found"]

    def come(self) -> None:
        """Import the peer in the process. Raises Absent."""
        self.ask("come")

    def ready(self, row: str, wanted: Path) -> None:
        """Make the data of a row in the process, and check the result against a NumPy file. Raises Absent."""
        self.ask("ready", row=row, wanted=str(wanted))

    def turn(self) -> float:
        """Return the microseconds per call in one turn."""
        return float(self.ask("turn"))

    def first(self, row: str, caches: dict[str, str]) -> float:
        """Return the microseconds of the first call in a new process. Raises Absent."""
        environment = os.environ | caches
        environment.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # bytecode of modules is available, as in an installation
        done = subprocess.run([*self.command, row], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Absent((done.stderr.strip().splitlines() or ["it says nothing"])[-1])
        return float(done.stdout.strip().splitlines()[-1])

    def end(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended, and ask() has reported it
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def peer(module: str, driver: str) -> Any:
    """Return the module of a contestant. Raises Absent."""
    try:
        found = importlib.import_module(f"peers.{module}")
    except Exception as error:
        raise Absent(f"{type(error).__name__}: {error}".splitlines()[0]) from error
    if driver not in found.DRIVERS:
        raise Absent(f"does not run on the {driver} driver's machine")
    return found


def start(module: Any, problem: Problem) -> tuple[Callable[[], object], Any]:
    """Return (one call on new data, the array with the result)."""
    numbers = problem.arguments()
    if problem.on_numpy and not module.TAKES_NUMPY:
        raise Absent("takes no arrays of NumPy")
    put = np.array if problem.on_numpy else module.put
    given = [put(each) if isinstance(each, np.ndarray) else each for each in numbers.values()]
    result = given[list(numbers).index(problem.result)]
    if problem.way == "call":
        call = getattr(module, problem.kernel, None)
        if call is None:
            raise Absent("has no such operation")
        return lambda: call(*given), result
    prepare = getattr(module, problem.way, None)
    if prepare is None:
        raise Absent("has no such thing")
    return prepare(*given) if problem.way == "recorded" else prepare(TASKS, *given), result


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Raise an error if results differ too much.

    The last digits of sums of 16 Mi floats depend on the order. Orbits at the edge of a set may differ by one.
    """
    off = float(np.mean(~np.isclose(found, wanted, rtol=1e-3, atol=1e-5)))
    if off > 1e-3:
        raise Absent(f"{off:.2%} of its result is wrong")


def timed(call: Callable[[], object], sync: Callable[[], object], problem: Problem) -> float:
    """Return the microseconds per call in one turn. An unmeasured call before it warms caches and threads."""
    calls = problem.calls
    call()
    sync()
    begin = time.perf_counter_ns()
    if problem.in_a_row:
        for _ in range(calls):
            call()
        sync()
    else:
        for _ in range(calls):
            call()
            sync()
    return (time.perf_counter_ns() - begin) / calls / 1e3


class Worker:
    """The process of a Contestant: each request is a method."""

    def __init__(self, module: str, driver: str) -> None:
        self.name, self.driver = module, driver
        self.module: Any = None
        self.call: Callable[[], object] | None = None
        self.problem = next(iter(PROBLEMS.values()))

    def come(self) -> None:
        self.module = peer(self.name, self.driver)

    def turn(self) -> float:
        assert self.call is not None
        return timed(self.call, self.module.sync, self.problem)

    def ready(self, row: str, wanted: str) -> None:
        self.call = None
        problem = self.problem = PROBLEMS[row]
        call, result = start(self.module, problem)
        call()
        self.module.sync()
        found = result if problem.on_numpy else self.module.get(result)
        same(np.array(found), np.load(wanted))
        self.call = call

    def serve(self, lines: Any, out: Any) -> None:
        for line in lines:
            what = json.loads(line)
            try:
                answer: dict[str, Any] = {"found": getattr(self, what.pop("do"))(**what)}
            except Absent as reason:
                answer = {"absent": str(reason)}
            except Exception as error:  # any exception of a peer is the reason of its absence
                answer = {"broken": f"{type(error).__name__}: {error}".splitlines()[0]}
            out.write(json.dumps(answer) + "\n")
            out.flush()


def first_call(module: str, driver: str, row: str) -> float:
    found, problem = peer(module, driver), FIRST[row]
    call, _ = start(found, problem)
    begin = time.perf_counter_ns()
    call()
    found.sync()
    return (time.perf_counter_ns() - begin) / 1e3


def serve(worker: type[Worker]) -> None:
    """Run the process with the arguments of the command line."""
    module, driver, *rows = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a peer is not an answer
    if driver:
        os.environ["CUDA_GRAPHS_DRIVER"] = driver
    if rows:
        answers.write(f"{first_call(module, driver, rows[0])}\n")
        answers.close()
    else:
        worker(module, driver).serve(sys.stdin, answers)


if __name__ == "__main__":
    serve(Worker)
