# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of an iteration "scale an array, sum it over all ranks, decide", over message size, ranks and method.

    python benchmarks/distributed.py [--ranks 1 2 4] [--sizes 1 1024 65536] [--methods "graph kernel" ...]
        [--direct-bytes 65536] [--json out.json] [--draw picture.svg]

It starts itself by mpiexec for each number of ranks. Methods: a call and a wait in each iteration; the same by mpi4py
on the host driver, or by torch.distributed on GPUs; the launch of a graph in each iteration; one launch of a while node
whose body has a collective of the library, by hand and by the public API, or a direct exchange; and a graph kernel. The
bare exchange is one word for each pair of ranks in a loop of one thread, without any other work. The bare iteration is
that of a kernel by hand, which keeps to one block: scale the array, sum one number of each rank, decide. Methods that
wait on the host in each iteration run a twentieth of the iterations.

With --direct-bytes the direct exchange takes larger arrays than the package allows, to measure the size at which the
library becomes faster.

A size that takes longer than --limit ends all ranks, and shows where each of them is.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from contestants import machine
from statistic import Figures
from timing import measure, show, write

import cuda_graphs as cg
from cuda_graphs.compiler.codegen.ptx import ptx_exchange
from cuda_graphs.compiler.ir import exchanges
from cuda_graphs.compiler.ir.exchanges import FIRST_RANK, MOST_RANKS, TABLE_WORDS
from cuda_graphs.distributed import direct as direct_exchange
from cuda_graphs.distributed.nccl_engine import load_nccl
from cuda_graphs.objects.device.current import current_stream

