# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The speed of CUDA C++ kernels, as PTX on the host driver, beside loops of numba.

    python benchmarks/ptx_kernels.py [--peer PYTHON] [--threads N] [--rounds 9] [--json OUT]

`--peer` is a Python that has numba (the environment of the peers). `--threads` limits all contestants to that number.
Rounds alternate between all contestants, each in its own process, so that they meet the same machine. "cuda_graphs,
fast" has CUDA_GRAPHS_HOST_MATH=fast.

    saxpy       y = a * x + y of 16 Mi floats (64 MiB each): one thread per element; numba: a prange
    n-body      accelerations of 4096 bodies: rsqrtf, tiles of 128 bodies in shared memory, a barrier per tile; numba: a
                prange of plain loops, fastmath off
    barrier     1000 times __syncthreads(), 64 blocks of 256 threads: nanoseconds per thread and barrier, times the
                threads of the CPU; also in a kernel that contains a warp instruction, __shfl_sync()
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from statistic import Figures, ratio_cell, ratios, record
from timing import show, write

SAXPY, BODIES, TILE, BARRIERS, BLOCKS, THREADS = 1 << 24, 4096, 128, 1000, 64, 256
PAUSE = 0.1  # seconds

SOURCE = """
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void bodies(int n, const float4* p, float4* a) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = p[i];
    float x = 0, y = 0, z = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = p[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; ++j) {
            float dx = tile[j].x - mine.x, dy = tile[j].y - mine.y, dz = tile[j].z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
            float pull = tile[j].w * inverse * inverse * inverse;
            x += dx * pull; y += dy * pull; z += dz * pull;
        }
        __syncthreads();
    }
    a[i] = make_float4(x, y, z, 0);
}
extern "C" __global__ void barriers(int n, int* out) {
    for (int i = 0; i < n; ++i) __syncthreads();
    if (n < 0) out[0] = threadIdx.x;
}
extern "C" __global__ void barriers_and_warps(int n, int* out) {
    int lane = __shfl_sync(0xffffffff, threadIdx.x, 0);
    for (int i = 0; i < n; ++i) __syncthreads();
    if (n < 0) out[0] = lane;
}
"""

BARRIER_ROWS = ("barrier", "barrier, with warps")

Run = Callable[[], None]
OURS, FAST, NUMBA = "cuda_graphs", "cuda_graphs, fast", "numba"
COLUMNS = (OURS, FAST, NUMBA)


