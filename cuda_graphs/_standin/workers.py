# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that multiprocessing starts for a program on the host driver run on the host driver, too.

Such a process (of the start methods "spawn" and "forkserver") is a part of its program: it runs functions of it on
objects that are pickled for it, and memory that it shares is of its parent's driver. Before anything else it unpickles
a dictionary that tells it how to prepare. One more value goes with that: an object that stands in when it is unpickled.
"""

import runpy
from multiprocessing import spawn
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parent / "worker.py"


class _StandsIn:
    """Unpickled, it runs worker.py, by path: the parent's sys.path comes only after this."""

    def __reduce__(self) -> tuple[Any, ...]:
        return runpy.run_path, (str(WORKER),)


def install() -> None:
    """Do so for the processes that this one starts from now on; once is enough."""
    prepare = spawn.get_preparation_data
    if hasattr(prepare, "stands_in"):
        return

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {**prepare(name), "cuda_graphs": _StandsIn()}

    get_preparation_data.stands_in = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data
