# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One small graph for each kind of node, whose result is compared. `doctor` runs this module in a process for each.

Each function gets a Trial, adds a node of its kind to the definition, and returns the numbers that the launch should
leave in the array of the trial. Kinds that move no numbers stand before a kernel, which must run after them.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import cuda_graphs as cg

__all__ = ["NODES", "main"]


class Trial:
    """A definition, and an array of four i32 with the numbers 1, 2, 3 and 4."""

    def __init__(self) -> None:
        @cg.kernel
        def double(x: cg.Array1[cg.i32]) -> None:
            for i in range(x.shape[0]):
                x[i] = 2 * x[i]

        self.device = cg.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.numbers = cg.array([1, 2, 3, 4], cg.i32)
        self.definition = cg.GraphDef()
        self.double = double

    def run(self) -> list[int]:
        """Launch the definition, and return the numbers."""
        graph = self.definition.instantiate()
        graph.launch(self.stream)
        self.stream.sync()
        numbers: list[int] = self.numbers.to_numpy().tolist()
        return numbers

    def add_kernel(self, point: Any) -> Any:
        """Add a kernel that doubles each number."""
        return point.call(self.double, self.numbers)


DOUBLED, QUADRUPLED = [2, 4, 6, 8], [4, 8, 12, 16]


def empty(trial: Trial) -> list[int]:
    trial.add_kernel(trial.definition.join())
    return DOUBLED


def kernel(trial: Trial) -> list[int]:
    trial.add_kernel(trial.definition)
    return DOUBLED


def memcpy(trial: Trial) -> list[int]:
    trial.definition.memcpy(trial.numbers[2:], trial.numbers[:2])
    return [1, 2, 1, 2]


def memset(trial: Trial) -> list[int]:
    trial.definition.memset(trial.numbers[:3], 7)
    return [7, 7, 7, 4]


def alloc(trial: Trial) -> list[int]:
    scratch = trial.definition.alloc(shape=4, dtype=cg.i32)
    copied = trial.add_kernel(scratch.memcpy(scratch, trial.numbers))
    copied.memcpy(trial.numbers[:2], scratch[2:]).free(scratch)
    return [3, 4, 6, 8]


def child_graph(trial: Trial) -> list[int]:
    child = cg.GraphDef()
    trial.add_kernel(child)
    trial.definition.embed(child).embed(child)
    return QUADRUPLED


def host_callback(trial: Trial) -> list[int]:
    called: list[bool] = []
    trial.definition.callback(lambda: called.append(True))
    trial.run()
    if called != [True]:
        raise AssertionError(f"the callback ran {len(called)} times in one launch")
    trial.add_kernel(trial.definition)
    return DOUBLED


def event_record(trial: Trial) -> list[int]:
    event = trial.device.create_event()
    trial.add_kernel(trial.definition.record_event(event))
    return DOUBLED


def event_wait(trial: Trial) -> list[int]:
    event = trial.device.create_event()
    trial.stream.record(event)
    trial.add_kernel(trial.definition.wait_event(event))
    return DOUBLED


def if_then(trial: Trial) -> list[int]:
    for value in (0, 1):
        condition = trial.definition.create_condition(default_value=value)
        trial.add_kernel(trial.definition.if_then(condition).then)
    return DOUBLED


def if_else(trial: Trial) -> list[int]:
    condition = trial.definition.create_condition(default_value=0)
    node = trial.definition.if_else(condition)
    node.then.memset(trial.numbers, 0)
    trial.add_kernel(node.else_)
    return DOUBLED


def while_loop(trial: Trial) -> list[int]:
    loop = trial.definition.while_loop(lambda x: x[0] < 4, args=(trial.numbers,))
    trial.add_kernel(loop.body)
    return QUADRUPLED


def switch(trial: Trial) -> list[int]:
    condition = trial.definition.create_condition(default_value=1)
    node = trial.definition.switch(condition, 2)
    node.branches[0].memset(trial.numbers, 0)
    trial.add_kernel(node.branches[1])
    return DOUBLED


# Kind -> its trial. A free node needs an alloc node, so both kinds have one trial.
NODES: dict[str, Callable[[Trial], list[int]]] = {
    "kernel": kernel,
    "memcpy": memcpy,
    "memset": memset,
    "alloc": alloc,
    "free": alloc,
    "empty": empty,
    "child graph": child_graph,
    "host callback": host_callback,
    "event record": event_record,
    "event wait": event_wait,
    "if": if_then,
    "if-else": if_else,
    "while": while_loop,
    "switch": switch,
}


def problem_of(kind: str) -> str | None:
    """Return what fails in the trial of a kind of node, in one line, or None."""
    try:
        trial = Trial()
        expected = NODES[kind](trial)
        found = trial.run()
    except Exception as error:  # the report is for people, who get each error in words
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None if found == expected else f"the launch left {found}, expected {expected}"


def main(kind: str) -> None:
    print(json.dumps({"problem": problem_of(kind)}))


if __name__ == "__main__":
    main(sys.argv[1])
