# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: one driver a process, chosen at the first device call, and it says which one and why."""

import pytest

import cuda_graphs as cg


def test_the_driver_says_its_kind_version_path_and_reason(driver):
    assert driver.kind in ("cuda", "host")
    assert driver.version >= (12, 4)
    assert driver.path
    assert driver.reason
    for part in (driver.kind, driver.path, driver.reason):
        assert part in str(driver)


def test_asking_twice_gives_the_same_answer(driver):
    assert cg.driver_info() is driver


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="unknown driver 'metal'; expected one of 'auto', 'cuda', 'host'"):
        cg.use_driver("metal")


def test_changing_the_driver_after_the_first_device_call_is_refused(driver):
    other = "host" if driver.kind == "cuda" else "cuda"
    with pytest.raises(RuntimeError, match="after the first device call"):
        cg.use_driver(other)


def test_choosing_the_driver_that_runs_already_is_allowed(driver):
    cg.use_driver(driver.kind)
    cg.use_driver("auto")
    assert cg.driver_info() == driver


def test_use_driver_wins_over_the_variable(run_child):
    child = run_child(
        "import cuda_graphs as cg; cg.use_driver('host'); info = cg.driver_info(); print(info.kind, info.reason)",
        CUDA_GRAPHS_DRIVER="cuda",
    )
    assert child.stdout == "host use_driver('host')\n", child.stderr


def test_a_wrong_variable_is_named(run_child):
    child = run_child("import cuda_graphs as cg; cg.Device()", CUDA_GRAPHS_DRIVER="gpu")
    assert child.returncode == 1
    assert "CUDA_GRAPHS_DRIVER: unknown driver 'gpu'" in child.stderr


def test_auto_chooses_the_host_driver_where_no_cuda_device_answers(run_child):
    child = run_child(
        "import cuda_graphs as cg; info = cg.driver_info(); print(info.kind); print(info.reason)",
        CUDA_GRAPHS_DRIVER="auto",
        CUDA_VISIBLE_DEVICES="",
    )
    kind, reason = child.stdout.splitlines()
    assert kind == "host"
    assert "no CUDA device" in reason


def test_threads_that_make_the_first_call_together_get_one_driver(run_child):
    child = run_child(
        """
import threading
import cuda_graphs as cg
barrier, found = threading.Barrier(8), []
def ask():
    barrier.wait()
    found.append(cg.driver_info())
threads = [threading.Thread(target=ask) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert len(found) == 8 and all(f is found[0] for f in found)
"""
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
