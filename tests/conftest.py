# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests: the driver of this process, a device made current, kernels, a child process.

The driver is that of CUDA_GRAPHS_DRIVER, one a process; the suite runs once for each. One law holds for every test: it
leaves no box of the handle layer behind.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.errors.table import LOST
from cuda_graphs.graph.capture import call_streams
from cuda_graphs.kernels.arrays import keep_alive
from tests.driver_table import DriverTable

# JAX would take most of a GPU's memory, which the other processes of the suite need.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

ROOT = Path(__file__).resolve().parent.parent
FAILED = pytest.StashKey[bool]()
LEFT = pytest.StashKey[dict[str, int]]()  # boxes that a test leaves on purpose
# Primary contexts stay until the process ends (context.hpp).
KEPT = {"context"}
PATIENCE_S = 5.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if report.failed:
        item.stash[FAILED] = True
        leave_if_context_is_lost(report)
    return report


def leave_if_context_is_lost(report: pytest.TestReport) -> None:
    """Ends a worker of pytest-xdist in which every further test would fail. It is replaced, and the test is named."""
    if LOST in report.longreprtext and "PYTEST_XDIST_WORKER" in os.environ:
        print(report.nodeid, report.longreprtext, sep="\n", file=sys.__stderr__, flush=True)
        os._exit(1)


@pytest.fixture(scope="module", autouse=True)
def collections_look_at_what_this_module_makes() -> None:
    """Freezes all live objects (imports, tests, caches), so that the two collections around every test are cheap."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cuda") and cg.driver_info().kind != "cuda":
        pytest.skip("needs a CUDA device")


def release() -> None:
    """Drops garbage, and the code that is kept for further graphs with the same predicates."""
    predicates = sys.modules.get("cuda_graphs.kernels.call.predicates")
    if predicates is not None:
        predicates.shared_kernel.cache_clear()
    gc.collect()
    keep_alive.release_finished()
    boxes.drain()


def wait_until(done: Callable[[], bool]) -> bool:
    """Returns whether `done()` becomes true in time; meanwhile collects garbage and drains deferred releases."""
    end = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
        release()
    return True


def levels() -> dict[str, int]:
    counts = {kind: count for kind, count in boxes.live().items() if kind not in KEPT}
    counts["stream"] -= call_streams.count_idle()
    return counts


@pytest.fixture(autouse=True)
def no_box_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    release()
    before = levels()
    yield
    if request.node.stash.get(FAILED, False):
        return  # its traceback keeps objects alive, and one report is enough
    request.node.funcargs.clear()  # pytest would hold on to what fixtures gave a little longer
    release()
    for kind, count in request.node.stash.get(LEFT, {}).items():
        before[kind] += count
    # Less than before is no leak: a test that failed earlier may have left its objects to a traceback.
    settled = wait_until(lambda: all(count <= before[kind] for kind, count in levels().items()))
    assert settled, f"live boxes before: {before}, after: {levels()}"
    assert boxes.live()["context"] <= len(cg.Device.get_all_devices()), "a context that is not primary"


@pytest.fixture(scope="session")
def driver() -> cg.DriverInfo:
    """The driver of this process."""
    return cg.driver_info()


@pytest.fixture(scope="session")
def session_device() -> cg.Device:
    device = cg.Device()
    device.set_current()
    assert device.memory_resource.device_id == device.device_id  # its pool lives as long as the session
    return device


@pytest.fixture
def device(session_device: cg.Device) -> cg.Device:
    """Device 0, current on this thread."""
    session_device.set_current()
    return session_device


@pytest.fixture
def init_cuda(device: cg.Device) -> None:
    """A device is current."""


@pytest.fixture
def stream(device: cg.Device) -> cg.Stream:
    """A new stream."""
    return device.create_stream()


@pytest.fixture
def driver_table(device: cg.Device) -> Iterator[DriverTable]:
    """The table of driver functions, where a test makes failures and counts calls."""
    table = DriverTable()
    yield table
    table.restore()


@pytest.fixture
def run_child(driver: cg.DriverInfo) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code in a process of its own, on the same driver."""

    def run(code: str, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "CUDA_GRAPHS_DRIVER": driver.kind, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
