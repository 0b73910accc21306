# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a recursion beyond max_depth= is a KernelError after the kernel, in launches and in graphs, and the next call
runs. Kernels with such functions come from disk with their limits."""

import os
import subprocess
import sys

import numpy as np
import pytest

import cuda_graphs as cg
from tests.driver_table import DriverTable

OUT_OF_MEMORY, STACK = 2, 0  # CUDA_ERROR_OUT_OF_MEMORY, CU_LIMIT_STACK_SIZE


@pytest.fixture(autouse=True)
def _reset():
    yield
    cg.reset()


@cg.func(inline=False, max_depth=8)
def depth(n: cg.i32) -> cg.i32:
    return 0 if n == 0 else 1 + depth(n - 1)


@cg.func(inline=False, max_depth=4)
def found(x, n: cg.i32) -> cg.i32:
    assert n != 2, f"n is {n}"
    return x[n + 9] if n == 1 else found(x, n - 1)


def fill(x: cg.types.ndarray(cg.i32, 1), n: cg.i32):
    for i in range(x.shape[0]):
        x[i] = depth(n)


def zeros(n=5):
    return cg.ndarray(cg.i32, (n,))


LIMIT = "depth calls itself more than 8 levels deep"


@pytest.mark.parametrize("options", [{}, {"debug": True}], ids=["usual", "debug"])
def test_too_deep_a_recursion_is_an_error_and_the_next_call_runs(options):
    kernel, x = cg.kernel(fill, **options), zeros()
    kernel(x, 7)
    np.testing.assert_array_equal(x.to_numpy(), [7] * 5)
    with pytest.raises(cg.KernelError, match=LIMIT) as caught:
        kernel(x, 8)
    assert "in depth" in str(caught.value)
    kernel(x, 3)
    np.testing.assert_array_equal(x.to_numpy(), [3] * 5)


def test_a_graph_kernel_raises_at_the_next_wait():
    kernel, x = cg.kernel(fill, graph=True), zeros()
    kernel(x, 2)
    with pytest.raises(cg.KernelError, match=LIMIT):  # noqa: PT012
        kernel(x, 100)
        x.to_numpy()
    kernel(x, 4)
    np.testing.assert_array_equal(x.to_numpy(), [4] * 5)


def test_a_call_in_a_captured_graph_raises_at_the_wait():
    kernel, x = cg.kernel(fill), zeros()
    stream = cg.Device().create_stream()
    with stream.create_graph_builder() as builder:
        kernel(x, 9, stream=builder)
    graph = builder.complete()
    with pytest.raises(cg.KernelError, match=LIMIT):  # noqa: PT012
        graph.launch(stream)
        stream.sync()


def test_checks_of_debug_code_work_in_recursive_functions():
    def check(x: cg.types.ndarray(cg.i32, 1), n: cg.i32):
        for i in range(1):
            x[i] = found(x, n)

    kernel = cg.kernel(check, debug=True)
    with pytest.raises(cg.KernelAssertionError, match="n is 2"):
        kernel(zeros(), 3)
    with pytest.raises(
        cg.KernelIndexError, match="index 10 is outside of axis 0 of 'x', which has 5 elements"
    ):
        kernel(zeros(), 1)


@cg.func(inline=False)
def element(x, i, factor: cg.i32):
    assert i != 3, f"i is {i}"
    return x[i] * factor  # element


def debug_of_functions(x: cg.types.ndarray(cg.i32, 1), start: cg.i32, factor: cg.i32):
    for i in range(2):
        x[i] = element(x, start + i, factor)


@pytest.mark.parametrize("options", [{}, {"graph": True}], ids=["launches", "graph"])
@pytest.mark.parametrize(
    ("start", "factor", "kind", "message"),
    [
        (2, 1, cg.KernelAssertionError, "i is 3"),
        (4, 1, cg.KernelIndexError, "index 5 is outside of axis 0 of 'x', which has 5 elements"),
        (0, 2**30, cg.KernelOverflowError, "1073741824"),
    ],
    ids=["assert", "index", "overflow"],
)
def test_debug_code_checks_called_functions(options, start, factor, kind, message):
    kernel, x = cg.kernel(debug_of_functions, debug=True, **options), zeros()
    x.from_numpy(np.arange(5, dtype=np.int32) + 2)
    with pytest.raises(kind, match=message) as caught:
        kernel(x, start, factor)
    assert "in element" in str(caught.value)
    x.from_numpy(np.arange(5, dtype=np.int32))
    kernel(x, 0, 7)  # and the next call runs
    np.testing.assert_array_equal(x.to_numpy(), [0, 7, 2, 3, 4])


def test_debug_code_of_called_functions_gives_the_same_results():
    def run(x: cg.types.ndarray(cg.i32, 1)):
        for i in range(x.shape[0]):
            x[i] = depth(i) + element(x, i, 2)

    found = []
    for options in ({}, {"debug": True}):
        x = zeros(3)
        x.from_numpy(np.array([3, 5, 7], np.int32))
        cg.kernel(run, **options)(x)
        found.append(x.to_numpy().tolist())
    assert found == [[6, 11, 16]] * 2


@cg.func(inline=False, max_depth=1024)
def deepest(n: cg.i32) -> cg.i32:
    return 0 if n == 0 else 1 + deepest(n - 1)


def test_threads_have_a_stack_for_the_deepest_recursion(driver):
    if driver.kind != "host":
        pytest.skip("driver functions are replaced in the table of the host driver")

    @cg.kernel
    def fill(x: cg.types.ndarray(cg.i32, 1)):
        for i in range(x.shape[0]):
            x[i] = deepest(1000 + i)

    x, table = zeros(), DriverTable()
    try:
        table.refuse_once("cuCtxSetLimit", OUT_OF_MEMORY)
        with pytest.raises(cg.CUDAError, match=r"recursion in kernel fill: lower max_depth="):
            fill(x)
        calls = table.watch("cuCtxSetLimit")
        fill(x)
    finally:
        table.restore()
    np.testing.assert_array_equal(x.to_numpy(), 1000 + np.arange(5))
    ((_, _, _, (limit, size, *_)),) = calls
    assert (limit or 0) == STACK
    assert 1024 * 64 < size < 1024 * 512


SCRIPT = """
import numpy as np, cuda_graphs as cg
@cg.func(inline=False, max_depth=8)
def depth(n: cg.i32) -> cg.i32:
    return 0 if n == 0 else 1 + depth(n - 1)
@cg.kernel
def fill(x: cg.types.ndarray(cg.i32, 1), n: cg.i32):
    for i in range(x.shape[0]):
        x[i] = depth(n)
x = cg.ndarray(cg.i32, (3,))
fill(x, 5)
try:
    fill(x, 8)
except cg.KernelError as error:
    print(x.to_numpy()[0] in (0, 5), "more than 8 levels" in str(error), cg.compile_cache.hits)
"""


def test_a_kernel_from_disk_has_its_limits(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "CUDA_GRAPHS_CACHE_DIR": str(tmp_path / "cache"), "CUDA_GRAPHS_CACHE": "1"}
    outputs = [
        subprocess.run(
            [sys.executable, str(script)], env=environment, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    ]
    assert outputs == ["True True 0\n", "True True 1\n"]


def test_inline_and_max_depth_are_part_of_the_key_on_disk():
    from cuda_graphs.compiler.cache.fingerprint import Fingerprint

    def body(n: cg.i32) -> cg.i32:
        return n

    def key(**options):
        f = Fingerprint()
        f.value(cg.func(body, **options))
        return f.digest()

    keys = {key(), key(inline=False), key(inline=False, max_depth=3), key(inline=False, max_depth=4)}
    assert len(keys) == 4
