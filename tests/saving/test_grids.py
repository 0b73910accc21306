# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a loaded kernel of Python has the grid that a call has, also in a file from another driver, whose sizes the
loader computes: from bounds with all operations, and in one block where that is faster."""

from types import SimpleNamespace

import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.shapes import ResidentShape
from cuda_graphs.saving import sizes
from cuda_graphs.saving.schema import Row
from tests.saving.files import changed, from_other_driver

Floats = cg.Array1[cg.f32]
NUMBERS = [(9000, 7), (9000, -4), (-9001, 4), (700, 5000), (1 << 20, 3), (9000, 0)]


@cg.kernel
def quotient(x: Floats, n: cg.i32, m: cg.i32):
    for i in range(n // m):
        x[i % x.shape[0]] = 1.0


@cg.kernel
def smaller(x: Floats, n: cg.i32, m: cg.i32):
    for i in range(min(n, 2000 * m)):
        x[i % x.shape[0]] = 1.0


@cg.kernel
def larger(x: Floats, n: cg.i32, m: cg.i32):
    for i in range(max(n - m, x.shape[0]) // 2, n):
        x[i % x.shape[0]] = 1.0


@cg.kernel(graph=True)
def repeated(x: Floats, total: cg.Array1[cg.f32], steps: cg.Array1[cg.i32]):
    while steps[0] > 0:
        for i in x:
            x[i] = x[i] * 0.5 + 1.0
        total[0] += x[0]
        steps[0] -= 1


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    for each in (quotient, smaller, larger, repeated):
        each.forget()


def grids(definition):
    return [node.grid for node in definition.nodes() if isinstance(node, cg.KernelNode)]


def loaded_from_other_driver(definition, path, **names):
    definition.save(path, **names)
    from_other_driver(path)
    return cg.load(path)


@pytest.mark.parametrize("kernel", [quotient, smaller, larger])
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_loops_whose_bounds_are_computed_have_the_blocks_of_a_call(kernel, numbers, device, tmp_path):
    x = cg.zeros(300)
    g, fixed = cg.GraphDef(), cg.GraphDef()
    n, m = (g.param(name, cg.i32, default=value) for name, value in zip("nm", numbers, strict=True))
    g.call(kernel, x, n, m)
    fixed.call(kernel, x, *numbers)
    loaded = loaded_from_other_driver(g, tmp_path / "loop.cgg", inputs={"x": x})
    assert grids(loaded) == grids(fixed) == grids(g)


@pytest.mark.parametrize("size", [1, 1000, 5000, 10000, 30000, 200000])
def test_resident_loops_have_the_blocks_of_a_call(size, device, tmp_path):
    x, total, steps = cg.zeros(size), cg.zeros(1), cg.array([3], cg.i32)
    g = cg.GraphDef()
    g.call(repeated, x, total, steps)
    names = {"inputs": {"x": x, "steps": steps}, "outputs": {"total": total}}
    assert grids(loaded_from_other_driver(g, tmp_path / "loop.cgg", **names)) == grids(g)


def task(**fields):
    row = {
        "parallel": True, "fixed_block_dim": False, "has_sums": False, "heavy": False, "block_dim": None,
        "threads": None, "iterations": None, "shared_bytes": 0, "line": 1, "traffic": 8, "axes": None, "tasks": [],
    }  # fmt: skip
    return {**row, **fields}


RESIDENT = ResidentShape(1024, 100, False, 80 << 10, 8)
ONE, MANY = task(iterations=10240), task(iterations=10241)  # of 8 bytes: 80 KiB, and more


@pytest.mark.parametrize(
    ("inner", "grid"),
    [
        ([ONE], 1),
        ([MANY], 11),
        ([ONE, MANY], 11),
        ([ONE, task()], 100),  # unknown iterations
        ([task(iterations=1024, traffic=0)], 1),
        ([task(iterations=1025, traffic=0)], 2),
        ([task(iterations=2048)], 1),
        ([task(iterations=2048, has_sums=True)], 2),  # sums of two blocks have fixed bits
        ([task(iterations=2049, has_sums=True)], 1),
        ([task(parallel=False, traffic=0)], 1),
    ],
)
def test_short_resident_loops_run_in_one_block_of_a_gpu(inner, grid, device, monkeypatch):
    shape = SimpleNamespace(resident=lambda kernel, info: RESIDENT)
    monkeypatch.setattr(sizes, "shape_of_driver", lambda: shape)
    size = sizes.TaskSize(Row(task(tasks=inner), "a task"), 0)
    assert size.config(None, {}).grid == (grid, 1, 1)


def test_files_without_the_bytes_of_iterations_are_read():
    row = task(tasks=[task()])
    del row["traffic"], row["tasks"][0]["traffic"]
    assert sizes.TaskSize(Row(row, "a task"), 0).is_resident


@pytest.mark.parametrize("divisor", [-1, 0, 1, -3])
def test_a_quotient_of_the_largest_numbers_stops_no_process(divisor, device, tmp_path):
    def change(manifest):
        least = ["mul", ["mul", -(2**63), 2**62], 4]  # -2**127
        for kernel in manifest["kernels"]:
            kernel["task"]["axes"] = [[0, ["floor_div", least, divisor], 1]]
        manifest["driver"] = "another"

    x = cg.zeros(300)
    g = cg.GraphDef()
    g.call(smaller, x, g.param("n", cg.i32, default=5), 1)
    g.save(tmp_path / "loop.cgg", inputs={"x": x})
    changed(tmp_path / "loop.cgg", change)
    assert grids(cg.load(tmp_path / "loop.cgg"))[0][0] >= 1
