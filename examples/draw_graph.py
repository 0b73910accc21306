# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Draw a graph with a loop: heat spreads in a rod until it changes no more.

The program prints the graph as a tree and writes pictures of it. The second picture marks a mistake: a fill that no
edge orders with the loop, which `check` finds.

python examples/draw_graph.py [folder for the pictures]
"""

import sys
from pathlib import Path

import cuda_graphs as cg

Rod = cg.Array1[cg.f32]


@cg.kernel
def spread(old: Rod, new: Rod, rate: cg.f32) -> None:
    for i in range(1, old.shape[0] - 1):
        new[i] = old[i] + rate * (old[i - 1] - 2 * old[i] + old[i + 1])


@cg.kernel
def take_over(old: Rod, new: Rod, change: Rod) -> None:
    for i in range(1, old.shape[0] - 1):
        cg.atomic_max(change[0], abs(new[i] - old[i]))
        old[i] = new[i]


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()

old, new, change = cg.zeros(256, cg.f32), cg.zeros(256, cg.f32), cg.zeros(1, cg.f32)
g = cg.GraphDef()
rate = g.param("rate", cg.f32, 0.25)
start = g.join(g.memset(old, 0.0, name="cold rod"), g.memset(new, 0.0))
hot = start.memset(old[:1], 1.0, name="hot end").memset(new[:1], 1.0)
loop = hot.while_loop(lambda: change[0] > 1e-4, do=True, max_iterations=10_000, name="until steady")
loop.body.memset(change, 0.0).call(spread, old, new, rate).call(take_over, old, new, change)
loop.callback(lambda: None, name="report")

assert not g.check()
g.draw(folder / "heat.svg")
print(g)

graph = g.instantiate()
graph.launch(stream)
stream.sync()
print(f"{graph.iterations['until steady'].iterations} iterations, {float(old[128]):.4f} in the middle")

mistake = g.memset(old, 0.0, name="forgotten edge")
g.draw(folder / "mistake.svg", check=True)
print(f"{len(g.check())} findings after a fill without an edge: {mistake.name}")
print(f"wrote {folder / 'heat.svg'} and {folder / 'mistake.svg'}")