Floats = cg.Array1[cg.f32]
Left = cg.Array1[cg.i64]
HOST = 20  # one iteration of how many is run, as its time does not depend on the number
# Method -> one iteration of how many it runs.
METHODS = {
    "library, host loop": HOST,
    "call and wait": HOST,
    "graph and wait": HOST,
    "while node, library by hand": 1,
    "while node, library": 1,
    "while node, direct": 1,
    "graph kernel": 1,
    "bare exchange": 1,
    "bare iteration": 1,
}
# Issue 22: the first method takes at most so many times the second one, for BAR_SIZE floats.
BARS = (
    ("graph kernel", "bare iteration", 2.5),
    ("graph kernel", "bare exchange", 2.5),
    ("while node, library", "while node, library by hand", 1.05),
    ("graph kernel", "while node, library", 0.3),
)
BAR_SIZE = 1024
Run = Callable[[int], None]  # runs a number of iterations
BARE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry bare(.param .u64 table, .param .u32 rounds)
{{
.reg .b64 %table, %memory<{size}>, %to<{size}>, %word, %in;
.reg .b32 %round, %left, %half, %seen, %piece;
.reg .pred %ends, %all;
ld.param.u64 %table, [table];
ld.param.u32 %left, [rounds];
ld.global.u32 %round, [%table];
{memory}
NEXT:
setp.eq.u32 %ends, %left, 0;
@%ends bra OVER;
mov.u32 %piece, %left;
{exchange}
sub.u32 %left, %left, 1;
bra NEXT;
OVER:
st.global.u32 [%table], %round;
ret;
}}
"""
SCALING = """.version 7.0
.target sm_70
.address_size 64
.visible .entry scaling(.param .u64 table, .param .u64 x, .param .f32 factor, .param .u32 rounds)
{{
.reg .b64 %table, %memory<{size}>, %to<{size}>, %word, %in, %x;
.reg .b32 %round, %left, %half, %seen, %piece, %i;
.reg .f32 %factor, %value, %sum, %other;
.reg .pred %ends, %all, %waits;
.shared .b32 total;
ld.param.u64 %table, [table];
ld.param.u64 %x, [x];
ld.param.f32 %factor, [factor];
ld.param.u32 %left, [rounds];
ld.global.u32 %round, [%table];
mov.u32 %i, %tid.x;
setp.ne.u32 %waits, %i, 0;
mad.wide.u32 %x, %i, 4, %x;
{memory}
NEXT:
ld.global.f32 %value, [%x];
mul.f32 %value, %value, %factor;
st.global.f32 [%x], %value;
bar.sync 0;
@%waits bra WAIT;
mov.f32 %sum, %value;
mov.b32 %piece, %value;
{exchange}
st.shared.f32 [total], %sum;
WAIT:
bar.sync 0;
ld.shared.f32 %sum, [total];
sub.u32 %left, %left, 1;
setp.gt.f32 %ends, %sum, 0f00000000;
setp.ne.and.u32 %ends, %left, 0, %ends;
@%ends bra NEXT;
@%waits bra OVER;
st.global.u32 [%table], %round;
OVER:
ret;
}}
"""
EXCHANGE = """and.b32 %half, %round, 1;
mul.lo.u32 %half, %half, {half};
mov.b64 %word, {{%piece, %round}};
{stores}
POLL:
setp.eq.u32 %all, %left, %left;
{loads}
@!%all bra POLL;
{reductions}
add.u32 %round, %round, 1;
"""


def bare_kernel(name: str, rank: int, size: int) -> cg.Kernel:
    """Return a kernel that exchanges one word with each other rank in each round.

    Args:
        name: "bare": one thread that does nothing else. "scaling": a block whose threads scale an element each, wait,
            exchange a number by their first thread, wait, and go on while the sum is positive.
    """
    others = [each for each in range(size) if each != rank]

    def place(sender: int, owner: int) -> str:
        return (
            f"mad.wide.u32 %in, %half, 1, %memory{owner}; add.u64 %in, %in, {8 * sender * exchanges.PIECES};"
        )

    exchange = EXCHANGE.format(
        half=8 * MOST_RANKS * exchanges.PIECES,
        stores="\n".join(f"{place(rank, r)} st.relaxed.sys.global.u64 [%in], %word;" for r in others),
        loads="\n".join(
            f"{place(r, rank)} ld.relaxed.sys.global.u64 %to{r}, [%in]; mov.b64 {{%piece, %seen}}, %to{r}; "
            "setp.eq.and.u32 %all, %seen, %round, %all;"
            for r in others
        ),
        reductions="\n".join(
            f"mov.b64 {{%piece, %seen}}, %to{r}; mov.b32 %other, %piece; add.f32 %sum, %sum, %other;"
            for r in others
        )
        if name == "scaling"
        else "",
    )
    text = (SCALING if name == "scaling" else BARE).format(
        size=size,
        memory="\n".join(
            f"ld.global.u64 %memory{r}, [%table + {8 * (FIRST_RANK + r)}]; "
            f"add.u64 %memory{r}, %memory{r}, {8 * TABLE_WORDS};"
            for r in range(size)
        ),
        exchange=exchange,
    )
    return cg.ObjectCode.from_ptx(text.encode(), name=name).get_kernel(name)


@cg.kernel
def scale(x: Floats, left: Left, factor: cg.f32) -> None:
    for i in x:
        x[i] *= factor
        if i == 0:
            left[i] -= 1


@cg.kernel(graph=True)
def iterate(x: Floats, left: Left, factor: cg.f32, comm: cg.distributed.Communicator) -> None:
    while cg.graph_while(x[0] > 0 and left[0] > 0):
        for i in x:
            x[i] *= factor
        comm.all_reduce(x)
        left[0] -= 1


def goes_on(x: Floats, left: Left) -> bool:
    return x[0] > 0 and left[0] > 0


def exchange_directly(size: int) -> None:
    """Let this process exchange arrays of up to `size` bytes directly, a power of two. All ranks do this first."""
    pieces = size // 4
    values = {
        "LARGEST_BYTES": size,
        "PIECES": pieces,
        "MEMORY_BYTES": 8 * (TABLE_WORDS + 2 * MOST_RANKS * pieces),
    }
    for module in (exchanges, ptx_exchange, direct_exchange):
        for name in values.keys() & vars(module).keys():
            setattr(module, name, values[name])


class Rig:
    """The arrays and graphs of this rank for one size. All ranks call the methods in the same order.

    Args:
        comm: A communicator whose collectives are those of the library.
        direct: One that exchanges small arrays directly.
    """

    def __init__(self, comm: Any, direct: Any, size: int) -> None:
        self.comm, self.direct = comm, direct
        self.factor = 1 / comm.size  # keeps the sum as it is
        self.x, self.left = cg.ones(size, cg.f32), cg.array([0], cg.i64)
        self.stream = cg.Device().create_stream()
        one = cg.GraphDef()
        one.call(scale, self.x, self.left, self.factor).call(comm.all_reduce, self.x)
        self.step = one.instantiate()
        self.is_direct = direct.explain(direct.all_reduce, self.x) == "direct"

    def loop(self, comm: Any) -> Run:
        """Return the launch of a while node whose body calls a communicator."""
        graph = cg.GraphDef()
        loop = graph.while_loop(goes_on, args=(self.x, self.left))
        loop.body.call(scale, self.x, self.left, self.factor).call(comm.all_reduce, self.x)
        return self.launch_of(graph.instantiate())

    def by_hand(self) -> Run | None:
        """Return the same with a captured call of NCCL; None without NCCL, and for one rank."""
        if cg.driver_info().kind == "host" or self.comm.size == 1:
            return None
        engine = self.comm._engine  # a communicator of NCCL with graph mixing support off
        arrays = self.x, self.left
        with cg.capture() as builder, builder.while_loop(goes_on, args=arrays):
            scale(self.x, self.left, self.factor)
            address, stream = ctypes.c_void_p(self.x.handle), ctypes.c_void_p(current_stream().handle)
            status = load_nccl().ncclAllReduce(address, address, self.x.size, 7, 0, engine.handle, stream)
            assert status == 0, f"ncclAllReduce returned {status}"
        return self.launch_of(builder.complete())

    def launch_of(self, graph: Any) -> Run:
        def run(iterations: int) -> None:
            graph.launch(self.stream)
            self.stream.sync()

        return run

    def graph_kernel(self, iterations: int) -> None:
        iterate(self.x, self.left, self.factor, self.direct)
        cg.Device().sync()

    def bare(self) -> Run:
        kernel = bare_kernel("bare", self.comm.rank, self.comm.size)
        table = self.direct._at_once.engine.exchange.table

        def run(iterations: int) -> None:
            cg.launch(self.stream, {"grid": 1, "block": 1}, kernel, table, np.uint32(iterations))
            self.stream.sync()

        return run

    def bare_iteration(self) -> Run:
        kernel = bare_kernel("scaling", self.comm.rank, self.comm.size)
        table, block = self.direct._at_once.engine.exchange.table, {"grid": 1, "block": self.x.size}

        def run(iterations: int) -> None:
            cg.launch(self.stream, block, kernel, table, self.x, np.float32(1), np.uint32(iterations))
            self.stream.sync()

        return run

    def timed(self, run: Run, iterations: int) -> Callable[[], float]:
        """Return a contestant: microseconds of an iteration, from a barrier to the end of this rank."""

        def turn() -> float:
            self.x.fill(1.0)
            self.left[0] = iterations
            cg.Device().sync()
            self.comm.barrier()
            begin = time.perf_counter_ns()
            run(iterations)
            took = time.perf_counter_ns() - begin
            np.testing.assert_allclose(self.x.to_numpy(), 1.0, rtol=1e-3)
            return took / iterations / 1e3

        return turn

    def call_and_wait(self, iterations: int) -> None:
        for _ in range(iterations):
            scale(self.x, self.left, self.factor)
            self.comm.all_reduce(self.x)
            if not self.x[0] > 0:
                break

    def graph_and_wait(self, iterations: int) -> None:
        for _ in range(iterations):
            self.step.launch(self.stream)
            self.stream.sync()
            if not self.x[0] > 0:
                break

    def library(self) -> Run | None:
        """Return the loop on the host by mpi4py or torch.distributed; None without PyTorch on GPUs."""
        if cg.driver_info().kind == "host":
            return self.by_mpi4py(import_module("mpi4py.MPI"))
        return None if find_spec("torch") is None else self.by_torch(import_module("torch"))

    def by_mpi4py(self, mpi: Any) -> Run:
        x = np.ones(self.x.shape, np.float32)

        def run(iterations: int) -> None:
            for _ in range(iterations):
                np.multiply(x, np.float32(self.factor), out=x)
                mpi.COMM_WORLD.Allreduce(mpi.IN_PLACE, x)
                if not x[0] > 0:
                    break

        return run

    def by_torch(self, torch: Any) -> Run:
        group = torch.distributed
        if not group.is_initialized():
            os.environ.setdefault("MASTER_ADDR", "localhost")
            os.environ.setdefault("MASTER_PORT", "29511")
            torch.cuda.set_device(cg.Device().device_id)
            group.init_process_group("nccl", rank=self.comm.rank, world_size=self.comm.size)
        x = torch.ones(self.x.shape, device=f"cuda:{cg.Device().device_id}")

        def run(iterations: int) -> None:
            for _ in range(iterations):
                x.mul_(self.factor)
                group.all_reduce(x)
                if not x[0].item() > 0:
                    break

        return run

    def runs(self, methods: Sequence[str]) -> dict[str, Run | None]:
        """Return what each of METHODS runs; None where it does not exist or is not wanted."""
        made: tuple[Callable[[], Run | None], ...] = (
            self.library,
            lambda: self.call_and_wait,
            lambda: self.graph_and_wait,
            self.by_hand,
            lambda: self.loop(self.comm),
            lambda: self.loop(self.direct) if self.is_direct else None,
            lambda: self.graph_kernel,
            lambda: self.bare() if self.is_direct else None,
            lambda: self.bare_iteration() if self.is_direct else None,
        )
        return {name: make() if name in methods else None for name, make in zip(METHODS, made, strict=True)}

    def contestants(self, methods: Sequence[str], iterations: int) -> dict[str, Callable[[], float] | None]:
        return {
            name: None if run is None else self.timed(run, max(1, iterations // METHODS[name]))
            for name, run in self.runs(methods).items()
        }


def write_figures(options: argparse.Namespace) -> None:
    """Write the figures of rank 0 to its file after each size, and tell how long it took."""
    if options.direct_bytes is not None:
        exchange_directly(options.direct_bytes)
    comm, direct = cg.distributed.init(direct=False), cg.distributed.init(direct=True)
    found: Figures = {}
    for size in options.sizes:
        begin, name = time.monotonic(), f"{comm.size} ranks, {size} floats"
        faulthandler.dump_traceback_later(options.limit, exit=True)
        contestants = Rig(comm, direct, size).contestants(options.methods, options.iterations)
        found[name] = measure(contestants, options.turns)
        faulthandler.cancel_dump_traceback_later()
        if comm.rank == 0:
            options.rank_file.write_text(json.dumps(found))
            print(f"{name}: {time.monotonic() - begin:.1f} s{lowering_of(options.methods)}", flush=True)
    close_torch()


def lowering_of(methods: Sequence[str]) -> str:
    return f", the graph kernel runs as {iterate.graph_stats.lowering}" if "graph kernel" in methods else ""


def close_torch() -> None:
    """Free the process group of torch.distributed, if a contestant has made it."""
    group = sys.modules.get("torch.distributed")
    if group is not None and group.is_initialized():
        group.destroy_process_group()


def run_ranks(count: int, arguments: Sequence[str]) -> Figures:
    """Return the figures of rank 0 of `count` ranks, of those sizes that they completed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figures.json")
        program = [sys.executable, __file__, *arguments, "--rank-file", str(path)]
        ended = subprocess.run(
            ["mpiexec", "-n", str(count), *program], check=False, env=environment_of(arguments)
        )
        if ended.returncode != 0:
            print(f"{count} ranks failed: the figures are those of the sizes before", file=sys.stderr)
        return dict(json.loads(path.read_text())) if path.exists() else {}


