# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: resident loops of a GPU compute what Python computes, with one block and with several.

The laws are in resident_flow.py.
"""

import subprocess
import sys

from tests.ptx import resident_flow


def test_resident_loops_of_a_gpu_follow_their_conditions():
    done = subprocess.run(
        [sys.executable, "-m", "tests.ptx.resident_flow"], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{len(resident_flow.LAWS)} laws hold\n"
