# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes performance.md from figures/graph_calls.json, large_graph_*.json, kernels_*.json, whole_programs_*.json,
compile.json, loading.json and ptx_kernels*.json, growth.svg from growth.json, and whole_programs_*.svg.

The benchmarks wrote these files on the machine that the page names. `.ci/gpu bench kernels growth` measures new files.
Put them into figures/ and run `python -m docs.performance_page`.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.programs import PROGRAMS
from benchmarks.statistic import (
    Figures,
    best_other,
    cell,
    factor,
    number,
    ratio_cell,
    ratios,
    undecided,
    value,
)
from docs.figures_text import LEGEND, absent, markdown

HERE = Path(__file__).parent
FIGURES = HERE / "figures"

HEAD = """# Performance

{legend}

The figures of this page were taken in different runs, some of them before turns were kept.

## Calls of a graph

The host time of the calls of a graph, beside cuda.core and beside bare calls of the driver from C. All contestants take
turns in one run. Microseconds; {machine}.

Bare calls are made by a C++ program of its own, and from C in the process of the other contestants, because the cost of
a driver call depends on the process. "Least from Python" are the bare calls in a loop of Python: a callable of an
extension module that releases the GIL, makes one call, and does nothing else. The last column is cuda_graphs divided by
cuda.core.

Launches of 1000 nodes differ by a third from turn to turn, for all contestants. In seven runs they took 0.03 to 1.36
us more than from C, and the least from Python between 0.48 less and 1.02 more. In 26 runs the launch of one kernel
took 1.06 to 1.14 of that from C (at most 1.08 in six of them), the least from Python 1.03 to 1.09. In 31 later runs it
took 1.05 to 1.11, 1.08 by the median. In 19 of these, on hosts that others used too, a node of a chain of 1000 took
2.40 to 2.98 of that from C, 2.49 by the median, the least from Python 1.5 to 1.6. A node is an object of Python that
knows the line of the program that added it, it keeps its kernel and its graph alive, and each of our calls lets other
threads of Python run while the driver works ([where the time of a node goes](design/2026-11-added-nodes.md)). The table
shows an earlier run.

"""

