# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the instruction table, one file a subject. A row's function lowers an instruction to LLVM IR.

Other rooms may import:
    __init__  load_all, which fills the table
    calls     types of arguments and results, and the names of services
"""

from importlib import import_module

FILES = (
    "integer",
    "bits",
    "floating",
    "approximate",
    "compare",
    "convert",
    "move",
    "memory",
    "atomics",
    "control",
    "barriers",
    "clusters",
    "mbarrier",
    "copies",
    "video",
    "calls",
    "special",
    "warp",
)


def load_all() -> None:
    """Fills table.ROWS."""
    for file in FILES:
        import_module(f".{file}", __name__)
