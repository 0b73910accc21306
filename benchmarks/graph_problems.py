# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What graph_kernels.py has all contestants do: chains of tasks that add 1 to floats, and loops of two tasks."""

from __future__ import annotations

from dataclasses import dataclass, field

SHORT = 1024  # floats of which a task is about the launch
PER_LOOP = 1000  # iterations over which the cost of one is taken

CALL, SYNC, LOOP, ITERATION = "call", "call + sync", "loop", "iteration"


@dataclass(frozen=True)
class Row:
    """One thing that is timed.

    way     CALL: host time of a call, `calls` in a row, none of which is waited for; SYNC: a call and its
            synchronisation; LOOP: the same of a loop; ITERATION: (1001 iterations - 1 iteration) / 1000
    tasks   one after the other, each adds 1 to all floats; of a loop: in an iteration, the last counts down
    floats  of an array
    sets    of arguments, which calls take in turns
    nodes   the time is divided by this
    rounds  of a loop
    bars    driver -> microseconds that cuda_graphs is to reach there, by contestant
    """

    way: str
    tasks: int = 2
    floats: int = SHORT
    sets: int = 1
    nodes: int = 1
    rounds: int = 1
    calls: int = 20
    bars: dict[str, dict[str, float]] = field(default_factory=dict)


OURS = "cuda_graphs"
RESIDENT = "cuda_graphs, resident"
CONDITIONAL = "cuda_graphs, conditional"

ROWS = {
    "call of 1 task, same arguments": Row(CALL, 1, calls=100, bars={"cuda": {OURS: 2.5}}),
    "call of 10 tasks, same arguments": Row(CALL, 10, calls=100, bars={"cuda": {OURS: 2.5}}),
    "call of 1 task, other arrays": Row(CALL, 1, sets=8, calls=100, bars={"cuda": {OURS: 5.0}}),
    "call of 10 tasks, other arrays": Row(CALL, 10, sets=8, calls=100, bars={"cuda": {OURS: 5.0}}),
    "10 tasks + sync": Row(SYNC, 10, calls=50, bars={"host": {OURS: 4.0}, "cuda": {OURS: 12.8}}),
    "100 tasks + sync": Row(SYNC, 100, calls=20, bars={"cuda": {OURS: 77.0}}),
    "100 tasks of 8 floats + sync, per task": Row(
        SYNC, 100, floats=8, nodes=100, bars={"host": {OURS: 0.12}}
    ),
    "loop of 2 tasks, 1 iteration": Row(LOOP, rounds=1, calls=10),
    "loop of 2 tasks, 10 iterations": Row(LOOP, rounds=10, calls=10),
    "loop of 2 tasks, 1000 iterations": Row(LOOP, rounds=PER_LOOP, calls=1),
    "loop of 2 tasks, an iteration": Row(
        ITERATION, calls=1, bars={"host": {OURS: 0.6}, "cuda": {CONDITIONAL: 5.5, RESIDENT: 2.2}}
    ),
}