TAIL = """

Measured by `python benchmarks/graph_calls.py --driver cuda`;
[what is inside the clock](../benchmarks/README.md#graph_callspy-rows-beside-cudacore).

## How cost grows

Chains of 10 to 100,000 nodes on the same machine; medians, the only statistic of this run. Along the dotted lines cost
is proportional to the number of nodes. The exponent is fitted from 1000 nodes on.

![Cost of building, instantiating, updating, launching and reading graphs over their size](figures/growth.svg)

Measured and drawn by `python benchmarks/growth.py --driver cuda --draw growth.svg`.

A chain of a million kernels beside one of 10,000: CPU time of all threads in nanoseconds for a node, and the memory
that the process takes in addition. Each chain is made once, in a process of its own, so a node takes longer than in
the table above, whose graphs use the memory of the graphs before them again. The machine is slower, too. "All
steps" is the sum of the times.

{large_h200_machine}, two turns:

{large_h200}

The host driver on the 16 cores of another machine with an H200, two turns:

{large_host}

The host driver on two cores of an AMD EPYC, {large_host_2_rounds} turns:

{large_host_2}

There the small chain gets memory at `instantiate` that the process used before, and the large one gets new pages from
the system. This explains a part of the difference.

Measured by `python benchmarks/large_graph.py`.

## Kernels on a GPU

Compiled kernels beside those of other compilers and libraries. Microseconds; {gpu_machine}. Each contestant has a
process of its own, and has checked its result. The last column is the lowest figure of the other contestants divided by
that of cuda_graphs: above 1 cuda_graphs is the fastest.
{gpu_absent}

{gpu_kernels}

{gpu_open}

Sums go from threads to warps by shuffles, to blocks through shared memory, and to global memory once a block; bins of a
histogram are in shared memory. Loops over elements read and write 16 bytes at a time, and short loops of a thread read
four iterations ahead. In "n-body" a thread sums over all bodies in their order; in "sums in any order" a warp does.
Triton and PyTorch do not keep the order. In a first call the driver translates PTX and stores the result in its own
cache; the benchmark leaves that cache as it is for every contestant.

Measured by `python benchmarks/kernels.py --driver cuda`; the reasons for each "-" are in
[figures/kernels_h200.json](figures/kernels_h200.json).

## Kernels on the CPU

Compiled kernels beside those of other compilers and NumPy. Microseconds; {kernels_machine}, two cores. The machine had
other work during the run, so medians and best turns differ widely. Warp and NumPy use one thread. Columns are as above.
{kernels_absent}

{kernels}

{kernels_open}

Loops over elements become vector loops. Where an inner loop has to keep its order (the orbit of mandelbrot, the sum of
n-body), neighbouring iterations run side by side in the lanes of vectors, with the same bits as one by one. Bins of a
histogram are private to a part of the loop.

Calls and first calls of this table are those of an earlier version. In four runs of 2026-11-30 beside numba and
NumPy, the call of one task took 0.78 to 1.89 us by the median and 0.78 to 0.82 in the best turns (numba 2.45 to 4.91
and 1.67 to 1.98), and that on arrays of NumPy 1.11 to 3.29 and 1.10 to 1.16 (numba 1.75 to 4.94 and 1.69 to 4.17; the
ufunc 1.24 to 1.31 and 1.23 to 1.28). In first calls cuda_graphs is slower than the fastest contestant here; newer
figures follow below.

Measured by `python benchmarks/kernels.py`;
[what is inside the clock](../benchmarks/README.md#kernelspy-kernels-beside-other-compilers-and-libraries). The reasons
for each "-" are in [figures/kernels_host.json](figures/kernels_host.json).

## Whole programs

Twelve programs in three sizes, from 2-D Jacobi to histogram equalisation. Results are compared before figures count.
"Best peer / ours" is the lowest figure of the other contestants divided by ours: above 1 cuda_graphs is the fastest.
The fraction of the limit is the time that the machine needs at least, divided by ours. The limit is that of bytes,
where each step moves each element once, over the bandwidth of a copy; or that of operations over the peak rate of f32.
Both are measured in the same run. Small programs stay in caches, so their fraction may exceed 1. The launch share is
our time for as many launches with next to no data, divided by our time.

{whole_programs}

Measured by `python benchmarks/whole_programs.py`; [what is inside the
clock](../benchmarks/README.md#whole_programspy-whole-programs-beside-those-of-others-and-beside-the-machine).

## First calls

First calls in new processes, from the call until its result has been read. Milliseconds;
{compile_machine}, with other work during the run. CPU time is that of all threads.
"100 tasks" is a kernel of 100 loops, "one changed" the same kernel after a change of one of them, and the solver a
program of 3000 lines with 200 functions. The last column is the figure of the fastest other contestant divided by that
of cuda_graphs.

{compile}

Most of a cold first call is LLVM: loading it, its passes, and its code generator. The tasks of a kernel are compiled at
the same time, so the elapsed time of many tasks is less than their CPU time.

On a machine with an H100 and ten cores of a Xeon, which other programs used too (load 6 to 8), elapsed milliseconds of
three to five cold first calls, median, ours and those of Quadrants 1.3.3: on the GPU saxpy 116 and 221, n-body 175
and 229; on the host driver saxpy 91 and 127, n-body 109 and 137, 100 tasks 184 and 1561. On two idle cores of a Xeon,
3 to 15 first calls: saxpy 64 and 92, n-body 75 and 100, 100 tasks 214 and 1196, the solver 1782 and 5473; from disk,
beside Warp 1.19, saxpy 2.0 and 3.5, n-body 2.4 and 3.5.

Measured by `python benchmarks/compile.py`;
[what is inside the clock](../benchmarks/README.md#compilepy-first-calls-beside-those-of-other-compilers).

## The host driver

The host driver is made for tests, not for speed. The benchmark of calls runs on it with `--driver host`. The figures
below are of the machine of two cores.

PTX is translated when it is loaded, once a machine; later loads read the disk cache. Milliseconds to load a module of
1000 lines, {rounds} processes, by the clock and by the time of the processor. "Barriers" are kernels whose threads meet
in reductions, in "shuffles" lanes exchange values as well, "plain" kernels become vector loops, and "NVRTC" is CUDA C++
with all of this and functions of libdevice.

{loading}

Measured by `python benchmarks/loading.py`.

Kernels of CUDA C++, as PTX of NVRTC, beside loops of numba. A barrier row is the time that a thread needs for one
`__syncthreads()`, times the cores. Each contestant has a process of its own. The last column is the figure of numba
divided by that of cuda_graphs.

{ptx_kernels}

With [`CUDA_GRAPHS_HOST_MATH=fast`](environment.md) quotients and roots are operations of the CPU. In one run on two
other cores (Intel Xeon), with much other work, n-body took 105 (72) ms so, 196 (161) ms with the bits of a GPU, and
148 (103) ms in numba.

The same on the 16 cores of a machine with an H200 (Intel Xeon), with numba 0.68.0: milliseconds with one thread and
with 16. The last column is the speed-up of the row divided by that of numba, whose turns of saxpy with 16 threads
took between 1.8 and 7.4 ms.

{ptx_threads}

Measured by `python benchmarks/ptx_kernels.py`, with `--threads 1` and `--threads 16`;
[what is inside the clock](../benchmarks/README.md#ptx_kernelspy-kernels-of-cuda-c-on-the-host-driver).
"""

