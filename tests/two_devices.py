# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that need several devices: the host driver makes as many as they need, and libcuda has those of the machine."""

import pytest

import cuda_graphs as cg


def run_with_devices(run_child, driver, code, count=2, timeout=120):
    """Runs code in a process with at least `count` devices; it must end without errors and without output."""
    if driver.kind == "cuda" and len(cg.Device.get_all_devices()) < count:
        pytest.skip(f"needs {count} GPUs")
    done = run_child(code, timeout, CUDA_GRAPHS_HOST_DEVICES=str(count))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
