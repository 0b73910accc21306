# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the instruction table, one file a subject. A row's function lowers an instruction to LLVM IR."""

from importlib import import_module

FAMILIES = (
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
    for family in FAMILIES:
        import_module(f".{family}", __name__)
