# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that need several devices. The host driver makes as many as they need, libcuda has those of the machine."""

import pytest

import cuda_graphs as cg


def run_with_devices(run_child, driver, folder, program, count=2):
    """Runs a program in a process with at least `count` devices; it must end without errors and without output.

    The program is a file in `folder`, because kernels need a source.
    """
    if driver.kind == "cuda" and len(cg.Device.get_all_devices()) < count:
        pytest.skip(f"needs {count} GPUs")
    path = folder / "program.py"
    path.write_text(program)
    code = f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"
    done = run_child(code, CUDA_GRAPHS_HOST_DEVICES=str(count))
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0
