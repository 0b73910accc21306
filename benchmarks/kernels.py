# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the compiler beside NumPy: microseconds a run, and to compile.

    python benchmarks/kernels.py [--rounds 9] [--only saxpy,n-body] [--json FILE]

Contestants on the host driver: `x86`, native code of the compiler; `PTX`, the same kernel as PTX that the driver
translates. On a GPU there is PTX alone. All have the same data, in arrays that are there before the clock runs, and
each checks its result against NumPy once. Rows of compiling: `cold` is compile_kernel, with LLVM warmed up; `warm` is
cached_compile of what is on disk; `load` links the code.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from timing import Figures, measure, show, warm_up, write

import cuda_graphs as cg
from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.cache import cached_compile
from cuda_graphs.compiler.target_ptx import Ptx
from cuda_graphs.compiler.target_x86 import X86

ndarray = cg.types.ndarray
"""Annotations of arrays."""


def saxpy(a: cg.f32, x: ndarray(cg.f32, 1), y: ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        y[i] += a * x[i]


def stencil(u: ndarray(cg.f32, 2), v: ndarray(cg.f32, 2)):
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def reduction(x: ndarray(cg.f32, 1), total: ndarray(cg.f32, 1)):
    total[0] = 0.0
    for i in range(x.shape[0]):
        total[0] += x[i]


def histogram(x: ndarray(cg.u8, 1), bins: ndarray(cg.i32, 1)):
    for b in range(256):
        bins[b] = 0
    for i in range(x.shape[0]):
        bins[x[i]] += 1


def mandelbrot(image: ndarray(cg.i32, 2), limit: cg.i32):
    for i, j in cg.ndrange(image.shape[0], image.shape[1]):
        cx = -2.0 + 3.0 * cg.f32(j) / cg.f32(image.shape[1])
        cy = -1.5 + 3.0 * cg.f32(i) / cg.f32(image.shape[0])
        x, y, n = 0.0, 0.0, 0
        while x * x + y * y < 4.0 and n < limit:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            n += 1
        image[i, j] = n


def spmv(
    starts: ndarray(cg.i32, 1),
    columns: ndarray(cg.i32, 1),
    values: ndarray(cg.f32, 1),
    x: ndarray(cg.f32, 1),
    y: ndarray(cg.f32, 1),
):
    for row in range(y.shape[0]):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def n_body(p: ndarray(cg.f32, 2), force: ndarray(cg.f32, 2)):
    for i in range(p.shape[0]):
        fx, fy, fz = 0.0, 0.0, 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + 0.01
            s = 1.0 / (d * cg.sqrt(d))
            fx += dx * s
            fy += dy * s
            fz += dz * s
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape, "f4")


def matrix(rows: int, each: int) -> dict[str, Any]:
    values = np.random.default_rng(2)
    return {
        "starts": np.arange(0, rows * each + 1, each, dtype="i4"),
        "columns": values.integers(0, rows, rows * each).astype("i4"),
        "values": values.random(rows * each, "f4"),
        "x": random(rows),
        "y": np.zeros(rows, "f4"),
    }


# Name -> (kernel, arguments, the array that has the result).
KERNELS: dict[str, tuple[Callable[..., None], dict[str, Any], str]] = {
    "saxpy, 2 x 64 MiB": (saxpy, {"a": np.float32(1e-3), "x": random(1 << 24), "y": random(1 << 24)}, "y"),
    "5-point stencil, 4096 x 4096": (stencil, {"u": random(4096, 4096), "v": np.zeros((4096, 4096), "f4")}, "v"),
    "reduction, 64 MiB": (reduction, {"x": random(1 << 24), "total": np.zeros(1, "f4")}, "total"),
    "histogram, 16 Mi bytes": (
        histogram, {"x": (random(1 << 24) * 256).astype("u1"), "bins": np.zeros(256, "i4")}, "bins",
    ),
    "mandelbrot, 1024 x 1024, 200": (
        mandelbrot, {"image": np.zeros((1024, 1024), "i4"), "limit": np.int32(200)}, "image",
    ),
    "SpMV, 1 Mi rows of 8": (spmv, matrix(1 << 20, 8), "y"),
    "n-body, 4096": (n_body, {"p": random(4096, 3), "force": np.zeros((4096, 3), "f4")}, "force"),
}  # fmt: skip


def numpy_saxpy(a, x, y):
    y += a * x


def numpy_stencil(u, v):
    v[1:-1, 1:-1] = np.float32(0.2) * (
        u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    )


def numpy_reduction(x, total):
    total[0] = x.sum()


def numpy_histogram(x, bins):
    bins[:] = np.bincount(x, minlength=256)


def numpy_mandelbrot(image, limit):
    rows, columns = image.shape
    cx = np.float32(-2.0) + np.float32(3.0) * np.arange(columns, dtype="f4") / np.float32(columns)
    cy = np.float32(-1.5) + np.float32(3.0) * np.arange(rows, dtype="f4")[:, None] / np.float32(rows)
    x, y = np.zeros_like(image, "f4"), np.zeros_like(image, "f4")
    image[:] = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            inside = x * x + y * y < 4
            image += inside
            x, y = np.where(inside, x * x - y * y + cx, x), np.where(inside, 2 * x * y + cy, y)


def numpy_spmv(starts, columns, values, x, y):
    y[:] = np.add.reduceat(values * x[columns], starts[:-1])


def numpy_n_body(p, force):
    for i in range(0, len(p), 256):
        away = p[None] - p[i : i + 256, None]
        d = (away * away).sum(-1) + np.float32(0.01)
        force[i : i + 256] = (away / (d * np.sqrt(d))[..., None]).sum(1)


