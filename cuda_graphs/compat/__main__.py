# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m cuda_graphs.compat script.py [arguments]`: run a program of Taichi or Quadrants unchanged."""

import runpy
import sys
from pathlib import Path

from cuda_graphs.compat.shim import install

USAGE = "usage: python -m cuda_graphs.compat [-m MODULE | SCRIPT] [arguments]"


def run(arguments: list[str]) -> None:
    """Run a script or a module as the main program, with its arguments in `sys.argv`."""
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[is_module:]
    if not arguments or arguments[0].startswith("-"):
        raise SystemExit(USAGE)
    install()
    sys.argv = arguments
    if is_module:
        sys.path[0] = ""
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    run(sys.argv[1:])
