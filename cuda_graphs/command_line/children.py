# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Child processes that report in JSON: each driver needs a process of its own, and a failing node must not end ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["ask"]

TIMEOUT_S = 120


def ask(module: str, *arguments: str, driver: str) -> dict[str, Any]:
    """Run a module of this package on a driver, and return the dict that it prints.

    The dict of a child that ends without a report has only a "problem".
    """
    folders = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "CUDA_GRAPHS_DRIVER": driver,
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
    }
    command = [sys.executable, "-P", "-m", f"{__package__}.{module}", *arguments]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"no result after {TIMEOUT_S} s"}
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        report: dict[str, Any] = json.loads(lines[-1])
        return report
    said = done.stderr.strip().splitlines()
    return {"problem": f"the process ended {ending(done.returncode)}{': ' + said[-1] if said else ''}"}


def ending(code: int) -> str:
    """Return the words for the exit code of a process."""
    return f"with exit code {code}" if code >= 0 else f"by the signal {signal.Signals(-code).name}"
