# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels in Python cost: a call, the first one, and what they do; beside NumPy and numba (CPU) in one run.

    python benchmarks/kernel_calls.py [--driver host|cuda] [--json out.json]

A peer that is not installed is reported as absent, never as beaten. numba's loops are prange with fastmath off.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from contestants import machine
from timing import Figures, measure, per_call, show, warm_up, write

import cuda_graphs as cg

Floats = cg.types.ndarray(cg.f32, ndim=1)
Plane = cg.types.ndarray(cg.i32, ndim=2)
SMALL, LARGE, SIDE, BODIES = 1024, 1 << 24, 512, 2048


@cg.kernel
def saxpy(a: cg.f32, x: Floats, y: Floats):
    for i in x:
        y[i] += a * x[i]


@cg.kernel
def mandelbrot(out: Plane):
    for i, j in out:
        x0, y0 = i / 256.0 - 1.5, j / 256.0 - 1.0
        x = 0.0
        y = 0.0
        n = 0
        while n < 100 and x * x + y * y <= 4.0:
            x, y = x * x - y * y + x0, 2.0 * x * y + y0
            n += 1
        out[i, j] = n


@cg.kernel
def attract(x: Floats, y: Floats, force: Floats):
    for i in x:
        total = cg.f32(0.0)
        for j in range(x.shape[0]):
            dx, dy = x[j] - x[i], y[j] - y[i]
            square = dx * dx + dy * dy + 0.01
            total += dx / (square * cg.sqrt(square))
        force[i] = total


def floats(n: int) -> cg.NDArray:
    made = cg.ndarray(cg.f32, n)
    made.from_numpy(np.linspace(0, 1, n, dtype="f"))
    return made


def numba_peers() -> dict[str, Any]:
    """The same loops for numba; empty where it is not installed."""
    if importlib.util.find_spec("numba") is None:
        return {}
    import numba
    from numba import prange

    @numba.njit(parallel=True)
    def saxpy(a, x, y):
        for i in prange(x.shape[0]):
            y[i] += a * x[i]

    @numba.njit(parallel=True)
    def mandelbrot(out):
        for i in prange(out.shape[0]):
            for j in range(out.shape[1]):
                x0, y0 = np.float32(i / 256.0 - 1.5), np.float32(j / 256.0 - 1.0)
                x = y = np.float32(0)
                n = 0
                while n < 100 and x * x + y * y <= np.float32(4):
                    x, y = x * x - y * y + x0, np.float32(2) * x * y + y0
                    n += 1
                out[i, j] = n

    @numba.njit(parallel=True)
    def attract(x, y, force):
        for i in prange(x.shape[0]):
            total = np.float32(0)
            for j in range(x.shape[0]):
                dx, dy = x[j] - x[i], y[j] - y[i]
                square = dx * dx + dy * dy + np.float32(0.01)
                total += dx / (square * np.sqrt(square))
            force[i] = total

    return {"saxpy": saxpy, "mandelbrot": mandelbrot, "attract": attract}


def work(sync: Callable[[], None]) -> Figures:
    numba = numba_peers()
    found: Figures = {}

    def row(
        title: str, ours: Callable[[], object], numpy: Callable[[], object] | None, peer: Any, calls: int
    ) -> None:
        contestants = {"cuda_graphs": ours, "NumPy": numpy, "numba": peer}
        runs = {name: None if run is None else per_call(run, calls) for name, run in contestants.items()}
        found[title] = measure(runs)

    def with_sync(call: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            call()
            sync()

        return run

    def of(name: str, *args: Any) -> Callable[[], object] | None:
        return (lambda: numba[name](*args)) if name in numba else None

    for n, title, calls in (
        (SMALL, "call of a 1-task kernel, 1024 floats", 500),
        (LARGE, "saxpy, 64 MiB", 3),
    ):
        x, y = floats(n), floats(n)
        hx, hy = np.ones(n, "f"), np.ones(n, "f")
        row(
            f"{title}, + sync",
            with_sync(lambda x=x, y=y: saxpy(0.5, x, y)),
            lambda hx=hx, hy=hy: np.add(hy, np.float32(0.5) * hx, out=hy),
            of("saxpy", np.float32(0.5), hx, hy),
            calls,
        )
    x, y = floats(SMALL), floats(SMALL)
    row("call of a 1-task kernel, 1024 floats, 500 in a row", lambda: saxpy(0.5, x, y), None, None, 500)
    sync()
    hx, hy = np.ones(SMALL, "f"), np.ones(SMALL, "f")
    row("the same with NumPy arrays, + sync", lambda: saxpy(0.5, hx, hy), None, None, 200)
    out, host = cg.ndarray(cg.i32, (SIDE, SIDE)), np.zeros((SIDE, SIDE), "i4")
    row("mandelbrot, 512 x 512", with_sync(lambda: mandelbrot(out)), None, of("mandelbrot", host), 2)
    bodies = [floats(BODIES) for _ in range(3)]
    arrays = [b.to_numpy() for b in bodies]
    row("n-body, 2048", with_sync(lambda: attract(*bodies)), None, of("attract", *arrays), 2)
    return found


FIRST = """
import time, sys
import cuda_graphs as cg
sys.path.insert(0, sys.argv[1])
import kernel_calls as k
x, y = k.floats(8), k.floats(8)
import cuda_graphs.compiler.cache
start = time.perf_counter()
k.saxpy(0.5, x, y)
print((time.perf_counter() - start) * 1e6)
"""


def first_calls() -> Figures:
    """The first call in a fresh process: nothing on disk, then all of it. With what is imported for it."""
    found: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"CUDA_GRAPHS_CACHE_DIR": folder}
        for title in ("first call of a 1-task kernel, compiled", "first call, from the disk cache"):
            done = subprocess.run(
                [sys.executable, "-c", FIRST, str(Path(__file__).parent)],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            found[title] = {"cuda_graphs": float(done.stdout), "NumPy": None, "numba": None}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["CUDA_GRAPHS_DRIVER"] = options.driver
    cg.use_driver(options.driver)
    device = cg.Device()
    device.set_current()
    warm_up()
    figures = work(device.default_stream.sync) | first_calls()
    show(machine(), figures)
    write(options.json, {"machine": machine(), "calls": figures})


if __name__ == "__main__":
    main()