WHOLE_PROGRAMS = """### {title}

Microseconds; {machine}. A copy moves {bandwidth:.0f} GB/s, and fused multiply-adds do {rate:.1f} TFLOP/s.
{absent}

{table}

{remark}![Times of all contestants over size, in parts of ours, and the limit of the machine](figures/{name}.svg)"""

RUNS = {"whole_programs_gpu": "On a GPU", "whole_programs_host": "On two cores of a CPU"}
REMARKS = {
    "whole_programs_gpu": """\
Two halves of the programs ran at the same time on two GPUs of a machine, with six cores for each half. The second half
reached its limit of time: large PageRank and histogram equalisation are of a run 80 minutes before, in which Warp had
met an error and was absent from then on. The row of large equalisation comes from a later run without Quadrants, on
another H200: its image had 8192 x 8192 bytes before, and has 16384 x 16384 now. With Warp 1.19 large Jacobi, lattice
and PageRank programs ended with an illegal memory access, two of them also alone in a process, and the driver refused
some graphs as an "invalid argument". We do not know the causes; these rows have no figure of Warp.

A later version, with neighbouring points for a thread and bins for a lane, ran alone on another H200 beside the version
of the table, 15 calls in each of two processes in turns. Large Jacobi took 2,320 us and not 3,000, medium Jacobi 1,245
and not 1,391, medium FDTD 365 and not 413, large FDTD 1,776 and not 1,670. Equalisation of 8192 x 8192 bytes took 77.7
us and not 81.6 (300 calls in each process). At a copy of 3,591 GB/s that is a fraction of 0.81 for large Jacobi, and
0.72 for this equalisation.

A version after that has a thread for each point at the edge of a row, and gradients without atomic additions. On one
more H200, 15 calls in each of three processes in turns, large Jacobi took 2,046 us (a fraction of 0.91), medium Jacobi
1,164, large FDTD 1,690 (0.99), and large conjugate gradients 6,976, where the version before took 6,659 (0.86 and not
0.90). A step of the large springs took 58 us and not 108 (0.36), of the medium ones 9.3 and not 8.9, and of the small
ones 6.9 and not 4.5 (40 calls in each of two processes).

A version of 2026-11-30 takes several points a thread in all loops of several axes, and neighbours within limits
together ([design](design/2026-11-compiler.md), 13). One more H200, median us of 9 calls (springs, conjugate
gradients) and of 5 calls in one process each, before and now: medium FDTD 359, 342; medium Jacobi 1,251, 1,163; small
Jacobi 1,907, 1,841; small FDTD 473, 481; medium conjugate gradients 936, 938; medium springs 186, 190. The large
sizes stayed within 1%.

NVIDIA's profiler (`ncu`, one more H200) shows what limited the two large rows that stayed behind. A step of the large
springs is three kernels, of 16, 32 and 7 us. The first two start an instruction in 62 and 72% of the cycles and use 23
and 30% of the bandwidth of memory: square roots and divisions limit them, not memory. In equalisation of 8192 x 8192
bytes the counts take 22 us and the look-up 36 us, fractions of 0.85 and 1.04, since the last writes stay in the cache.
The table of 256 levels takes 9 us, which moves next to nothing. The starts of three kernels are the rest. Memory does
not limit this size, so the large image has four times as many bytes now. Alone on an H200, 9 calls in each of two
processes, it took 229 and 228 us (fractions of 0.98 and 0.96).
""",
    "whole_programs_host": """\
Two runs, one after the other, with nothing else at work: one of Jacobi, n-body, springs, attention and equalisation
(three turns; a copy moved 21 GB/s) and one of the others (five turns). Quadrants and Warp took no part. They need
minutes for programs that take others a second, and in earlier runs neither was the fastest but for PageRank, where
Quadrants took 1.10 to 1.27 times as long as ours.

Large equalisation of this table has 8192 x 8192 bytes. With 16384 x 16384 ours took 112,338 us, numba 111,224 and JAX
1,230,294, on another machine (two cores of an AMD EPYC, a copy moved 28.5 GB/s).

With gradients without atomic additions the springs took 1,321, 19,468 and 140,834 us in a later run of three turns,
beside other work (a copy moved 20.5 GB/s). The best peer took 5.1 (JAX), 4.0 and 4.5 times as long (torch.compile).
""",
}

