# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Profile a graph with two branches and a loop: which node is slow, and what is the critical path?

One branch smooths a signal until it changes no more, the other one computes its mean. The program prints the table of
the profile. It writes the graph coloured by time, a Gantt chart of one launch, and a trace for ui.perfetto.dev.

python examples/profile_graph.py [folder for the files]
"""

import sys
from pathlib import Path

import numpy as np

import cuda_graphs as cg

Signal = cg.Array1[cg.f32]


@cg.kernel
def smooth(x: Signal, y: Signal) -> None:
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]


@cg.kernel
def take_over(x: Signal, y: Signal, change: Signal) -> None:
    for i in range(1, x.shape[0] - 1):
        cg.atomic_max(change[0], abs(y[i] - x[i]))
        x[i] = y[i]


@cg.kernel
def mean(x: Signal, result: Signal) -> None:
    for i in x:
        cg.atomic_add(result[0], x[i] / x.shape[0])


@cg.kernel
def subtract(x: Signal, value: Signal) -> None:
    for i in x:
        x[i] -= value[0]


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()

if cg.driver_info().kind == "cuda":
    try:
        import cupti  # noqa: F401
    except ImportError:
        print("the profile of a GPU needs pip install 'cuda-graphs[profile]'")
        raise SystemExit(0) from None
    with cg.profile():  # from here on CUPTI reports each iteration of the loops of new graphs
        stream.sync()

measured = np.sin(np.linspace(0, 40, 1 << 14, dtype="f4")) + np.random.default_rng(1).normal(0, 0.3, 1 << 14)
signal = cg.array(measured.astype("f4"))
x, y = cg.zeros(signal.shape, cg.f32), cg.zeros(signal.shape, cg.f32)
change, average = cg.zeros(1, cg.f32), cg.zeros(1, cg.f32)

g = cg.GraphDef()
begin = g.memcpy(x, signal, name="copy to x").memcpy(y, signal, name="copy to y")
loop = begin.while_loop(lambda: change[0] > 2e-3, do=True, max_iterations=500, name="until smooth")
loop.body.memset(change, 0.0).call(smooth, x, y).call(take_over, x, y, change)
level = begin.memset(average, 0.0).call(mean, signal, average)
g.join(loop, level).call(subtract, x, average)

graph = g.instantiate()
p = graph.profile(stream, launches=10)
print(p)
(found,) = p.graphs
steps = graph.iterations["until smooth"].iterations
rows = {row.name: row for row in found.rows}
print(f"{steps} iterations a launch; the loop takes {rows['until smooth'].share:.0%} of the time")
assert rows["body, repeated"].runs == 10 * steps
assert rows["until smooth"].is_critical

p.draw(folder / "profile_graph.svg")
p.gantt(folder / "profile_gantt.svg")
p.save(folder / "profile_trace.json")
