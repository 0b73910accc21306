# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: code is made once for each specialisation, when it is first needed or before, and never again in any process."""

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def double(x: f32_1d):
    for i in x:
        x[i] = 2 * x[i]


@cg.kernel
def total(x: cg.types.ndarray()) -> cg.f64:
    s = cg.f64(0.0)
    for i in x:
        s += x[i]
    return s


@cg.kernel
def wrong(x: f32_1d):
    x[0] = undefined_name  # noqa: F821


def made(kernel):
    return int(repr(kernel).split(", ")[-1].split()[0])


def test_compiling_runs_nothing():
    x = np.ones(5, "f")
    double.compile(x)
    assert made(double) == 1
    assert x.tolist() == [1] * 5
    double(x)
    assert made(double) == 1
    assert x.tolist() == [2] * 5
    with pytest.raises(TypeError, match="'x' takes elements of f32"):
        double.compile(np.ones(5))


@pytest.mark.parametrize("progress", [False, True])
def test_many_kernels_are_compiled_at_a_time(progress, capfd):
    calls = [(double, np.ones(3, "f")), *((total, np.ones(3, kind)) for kind in ("f4", "f8", "i4", "i8"))]
    cg.compile_all(calls, progress=progress)
    assert (made(double), made(total)) == (1, 4)
    assert ("compil" in capfd.readouterr().err) == progress


def test_one_that_cannot_be_compiled_does_not_keep_others_from_it():
    with pytest.raises(cg.CompileNameError, match="undefined_name"):
        cg.compile_all([(wrong, np.ones(3, "f")), (double, np.ones(3, "f"))], threads=1)
    assert made(double) == 1


@cg.kernel
def inner():
    pass


@cg.kernel
def outer():
    inner()


def test_a_kernel_that_calls_a_kernel_is_refused():
    with pytest.raises(SyntaxError, match="the kernel inner is called in a kernel") as refused:
        outer()
    assert isinstance(refused.value, cg.CompileError)
    assert "@cg.func" in str(refused.value)


@pytest.mark.parametrize("call", [(), 3, (len, 1), [None]])
def test_what_is_no_call_is_refused(call):
    with pytest.raises(TypeError, match="compile_all takes tuples of a kernel and its arguments, got"):
        cg.compile_all([call])


CHILD = """
import sys
import numpy as np
import cuda_graphs as cg

@cg.kernel
def add(x: cg.types.ndarray(cg.f32, ndim=1)):
    for i in x:
        x[i] += 1

x = cg.ndarray(cg.f32, 10)
add(x)
assert x.to_numpy().tolist() == [1] * 10
kept = cg.compile_cache
print(kept.hits, kept.misses, "cuda_graphs.compiler.pipeline" in sys.modules, "llvmlite" in sys.modules)
"""


def test_a_process_that_comes_later_compiles_nothing(run_child, tmp_path, driver):
    script = tmp_path / "add.py"
    script.write_text(CHILD)
    code = f"import runpy; runpy.run_path({str(script)!r})"
    told = []
    for _ in range(2):
        done = run_child(code, CUDA_GRAPHS_CACHE_DIR=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.split())
    assert told[0][:2] == ["0", "1"]
    links = "True" if driver.kind == "host" else "False"  # on a CPU llvmlite links the object
    assert told[1] == ["1", "0", "False", links]