OURS = "cuda_graphs"
PEERS = (
    "numba",
    "Warp",
    "Quadrants",
    "NumPy",
    "numba-cuda",
    "CuPy",
    "Triton",
    "PyTorch",
    "JAX",
    "torch.compile",
)


def read(name: str) -> dict[str, Any]:
    return json.loads((FIGURES / f"{name}.json").read_text())


def performance_page() -> str:
    calls, gpu, host = read("graph_calls"), read("kernels_h200"), read("kernels_host")
    tail = TAIL.format(
        gpu_machine=gpu["machine"],
        gpu_absent=wrapped(absent(gpu["absent"], PEERS)),
        gpu_kernels=kernels_table(gpu["figures"]),
        gpu_open=wrapped(open_rows(gpu["figures"])),
        kernels_machine=host["machine"],
        kernels_absent=wrapped(absent(host["absent"], PEERS)),
        kernels=kernels_table(host["figures"]),
        kernels_open=wrapped(open_rows(host["figures"])),
        whole_programs="\n\n".join(
            whole_programs(name, title) for name, title in RUNS.items() if is_taken(name)
        ),
        **large_graphs(),
        **first_calls(),
        **host_driver(),
    )
    return HEAD.format(legend=LEGEND, machine=calls["machine"]) + calls_table(calls["figures"]) + tail


def wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False)


def calls_table(figures: Figures) -> str:
    """Return a table with one line per call."""
    columns = {
        OURS: OURS,
        "cuda.core": "cuda.core",
        "least from Python": "least from Python",
        "C, same process": "C, same process",
        "raw C": "C++ program",
    }
    lines = [
        [call, *(cell(row.get(name)) for name in columns), ratio_cell(ratios(row[OURS], row["cuda.core"]))]
        for call, row in figures.items()
    ]
    return markdown(["call", *columns.values(), "ours / cuda.core"], lines)


def kernels_table(figures: Figures) -> str:
    """Return a table of our figures, the figures of the peers, and the best peer divided by ours."""
    columns = [name for name in next(iter(figures.values())) if any(row[name] for row in figures.values())]
    others = [name for name in columns if name != OURS]
    lines = [
        [
            title,
            *(cell(row[name]) for name in columns),
            ratio_cell(best_other([row[name] for name in others], row[OURS])),
        ]
        for title, row in figures.items()
    ]
    return markdown(["row", *columns, "best other / ours"], lines)


def open_rows(figures: Figures) -> str:
    """Returns a sentence with the rows whose winner depends on the statistic."""
    found = {
        title: best_other([one for name, one in row.items() if name != OURS], row[OURS])
        for title, row in figures.items()
    }
    rows = [f'"{title}"' for title, compared in found.items() if undecided(compared)]
    return f"The winner depends on the statistic in {len(rows)} rows: {'; '.join(rows)}." if rows else ""


def is_taken(name: str) -> bool:
    """Return whether there are figures of a run."""
    return (FIGURES / f"{name}.json").exists()


def whole_programs(name: str, title: str) -> str:
    """Return the section of a run of whole programs."""
    found = read(name)
    limits = found["limits"]
    return WHOLE_PROGRAMS.format(
        name=name,
        title=title,
        machine=found["machine"],
        bandwidth=limits["bytes"] / 1e9,
        rate=limits["flops"] / 1e12,
        absent=wrapped(absent(found["absent"], PEERS)),
        remark=f"{REMARKS[name]}\n" if name in REMARKS else "",
        table=whole_programs_table(found["programs"]),
    )


def whole_programs_table(programs: dict[str, Any]) -> str:
    """Return a table with a line per program and size: our figures, and the best other contestant."""
    lines = []
    for program, entries in programs.items():
        for size, entry in entries.items():
            figures = entry["figures"]
            ours, peers = figures[OURS], {name: one for name, one in figures.items() if name != OURS and one}
            best = min(peers, key=lambda name: peers[name]["median"], default="-")
            median = value(ours)
            parts = [None if median is None else entry[key] / median for key in ("limit", "launch")]
            lines.append([
                f"{PROGRAMS[program]}, {size}", cell(ours, 1), best, cell(peers.get(best), 1),
                ratio_cell(best_other(peers.values(), ours)), *(number(each) for each in parts),
            ])  # fmt: skip
    columns = [
        "program",
        OURS,
        "best peer",
        "its figure",
        "best peer / ours",
        "fraction of the limit",
        "launch share",
    ]
    return markdown(columns, lines)


def first_calls() -> dict[str, object]:
    found = read("compile")
    return {"compile_machine": found["machine"], "compile": first_calls_table(found["figures"])}


