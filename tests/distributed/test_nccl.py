# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: with NCCL's engine the laws of collectives hold, too. On GPUs test_laws.py runs NCCL itself."""

import ctypes
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.driver.choice import HOST_LIBRARY
from cuda_graphs.distributed import nccl_engine
from cuda_graphs.distributed.health import Health
from tests.distributed import laws

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def stand_in(tmp_path):
    """Build the stand-in, and return its folder."""
    sys.path.insert(0, str(ROOT))
    from setup import cuda_include  # the include path of the package itself

    source = Path(__file__).with_name("nccl_stand_in.cpp")
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{cuda_include()}"]
    subprocess.run([*command, source, "-ldl", "-o", tmp_path / "libnccl.so.2"], check=True)
    return tmp_path


def run(stand_in, *arguments, **variables):
    """Run a module of tests.distributed with the stand-in, and return what it prints."""
    if cg.driver_info().kind != "host":
        pytest.skip("the stand-in is for the host driver: test_laws.py runs NCCL on GPUs")
    paths = {"PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": str(stand_in), "STAND_IN_DRIVER": HOST_LIBRARY}
    child = subprocess.run(
        [sys.executable, "-W", "error", "-m", *arguments],
        cwd=ROOT,
        env=os.environ | paths | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout


def test_every_law_holds_with_the_calls_of_nccl(stand_in):
    names = [name for name in laws.LAWS if name not in laws.NEED_NODES]
    run(stand_in, "tests.distributed.nccl_program", stand_in, *names)
    assert sorted((stand_in / "0").read_text().split()) == sorted(names)


def test_a_body_refuses_a_collective_that_needs_the_proxy_and_names_it(stand_in):
    output = run(stand_in, "tests.distributed.nccl_proxy", STAND_IN_PROXY="1")
    assert "proxy thread" in output and "docs/guide/scaling.md" in output
    assert "the kernel runs as host" in output


def test_a_body_refuses_a_collective_with_event_nodes_and_names_the_setting(stand_in):
    """Another library may have used NCCL before its graph mixing support was turned off."""
    output = run(stand_in, "tests.distributed.nccl_proxy", STAND_IN_MIXING="1")
    assert "event nodes" in output and "NCCL_GRAPH_MIXING_SUPPORT=0" in output
    assert "the kernel runs as host" in output


def test_the_abort_of_a_communicator_does_not_wait_for_that_of_another_one(monkeypatch):
    """ncclCommAbort returns only when graphs are destroyed, or when kernels of other communicators have returned."""
    told, returned, ended = queue.Queue(), queue.Queue(), threading.Event()

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def blocking(handle):
        told.put(handle)
        ended.wait(60)
        returned.put(handle)
        return 0

    monkeypatch.setattr(nccl_engine, "load_nccl", lambda: SimpleNamespace(ncclCommAbort=blocking))
    engines = [nccl_engine.NcclEngine.__new__(nccl_engine.NcclEngine) for _ in range(3)]
    for number, engine in enumerate(engines, 1):
        engine.handle, engine.is_owned = ctypes.c_void_p(number), number < 3
    try:
        for engine in engines * 2:
            engine.abort()
        found = sorted(told.get(timeout=30) for _ in range(2))
        assert found == [1, 2] and told.empty()  # once each, and not the one that another library owns
    finally:
        ended.set()
        for _ in range(2):  # `blocking` must live until both threads have left it
            returned.get(timeout=30)


@pytest.mark.parametrize(
    "calls", [("close", "abort"), ("abort", "close"), ("close", "close"), ("abort", "abort")]
)
@pytest.mark.parametrize("is_owned", [True, False])
def test_a_communicator_is_freed_at_most_once(calls, is_owned, monkeypatch):
    """A rank that fails aborts all its communicators, also those that the program has closed before."""
    freed = queue.Queue()

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def free(handle):
        freed.put(handle)
        return 0

    library = SimpleNamespace(ncclCommAbort=free, ncclCommDestroy=free)
    monkeypatch.setattr(nccl_engine, "load_nccl", lambda: library)
    monkeypatch.setattr(nccl_engine, "call_in_thread", lambda function, handle: function(handle))
    monkeypatch.setattr(nccl_engine, "leave_without_destructors", lambda: None)
    engine = nccl_engine.NcclEngine.__new__(nccl_engine.NcclEngine)
    engine.handle, engine.is_owned = ctypes.c_void_p(7), is_owned
    for name in calls:
        getattr(engine, name)()
    assert list(freed.queue) == [7] * is_owned


def failing_library(status):
    """Return what stands for NCCL, whose function returns the number of an error."""
    return SimpleNamespace(
        ncclCommSplit=lambda *args: status,
        ncclGetErrorString=lambda status: f"error {status}".encode(),
        ncclGetLastError=lambda handle: b"",
    )


def engine_with(status, monkeypatch):
    monkeypatch.setattr(nccl_engine, "load_nccl", lambda: failing_library(status))
    engine = nccl_engine.NcclEngine.__new__(nccl_engine.NcclEngine)
    engine.handle, engine.is_owned, engine.rank, engine.health = ctypes.c_void_p(1), False, 0, Health()
    return engine


@pytest.mark.parametrize("status", [1, 2, 3, 6])
def test_an_error_of_nccl_after_the_end_of_a_rank_is_a_rank_error_that_names_the_rank(status, monkeypatch):
    """NCCL sees the closed connection of a rank before its process has ended."""
    engine = engine_with(status, monkeypatch)
    later = threading.Timer(0.3, engine.health.fail, ["rank 7 has ended"])
    later.start()
    with pytest.raises(cg.distributed.RankError, match="rank 7 has ended"):
        engine.duplicate()
    later.join()


@pytest.mark.parametrize("status", [1, 4, 5])
def test_any_other_error_of_nccl_is_raised_as_it_is(status, monkeypatch):
    monkeypatch.setattr(nccl_engine, "CAUSE_LIMIT_S", 0.1)
    with pytest.raises(nccl_engine.NcclError, match=f"ncclCommSplit failed: error {status}"):
        engine_with(status, monkeypatch).duplicate()


def test_pinned_memory_is_lent_again_but_not_after_a_borrower_failed():
    """A collective may still write to it. To free it would wait for this collective."""
    cg.Device().set_current()
    staging = nccl_engine.Staging()
    with staging.borrow(5000) as large, staging.borrow(3) as small:
        assert (large.size, small.size) == (5000, 3) and not np.shares_memory(large, small)
    with staging.borrow(8192) as again:
        assert np.shares_memory(large, again)
    with pytest.raises(KeyboardInterrupt), staging.borrow(5000) as lost:
        raise KeyboardInterrupt
    with staging.borrow(5000) as new, staging.borrow(4096) as other:
        assert not np.shares_memory(new, lost) and np.shares_memory(other, small)
