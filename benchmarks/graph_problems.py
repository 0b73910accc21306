# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems of graph_kernels.py: chains of tasks that add 1 to floats, and loops of two tasks."""

from __future__ import annotations

from dataclasses import dataclass, field

SHORT = 1024  # floats per task; few enough to measure the launch
PER_LOOP = 1000  # iterations over which the cost of one iteration is averaged

CALL, SYNC, LOOP, ITERATION = "call", "call + sync", "loop", "iteration"


@dataclass(frozen=True)
class Row:
    """One row of the table.

    way     CALL: host time of a call, `calls` in a row without waiting. SYNC: a call and its synchronisation.
            LOOP: a loop and its synchronisation. ITERATION: (1001 iterations - 1 iteration) / 1000
    tasks   number of tasks in a chain; each adds 1 to all floats. In a loop: tasks per iteration, the last counts down
    floats  length of an array
    sets    number of argument sets, which the calls use in turns
    nodes   divisor of the time
    rounds  iterations of a loop
    bars    driver -> contestant -> target in microseconds
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
