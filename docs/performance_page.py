# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes performance.md from figures/graph_calls.json, kernels_*.json, loading.json and ptx_kernels.json, growth.svg
from growth.json.

The files are what the benchmarks wrote on the machine that the page names. `.ci/gpu bench kernels growth` takes new
ones; put them into figures/ and run `python docs/performance_page.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FIGURES = HERE / "figures"

HEAD = """# Performance

What the calls of a graph cost on the host, beside cuda.core and beside bare calls of the driver from C, all in one run
and in turns. Microseconds, medians; {machine}.

Bare calls are made twice: by a C++ program of its own, and from C in the process in which the others run, since what a
call of the driver costs depends on the process. They are the limit for everything that is not smarter than the driver.
The last column is cuda_graphs divided by cuda.core. "-" is what was not measured, or is not there.

"""

TAIL = """
Measured by `python benchmarks/graph_calls.py --driver cuda`;
[what is inside the clock](../benchmarks/README.md#graph_callspy-rows-beside-cudacore).

## How cost grows

Chains of 10 to 100,000 nodes on the same machine. Along the dotted lines cost is proportional to the number of nodes.
The exponent is fitted from 1000 nodes on; that it is a little above 1 is the memory of the machine: graphs that large
are not in its caches any more, for anybody.

![Cost of building, instantiating, updating, launching and reading graphs over their size](figures/growth.svg)

Measured and drawn by `python benchmarks/growth.py --driver cuda --draw growth.svg`.

## Kernels on a GPU

What the compiler makes, beside other compilers and libraries, in microseconds, medians; {gpu_machine}. Each contestant
is a process of its own and has checked its result. The last column is the time of the best of the others divided by
that of cuda_graphs: from 1 on nobody is faster. "-" is what somebody has not.
Warp was not installed on that machine.

{gpu_kernels}

Sums go from threads to warps by shuffles, to blocks by way of shared memory, and from there to memory, once a
block; bins of a histogram are in shared memory. Loops over elements read and write 16 bytes at a time, and short
loops of a thread read four iterations ahead. "n-body" is the sum over all bodies in their order, which a thread does
alone; in any order it is a warp's. Triton and PyTorch do not keep the order. The first call has the driver translate
PTX, which it remembers: its memory was left as it was, for all.

Measured by `python benchmarks/kernels.py --driver cuda`; the best turns, and why somebody is absent, are in
[figures/kernels_h200.json](figures/kernels_h200.json).

## Kernels on the CPU

What the compiler makes, beside other compilers and NumPy, in microseconds; {kernels_machine}, two cores. The machine
had other work, so these are the best of all turns; each contestant is a process of its own. The last column is the time
of the best of the others divided by that of cuda_graphs: from 1 on nobody is faster. "-" is what somebody has not.

{kernels}

Loops over elements become vector loops. Where a loop has another one inside that has to keep its order (the orbit of
mandelbrot, the sum of n-body), neighbouring iterations run side by side in the lanes of vectors, with the bits that
they have one by one; bins of a histogram are private to a part of the loop.

The medians are in [figures/kernels_host.json](figures/kernels_host.json). In rows that are bound by memory (saxpy, the
stencil, SpMV) they are up to 2.6 times the best turn, since others used the machine. Warp and NumPy use one thread.

Behind the best of the others are two things. An array of NumPy is asked what it is in each call, which costs more than
a `cg.ndarray` and more than it costs numba and NumPy. The first call of a process that compiles loads llvmlite, which
takes longer than all else. So did one from disk when these figures were taken; by now nothing of it is loaded there,
and some lines of Python link the object.

Measured by `python benchmarks/kernels.py`;
[what is inside the clock](../benchmarks/README.md#kernelspy-kernels-beside-other-compilers-and-libraries).

## The host driver

It is made for tests, not for speed, but calls are cheap on it as well: the same benchmark runs with `--driver host`.
These are of the machine of two cores as well.

PTX is translated when it is loaded, and once a machine: then it comes from the disk. Milliseconds that a module of 1000
lines takes, the best of {rounds} processes; in brackets those of the processor. "Barriers" are kernels that meet in
reductions, "shuffles" those whose lanes exchange values besides, "plain" ones become vector loops, and "NVRTC" is CUDA
C++ with all of this and functions of libdevice.

{loading}

Measured by `python benchmarks/loading.py`.

Kernels of CUDA C++, as PTX of NVRTC, beside loops of numba; what a thread needs for one `__syncthreads()` is the time
of the machine times its cores. The best of all turns; each contestant is a process of its own.

{ptx_kernels}

Measured by `python benchmarks/ptx_kernels.py`;
[what is inside the clock](../benchmarks/README.md#ptx_kernelspy-kernels-of-cuda-c-on-the-host-driver).
"""


def cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def ratio(ours: float | None, peer: float | None) -> str:
    return "-" if ours is None or peer is None else f"{ours / peer:.2f}"


def performance_page() -> str:
    document = json.loads((FIGURES / "graph_calls.json").read_text())
    lines = [
        "| call | cuda_graphs | cuda.core | C, same process | C++ program | ratio |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row, values in document["figures"].items():
        cells = [cell(values[name]) for name in ("cuda_graphs", "cuda.core", "C, same process", "raw C")]
        cells.append(ratio(values["cuda_graphs"], values["cuda.core"]))
        lines.append(f"| {row} | {' | '.join(cells)} |")
    gpu, kernels = (json.loads((FIGURES / f"kernels_{name}.json").read_text()) for name in ("h200", "host"))
    tail = TAIL.format(
        gpu_machine=gpu["machine"],
        gpu_kernels=kernels_table(gpu["figures"]),
        kernels_machine=kernels["machine"],
        kernels=kernels_table(kernels["least"]),
        **host_driver(),
    )
    return HEAD.format(machine=document["machine"]) + "\n".join(lines) + "\n" + tail


def kernels_table(figures: dict[str, dict[str, float | None]]) -> str:
    """A line a row: ours, those of the peers, and the best peer divided by ours."""
    columns = [each for each in next(iter(figures.values())) if any(row[each] for row in figures.values())]
    lines = ["| " + " | ".join(["row", *columns, "best other / ours"]) + " |"]
    lines.append("|---" + "|--:" * (len(columns) + 1) + "|")
    for row, values in figures.items():
        ours, *others = (values[column] for column in columns)
        best = min((other for other in others if other is not None), default=None)
        cells = [cell(values[column]) for column in columns]
        lines.append("| " + " | ".join([row, *cells, ratio(best, ours)]) + " |")
    return "\n".join(lines)


def host_driver() -> dict[str, object]:
    loading, kernels = (
        json.loads((FIGURES / f"{name}.json").read_text()) for name in ("loading", "ptx_kernels")
    )
    return {
        "rounds": loading["rounds"],
        "loading": loading_table(loading["modules"]),
        "ptx_kernels": ptx_kernels_table(kernels["least"]),
    }


def loading_table(modules: dict[str, dict]) -> str:
    ways = list(next(iter(modules.values()))["least_ms"])
    lines = ["| " + " | ".join(["module", "lines", *ways]) + " |", "|---" + "|--:" * (len(ways) + 1) + "|"]
    for name, found in modules.items():
        cells = [f"{found['least_ms'][way]:.1f} ({found['processor_ms'][way]:.1f})" for way in ways]
        lines.append("| " + " | ".join([name, str(found["lines"]), *cells]) + " |")
    return "\n".join(lines)


def ptx_kernels_table(document: dict[str, dict]) -> str:
    lines = ["| row | cuda_graphs | numba | speed |", "|---|--:|--:|--:|"]
    for row, found in document["seconds"].items():
        ours, peer = found["cuda_graphs"], found["numba"]
        lines.append(f"| {row} | {1e3 * ours:.1f} ms | {1e3 * peer:.1f} ms | {peer / ours:.2f} |")
    lines += [f"| {row} | {found:.1f} ns | - | - |" for row, found in document["barrier_ns"].items()]
    return "\n".join(lines)


def main() -> None:
    (HERE / "performance.md").write_text(performance_page())
    growth = HERE.parent / "benchmarks/growth.py"
    drawing = ["--from", FIGURES / "growth.json", "--draw", FIGURES / "growth.svg"]
    subprocess.run([sys.executable, growth, *drawing], check=True)


if __name__ == "__main__":
    main()
