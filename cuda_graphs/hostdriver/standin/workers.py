# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the host driver into the processes that multiprocessing starts for a program on the host driver.

Such a process (start methods "spawn" and "forkserver") is a part of its program. It runs the program's functions on
pickled objects, and shares memory of its parent's driver. Its first action is to unpickle a dictionary of preparation
data. This module adds one value to the dictionary: an object that runs worker.py when it is unpickled.
"""

import runpy
from multiprocessing import spawn
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parent / "worker.py"


class _StandsIn:
    """Runs worker.py when it is unpickled. It uses a path, because the parent's sys.path is set later."""

    def __reduce__(self) -> tuple[Any, ...]:
        return runpy.run_path, (str(WORKER),)


def install() -> None:
    """Prepare the processes that this process starts from now on. Further calls have no effect."""
    prepare = spawn.get_preparation_data
    if hasattr(prepare, "stands_in"):
        return

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {**prepare(name), "cuda_graphs": _StandsIn()}

    get_preparation_data.stands_in = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data