def ours() -> dict[str, Run]:
    import numpy as np

    import cuda_graphs as cg

    cg.use_driver("host")
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    program = cg.Program(SOURCE, "c++", cg.ProgramOptions(arch="sm_90"))
    code = program.compile("ptx")
    memory = cg.ManagedMemoryResource(device)

    def array(values: np.ndarray):
        buffer = memory.allocate(values.nbytes, stream=stream)
        stream.sync()
        np.from_dlpack(buffer).view(np.uint8)[:] = values.view(np.uint8).ravel()
        return buffer

    def timed(name: str, grid: int, block: int, *arguments: object) -> Run:
        kernel, config = code.get_kernel(name), cg.LaunchConfig(grid=grid, block=block)

        def run() -> None:
            cg.launch(stream, config, kernel, *arguments)
            stream.sync()

        return run

    draw = np.random.default_rng(1)
    x, y = array(np.ones(SAXPY, np.float32)), array(np.zeros(SAXPY, np.float32))
    places = array(draw.random((BODIES, 4), np.float32))
    pulls = array(np.zeros((BODIES, 4), np.float32))
    return {
        "saxpy": timed("saxpy", SAXPY // 256, 256, np.int32(SAXPY), np.float32(2), x, y),
        "n-body": timed("bodies", BODIES // TILE, TILE, np.int32(BODIES), places, pulls),
        "barrier": timed("barriers", BLOCKS, THREADS, np.int32(BARRIERS), pulls),
        "barrier, with warps": timed("barriers_and_warps", BLOCKS, THREADS, np.int32(BARRIERS), pulls),
    }


def numbas() -> dict[str, Run]:
    import numpy as np
    from numba import njit, prange

    @njit(parallel=True)
    def saxpy(a, x, y):
        for i in prange(x.size):
            y[i] = a * x[i] + y[i]

    @njit(parallel=True)
    def bodies(p, a):
        for i in prange(p.shape[0]):
            x, y, z = np.float32(0), np.float32(0), np.float32(0)
            for j in range(p.shape[0]):
                dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                inverse = np.float32(1) / np.sqrt(dx * dx + dy * dy + dz * dz + np.float32(1e-4))
                pull = p[j, 3] * inverse * inverse * inverse
                x += dx * pull
                y += dy * pull
                z += dz * pull
            a[i, 0], a[i, 1], a[i, 2] = x, y, z

    draw = np.random.default_rng(1)
    x, y = np.ones(SAXPY, np.float32), np.zeros(SAXPY, np.float32)
    places, pulls = draw.random((BODIES, 4), np.float32), np.zeros((BODIES, 4), np.float32)
    return {"saxpy": lambda: saxpy(np.float32(2), x, y), "n-body": lambda: bodies(places, pulls)}


def serve(runs: dict[str, Run]) -> None:
    """Run the problem that each input line names, and answer with its seconds."""
    for run in runs.values():
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        runs[line.strip()]()
        print(time.perf_counter() - start, flush=True)


class Contestant:
    def __init__(self, python: str, name: str, **variables: str):
        self.process = subprocess.Popen(
            [python, __file__, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | variables,
        )
        if self._answer() != "ready":
            raise SystemExit(f"{python} does not run {name}")

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def seconds(self, what: str) -> float:
        """Pause first, so that the threads of the previous contestant no longer poll for work."""
        assert self.process.stdin is not None
        time.sleep(PAUSE)
        print(what, file=self.process.stdin, flush=True)
        return float(self._answer())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measured(peer_python: str | None, threads: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each round, by problem and contestant."""
    limit = {"CUDA_GRAPHS_HOST_THREADS": str(threads)}
    contestants = {
        OURS: Contestant(sys.executable, "ours", **limit),
        FAST: Contestant(sys.executable, "ours", CUDA_GRAPHS_HOST_MATH="fast", **limit),
    }
    if peer_python:
        contestants[NUMBA] = Contestant(peer_python, "numba", NUMBA_NUM_THREADS=str(threads))
    times: dict[str, dict[str, list[float]]] = {}
    for what in ("saxpy", "n-body", *BARRIER_ROWS):
        took = times[what] = {name: [] for name in contestants if name != NUMBA or what not in BARRIER_ROWS}
        for _ in range(rounds):
            for name, seconds in took.items():
                seconds.append(contestants[name].seconds(what))
    for contestant in contestants.values():
        contestant.close()
    return times


def barrier_ns(seconds: float, threads: int) -> float:
    """Returns the nanoseconds that a thread of a kernel needs for a barrier, times the CPU threads that run blocks."""
    return seconds * 1e9 * min(threads, BLOCKS) / (BARRIERS * BLOCKS * THREADS)


def milliseconds(seconds: float) -> float:
    return seconds * 1e3


def document(times: dict[str, dict[str, list[float]]], threads: int) -> dict[str, Figures]:
    """Unit -> row -> contestant -> Record. A contestant without turns in a row is absent there."""
    found: dict[str, Figures] = {"milliseconds": {}, "barrier_ns": {}}
    for what, took in times.items():
        unit, of = (
            ("barrier_ns", partial(barrier_ns, threads=threads))
            if what in BARRIER_ROWS
            else ("milliseconds", milliseconds)
        )
        found[unit][what] = {name: record([of(each) for each in took.get(name, [])]) for name in COLUMNS}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", help="a Python with numba")
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="of each contestant; default: all cores",
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", choices=["ours", "numba"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve({"ours": ours, "numba": numbas}[options.serve]())
        return
    if options.threads < 1:
        parser.error("--threads needs at least 1")
    times = measured(options.peer, options.threads, options.rounds)
    found = document(times, options.threads)
    for unit, figures in found.items():
        show("PTX kernels", figures, unit)
    for what, row in found["milliseconds"].items():
        for name in (OURS, FAST):
            print(f"speed, numba / {name}: {what}: {ratio_cell(ratios(row[NUMBA], row[name]))}")
    write(options.json, {"threads": options.threads, **found})


if __name__ == "__main__":
    main()
