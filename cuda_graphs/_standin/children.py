# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Python processes that a program on the host driver starts run on it, too, where CUDA_GRAPHS_STAND_IN=1 says so.

Such a process finds the folder site/ first in PYTHONPATH, and Python imports the sitecustomize.py in there before
anything else.
"""

import os
from pathlib import Path

VARIABLE = "CUDA_GRAPHS_STAND_IN"
SITE = Path(__file__).parent / "site"


def is_asked_for() -> bool:
    """Return True when the variable asks for it.

    Raises:
        RuntimeError: Its value is neither 0 nor 1.
    """
    value = os.environ.get(VARIABLE, "0")
    if value not in ("0", "1"):
        raise RuntimeError(f"{VARIABLE} is {value!r}; it must be 0 or 1")
    return value == "1"


def install() -> None:
    """Put the folder into PYTHONPATH where the variable asks for it; once is enough."""
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if is_asked_for() and str(SITE) not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *folders])