def large_graphs() -> dict[str, object]:
    h200, host, two = (read(f"large_graph_{where}") for where in ("h200", "host_16_cores", "host_2_cores"))
    return {
        "large_h200_machine": h200["machine"],
        "large_h200": large_graph_table(h200["figures"]),
        "large_host": large_graph_table(host["figures"]),
        "large_host_2": large_graph_table(two["figures"]),
        "large_host_2_rounds": len(two["figures"]["MiB"][f"{OURS}, 10000 nodes"]["turns"]),
    }


def large_graph_table(figures: dict[str, Figures]) -> str:
    """Return a table with one line per step."""
    few, many, bare = f"{OURS}, 10000 nodes", f"{OURS}, 1000000 nodes", "C, 1000000 nodes"
    lines = [
        [
            step,
            *(cell(row[name], 0) for name in (few, many)),
            "-" if step == "MiB" else factor(ratios(row[many], row[few])),
            cell(row[bare], 0),
            ratio_cell(ratios(row[many], row[bare])),
        ]
        for step, row in figures.items()
    ]
    return markdown(["step", "10^4 nodes", "10^6 nodes", "10^6 / 10^4", "10^6 from C", "ours / C"], lines)


def first_calls_table(figures: dict[str, Figures]) -> str:
    """Return a table with two lines per row: CPU time and elapsed time."""
    peers = ("Quadrants", "Warp")
    lines = [
        [
            f"{title}, {clock}",
            *(cell(row[name], 0 if "cold" in title else 1) for name in (OURS, *peers)),
            ratio_cell(best_other([row[name] for name in peers], row[OURS])),
        ]
        for title in figures["cpu"]
        for clock, row in (("CPU time", figures["cpu"][title]), ("elapsed", figures["elapsed"][title]))
    ]
    return markdown(["first call", OURS, *peers, "best other / ours"], lines)


def host_driver() -> dict[str, object]:
    loading, kernels = read("loading"), read("ptx_kernels")
    return {
        "rounds": loading["rounds"],
        "loading": loading_table(loading["modules"]),
        "ptx_kernels": ptx_kernels_table(kernels),
        "ptx_threads": speed_up_table(read("ptx_kernels_1_thread"), read("ptx_kernels_16_threads")),
    }


def loading_table(modules: dict[str, dict[str, Any]]) -> str:
    """Return a table with two lines per module: wall-clock time and processor time."""
    ways = list(next(iter(modules.values()))["clock"])
    lines = [
        [f"{name}, {clock}", str(found["lines"]), *(cell(found[clock][way], 1) for way in ways)]
        for name, found in modules.items()
        for clock in ("clock", "processor")
    ]
    return markdown(["module", "lines", *ways], lines)


def ptx_kernels_table(document: dict[str, Figures]) -> str:
    lines = [
        [f"{title}, {unit}", *(cell(row[name], 1) for name in (OURS, "numba")), ratio_cell(compared)]
        for key, unit in (("milliseconds", "ms"), ("barrier_ns", "ns"))
        for title, row in document[key].items()
        for compared in [ratios(row["numba"], row[OURS])]
    ]
    return markdown(["row", OURS, "numba", "numba / ours"], lines)


def speed_up_table(one: dict[str, Figures], many: dict[str, Figures]) -> str:
    """Return a table of the milliseconds with one thread and with many."""
    lines = []
    for title, row in one["milliseconds"].items():
        many_row = many["milliseconds"][title]
        speed_ups = {name: ratios(each, many_row[name]) for name, each in row.items()}
        for name, each in row.items():
            beside = {key: speed_ups[name][key] / speed_ups["numba"][key] for key in speed_ups[name]}
            shown = "-" if name == "numba" else ratio_cell(beside)
            lines.append(
                [
                    f"{title}, {name}",
                    cell(each, 1),
                    cell(many_row[name], 1),
                    factor(speed_ups[name]),
                    shown,
                ]
            )
    return markdown(["row", "1 thread", "16 threads", "speed-up", "speed-up / numba's"], lines)


def main() -> None:
    (HERE / "performance.md").write_text(performance_page())
    growth = HERE.parent / "benchmarks/growth.py"
    drawing = ["--from", FIGURES / "growth.json", "--draw", FIGURES / "growth.svg"]
    subprocess.run([sys.executable, growth, *drawing], check=True)
    for name in filter(is_taken, RUNS):
        drawing = ["--from", FIGURES / f"{name}.json", "--draw", FIGURES / f"{name}.svg"]
        program = HERE.parent / "benchmarks/whole_programs.py"
        subprocess.run([sys.executable, program, *drawing], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
