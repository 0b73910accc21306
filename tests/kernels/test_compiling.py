# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: code is made once for each specialisation, when it is first needed or before, and never again in any process."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler import pipeline
from cuda_graphs.kernels.call import compile_all
from tests.thread_rig import side_by_side

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


def test_kernel_that_cannot_be_compiled_does_not_stop_others():
    with pytest.raises(cg.CompileNameError, match="undefined_name"):
        cg.compile_all([(wrong, np.ones(3, "f")), (double, np.ones(3, "f"))], threads=1)
    assert made(double) == 1


@cg.kernel
def wrong_too(x: f32_1d):
    x[0] = 1.5 & 1


def test_first_of_several_errors_names_the_others():
    x = np.ones(3, "f")
    for _ in range(3):  # in whatever order they are found
        with pytest.raises(cg.CompileNameError, match="undefined_name") as caught:
            cg.compile_all([(wrong, x), (double, x), (wrong_too, x)], threads=3)
        (note,) = caught.value.__notes__
        assert note.startswith("wrong_too cannot be compiled either: CompileTypeError: File ")


def test_the_same_call_twice_is_compiled_once():
    cg.compile_all([(double, np.ones(3, "f")), (double, np.ones(5, "f"))] * 4, threads=4)
    assert made(double) == 1


def test_an_interrupt_cancels_what_has_not_begun(monkeypatch):
    gate = threading.Event()

    def closed():
        return gate.wait(60)

    @cg.kernel
    def slow(x: f32_1d):
        x[0] = cg.static(closed())

    @cg.kernel
    def never(x: f32_1d):
        x[0] = 1

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(False, cancel_futures=cancel_futures)
            gate.set()
            super().shutdown(wait)

    class Interrupted:
        def show(self, *task):
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def interrupted():
        yield Interrupted()

    monkeypatch.setattr(compile_all, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(compile_all, "display", interrupted)
    x = np.ones(3, "f")
    with pytest.raises(KeyboardInterrupt):
        cg.compile_all([(double, x), (slow, x), (never, x)], threads=1, progress=True)
    assert (made(double), made(never)) == (1, 0)


def test_threads_that_call_first_compile_once(monkeypatch):
    compiled = []

    def counted(*args, **options):
        compiled.append(args[0].__name__)
        return compile_kernel(*args, **options)

    compile_kernel = pipeline.compile_kernel
    monkeypatch.setattr(pipeline, "compile_kernel", counted)
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "0")
    x = cg.ndarray(cg.f32, 10)
    x.fill(1)
    side_by_side(*[lambda: double(x)] * 6)
    assert compiled == ["double"]
    assert x.to_numpy().tolist() == [64] * 10


FORK = """
import os, threading, warnings
import cuda_graphs as cg
begun, gate = threading.Event(), threading.Event()
def closed():
    begun.set()
    return gate.wait(60)
@cg.kernel
def slow(x: cg.types.ndarray(cg.f32, ndim=1)):
    x[0] = cg.static(closed())
x = cg.ndarray(cg.f32, 3)
thread = threading.Thread(target=slow, args=(x,))
thread.start()
begun.wait()
warnings.simplefilter("ignore")  # Python 3.12 warns of a fork beside threads
child = os.fork()
if child == 0:
    try:
        slow(x)
    except cg.CUDAError as error:
        os._exit(17 if "fork" in str(error) else 18)
    os._exit(19)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
gate.set()
thread.join()
assert x[0] == 1
"""


def test_a_child_of_fork_is_refused_also_while_the_parent_compiles(run_child, tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(FORK)
    done = run_child(f"import runpy; runpy.run_path({str(script)!r})")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


EXIT = """
import threading
import cuda_graphs as cg
Array = cg.types.ndarray(cg.f32, ndim=1)
@cg.kernel
def add(x: Array):
    for i in x:
        x[i] += 1
x = cg.ndarray(cg.f32, 10000)
add(x)
begun = threading.Semaphore(0)
def calls():
    while True:
        add(x)
        begun.release()
def compiles():
    while True:
        cg.kernel(add.__wrapped__)(x)
        begun.release()
for each in (calls, calls, compiles, compiles):
    threading.Thread(target=each, daemon=True).start()
for _ in range(50):
    begun.acquire()
"""


def test_a_process_may_end_while_threads_call_and_compile(run_child, tmp_path):
    script = tmp_path / "exits.py"
    script.write_text(EXIT)
    done = run_child(f"import runpy; runpy.run_path({str(script)!r})", CUDA_GRAPHS_CACHE="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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
def test_tuple_that_is_no_call_is_refused(call):
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


def test_a_process_that_comes_later_compiles_nothing_and_needs_no_llvm(run_child, tmp_path):
    script = tmp_path / "add.py"
    script.write_text(CHILD)
    code = f"import runpy; runpy.run_path({str(script)!r})"
    printed = []
    for _ in range(2):
        done = run_child(code, CUDA_GRAPHS_CACHE_DIR=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.split())
    assert printed[0][:2] == ["0", "1"]
    assert printed[1] == ["1", "0", "False", "False"]


RETURNS = """
import cuda_graphs as cg

def make(dt):
    @cg.kernel
    def scaled(x: cg.i32) -> dt:
        return cg.cast(x * 1.5, dt)
    return scaled

print(make(cg.f32)(3), make(cg.i32)(3), make(cg.f64)(3), cg.compile_cache.stored)
"""


def test_kernels_that_differ_in_what_they_return_have_code_of_their_own(run_child, tmp_path):
    script = tmp_path / "scaled.py"
    script.write_text(RETURNS)
    for stored in ("3", "0"):
        done = run_child(
            f"import runpy; runpy.run_path({str(script)!r})", CUDA_GRAPHS_CACHE_DIR=str(tmp_path / "cache")
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["4.5", "4", "4.5", stored]
