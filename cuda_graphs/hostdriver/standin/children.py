# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the host driver into every Python process that a program on it starts, if CUDA_GRAPHS_STAND_IN=1.

The folder site/ becomes the first entry of PYTHONPATH. Python imports the sitecustomize.py in that folder before the
program.
"""

import os
from pathlib import Path

VARIABLE = "CUDA_GRAPHS_STAND_IN"
SITE = Path(__file__).parent / "site"


def is_asked_for() -> bool:
    """Return True if the variable is 1.

    Raises:
        RuntimeError: The value is neither 0 nor 1.
    """
    value = os.environ.get(VARIABLE, "0")
    if value not in ("0", "1"):
        raise RuntimeError(f"{VARIABLE} is {value!r}; it must be 0 or 1")
    return value == "1"


def install() -> None:
    """Put the folder into PYTHONPATH if the variable is 1. Further calls have no effect."""
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if is_asked_for() and str(SITE) not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *folders])