def environment_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return the variables of the ranks. Code for other sizes of the exchange must not come from the disk."""
    return dict(os.environ) | ({"CUDA_GRAPHS_CACHE": "0"} if "--direct-bytes" in arguments else {})


def bars(figures: Figures) -> dict[str, float]:
    """Print how the medians compare with BARS. Returns the ratios."""
    found: dict[str, float] = {}
    for row, records in figures.items():
        if not row.endswith(f", {BAR_SIZE} floats") or row.startswith("1 "):
            continue
        for ours, other, most in BARS:
            mine, theirs = (
                None if record is None else record["median"] for record in (records[ours], records[other])
            )
            if mine is not None and theirs is not None:
                ratio = found[f"{row}: {ours} / {other}"] = mine / theirs
                verdict = "holds" if ratio <= most else "does not hold"
                print(f"{row}: {ours} / {other}: {ratio:.3f}, bar {most:g}: {verdict}")
    return found


def draw(figures: Figures, path: Path) -> None:
    """Write a picture: time of an iteration over message size, a panel for each number of ranks."""
    from matplotlib import pyplot, rcParams

    rcParams.update({"svg.hashsalt": "distributed", "svg.fonttype": "none"})
    rows: dict[int, dict[int, Any]] = {}
    for name, row in figures.items():
        ranks, size = (int(part.split()[0]) for part in name.split(", "))
        rows.setdefault(ranks, {})[4 * size] = row
    figure, axes = pyplot.subplots(1, len(rows), sharey=True, squeeze=False, figsize=(3 * len(rows), 3.2))
    for panel, (ranks, by_size) in zip(axes[0], rows.items(), strict=True):
        for method in METHODS:
            points = [
                (size, row[method]["median"]) for size, row in by_size.items() if row[method] is not None
            ]
            panel.loglog([size for size, _ in points], [time for _, time in points], "o-", label=method)
        panel.set_title(f"{ranks} ranks")
        panel.set_xlabel("bytes")
    axes[0][0].set_ylabel("microseconds of an iteration")
    figure.tight_layout()
    lines, names = axes[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[1, 1024, 65536], help="numbers of floats of a rank"
    )
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--direct-bytes", type=int, help="the largest array that is exchanged directly")
    parser.add_argument("--limit", type=int, default=60, help="seconds of a size")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--draw", type=Path, help="write the picture here")
    parser.add_argument("--rank-file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank_file is not None:
        write_figures(options)
        return
    figures: Figures = {}
    for count in options.ranks:
        figures |= run_ranks(count, sys.argv[1:])
    show("an iteration", figures)
    write(options.json, {"machine": machine(), "bars": bars(figures), "figures": figures})
    if options.draw is not None:
        draw(figures, options.draw)


if __name__ == "__main__":
    main()