NUMPY = {
    saxpy: numpy_saxpy, stencil: numpy_stencil, reduction: numpy_reduction, histogram: numpy_histogram,
    mandelbrot: numpy_mandelbrot, spmv: numpy_spmv, n_body: numpy_n_body,
}  # fmt: skip


class Compiled:
    """A kernel for one target, ready to be launched on arrays of its own."""

    def __init__(
        self, kernel: Callable[..., None], arguments: dict[str, Any], target: Any, stream: cg.Stream
    ):
        self.artifact = compile_kernel(kernel, specialise(kernel, arguments), target)
        self.stream = stream
        self.arrays = {}
        for path, value in arguments.items():
            if isinstance(value, np.ndarray):
                self.arrays[path] = cg.ndarray(TYPES[value.dtype.str], value.shape)
                self.arrays[path].from_numpy(value)
        self.temps = {path: cg.ndarray(cg.u8, size) for path, size in self.artifact.temps}
        code = code_of(self.artifact)
        size = max(array.size for array in self.arrays.values())
        chunks = min(max(size // 4096, 1), 512) if target.name == "x86" else min(max(size // 128, 1), 4096)
        self.tasks = [
            (
                cg.LaunchConfig(
                    grid=chunks if task.parallel else 1,
                    block=128 if task.parallel and target.name == "ptx" else 1,
                ),
                code.get_kernel(task.entry),
                [self.argument(slot, arguments) for slot in task.slots],
            )
            for task in self.artifact.tasks
        ]

    def argument(self, slot: Any, arguments: dict[str, Any]) -> Any:
        array = self.arrays.get(slot.path, self.temps.get(slot.path))
        if slot.kind == "pointer":
            return array.handle
        return np.int32(array.shape[slot.axis]) if slot.kind == "extent" else arguments[slot.path]

    def __call__(self) -> None:
        for config, kernel, args in self.tasks:
            cg.launch(self.stream, config, kernel, *args)
        self.stream.sync()


TYPES = {each.dtype: each for each in (cg.f32, cg.i32, cg.u8)}


def code_of(artifact: Any) -> cg.ObjectCode:
    make = cg.ObjectCode.from_ptx if artifact.target == "ptx" else cg.ObjectCode.from_native
    return make(artifact.image)


def targets() -> dict[str, Any]:
    from cuda.pathfinder import find_bitcode_lib

    ptx = Ptx(arch=f"sm_{cg.Device().arch}", libdevice=find_bitcode_lib("device"))
    return {"x86": X86(), "PTX": ptx} if cg.driver_info().kind == "host" else {"PTX": ptx}


def microseconds(call: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter_ns()
        call()
        return (time.perf_counter_ns() - start) / 1e3

    return run


def on_copies(
    call: Callable[..., None], arguments: dict[str, Any], result: str
) -> tuple[Callable[[], None], Any]:
    """(a call on arrays of its own, the array with its result)."""
    own = {
        path: value.copy() if isinstance(value, np.ndarray) else value for path, value in arguments.items()
    }
    return lambda: call(**own), own[result]


def same(found: np.ndarray, wanted: np.ndarray, what: str) -> None:
    """Sums of 16 Mi floats differ in their last digits by the order, and orbits at the edge of a set by one."""
    off = np.mean(~np.isclose(found, wanted, rtol=1e-3, atol=1e-5))
    if off > 1e-3:
        raise AssertionError(f"{what}: {off:.2%} of the result is wrong")


def runs(name: str, stream: cg.Stream, rounds: int) -> dict[str, float | None]:
    """Microseconds of one run, by contestant."""
    kernel, arguments, result = KERNELS[name]
    calls: dict[str, Callable[[], None] | None] = {}
    reference, wanted = on_copies(NUMPY[kernel], arguments, result)
    reference()
    wanted = wanted.copy()
    for column, target in targets().items():
        compiled = Compiled(kernel, arguments, target, stream)
        compiled()
        same(compiled.arrays[result].to_numpy(), wanted, f"{name}, {column}")
        calls[column] = compiled
    calls["NumPy"] = reference
    calls["numba"] = None  # needs an llvmlite of its own, which cannot be in the process with ours
    return measure({column: call and microseconds(call) for column, call in calls.items()}, rounds)


def compilations(name: str, rounds: int) -> dict[str, float | None]:
    """Microseconds to compile and load, by target."""
    kernel, arguments, _ = KERNELS[name]
    found: dict[str, Callable[[], object]] = {}
    for column, target in targets().items():
        signature = specialise(kernel, arguments)
        artifact = cached_compile(kernel, signature, target)
        found |= {
            f"{column} cold": lambda s=signature, t=target: compile_kernel(kernel, s, t),
            f"{column} warm": lambda s=signature, t=target: cached_compile(kernel, s, t),
            f"{column} load": lambda a=artifact: code_of(a).get_kernel(a.tasks[0].entry),
        }
    return measure({column: microseconds(call) for column, call in found.items()}, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="names that contain one of these, separated by commas")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cg.Device().set_current()
    stream = cg.Device().create_stream()
    chosen = [name for name in KERNELS if any(part in name for part in options.only.split(","))]
    warm_up()
    times: Figures = {name: runs(name, stream, options.rounds) for name in chosen}
    compiling: Figures = {name: compilations(name, options.rounds) for name in chosen}
    show(f"one run, {cg.driver_info().kind} driver", times)
    show("compiling and loading", compiling)
    write(options.json, {"runs": times, "compiling": compiling})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CUDA_GRAPHS_CACHE_DIR"] = folder
        main()
